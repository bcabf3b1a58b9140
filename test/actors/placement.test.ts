/** Where actors are to live (P1 to P4 of actors/Placement.ts), for any list of nodes. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Stream } from "effect"
import fc from "fast-check"
import { Placement, place } from "../../actors/Placement.ts"
import { Lease, type LiveNode } from "../../src/journal/Lease.ts"
import { hasShard, shardCount, shardOf } from "../../src/journal/shard.ts"
import { freshId } from "../../src/seed.ts"

const nodes = (least: number, most: number) => fc.integer({ min: least, max: most }).map((n) => Array.from({ length: n }, () => freshId("node")))
const sharesOf = (placed: ReadonlyArray<string>) => [...Map.groupBy(placed, (node) => node).values()].map((shards) => shards.length)

describe("a placement", () => {
  it("gives every shard to one live node, whoever works it out, and none above a tenth more than its share", () =>
    fc.assert(fc.property(nodes(1, 12), (live) => {
      const placed = place(live)
      assert.deepStrictEqual(place(live.toReversed()), placed)
      assert.strictEqual(placed.length, shardCount)
      for (const node of placed) assert.include(live, node)
      for (const share of sharesOf(placed)) assert.isAtMost(share, Math.ceil(shardCount * 1.1 / live.length))
    })))

  it("is nowhere without nodes", () => assert.deepStrictEqual(place([]), []))

  it("moves little more than the share of the node that comes or goes", () =>
    fc.assert(fc.property(nodes(2, 10), (live) => {
      const all = place(live)
      const without = place(live.slice(1))
      const stayed = all.filter((node, shard) => node !== live[0] && without[shard] !== node).length
      assert.isAtMost(stayed, shardCount * 0.1, "moved although its node stayed")
    })))

  it("spreads 3,000 threads over three nodes, none with more than 0.42 of them", () =>
    fc.assert(fc.property(nodes(3, 3), (live) => {
      const placed = place(live)
      const homes = Array.from({ length: 3_000 }, () => placed[shardOf(freshId("thread"))]!)
      for (const share of sharesOf(homes)) assert.isAtMost(share / 3_000, 0.42)
    }), { numRuns: 300 }))
})

describe("a node", () => {
  const me = freshId("node")
  const node = (incarnation: string, more: Partial<LiveNode> = {}): LiveNode => ({ incarnation, name: "n", actors: 0, births: 0, draining: false, bus: "", ...more })
  const placementAmong = (list: () => ReadonlyArray<LiveNode>) => {
    const lease = Lease.of({
      incarnation: () => me, nodes: list, now: () => 0, fenced: () => false, describe: () => {}, beat: Effect.void, beatEvery: 1_000, authRevision: () => 0,
      authChanges: Stream.empty, onLapse: () => Effect.void, rejoined: Stream.empty, leave: Effect.void
    })
    return Effect.runSync(Effect.scoped(Effect.map(Layer.build(Layer.provide(Placement.layer, Layer.succeed(Lease, lease))), (context) => Context.get(context, Placement))))
  }
  const isMine = (placement: Placement["Service"], id: string) => hasShard(placement.mine(), shardOf(id))

  it("that is alone has all shards, and none once it leaves", () => {
    let draining = false
    const placement = placementAmong(() => [node(me, { draining })])
    assert.strictEqual(placement.of(7), me)
    assert.isTrue(isMine(placement, freshId("thread")))
    draining = true
    assert.isUndefined(placement.of(7))
    assert.isFalse(isMine(placement, freshId("thread")))
  })

  it("follows the list of nodes", () => {
    let list = [node(me)]
    const placement = placementAmong(() => list)
    const before = placement.version()
    list = [node(me), node(freshId("node"))]
    assert.notStrictEqual(placement.version(), before)
    const other = Array.from({ length: shardCount }, (_, shard) => placement.of(shard)).filter((at) => at !== me)
    assert.isAbove(other.length, 80)
    list = [node(me), { ...list[1]!, draining: true }]
    assert.strictEqual(placement.of(0), me)
  })

  it("bears its actors in its own shards, until it has borne more than its share", () => {
    let births = 0
    const others = [freshId("node"), freshId("node")]
    const placement = placementAmong(() => [node(me), ...others.map((other) => node(other, { births }))])
    const own = (count: number) => Array.from({ length: count }, () => isMine(placement, placement.freshId("thread"))).filter(Boolean).length
    assert.strictEqual(own(128), 128)
    assert.isBelow(own(300), 200)
    births = placement.births()
    assert.strictEqual(own(200), 200)
  })

  it("that bears all of 3,000 threads alone keeps no more of them than 0.42", () => {
    const placement = placementAmong(() => [node(me), node(freshId("node")), node(freshId("node"))])
    const own = Array.from({ length: 3_000 }, () => isMine(placement, placement.freshId("thread"))).filter(Boolean).length
    assert.isAtMost(own / 3_000, 0.42)
  })
})
