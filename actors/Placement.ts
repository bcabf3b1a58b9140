/**
 * Which node is to have the actors of a shard, should nobody have them: every node works out the same
 * from the same list of live nodes.
 *
 * P1. Rendezvous: a shard goes to the node that draws the highest number for it, so that a node that
 *     comes or goes moves hardly more than its own share.
 * P2. No node gets more than a tenth above its share: a node that is full is passed over.
 * P3. A placement says where to ask, never who owns: an actor that lives elsewhere stays there.
 * P4. A node that is on its way out has no shards.
 * P5. While a node of an earlier version lives, all work with its 256 shards, so that all find the same.
 */
import { Context, Effect, Layer } from "effect"
import type { Noun } from "../src/domain/ids.ts"
import { Lease, type LiveNode } from "../src/journal/Lease.ts"
import { coarseCount, coarseOf, shardCount, type Shards, shardsOf } from "../src/journal/shard.ts"
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

/** The node of each of so many shards; none when there are no nodes. */
export const place = (incarnations: ReadonlyArray<string>, count = shardCount): ReadonlyArray<string> => {
  const most = Math.ceil((count * 1.1) / incarnations.length)
  const nodes = incarnations.toSorted().map((incarnation) => ({ incarnation, seed: hashOf(incarnation), left: most }))
  const [first] = nodes
  if (first === undefined) return []
  return Array.from({ length: count }, (_, shard) => {
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

/** The node of each shard among these nodes (P4, P5). */
export const placeAmong = (
  nodes: ReadonlyArray<Pick<LiveNode, "incarnation" | "shards"> & { readonly draining?: boolean }>
): ReadonlyArray<string> => {
  const staying = nodes.flatMap(({ draining, incarnation }) => (draining === true ? [] : [incarnation]))
  if (nodes.every(({ shards }) => shards === shardCount)) return place(staying)
  const coarse = place(staying, coarseCount)
  return coarse.length === 0 ? [] : Array.from({ length: shardCount }, (_, shard) => coarse[coarseOf(shard)]!)
}

/** So many births more than the others on average, and a node has borne enough of its own. */
const leeway = { births: 128, share: 1.25 }

/** For so long births count as of late. */
const countedMs = 300_000
const marksEvery = 60_000

export class Placement extends Context.Service<
  Placement,
  {
    /** The node that is to have the shard; undefined while all nodes are leaving. */
    readonly of: (shard: number) => string | undefined
    /** This node's shards. */
    readonly mine: () => Shards
    /**
     * This node's shards, and those of the node that stands so many places after it: with the same number, every shard
     * is some other node's too.
     */
    readonly withNeighbour: (places: number) => Shards
    /** Changes with the list of nodes. */
    readonly version: () => string
    /**
     * An id for an actor that is to be born here: of a shard of this node, so that it may stay and whoever
     * bore it finds it here; of any shard once this node has lately borne more than its share.
     */
    readonly freshId: (noun: Noun) => string
    /** Births here so far. */
    readonly births: () => number
  }
>()("troupe/Placement") {
  static readonly layer = Layer.effect(Placement, Effect.map(Lease, makePlacement))
}

/** How many actors each node had borne at one time. */
interface Mark {
  readonly at: number
  readonly mine: number
  readonly theirs: ReadonlyMap<string, number>
}

function makePlacement(lease: Lease["Service"]) {
  let seen: ReadonlyArray<LiveNode> | undefined
  let me = ""
  let version = ""
  /** The nodes that stay, in their order. */
  let ring: ReadonlyArray<string> = []
  let placed: ReadonlyArray<string> = []
  let mine: Shards = shardsOf(() => false)
  let own: ReadonlyArray<number> = []
  let births = 0
  /** Oldest first. Nodes say how many they have borne in their lives: the last minutes are the difference. */
  let marks: ReadonlyArray<Mark> = []

  const look = () => {
    const nodes = lease.nodes()
    if (nodes === seen && me === lease.incarnation()) return
    seen = nodes
    me = lease.incarnation()
    // This node may not have said yet what it says.
    const known = nodes.map((node) => (node.incarnation === me ? { ...node, shards: shardCount } : node))
    const now = JSON.stringify([me, known.map(({ draining, incarnation, shards }) => [incarnation, draining, shards])])
    if (now === version) return
    version = now
    ring = known.flatMap(({ draining, incarnation }) => (draining ? [] : [incarnation])).toSorted()
    placed = placeAmong(known)
    mine = shardsOf((shard) => placed[shard] === me)
    own = placed.flatMap((node, shard) => (node === me ? [shard] : []))
  }

  const mark = () => {
    const at = lease.now()
    if (at - (marks.at(-1)?.at ?? -Infinity) < marksEvery) return
    const theirs = new Map(lease.nodes().map((node) => [node.incarnation, node.births]))
    marks = [...marks.filter((mark) => at - mark.at < countedMs), { at, mine: births, theirs }]
  }

  const isAhead = () => {
    const others = lease.nodes().filter(({ draining, incarnation }) => !draining && incarnation !== me)
    if (others.length === 0) return false
    mark()
    const [since] = marks
    const theirs =
      others.reduce((sum, node) => sum + node.births - (since?.theirs.get(node.incarnation) ?? 0), 0) / others.length
    return births - (since?.mine ?? 0) > leeway.births + leeway.share * theirs
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
    withNeighbour: (places) => {
      look()
      const at = ring.indexOf(me)
      const neighbour = ring[(at + 1 + (places % Math.max(1, ring.length - 1))) % ring.length]
      return at < 0 || neighbour === me
        ? mine
        : shardsOf((shard) => placed[shard] === me || placed[shard] === neighbour)
    },
    version: () => {
      look()
      return version
    },
    births: () => births,
    freshId: (noun) => {
      look()
      const ahead = isAhead()
      births++
      return ahead || own.length === 0 ? freshId(noun) : freshId(noun, own[Math.floor(Math.random() * own.length)])
    }
  })
}
