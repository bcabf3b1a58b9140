/** How results, messages and responses are judged, how long a turn runs meanwhile, and what comes too late. */
import { assert, describe, it } from "@effect/vitest"
import { addUsage } from "../../src/domain/usage.ts"
import { deadlineOf } from "../../machines/thread/context.ts"
import { isPublic } from "../../machines/thread/facts.ts"
import type { Walk } from "./Walk.ts"
import { call, clientCall, plan, turnOf, usage } from "./WalkCommands.ts"
import { allow, asks, deny, opening, prompted, reviewing, running, says } from "./judged.ts"

describe("hooks after a result", () => {
  it("are asked in order about what the tool said, and the result is what they leave", () => {
    const walk = running(call("a")).returns(0, undefined, [0, 1])
    assert.deepStrictEqual([walk.text, prompted(walk)], ["user(A) intent(A)", [{ ok: true }]])
    walk.decides("allow", { rewrite: { toolOutput: "redacted" }, hooks: [1] })
    assert.deepStrictEqual(prompted(walk), ["redacted"])
    walk.decides("defer")
    assert.strictEqual(walk.text, "user(A) intent(A) hook(A: 0 allow) hook(A: 1 defer) result(A)")
    const result = walk.log.at(-1)?.event
    assert.strictEqual(result !== undefined && "toolOutput" in result ? result.toolOutput : "", "redacted")
  })

  it.each([
    ["a deny", (walk: Walk) => walk.decides("deny"), "hook_denied"],
    ["an ask that is denied", (walk: Walk) => walk.decides("ask").answer(0, deny), "hook_denied"],
    ["an ask that nobody answers", (walk: Walk) => walk.decides("ask").due(1_000), "wait_expired"],
    ["a cancel meanwhile", (walk: Walk) => walk.cancel(), "turn_interrupted"]
  ] as const)("let nothing through by %s, but what it cost is counted", (_, end, failureCode) => {
    const walk = running(call("a"))
    const { toolCallId } = walk.call()
    walk.do({
      type: "tool.returned",
      at: walk.at,
      admissions: {},
      turnId: walk.turn.turnId,
      toolCallId,
      output: "secret",
      durationMs: 5,
      usage,
      hooks: [0],
      reveal: { families: ["memory"] }
    })
    end(walk)
    const result = walk.log.find(({ type }) => type === "tool_result")
    assert.deepInclude(result?.event, { toolCallId, toolOutput: null, failureCode, usage, timing: { durationMs: 5 } })
    assert.notInclude(JSON.stringify(walk.log.filter(isPublic)), "secret")
    assert.isUndefined(walk.context.carry.reveals)
  })

  it("judge what a client answered as well, also its error", () => {
    const walk = running(clientCall()).answer(0, undefined, [0])
    assert.deepStrictEqual([walk.jobs, prompted(walk)], [["askHook 0 after_tool_result"], [{ answer: 42 }]])
    assert.match(walk.decides("allow").text, /wait_resolved\(A: result\) hook\(A: 0 allow\) result\(A\)$/)
    const failed = running(clientCall())
      .answer(0, { type: "tool_result", error: { code: "no", message: "no" } }, [0])
      .decides("allow")
    assert.match(failed.text, /wait_resolved\(A: error\) hook\(A: 0 allow\) result\(A: tool_error\)$/)
  })
})

