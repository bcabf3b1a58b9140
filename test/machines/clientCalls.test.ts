/** Calls within a turn that a client executes. */
import { assert, describe, it } from "@effect/vitest"
import { deadlineOf, waitOf } from "../../machines/thread/context.ts"
import { running, Walk } from "./Walk.ts"
import { call, clientCall, plan, turnOf } from "./WalkCommands.ts"

describe("a call that a client executes", () => {
  it("parks the turn: the thread awaits", () => {
    const walk = running().reply("", clientCall())
    assert.strictEqual(walk.text, "user(A) intent(A) wait_created(A)")
    assert.strictEqual(walk.status, "awaiting")
    assert.deepStrictEqual(walk.jobs, [])
  })

  it("goes on with the client's answer, or with its error", () => {
    assert.strictEqual(
      running().reply("", clientCall()).answer().text,
      "user(A) intent(A) wait_created(A) wait_resolved(A: result) result(A)"
    )
    const walk = running()
      .reply("", clientCall())
      .answer(0, { type: "tool_result", error: { code: "no_disk", message: "full" } })
    assert.strictEqual(walk.text, "user(A) intent(A) wait_created(A) wait_resolved(A: error) result(A: tool_error)")
    assert.deepStrictEqual(walk.jobs, ["sample 2.1 m/one"])
  })

  it.each([
    [0, 0, 0],
    [2, 1, 0],
    [1, 0, 0],
    [0, 1, 0],
    [1, 1, 0],
    [2, 0, 0]
  ])("goes on when all are answered, in any order (%i %i %i)", (...order) => {
    const walk = running().reply("", clientCall("x"), clientCall("y"), clientCall("z"))
    for (const [i, place] of order.entries()) {
      assert.strictEqual(walk.status, "awaiting", `after ${i} answers`)
      walk.answer(place)
    }
    assert.deepStrictEqual(walk.jobs, ["sample 2.1 m/one"])
  })

  it("does not make the thread await while another call runs", () => {
    const walk = running().reply("", call(), clientCall())
    assert.strictEqual(walk.status, "running")
    assert.strictEqual(walk.returns().status, "awaiting")
    const other = running().reply("", call(), clientCall()).answer()
    assert.strictEqual(other.status, "running")
    assert.deepStrictEqual(other.returns().jobs, ["sample 2.1 m/one"])
  })

  it("takes no place from the calls that run", () => {
    const walk = new Walk({ ...plan, maxParallelTools: 1 }).queue("A").reply("", clientCall(), call("a"), call("b"))
    assert.deepStrictEqual(walk.jobs, ["runTool a"])
    assert.deepStrictEqual(walk.returns(1).jobs, ["runTool b"])
  })

  it("expires as tool_timeout, not before its time, and the turn goes on", () => {
    const walk = running().reply("", clientCall("x", 1_000), clientCall("y", 5_000))
    assert.strictEqual(walk.due(999).text, "user(A) intent(A) intent(A) wait_created(A) wait_created(A)")
    assert.match(walk.due(1).text, /wait_resolved\(A: expired\) result\(A: tool_timeout\)$/)
    assert.strictEqual(walk.status, "awaiting")
    assert.deepStrictEqual(walk.due(4_000).jobs, ["sample 2.1 m/one"])
  })

  it("expires also while another call runs", () => {
    const walk = running().reply("", clientCall("x", 1_000), call()).due(1_000)
    assert.match(walk.text, /wait_resolved\(A: expired\) result\(A: tool_timeout\)$/)
    assert.strictEqual(walk.status, "running")
  })

  it("may be answered late, as long as nobody has said that it expired", () => {
    const walk = running().reply("", clientCall("x", 1_000))
    walk.at += 10_000
    assert.match(walk.answer().text, /wait_resolved\(A: result\) result\(A\)$/)
  })

  it("may be answered once", () => {
    const walk = running().reply("", clientCall("x"), clientCall("y"))
    const waitId = waitOf(walk.call())?.waitId ?? ""
    walk.answer()
    assert.deepStrictEqual(walk.tell(walk.answering(waitId)), { error: "wait_not_open", waitId })
  })

  it("stops no clock of a turn that runs, and restarts it when the turn goes on", () => {
    const walk = running()
      .reply("", clientCall("x", 3_600_000))
      .due(plan.maxTurnMs * 2)
    assert.strictEqual(walk.status, "awaiting")
    assert.strictEqual(deadlineOf(walk.answer().turn), walk.at + plan.maxTurnMs)
  })

  it("ends with the turn that is cancelled", () => {
    assert.strictEqual(
      running().reply("", clientCall()).cancel().text,
      "user(A) intent(A) wait_created(A) wait_resolved(A: cancelled) result(A: turn_interrupted) turn_cancelled(A)"
    )
  })

  it("leaves the queue alone while the thread awaits", () => {
    const walk = running().reply("", clientCall()).queue("B")
    assert.deepStrictEqual([walk.status, ...walk.waiting], ["awaiting", "B"])
    assert.strictEqual(walk.answer().reply().turn.turnId, turnOf("B"))
  })

  it("fails the turn by step_limit when its answer leaves no response", () => {
    const walk = new Walk({ ...plan, maxSteps: 1 }).queue("A").reply("", clientCall()).answer()
    assert.strictEqual(walk.status, "failed")
    assert.match(walk.text, /result\(A\) turn_failed\(A: step_limit\)$/)
  })
})
