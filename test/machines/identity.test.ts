/** An identity's chart: enabled or disabled, and a fold that finds it again. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { identityKind, row } from "../../actors/identity/kind.ts"
import type { Loaded } from "../../src/journal/Journal.ts"
import type { WrittenFact } from "../../machines/inspected.ts"
import { chart, type Command, type Fact, type Snapshot } from "../../machines/identity/chart.ts"
import { causes } from "../../machines/identity/inspected.ts"
import { asLogged, checkStep, possibleBehind } from "./stepChecks.ts"
import { decide, start } from "../../machines/identity/decide.ts"
import { contextOf, restore } from "../../machines/identity/fold.ts"

const by = { type: "user", id: "ann" } as const
const plain = ({ context, value }: Snapshot) => ({ context, value })

/** The way through the stored row. */
const load = (snapshot: Snapshot) => {
  const { carry, since } = identityKind.standing(snapshot)
  assert.isNull(since)
  return identityKind.load(rowOf(carry))
}
const rowOf = (carry: string): Loaded => ({
  actor: { workspace: "wsp_1", kind: "identity", id: "idn_1" },
  parent: null,
  attributes: "{}",
  createdAt: 0,
  epoch: 1,
  takeovers: 0,
  mine: true,
  head: { pos: 0, seq: 0, rev: 0, status: "", runnableAt: null, since: null, carry, updatedAt: 0 },
  facts: [],
  inputs: []
})

/** `cold`: it is loaded before the next command. */
const walk = (commands: ReadonlyArray<Command["type"]>, cold: ReadonlyArray<boolean> = []) => {
  let snapshot = start()
  const facts: Array<Fact> = []
  const log: Array<WrittenFact> = []
  for (const [at, type] of commands.entries()) {
    const before = snapshot
    const command = { type, by, at }
    const step = decide(before, command)
    snapshot = step.next
    facts.push(...step.facts)
    log.push(...asLogged(log, step.facts.map(row), causes[type]))
    checkStep({
      chart,
      inspected: identityKind.inspected,
      before,
      next: snapshot,
      command,
      log,
      written: step.facts.length
    })
    assert.deepStrictEqual(plain(restore(contextOf(facts))), plain(snapshot))
    assert.deepStrictEqual(plain(load(snapshot)), plain(snapshot))
    if (cold[at] === true) snapshot = load(snapshot)
  }
  return { facts, snapshot }
}

describe("an identity", () => {
  it("is enabled until somebody disables it, and knows who did and when", () => {
    assert.strictEqual(start().value, "enabled")
    assert.deepStrictEqual(plain(walk(["disable"]).snapshot), {
      value: "disabled",
      context: { disabled: { at: 0, by } }
    })
    assert.deepStrictEqual(plain(walk(["disable", "enable"]).snapshot), plain(start()))
  })

  it("says what may come next, which nothing refuses: what it is told already is no event of its state", () => {
    const logged = (type: "disable" | "enable") =>
      asLogged([], walk(type === "disable" ? ["disable"] : ["disable", "enable"]).facts.map(row), causes[type])
    assert.deepStrictEqual(possibleBehind(identityKind.inspected, logged("disable")), { enable: ["enabled"] })
    assert.deepStrictEqual(possibleBehind(identityKind.inspected, logged("enable")), { disable: ["disabled"] })
  })

  it("changes nothing when it is told what it is: the first who said it stays", () => {
    assert.deepStrictEqual(walk(["enable", "disable", "disable"]).facts, [{ type: "identity_disabled", by, at: 1 }])
  })

  it("is enabled in a row that no fact has written to, and in one with an empty carry", () => {
    assert.deepStrictEqual(plain(load(start())), plain(start()))
    assert.deepStrictEqual(plain(identityKind.load(rowOf("{}"))), plain(start()))
  })

  it("says by turns that it was disabled and enabled, whatever it is told, and comes to the same with cold loads between", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("disable" as const, "enable" as const), { maxLength: 30 }),
        fc.array(fc.boolean(), { maxLength: 30 }),
        (commands, cold) => {
          const { facts, snapshot } = walk(commands, cold)
          assert.deepStrictEqual(
            { facts, snapshot: plain(snapshot) },
            { facts: walk(commands).facts, snapshot: plain(walk(commands).snapshot) }
          )
          for (const [i, { type }] of facts.entries())
            assert.strictEqual(type, i % 2 === 0 ? "identity_disabled" : "identity_enabled")
        }
      )
    )
  })
})
