/** What results reveal stays in force, up to what a thread may have revealed in all. */
import { assert, describe, it } from "@effect/vitest"
import { limits } from "../../src/domain/limits.ts"
import type { ToolReveal } from "../../src/domain/event.ts"
import { Walk } from "./Walk.ts"
import { call } from "./WalkCommands.ts"

const tools = (from: number, count: number): NonNullable<ToolReveal["tools"]> =>
  Array.from({ length: count }, (_, i) => ({ toolsetId: "tset_1", namespace: "n", name: `t${from + i}` }))

/** A turn whose first call has come back with this. */
const reveals = (walk: Walk, name: string, reveal: ToolReveal) => {
  walk.queue(name).reply("", call("tool_search"))
  const { toolCallId } = walk.call()
  walk.do({
    type: "tool.returned",
    at: walk.at,
    admissions: walk.admissions(),
    turnId: walk.turn.turnId,
    toolCallId,
    durationMs: 1,
    output: "found",
    reveal
  })
  walk.reply()
  const results = walk.log.flatMap((fact) => (fact.type === "tool_result" ? [fact.event] : []))
  return results.at(-1)
}

describe("a thread", () => {
  it("has what was revealed in any of its turns, each once", () => {
    const walk = new Walk()
    reveals(walk, "A", { families: ["thread"], tools: tools(0, 2) })
    reveals(walk, "B", { families: ["thread", "agents"], tools: tools(1, 2) })
    assert.deepStrictEqual(walk.context.carry.reveals, {
      families: ["thread", "agents"],
      tools: ["tset_1/t0", "tset_1/t1", "tset_1/t2"]
    })
  })

  it(`has at most ${limits.revealedPerThread} tools: a result that would bring one more fails, and reveals nothing`, () => {
    const walk = new Walk()
    for (let i = 0; i < 25; i++) reveals(walk, `A${i}`, { tools: tools(i * 10, 10) })
    const known = () => walk.context.carry.reveals?.tools.length
    const over = reveals(walk, "B", { families: ["agents"], tools: tools(250, 7) })
    assert.strictEqual(over?.failureCode, "tool_error")
    assert.match(over?.failureText ?? "", /has 250 revealed tools of at most 256/)
    assert.isNull(over?.toolOutput)
    assert.strictEqual(known(), 250)
    assert.deepStrictEqual(walk.context.carry.reveals?.families, [])
    assert.isUndefined(reveals(walk, "C", { tools: tools(250, 6) })?.failureCode)
    assert.strictEqual(known(), limits.revealedPerThread)
    assert.strictEqual(reveals(walk, "D", { tools: tools(256, 1) })?.failureCode, "tool_error")
    // What it has already is no more; a family is no tool.
    assert.isUndefined(reveals(walk, "E", { families: ["agents"], tools: tools(0, 10) })?.failureCode)
    assert.strictEqual(known(), limits.revealedPerThread)
  })
})
