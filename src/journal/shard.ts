/**
 * Which of the 256 shards an actor belongs to: a byte of its id's random part, so that SQL finds it as
 * well (`shard_of`, migration 4) without looking the actor up.
 */
import { digitAt } from "../domain/ids.ts"

export const shardCount = 256

/** Byte 11 of the UUID: random in every kind of id that an actor has. */
export const shardOf = (id: string) => digitAt(id, 18) << 3 | digitAt(id, 19) >> 2

/** A set of shards, a bit each, the lowest bit of a byte first: as PostgreSQL's get_bit counts them. */
export type Shards = Uint8Array

export const hasShard = (shards: Shards, shard: number) => (shards[shard >> 3]! & (1 << (shard & 7))) !== 0

export const shardsOf = (has: (shard: number) => boolean): Shards => {
  const shards = new Uint8Array(shardCount / 8)
  for (let shard = 0; shard < shardCount; shard++) if (has(shard)) shards[shard >> 3]! |= 1 << (shard & 7)
  return shards
}

export const allShards: Shards = shardsOf(() => true)
