/**
 * API keys as text: `trp_<8 public>_<32 secret><6 checksum>` in base62. The
 * prefix makes a leaked key findable, the checksum tells a mistyped key from a revoked one without
 * a query, the public part finds the row. 32 characters of base62 are 190 random bits.
 */
import { crc32 } from "node:zlib"
import { hash, randomBytes, timingSafeEqual } from "node:crypto"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const pattern = /^trp_([0-9A-Za-z]{8})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/

/** Uniform over the alphabet: bytes from 248 up would favour its first characters, so they are skipped. */
const randomText = (length: number) => {
  let text = ""
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]
    }
  }
  return text
}

/** CRC-32 of what stands before it, as 6 characters of base62. */
const checksum = (text: string) => {
  let rest = crc32(text)
  let digits = ""
  for (let i = 0; i < 6; i++) {
    digits = alphabet[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

export interface NewKey {
  /** Shown once, never stored. */
  readonly key: string
  /** The 8 characters that find the row: unique. */
  readonly publicPart: string
  /** What is stored: 64 hex digits. */
  readonly hash: string
}

/** SHA-256 of the whole key text, as 64 hex digits. A slow hash has no use: the secret is random. */
export const hashKey = (key: string) => hash("sha256", key, "hex")

export const generateKey = (): NewKey => {
  const publicPart = randomText(8)
  const body = `trp_${publicPart}_${randomText(32)}`
  const key = body + checksum(body)
  return { key, publicPart, hash: hashKey(key) }
}

/** The public part of a well-formed key; undefined for any other text. */
export const parseKey = (text: string): string | undefined => {
  if (text.length !== 51) return undefined
  const match = pattern.exec(text)
  return match !== null && checksum(text.slice(0, -6)) === match[3] ? match[1] : undefined
}

/** Compares two hashes of `hashKey` in constant time. */
export const sameHash = (a: string, b: string) => {
  const left = Buffer.from(a, "hex")
  const right = Buffer.from(b, "hex")
  return left.length === right.length && timingSafeEqual(left, right)
}
