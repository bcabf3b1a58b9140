/** An identity's chart: enabled or disabled, and a fold that finds it again. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import type { Command, Fact, Snapshot } from "../../machines/identity/chart.ts"
import { decide, start } from "../../machines/identity/decide.ts"
import { contextOf, restore } from "../../machines/identity/fold.ts"

const by = { type: "user", id: "ann" } as const
const plain = ({ context, value }: Snapshot) => ({ context, value })

const walk = (commands: ReadonlyArray<Command["type"]>) => {
  let snapshot = start()
  const facts: Array<Fact> = []
  for (const [at, type] of commands.entries()) {
    const step = decide(snapshot, { type, by, at })
    snapshot = step.next
    facts.push(...step.facts)
    assert.deepStrictEqual(plain(restore(contextOf(facts))), plain(snapshot))
  }
  return { facts, snapshot }
}

describe("an identity", () => {
  it("is enabled until somebody disables it, and knows who did and when", () => {
    assert.strictEqual(start().value, "enabled")
    assert.deepStrictEqual(plain(walk(["disable"]).snapshot), { value: "disabled", context: { disabled: { at: 0, by } } })
    assert.deepStrictEqual(plain(walk(["disable", "enable"]).snapshot), plain(start()))
  })

  it("changes nothing when it is told what it is: the first who said it stays", () => {
    assert.deepStrictEqual(walk(["enable", "disable", "disable"]).facts, [{ type: "identity_disabled", by, at: 1 }])
  })

  it("says by turns that it was disabled and enabled, whatever it is told, and folds back", () => {
    fc.assert(fc.property(fc.array(fc.constantFrom("disable" as const, "enable" as const), { maxLength: 30 }), (commands) => {
      const { facts } = walk(commands)
      for (const [i, { type }] of facts.entries()) assert.strictEqual(type, i % 2 === 0 ? "identity_disabled" : "identity_enabled")
    }))
  })
})
