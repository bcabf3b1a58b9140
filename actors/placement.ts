/**
 * Which node is to have the actors of a shard, should nobody have them: every node works out the same
 * from the same list of live nodes.
 *
 * P1. Rendezvous: a shard goes to the node that draws the highest number for it, so that a node that
 *     comes or goes moves hardly more than its own share.
 * P2. No node gets more than a tenth above its share: who is full is passed over.
 * P3. A placement says where to ask, never who owns: an actor that lives elsewhere stays there.
 */
import { shardCount, type Shards, shardsOf } from "../src/journal/shard.ts"

/** FNV-1a. */
const hashOf = (text: string) => {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}

/** Murmur's last mix: every bit of the result hangs on every bit of the number. */
const mixed = (n: number) => {
  n = Math.imul(n ^ (n >>> 16), 0x85ebca6b)
  n = Math.imul(n ^ (n >>> 13), 0xc2b2ae35)
  return (n ^ (n >>> 16)) >>> 0
}

/** The node of each shard; nothing when there are no nodes. */
export const place = (incarnations: ReadonlyArray<string>): ReadonlyArray<string> => {
  const nodes = [...new Set(incarnations)].sort().map((incarnation) => ({ incarnation, seed: hashOf(incarnation), left: Math.ceil(shardCount * 1.1 / incarnations.length) }))
  if (nodes.length === 0) return []
  return Array.from({ length: shardCount }, (_, shard) => {
    const draw = mixed(shard + 1)
    let best = nodes[0]!
    let highest = -1
    for (const node of nodes) {
      const drawn = node.left === 0 ? -1 : mixed(node.seed ^ draw)
      if (drawn > highest) [best, highest] = [node, drawn]
    }
    best.left--
    return best.incarnation
  })
}

export const shardsAt = (placed: ReadonlyArray<string>, incarnation: string): Shards => shardsOf((shard) => placed[shard] === incarnation)
