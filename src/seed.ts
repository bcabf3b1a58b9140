/** Makes fresh ids: UUIDv7, never falling within one process, the last 15 bits free for what derives. */
import { randomFillSync } from "node:crypto"
import { alphabet, type Noun, prefixes } from "./domain/ids.ts"

const pool = new Uint32Array(1024)
let used = pool.length
let last = 0
let count = 0
/** The first ten characters: two zero bits and the 48 of the milliseconds. */
let time = ""

const pairs = Array.from({ length: 1024 }, (_, i) => alphabet[i >> 5]! + alphabet[i & 31]!)
/** Four characters from 20 bits. */
const four = (bits: number) => pairs[(bits >>> 10) & 1023]! + pairs[bits & 1023]!

/**
 * 26 characters: the body of a fresh id. Ids made later by this process sort later. Of that shard
 * (src/journal/shard.ts) if one is given.
 */
export const freshBody = (shard?: number) => {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const random = pool[used]!
  const more = shard === undefined ? pool[used + 1]! : (pool[used + 1]! & 0xfff000ff) | (shard << 8)
  used += 2
  const now = Date.now()
  // More than 4,096 in one millisecond: borrow from the next, as RFC 9562 allows.
  if (now > last || count === 4095) {
    last = Math.max(now, last + 1)
    count = 0
    const high = Math.floor(last / 2 ** 20)
    time = pairs[Math.floor(high / 2 ** 20)]! + four(high) + four(last)
  } else count++
  // Version 7, the count, the variant, 47 random bits, 15 zeros.
  return (
    time +
    four(0x70008 | (count << 4) | (random & 3)) +
    four(random >>> 2) +
    four(more) +
    alphabet[more >>> 27]! +
    "000"
  )
}

export const freshId = (noun: Noun, shard?: number) => prefixes[noun] + freshBody(shard)