describe("hooks of a message", () => {
  it("are asked when it is in the log, before the model", () => {
    const walk = opening(0, 1)
    assert.deepStrictEqual([walk.text, walk.jobs], ["user(A)", ["askHook 0 before_turn_start"]])
    assert.deepStrictEqual(walk.decides("defer").jobs, ["askHook 1 before_turn_start"])
    assert.deepStrictEqual(walk.decides("allow").jobs, ["sample 1.1 m/one"])
  })

  it("see what those before them have made of it", () => {
    const walk = opening(0, 1, 2).decides("allow", { rewrite: says("tame"), hooks: [1, 2] })
    assert.deepStrictEqual(prompted(walk), [says("tame").content])
    walk.decides("ask").answer(0, { ...allow, rewrite: says("tamer") }, [2])
    assert.deepStrictEqual(prompted(walk), [says("tamer").content])
  })

  it.each([
    ["a deny", (walk: Walk) => walk.decides("deny"), "hook(A: 0 deny) turn_failed(A: hook_denied)"],
    [
      "no answer that counts",
      (walk: Walk) => walk.decides("deny", { failed: true }),
      "hook(A: 0 deny) turn_failed(A: hook_failed)"
    ],
    [
      "an ask that is denied",
      (walk: Walk) => walk.decides("ask").answer(0, deny),
      "hook(A: 0 ask) wait_created(A) wait_resolved(A: deny) turn_failed(A: hook_denied)"
    ],
    [
      "an ask that nobody answers",
      (walk: Walk) => walk.decides("ask").due(1_000),
      "hook(A: 0 ask) wait_created(A) wait_resolved(A: expired) turn_failed(A: wait_expired)"
    ],
    [
      "one that must be answered",
      (walk: Walk) => walk.decides("ask", asks("fail")).due(1_000),
      "hook(A: 0 ask) wait_created(A) wait_resolved(A: expired) turn_failed(A: wait_expired)"
    ]
  ] as const)("fail the turn by %s, and the next one runs", (_, end, text) => {
    const walk = opening(0, 1)
    walk.openings = []
    assert.strictEqual(end(walk.queue("B")).text, `user(A) ${text} user(B)`)
    assert.deepStrictEqual(walk.jobs, ["abandon A", "sample 1.1 m/one"])
  })

  it("go on when an ask ends that counts as an allow", () => {
    const walk = opening(0, 1).decides("ask", asks("allow")).due(1_000)
    assert.deepStrictEqual([walk.status, walk.jobs], ["running", ["askHook 1 before_turn_start"]])
  })

  it("judge steers one after the other, when they are applied", () => {
    const walk = running()
    walk.openings = [0]
    walk.steer("S").steer("T").reply()
    assert.strictEqual(walk.text, "user(A) assistant(A) user(S, in A) user(T, in A)")
    assert.deepStrictEqual(prompted(walk), [[{ type: "text", text: "S" }]])
    assert.deepStrictEqual(prompted(walk.decides("allow")), [[{ type: "text", text: "T" }]])
    assert.deepStrictEqual(walk.decides("allow").jobs, ["sample 2.1 m/one"])
  })

  it("judge a steer that came while another was judged or waited before the model sees either", () => {
    const walk = opening(0).decides("ask").steer("S")
    assert.deepStrictEqual([walk.text, walk.waiting], ["user(A) hook(A: 0 ask) wait_created(A)", ["S"]])
    walk.answer()
    assert.strictEqual(walk.text, "user(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: allow) user(S, in A)")
    assert.deepStrictEqual(walk.jobs, ["askHook 0 before_turn_start"])
    assert.deepStrictEqual(walk.decides("allow").jobs, ["sample 1.1 m/one"])
  })

  it("end the turn that a denied steer has joined, and the other steer goes before the queue", () => {
    const walk = running().queue("B")
    walk.openings = [0]
    walk.steer("S").reply().steer("T").decides("deny")
    assert.strictEqual(
      walk.text,
      "user(A) assistant(A) user(S, in A) hook(A: 0 deny) turn_failed(A: hook_denied) user(T)"
    )
  })

  it("that were answered for the thread are not asked again", () => {
    const walk = opening(0)
      .decides("ask")
      .answer(0, { ...allow, scope: "thread" })
      .reply()
      .queue("B")
      .decides("ask")
    assert.deepStrictEqual([walk.status, walk.jobs], ["running", ["sample 1.1 m/one"]])
  })
})

describe("hooks of a response", () => {
  it("see it before anybody else: nothing of it is public until they have answered", () => {
    const walk = reviewing([0, 1], call("a"))
    assert.deepStrictEqual([walk.text, walk.jobs], ["user(A)", ["askHook 0 after_model_response"]])
    walk.decides("allow", { rewrite: says("redacted"), hooks: [1] })
    assert.deepStrictEqual(prompted(walk), [says("redacted").content])
    walk.decides("defer")
    assert.deepStrictEqual(
      [walk.text, walk.jobs],
      ["user(A) hook(A: 0 allow) hook(A: 1 defer) assistant(A) intent(A)", ["runTool a"]]
    )
    assert.notInclude(JSON.stringify(walk.log.filter(isPublic)), "secret")
  })

  it.each([
    ["a deny", (walk: Walk) => walk.decides("deny"), "hook(A: 0 deny) turn_failed(A: hook_denied)"],
    [
      "no answer that counts",
      (walk: Walk) => walk.decides("deny", { failed: true }),
      "hook(A: 0 deny) turn_failed(A: hook_failed)"
    ],
    [
      "an ask that is denied",
      (walk: Walk) => walk.decides("ask").answer(0, deny),
      "hook(A: 0 ask) wait_created(A) wait_resolved(A: deny) turn_failed(A: hook_denied)"
    ],
    [
      "an ask that nobody answers",
      (walk: Walk) => walk.decides("ask").due(1_000),
      "hook(A: 0 ask) wait_created(A) wait_resolved(A: expired) turn_failed(A: wait_expired)"
    ]
  ] as const)("keep it to themselves by %s: no text, no call, but the tokens count", (_, end, text) => {
    const walk = end(reviewing([0, 1], call("a")))
    assert.strictEqual(walk.text, `user(A) ${text}`)
    assert.deepInclude(walk.log.at(-1)?.event, { usage })
    assert.notInclude(JSON.stringify(walk.log.filter(isPublic)), "secret")
  })

  it("count its tokens once, however it is judged", () => {
    const walk = reviewing([0, 1], call("a")).decides("ask").answer().decides("allow").returns().reply()
    assert.deepInclude(walk.log.at(-1)?.event, { usage: addUsage(usage, usage) })
  })

  it("that leave nothing of it leave no message: the turn is over, or goes on with who steered it", () => {
    const blank = { rewrite: says(" "), hooks: [] }
    assert.strictEqual(reviewing([0]).decides("allow", blank).text, "user(A) hook(A: 0 allow) turn_completed(A)")
    const walk = reviewing([0]).steer("S").decides("allow", blank)
    assert.deepStrictEqual([walk.text, walk.jobs], ["user(A) hook(A: 0 allow) user(S, in A)", ["sample 2.1 m/one"]])
    assert.strictEqual(
      walk.reply("", clientCall()).answer().reply("end").text,
      "user(A) hook(A: 0 allow) user(S, in A) intent(A) wait_created(A) wait_resolved(A: result) result(A) assistant(A) turn_completed(A)"
    )
  })

  it("leave its calls as they are when they take its text away", () => {
    assert.strictEqual(
      reviewing([0], call("a")).decides("allow", { rewrite: { content: [] }, hooks: [] }).text,
      "user(A) hook(A: 0 allow) intent(A)"
    )
  })
})

