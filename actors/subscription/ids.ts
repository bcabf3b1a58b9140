/** Ids of what a subscription hands over: the same however often that is tried. */
import { createHash } from "node:crypto"
import { fromBytes, type Noun, prefixes } from "../../src/domain/ids.ts"

/** A UUIDv8 whose last 15 bits are free for what derives from it (src/domain/ids.ts, D1). */
const idOf = (noun: Noun, ...names: ReadonlyArray<string | number>) => {
  const bytes = createHash("sha256").update(names.join("\0")).digest().subarray(0, 16)
  bytes[6] = 0x80 | (bytes[6]! & 0x0f)
  bytes[8] = 0x80 | (bytes[8]! & 0x3f)
  bytes[14] = bytes[14]! & 0x80
  bytes[15] = 0
  return prefixes[noun] + fromBytes(bytes)
}

interface OfBatch {
  readonly id: string
  readonly generation: number
  readonly from: number
  readonly to: number
}

export const inputIdOf = ({ from, generation, id, to }: OfBatch) => idOf("input", id, generation, from, to)

export const threadIdOf = ({ from, generation, id, to }: OfBatch) => idOf("thread", id, generation, from, to)

/** The thread after one that takes nothing any more. */
export const threadAfter = (threadId: string) => idOf("thread", threadId)
