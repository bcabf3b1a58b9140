/** Every edge of the charts of calls and of hooks is taken. `Walk` holds that no other is, here and in all walks. */
import { assert, describe, it } from "@effect/vitest"
import { callChart, hooksChart } from "../../machines/thread/callChart.ts"
import type { GivenAnswer, Plan } from "../../machines/thread/commands.ts"
import { callSteps, edgesOf, hookSteps } from "./callSteps.ts"
import { Walk } from "./Walk.ts"
import { call, clientCall, plan, refusedCall } from "./WalkCommands.ts"

const allow: GivenAnswer = { type: "decision", decision: "allow" }
const deny: GivenAnswer = { type: "decision", decision: "deny" }
const grant = "role_1/0"

const start = (limits: Partial<Plan> = {}) => new Walk({ ...plan, ...limits }).queue("A")
const running = (...calls: ReadonlyArray<ReturnType<typeof call>>) => start().reply("", ...calls)
/** The one place is another call's. */
const behind = (...calls: ReadonlyArray<ReturnType<typeof call>>) =>
  start({ maxParallelTools: 1 }).reply("", call("first"), ...calls)

const ways: ReadonlyArray<Walk> = [
  running(call("a")).returns(),
  running(call("a")).cancel(),
  running(refusedCall()),
  running(clientCall()).answer(),
  running(clientCall()).answer(0, undefined, [3]).decides("allow"),
  behind(clientCall()).answer(0, undefined, [3]).returns().decides("allow"),
  // A role asks.
  running(call("a", { approval: grant })).answer(),
  running(call("a", { approval: grant })).answer(0, deny),
  running(call("a", { approval: grant, hooks: [0] })).answer(),
  running(clientCall("x", 1_000, { approval: grant })).answer(),
  behind(call("a", { approval: grant })).answer(),
  // Hooks judge the call.
  running(call("a", { hooks: [0, 1] }))
    .decides("allow")
    .decides("allow"),
  running(call("a", { hooks: [0] })).decides("deny"),
  running(clientCall("x", 1_000, { hooks: [0] })).decides("allow"),
  running(call("a", { hooks: [0] }))
    .decides("ask")
    .answer(),
  running(call("a", { hooks: [0, 1] }))
    .decides("ask")
    .answer(),
  running(call("a", { hooks: [0] }))
    .decides("ask")
    .answer(0, deny),
  running(call("a", { hooks: [0] }))
    .decides("ask")
    .answer(0, allow, [0]),
  // Those who want a place.
  behind(call("a")).returns(),
  behind(call("a", { hooks: [0] })).returns(),
  behind(call("a", { hooks: [0] }), call("b"))
    .returns()
    .decides("ask")
    .answer(0, allow, [0]),
  // Hooks judge the result.
  running(call("a")).returns(0, undefined, [2, 3]).decides("allow").decides("allow"),
  running(call("a")).returns(0, undefined, [2]).decides("deny"),
  running(call("a")).returns(0, undefined, [2]).decides("ask").answer(),
  running(call("a")).returns(0, undefined, [2, 3]).decides("ask").answer(),
  start({ maxParallelTools: 1 })
    .reply("", call("a"), call("b"))
    .returns(0, undefined, [2, 3])
    .decides("ask")
    .answer(0, allow, [3])
]

const taken = (stepsOf: typeof callSteps) =>
  new Set(
    ways.flatMap(({ steps }) =>
      steps.flatMap(({ facts }, i) => (i === 0 ? [] : stepsOf(steps[i - 1]?.next.context ?? assert.fail(), facts)))
    )
  )

describe("every edge of the chart of", () => {
  it("a call is taken by some call", () => {
    assert.deepStrictEqual([...taken(callSteps)].toSorted(), [...new Set(edgesOf(callChart))].toSorted())
  })

  it("a chain of hooks is taken by some chain", () => {
    assert.deepStrictEqual([...taken(hookSteps)].toSorted(), [...new Set(edgesOf(hooksChart))].toSorted())
  })
})
