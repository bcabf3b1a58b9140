/** Ids (src/domain/ids.ts, src/seed.ts): what every noun's have in common. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { bornAt, derive, fromBytes, fromUuid, isIdOf, prefixes, toUuid, writeBytes } from "../../src/domain/ids.ts"
import { coarseOf, shardCount, shardOf } from "../../src/journal/shard.ts"
import { freshBody, freshId } from "../../src/seed.ts"

const ids = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => prefixes.thread + fromBytes(bytes))

describe("an id", () => {
  it("comes back from the UUID that the database stores, and from its bytes", () =>
    fc.assert(
      fc.property(ids, (id) => {
        assert.isTrue(isIdOf("thread")(id))
        assert.match(toUuid(id), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
        assert.strictEqual(fromUuid("thread", toUuid(id)), id)
        const bytes = new Uint8Array(20).fill(255)
        writeBytes(bytes, 2, id)
        assert.strictEqual(prefixes.thread + fromBytes(bytes.subarray(2, 18)), id)
        assert.deepStrictEqual([...bytes.subarray(0, 2), ...bytes.subarray(18)], [255, 255, 255, 255], "no byte beside")
      })
    ))

  it("is of the shard that twelve bits of its UUID say, as in SQL; the first eight are the shard of earlier versions", () =>
    fc.assert(
      fc.property(ids, (id) => {
        assert.strictEqual(shardOf(id), Number.parseInt(toUuid(id).slice(26, 29), 16))
        assert.strictEqual(coarseOf(shardOf(id)), Number.parseInt(toUuid(id).slice(26, 28), 16))
      })
    ))
})

describe("a fresh id", () => {
  it("is a UUIDv7 of now, later than the one before, with its last 15 bits free", () => {
    let before = ""
    // More than there are in a millisecond.
    for (let i = 0; i < 20_000; i++) {
      const body = freshBody()
      assert.isTrue(body > before, `${body} after ${before}`)
      before = body
      assert.match(toUuid(body), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{8}[08]000$/)
    }
    assert.closeTo(bornAt(before), Date.now(), 1_000)
    assert.strictEqual(bornAt(before), Number.parseInt(toUuid(before).replace("-", "").slice(0, 12), 16))
  })

  it("is of the shard that is asked for, and random beside it", () => {
    const bodies = Array.from({ length: shardCount }, (_, shard) => freshBody(shard))
    assert.deepStrictEqual(
      bodies.map(shardOf),
      bodies.map((_, shard) => shard)
    )
    for (const body of bodies)
      assert.match(toUuid(body), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{8}[08]000$/)
    const others = bodies.map((body) => body.slice(14, 18) + body.slice(21, 23))
    assert.isAbove(new Set(others).size, shardCount * 0.99)
  })

  it("names 32,768 others, each its own", () => {
    const seed = freshId("turn")
    assert.strictEqual(derive("turn", seed, 0), seed)
    assert.strictEqual(new Set(Array.from({ length: 32_768 }, (_, i) => derive("event", seed, i))).size, 32_768)
    assert.throws(() => derive("event", seed, 32_768), RangeError)
  })
})
