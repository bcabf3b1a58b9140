/**
 * Which node is to have the actors of a shard, should nobody have them: every node works out the same
 * from the same list of live nodes.
 *
 * P1. Rendezvous: a shard goes to the node that draws the highest number for it, so that a node that
 *     comes or goes moves hardly more than its own share.
 * P2. No node gets more than a tenth above its share: who is full is passed over.
 * P3. A placement says where to ask, never who owns: an actor that lives elsewhere stays there.
 * P4. A node that is on its way out has no shards.
 */
import { Context, Effect, Layer } from "effect"
import type { Noun } from "../src/domain/ids.ts"
import { Lease, type LiveNode } from "../src/journal/Lease.ts"
import { hasShard, shardCount, shardOf, type Shards, shardsOf } from "../src/journal/shard.ts"
import { freshId } from "../src/seed.ts"

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

/** The node of each shard; none when there are no nodes. */
export const place = (incarnations: ReadonlyArray<string>): ReadonlyArray<string> => {
  const most = Math.ceil(shardCount * 1.1 / incarnations.length)
  const nodes = incarnations.toSorted().map((incarnation) => ({ incarnation, seed: hashOf(incarnation), left: most }))
  const [first] = nodes
  if (first === undefined) return []
  return Array.from({ length: shardCount }, (_, shard) => {
    const draw = mixed(shard + 1)
    let best = first
    let highest = -1
    for (const node of nodes) {
      const drawn = node.left === 0 ? -1 : mixed(node.seed ^ draw)
      if (drawn > highest) [best, highest] = [node, drawn]
    }
    best.left--
    return best.incarnation
  })
}

/** So many births more than the others on average, and a node has borne enough of its own. */
const leeway = { births: 128, share: 1.25 }

/** Ids that are drawn for one of a shard of this node: among ten nodes one in two hundred is none. */
const tries = 50

export class Placement extends Context.Service<Placement, {
  /** The node that is to have the shard; undefined while all nodes are leaving. */
  readonly of: (shard: number) => string | undefined
  /** This node's shards. */
  readonly mine: () => Shards
  /** Changes with the list of nodes. */
  readonly version: () => string
  /**
   * An id for an actor that is to be born here: of a shard of this node, so that it may stay and whoever
   * bore it finds it here; of any shard once this node has borne more than its share.
   */
  readonly freshId: (noun: Noun) => string
  /** Births here so far. */
  readonly births: () => number
}>()("troupe/Placement") {
  static readonly layer = Layer.effect(Placement, Effect.map(Lease, makePlacement))
}

function makePlacement(lease: Lease["Service"]) {
  let seen: ReadonlyArray<LiveNode> | undefined
  let me = ""
  let version = ""
  let placed: ReadonlyArray<string> = []
  let mine: Shards = shardsOf(() => false)
  let births = 0

  const look = () => {
    const nodes = lease.nodes()
    if (nodes === seen && me === lease.incarnation()) return
    seen = nodes
    const staying = nodes.flatMap(({ draining, incarnation }) => draining ? [] : [incarnation])
    const now = [...staying, lease.incarnation()].join()
    if (now === version) return
    version = now
    me = lease.incarnation()
    placed = place(staying)
    mine = shardsOf((shard) => placed[shard] === me)
  }

  const isAhead = () => {
    const others = lease.nodes().filter(({ draining, incarnation }) => !draining && incarnation !== me)
    return others.length > 0 && births > leeway.births + leeway.share * others.reduce((sum, node) => sum + node.births, 0) / others.length
  }

  return Placement.of({
    of: (shard) => {
      look()
      return placed[shard]
    },
    mine: () => {
      look()
      return mine
    },
    version: () => {
      look()
      return version
    },
    births: () => births,
    freshId: (noun) => {
      look()
      births++
      let id = freshId(noun)
      if (!isAhead()) for (let i = 0; i < tries && !hasShard(mine, shardOf(id)); i++) id = freshId(noun)
      return id
    }
  })
}
