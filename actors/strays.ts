/**
 * What others are to take and have left lying (W4 of Sweep.ts): every other whole look takes in the shards of one other
 * node, and takes what it has seen there before.
 *
 * S1. Which node that is depends on the time alone, so that every node's shards are looked at by one other; after some
 *     looks it is the next one's turn, so that a looker that does nothing harms nobody for long.
 */
import type { ActorRef } from "../src/journal/Journal.ts"
import { hasShard, shardOf, type Shards } from "../src/journal/shard.ts"
import type { Placement } from "./Placement.ts"
import { wholeEvery } from "./rounds.ts"

/** Every so many whole looks are wide. */
const wideEvery = 2
/** So many wide looks, then another node's shards. */
const looksAtOne = 3

/** Where to look, and what of that which is found there to take. */
export interface View {
  readonly shards: Shards
  readonly isToTake: (found: ActorRef) => boolean
}

const everything = () => true

export const makeViews = (placement: Placement["Service"], isLive: (ref: ActorRef) => boolean, now: () => number) => {
  let looks = 0
  let strays = new Set<string>()
  return {
    /** This node's shards alone. */
    own: (): View => ({ shards: placement.mine(), isToTake: everything }),
    /** The next whole look's. */
    next: (): View => {
      const mine = placement.mine()
      if (looks++ % wideEvery !== 0) return { shards: mine, isToTake: everything }
      const before = strays
      strays = new Set()
      const seen = strays
      return {
        shards: placement.withNeighbour(Math.floor(now() / (looksAtOne * wideEvery * wholeEvery))),
        isToTake: (ref) => {
          if (hasShard(mine, shardOf(ref.id)) || isLive(ref)) return true
          seen.add(ref.id)
          return before.has(ref.id)
        }
      }
    }
  }
}
