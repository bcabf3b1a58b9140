/** Where actors are to live (P1 to P4 of actors/Placement.ts), for any list of nodes. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Stream } from "effect"
import fc from "fast-check"
import { Placement, place } from "../../actors/Placement.ts"
import { Lease, type LiveNode } from "../../src/journal/Lease.ts"
import { coarseCount, coarseOf, hasShard, shardCount, shardOf } from "../../src/journal/shard.ts"
import { freshId } from "../../src/seed.ts"

const nodes = (least: number, most: number) =>
  fc.integer({ min: least, max: most }).map((n) => Array.from({ length: n }, () => freshId("node")))
const sharesOf = (placed: ReadonlyArray<string>) =>
  [...Map.groupBy(placed, (node) => node).values()].map((shards) => shards.length)

const node = (incarnation: string, more: Partial<LiveNode> = {}): LiveNode => ({
  incarnation,
  name: "n",
  actors: 0,
  births: 0,
  shards: shardCount,
  draining: false,
  bus: "",
  ...more
})
const placementAmong = (me: string, list: () => ReadonlyArray<LiveNode>, now = () => 0) => {
  const lease = Lease.of({
    incarnation: () => me,
    nodes: list,
    now,
    fenced: () => false,
    describe: () => {},
    beat: Effect.void,
    beatEvery: 1_000,
    authRevision: () => 0,
    authChanges: Stream.empty,
    knowWebhooks: () => Effect.void,
    onLapse: () => Effect.void,
    rejoined: Stream.empty,
    leave: Effect.void
  })
  return Effect.runSync(
    Effect.scoped(
      Effect.map(Layer.build(Layer.provide(Placement.layer, Layer.succeed(Lease, lease))), (context) =>
        Context.get(context, Placement)
      )
    )
  )
}
const isMine = (placement: Placement["Service"], id: string) => hasShard(placement.mine(), shardOf(id))

describe("a placement", () => {
  it("gives every shard to one live node, whoever works it out, and none above a tenth more than its share", () =>
    fc.assert(
      fc.property(nodes(1, 12), (live) => {
        const placed = place(live)
        assert.deepStrictEqual(place(live.toReversed()), placed)
        assert.strictEqual(placed.length, shardCount)
        assert.isTrue(new Set(placed).isSubsetOf(new Set(live)))
        for (const share of sharesOf(placed)) assert.isAtMost(share, Math.ceil((shardCount * 1.1) / live.length))
      })
    ))

  it("is nowhere without nodes", () => assert.deepStrictEqual(place([]), []))

  it("moves little more than the share of the node that comes or goes", () =>
    fc.assert(
      fc.property(nodes(2, 10), (live) => {
        const all = place(live)
        const without = place(live.slice(1))
        const stayed = all.filter((node, shard) => node !== live[0] && without[shard] !== node).length
        assert.isAtMost(stayed, shardCount * 0.1, "moved although its node stayed")
      })
    ))

  it("spreads 3,000 threads over three nodes, none with more than 0.42 of them", () =>
    fc.assert(
      fc.property(nodes(3, 3), (live) => {
        const placed = place(live)
        const homes = Array.from({ length: 3_000 }, () => placed[shardOf(freshId("thread"))]!)
        for (const share of sharesOf(homes)) assert.isAtMost(share / 3_000, 0.42)
      }),
      { numRuns: 300 }
    ))
})

describe("a hundred nodes", () => {
  const live = Array.from({ length: 100 }, () => freshId("node"))

  it("all have shards, none more than a fifth above its share, and find their places in milliseconds", () => {
    // Processor time: what else the machine does is no matter.
    const before = process.threadCpuUsage()
    const shares = sharesOf(place(live))
    assert.isBelow(process.threadCpuUsage(before).user / 1_000, 200)
    assert.strictEqual(shares.length, 100)
    assert.isAtMost(Math.max(...shares), (shardCount / 100) * 1.2)
    assert.isAtLeast(Math.min(...shares), 10)
  })

  it("bear at most one in a hundred actors elsewhere than in their own shards", () => {
    const nodes = live.map((incarnation) => node(incarnation))
    const missed = live.map((me) => {
      const placement = placementAmong(me, () => nodes)
      return Array.from({ length: 100 }, () => isMine(placement, placement.freshId("thread"))).filter((own) => !own)
        .length
    })
    assert.isAtMost(
      missed.reduce((sum, count) => sum + count, 0),
      100
    )
  })

  it("look at every node's shards by exactly one other, a different one each time", () => {
    const nodes = live.slice(0, 7).map((incarnation) => node(incarnation))
    const placements = nodes.map(({ incarnation }) => placementAmong(incarnation, () => nodes))
    const lookers = (shard: number, places: number) =>
      placements.flatMap((placement, i) =>
        hasShard(placement.withNeighbour(places), shard) && !hasShard(placement.mine(), shard) ? [i] : []
      )
    for (let shard = 0; shard < shardCount; shard += 97) {
      const turns = Array.from({ length: 6 }, (_, places) => lookers(shard, places))
      for (const turn of turns) assert.strictEqual(turn.length, 1)
      assert.strictEqual(new Set(turns.flat()).size, 6)
    }
  })
})

describe("a node", () => {
  const me = freshId("node")

  it("that is alone has all shards, and none once it leaves", () => {
    let draining = false
    const placement = placementAmong(me, () => [node(me, { draining })])
    assert.strictEqual(placement.of(7), me)
    assert.isTrue(isMine(placement, freshId("thread")))
    draining = true
    assert.isUndefined(placement.of(7))
    assert.isFalse(isMine(placement, freshId("thread")))
  })

  it("follows the list of nodes", () => {
    let list = [node(me)]
    const placement = placementAmong(me, () => list)
    const before = placement.version()
    list = [node(me), node(freshId("node"))]
    assert.notStrictEqual(placement.version(), before)
    const other = Array.from({ length: shardCount }, (_, shard) => placement.of(shard)).filter((at) => at !== me)
    assert.isAbove(other.length, 80)
    list = [node(me), { ...list[1]!, draining: true }]
    assert.strictEqual(placement.of(0), me)
  })

  it("bears its actors in its own shards, until it has lately borne more than its share", () => {
    let births = 50_000
    let now = 0
    const others = [freshId("node"), freshId("node")]
    const placement = placementAmong(
      me,
      () => [node(me), ...others.map((other) => node(other, { births }))],
      () => now
    )
    const own = (count: number) =>
      Array.from({ length: count }, () => isMine(placement, placement.freshId("thread"))).filter(Boolean).length
    // What the others have borne before does not count.
    assert.strictEqual(own(128), 128)
    assert.isBelow(own(300), 200)
    births += placement.births()
    assert.strictEqual(own(200), 200)
    assert.isBelow(own(600), 500)
    now += 10 * 60_000
    assert.strictEqual(own(128), 128)
  })

  it("finds what a node of an earlier version finds, while there is one", () => {
    const others = [freshId("node"), freshId("node")]
    let old = true
    const placement = placementAmong(me, () => [
      node(me),
      ...others.map((other): LiveNode => {
        const { shards: _, ...rest } = node(other)
        return old ? rest : node(other)
      })
    ])
    const expected = place([me, ...others], coarseCount)
    for (let shard = 0; shard < shardCount; shard++) assert.strictEqual(placement.of(shard), expected[coarseOf(shard)])
    const before = placement.version()
    old = false
    assert.deepStrictEqual(
      place([me, ...others]),
      Array.from({ length: shardCount }, (_, shard) => placement.of(shard) ?? "")
    )
    assert.notStrictEqual(placement.version(), before)
  })

  it("that bears all of 3,000 threads alone keeps no more of them than 0.42", () => {
    const placement = placementAmong(me, () => [node(me), node(freshId("node")), node(freshId("node"))])
    const own = Array.from({ length: 3_000 }, () => isMine(placement, placement.freshId("thread"))).filter(
      Boolean
    ).length
    assert.isAtMost(own / 3_000, 0.42)
  })
})
