/** Makes fresh ids: UUIDv7, never falling within one process, the last 15 bits free for what derives. */
import { randomFillSync } from "node:crypto"
import { fromBytes, type Noun, prefixes } from "./domain/ids.ts"

const pool = new Uint8Array(8 * 512)
let used = pool.length
let last = 0
let count = 0

/** 26 characters: the body of a fresh id. Ids made later by this process sort later. */
export const freshBody = () => {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const random = pool.subarray(used, used += 8)
  const now = Date.now()
  if (now > last) {
    last = now
    count = 0
  } else if (++count === 4096) {
    // More than 4,096 in one millisecond: borrow from the next, as RFC 9562 allows.
    last++
    count = 0
  }
  const bytes = new Uint8Array(16)
  const high = Math.floor(last / 2 ** 32)
  bytes[0] = high >> 8
  bytes[1] = high
  bytes[2] = last >>> 24
  bytes[3] = last >>> 16
  bytes[4] = last >>> 8
  bytes[5] = last
  bytes[6] = 0x70 | (count >> 8)
  bytes[7] = count
  bytes.set(random, 8)
  bytes[8] = 0x80 | (bytes[8]! & 0x3f)
  bytes[14] = bytes[14]! & 0x80
  bytes[15] = 0
  return fromBytes(bytes)
}

export const freshId = (noun: Noun) => prefixes[noun] + freshBody()
