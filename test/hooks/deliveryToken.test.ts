import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { DeliveryTokens } from "../../src/hooks/deliveryToken.ts"
import { freshId } from "../../src/seed.ts"

const tokens = (...secrets: ReadonlyArray<number>) =>
  Effect.runSync(
    DeliveryTokens.pipe(Effect.provide(DeliveryTokens.layer(secrets.map((fill) => new Uint8Array(32).fill(fill)))))
  )
const delivered = { workspace: freshId("workspace"), threadId: freshId("thread"), deliveryId: freshId("delivery") }
const other = { workspace: freshId("workspace"), threadId: freshId("thread"), deliveryId: freshId("delivery") }

describe("a delivery's token", () => {
  it("says whose delivery it is, to whoever knows the server's key", () => {
    const token = tokens(1).of(delivered)
    assert.match(token, /^trd_[0-9a-z]{52}[A-Za-z0-9_-]{43}$/)
    assert.strictEqual(tokens(1).of(delivered), token)
    assert.deepStrictEqual(tokens(1).open(delivered.deliveryId, token), delivered)
    assert.isUndefined(tokens(2).open(delivered.deliveryId, token))
  })

  it("goes on counting while the keys change", () => {
    const token = tokens(1).of(delivered)
    assert.deepStrictEqual(tokens(2, 1).open(delivered.deliveryId, token), delivered)
    assert.notStrictEqual(tokens(2, 1).of(delivered), token)
  })

  it("is good for its own delivery only", () => {
    const [mine, theirs] = [tokens(1).of(delivered), tokens(1).of(other)]
    assert.isUndefined(tokens(1).open(other.deliveryId, mine))
    assert.isUndefined(tokens(1).open(delivered.deliveryId, mine.slice(0, 4) + theirs.slice(4, 30) + mine.slice(30)))
    assert.isUndefined(tokens(1).open(delivered.deliveryId, mine.slice(0, 30) + theirs.slice(30, 56) + mine.slice(56)))
  })

  it("is not opened when a character of it is another, or when it is anything else", () => {
    const token = tokens(1).of(delivered)
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom(..."0aAz-_Z9~"), (at, character) => {
        const changed = token.slice(0, at) + character + token.slice(at + 1)
        if (changed !== token) assert.isUndefined(tokens(1).open(delivered.deliveryId, changed))
      })
    )
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) =>
        assert.isUndefined(tokens(1).open(delivered.deliveryId, text))
      )
    )
  })
})
