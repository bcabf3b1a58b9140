/**
 * Ids: a prefix that names the noun, and a UUIDv7 in base32 (26 characters, lower case, Crockford's
 * alphabet), so that ids sort by time of birth. Pure: randomness comes from `src/seed.ts`.
 *
 * D1. The last 15 bits of a fresh id are zero. They number what derives from it, so that a command
 *     that brings one seed names everything it leads to, the same after a crash.
 * D2. An input and the turn that it opens share their body: `inp_X` opens `trn_X`.
 * D3. The database stores the UUID; the prefix is type information and lives at the edges.
 */
import { Schema } from "effect"

export const prefixes = {
  workspace: "wsp_",
  agent: "agt_",
  thread: "thr_",
  turn: "trn_",
  call: "call_",
  event: "evt_",
  input: "inp_",
  wait: "wait_",
  delivery: "dlv_",
  operation: "op_",
  profile: "prof_",
  role: "role_",
  toolset: "tset_",
  connection: "conn_",
  schedule: "sch_",
  scheduleRun: "srun_",
  feed: "feed_",
  subscription: "sub_",
  hook: "hook_",
  key: "key_",
  node: "node_",
  identity: "idn_",
  memoryVersion: "mver_",
  webhook: "whk_",
  webhookEvent: "whe_",
  webhookDelivery: "whd_"
} as const
export type Noun = keyof typeof prefixes

/** Crockford's base32. */
export const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
const digits = new Int8Array(128)
for (let i = 0; i < 32; i++) digits[alphabet.charCodeAt(i)] = i

/** The five bits of one character of an id's body, counted from 0. */
export const digitAt = (id: string, at: number) => digits[id.charCodeAt(id.length - 26 + at)]!

const bodyPattern = "[0-7][0-9a-hjkmnp-tv-z]{25}"

/** A string that is an id of that noun, or of one of them; anything else is refused before it reaches a query. */
export const idOf = (noun: Noun, ...others: ReadonlyArray<Noun>) => {
  const prefix =
    others.length === 0 ? prefixes[noun] : `(?:${[noun, ...others].map((each) => prefixes[each]).join("|")})`
  const pattern = `^${prefix}${bodyPattern}$`
  return Schema.String.check(
    Schema.isPattern(new RegExp(pattern), {
      expected: `an id of the form ${[noun, ...others].map((each) => `${prefixes[each]}…`).join(", ")}`,
      toJsonSchema: () => ({ pattern })
    })
  )
}

export const isIdOf = (noun: Noun) => {
  const pattern = new RegExp(`^${prefixes[noun]}${bodyPattern}$`)
  return (text: string) => pattern.test(text)
}

/** The 26 characters after the prefix. */
export const body = (id: string) => id.slice(-26)

/** The id of another noun with the same body. */
export const sibling = (noun: Noun, id: string) => prefixes[noun] + body(id)

/** The `index`-th id that derives from a seed or an id: 0 to 32,767 (D1). */
export const derive = (noun: Noun, from: string, index: number) => {
  if (!(index >= 0 && index < 32_768)) throw new RangeError(`an id derives at most 32,768 others: ${index}`)
  const low = alphabet[index >> 10]! + alphabet[(index >> 5) & 31]! + alphabet[index & 31]!
  return prefixes[noun] + from.slice(-26, -3) + low
}

/** Base32 of 16 bytes: 26 characters of which the first carries 3 bits. */
export const fromBytes = (bytes: Uint8Array) => {
  let text = ""
  let bits = 0
  let held = 2 // two zero bits in front make 130 bits of the 128
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xffff
    held += 8
    while (held >= 5) {
      held -= 5
      text += alphabet[(bits >> held) & 31]
    }
  }
  return text
}

/** Writes the 16 bytes of an id's UUID. */
export const writeBytes = (into: Uint8Array, at: number, id: string) => {
  let bits = 0
  let held = -2
  for (let i = 0; i < 26; i++) {
    bits = ((bits << 5) | digitAt(id, i)) & 0x1fff
    held += 5
    if (held >= 8) {
      held -= 8
      into[at++] = (bits >> held) & 255
    }
  }
}

const hex = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0"))

const bytes = new Uint8Array(16)

/** The UUID that the database stores for an id (D3). */
export const toUuid = (id: string) => {
  writeBytes(bytes, 0, id)
  let text = ""
  for (let i = 0; i < 16; i++) text += i === 4 || i === 6 || i === 8 || i === 10 ? `-${hex[bytes[i]!]}` : hex[bytes[i]!]
  return text
}

const hexDigit = (code: number) => (code < 58 ? code - 48 : (code | 32) - 87)

/** A stored UUID as the 26 characters after an id's prefix. */
export const bodyOfUuid = (uuid: string) => fromUuid("input", uuid).slice(-26)

/** The id of a stored UUID. */
export const fromUuid = (noun: Noun, uuid: string) => {
  let text: string = prefixes[noun]
  let bits = 0
  let held = 2 // as in fromBytes
  for (let i = 0; i < 36; i++) {
    const code = uuid.charCodeAt(i)
    if (code === 45) continue
    bits = ((bits << 4) | hexDigit(code)) & 0x1ff
    held += 4
    if (held >= 5) {
      held -= 5
      text += alphabet[(bits >> held) & 31]
    }
  }
  return text
}

/**
 * When a fresh id was made, in milliseconds: the first 48 bits of its UUIDv7, which are the first ten characters of its
 * body.
 */
export const bornAt = (id: string) => {
  let ms = 0
  for (let i = 0; i < 10; i++) ms = ms * 32 + digitAt(id, i)
  return ms
}
