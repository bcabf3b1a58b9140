/**
 * Which of the 4,096 shards an actor belongs to: twelve bits of its id's random part, so that SQL finds it as
 * well (`fine_shard_of`, migration 6) without looking the actor up, and a fresh id can be given any of them.
 */
import { digitAt } from "../domain/ids.ts"

export const shardCount = 4_096

/** Byte 11 of the UUID and the upper half of byte 12: random in every kind of id that an actor has. */
export const shardOf = (id: string) => (digitAt(id, 18) << 7) | (digitAt(id, 19) << 2) | (digitAt(id, 20) >> 3)

/**
 * Shards were 256 in earlier versions: the first eight bits. Nodes of those versions place actors by them, and the bus
 * carries wakes by them.
 */
export const coarseCount = 256
const fineInCoarse = shardCount / coarseCount

export const coarseOf = (shard: number) => Math.floor(shard / fineInCoarse)
export const shardsIn = (coarse: number): ReadonlyArray<number> =>
  Array.from({ length: fineInCoarse }, (_, i) => coarse * fineInCoarse + i)

/** A set of shards, a bit each, the lowest bit of a byte first: as PostgreSQL's get_bit counts them. */
export type Shards = Uint8Array

export const hasShard = (shards: Shards, shard: number) => (shards[shard >> 3]! & (1 << (shard & 7))) !== 0

export const shardsOf = (has: (shard: number) => boolean): Shards => {
  const shards = new Uint8Array(shardCount / 8)
  for (let shard = 0; shard < shardCount; shard++) if (has(shard)) shards[shard >> 3]! |= 1 << (shard & 7)
  return shards
}

export const allShards: Shards = shardsOf(() => true)
