import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { leasePattern, makeAgentLeases } from "../../src/keys/AgentLeases.ts"
import { freshId } from "../../src/seed.ts"

const at = Date.parse("2026-11-23T07:00:00.000Z")
const leases = (...secrets: ReadonlyArray<number>) =>
  makeAgentLeases({
    secrets: secrets.map((fill) => new Uint8Array(32).fill(fill)),
    publicUrl: undefined,
    now: () => at + 0.7
  })
const holder = () => ({
  workspace: freshId("workspace"),
  agentId: freshId("agent"),
  threadId: freshId("thread"),
  turnId: freshId("turn"),
  hops: 3
})

describe("an agent's lease", () => {
  const held = holder()
  const { token } = leases(1).give(held)

  it("says in whose turn it was given and until when, to whoever knows the server's key", () => {
    assert.deepStrictEqual(leases(1).open(token), { ...held, expiresAt: at + 900_000 })
    assert.isUndefined(leases(2).open(token))
    assert.deepStrictEqual(token.match(leasePattern), [token])
  })

  it("tells its end, and where it is used if that is known", () => {
    assert.deepStrictEqual(leases(1).give(held), { token, expiresAt: "2026-11-23T07:15:00.000Z" })
    const baseUrl = "https://agents.example.com"
    assert.strictEqual(
      makeAgentLeases({ secrets: [new Uint8Array(32)], publicUrl: baseUrl, now: () => at }).give(held).baseUrl,
      baseUrl
    )
  })

  it("goes on counting while the keys change", () => {
    assert.deepStrictEqual(leases(2, 1).open(token), leases(1).open(token))
    assert.notStrictEqual(leases(2, 1).give(held).token, token)
  })

  it("is not put together of others: each part is signed", () => {
    const theirs = leases(1).give(holder()).token
    for (let from = 4; from < token.length; from += 26) {
      const mixed = token.slice(0, from) + theirs.slice(from, from + 26) + token.slice(from + 26)
      if (mixed !== token) assert.isUndefined(leases(1).open(mixed), String(from))
    }
  })

  it("is not opened cut short, longer, with another character, or when it is anything else", () => {
    for (let length = 0; length < token.length; length++) assert.isUndefined(leases(1).open(token.slice(0, length)))
    for (const text of [`${token}A`, ` ${token}`, `${token}\n`, token.toUpperCase()])
      assert.isUndefined(leases(1).open(text))
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom(..."0aAz-_Z9~"), (at, character) => {
        const changed = token.slice(0, at) + character + token.slice(at + 1)
        if (changed !== token) assert.isUndefined(leases(1).open(changed))
      })
    )
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => assert.isUndefined(leases(1).open(text))))
  })

  it("counts hops as far as it has room", () => {
    for (const [hops, kept] of [
      [0, 0],
      [9, 9],
      [31, 31],
      [1000, 31]
    ] as const)
      assert.strictEqual(leases(1).open(leases(1).give({ ...held, hops }).token)?.hops, kept)
  })
})