describe("the running time of a turn", () => {
  it.each([
    ["a message's ask", () => opening(0).decides("ask", asks("deny", 3_600_000))],
    ["a response's ask", () => reviewing([0, 1]).decides("ask", asks("deny", 3_600_000))],
    ["a call's ask", () => running(call("a", { hooks: [0] })).decides("ask", asks("deny", 3_600_000))],
    ["a role's approval", () => running(call("a", { approval: "role_1/0" }))]
  ] as const)("stands still while %s waits, and starts anew after it", (_, make) => {
    const walk = make().due(plan.maxTurnMs * 2)
    assert.strictEqual(walk.status, "awaiting")
    assert.strictEqual(deadlineOf(walk.answer().turn), walk.at + plan.maxTurnMs)
  })

  it("goes on while another call runs", () => {
    const walk = running(call("a", { hooks: [0] }), call("b")).decides("ask", asks("deny", 3_600_000))
    assert.strictEqual(walk.due(plan.maxTurnMs - 1).status, "running")
    walk.answer()
    assert.match(walk.due(1).text, /turn_failed\(A: turn_timeout\)$/)
  })

  it("ends the turn also while a hook is asked", () => {
    for (const walk of [opening(0), reviewing([0]), running(call("a", { hooks: [0] }))]) {
      assert.match(walk.due(plan.maxTurnMs).text, /turn_failed\(A: turn_timeout\)$/)
      assert.deepStrictEqual(walk.jobs, ["abandon A"])
    }
  })
})

describe("a hook's outcome that is stale", () => {
  it.each([
    ["of another hook", (walk: Walk) => walk.decision("deny", { index: 1 })],
    ["of another turn", (walk: Walk) => walk.decision("deny", { turnId: turnOf("gone") })],
    ["of another call", (walk: Walk) => walk.decision("deny", { toolCallId: "call_never" })],
    ["of another point", (walk: Walk) => walk.decision("deny", { point: "after_tool_result" })]
  ] as const)("changes nothing: %s", (_, make) => {
    const walk = running(call("a", { hooks: [0] }))
    const before = walk.snapshot
    walk.do(make(walk))
    assert.strictEqual(walk.snapshot, before)
  })

  it.each([
    ["a message", () => opening(0), { message: 7 }],
    ["a response", () => reviewing([0]), { step: 2 }]
  ] as const)("changes nothing: about another than %s", (_, make, other) => {
    const walk = make()
    const before = walk.snapshot
    walk.do(walk.decision("deny", other))
    assert.strictEqual(walk.snapshot, before)
  })

  it.each([
    ["a message", () => opening(0)],
    ["a response", () => reviewing([0])],
    ["a call", () => running(call("a", { hooks: [0] }))]
  ] as const)("changes nothing when %s was decided, or waits for somebody, already", (_, make) => {
    for (const decision of ["allow", "ask"] as const) {
      const walk = make()
      const decided = walk.decision(decision)
      const before = walk.do(decided).snapshot
      walk.do(decided).do({ ...decided, decision: "deny" })
      assert.strictEqual(walk.snapshot, before)
    }
  })
})
