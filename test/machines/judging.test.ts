/**
 * How a turn is judged: roles and hooks in order, rewrites, what parks and what goes on, places, clocks and numbers.
 */
import { assert, describe, it } from "@effect/vitest"
import { addUsage } from "../../src/domain/usage.ts"
import type { Command, OnTimeout, RepliedCall } from "../../machines/thread/commands.ts"
import { half, responseFits } from "../../src/domain/turnNumbers.ts"
import { deadlineOf, openWaits, roomForResponse, waitOf } from "../../machines/thread/context.ts"
import { decide } from "../../machines/thread/decide.ts"
import { isPublic } from "../../machines/thread/facts.ts"
import { fold, plainSnapshot } from "../../machines/thread/fold.ts"
import { refuse } from "../../machines/thread/refuse.ts"
import { violations } from "../invariants.ts"
import { call, clientCall, plan, refusedCall, turnOf, usage, Walk } from "./Walk.ts"

const running = (...calls: ReadonlyArray<RepliedCall>) => {
  const walk = new Walk().queue("A")
  return calls.length === 0 ? walk : walk.reply("", ...calls)
}
/** A turn whose message these hooks judge. */
const opening = (...hooks: ReadonlyArray<number>) => {
  const walk = new Walk()
  walk.openings = hooks
  return walk.queue("A")
}
/** A turn whose response these hooks judge. */
const reviewing = (hooks: ReadonlyArray<number>, ...calls: ReadonlyArray<RepliedCall>) => {
  const walk = new Walk().queue("A")
  return walk.do(walk.response("secret", calls, { hooks }))
}
const allow = { type: "decision", decision: "allow" } as const
const deny = { type: "decision", decision: "deny" } as const
const says = (text: string) => ({ content: [{ type: "text" as const, text }] })
const asks = (onTimeout: OnTimeout, timeoutMs = 1_000) => ({ ask: { target: "person" as const, timeoutMs, onTimeout } })

/** What runs now, with its input. */
const ran = (walk: Walk) =>
  (walk.steps.at(-1)?.jobs ?? []).flatMap(({ params, type }) => (type === "runTool" ? [params.input] : []))
const lastFacts = (walk: Walk) => walk.steps.at(-1)?.facts.map(({ type }) => type)
const prompted = (walk: Walk) =>
  walk.asked.map(({ data }) =>
    "content" in data ? data.content : "toolOutput" in data ? data.toolOutput : data.toolInput
  )

describe("hooks before a call", () => {
  it("are asked in order, each about what those before it have made of the input, then the tool runs with that", () => {
    const walk = running(call("a", { hooks: [0, 1, 2] }))
    assert.deepStrictEqual(walk.jobs, ["askHook 0 before_tool_call"])
    walk.decides("allow", { rewrite: { toolInput: "second" }, hooks: [1, 2] })
    assert.deepStrictEqual([walk.jobs, prompted(walk)], [["askHook 1 before_tool_call"], ["second"]])
    walk.decides("defer")
    assert.deepStrictEqual([walk.jobs, prompted(walk)], [["askHook 2 before_tool_call"], ["second"]])
    walk.decides("allow", { rewrite: { toolInput: "third" }, hooks: [] })
    assert.deepStrictEqual([walk.jobs, ran(walk)], [["runTool a"], ["third"]])
    assert.strictEqual(walk.text, "user(A) intent(A) hook(A: 0 allow) hook(A: 1 defer) hook(A: 2 allow)")
  })

  it("that a rewrite does not concern are not asked, and those that it concerns are", () => {
    const walk = running(call("a", { hooks: [0, 1] })).decides("allow", { rewrite: { toolInput: 1 }, hooks: [2] })
    assert.deepStrictEqual(walk.jobs, ["askHook 2 before_tool_call"])
  })

  it("stop at a deny: no other is asked, the tool does not run, and the model reads why", () => {
    const walk = running(call("a", { hooks: [0, 1] })).decides("deny", { reason: "Not on Fridays." })
    assert.strictEqual(walk.text, "user(A) intent(A) hook(A: 0 deny) result(A: hook_denied)")
    assert.deepStrictEqual(walk.jobs, ["sample 2.1 m/one"])
    const denied = walk.log.at(-1)?.event
    assert.strictEqual(denied !== undefined && "failureText" in denied ? denied.failureText : "", "Not on Fridays.")
  })

  it("that gave no answer that counts deny as hook_failed, where their onError denies", () => {
    assert.match(
      running(call("a", { hooks: [0] })).decides("deny", { failed: true }).text,
      /hook\(A: 0 deny\) result\(A: hook_failed\)$/
    )
  })

  it("whose rewrite comes with a defer or a deny have rewritten nothing", () => {
    for (const decision of ["defer", "deny"] as const) {
      const walk = running(call("a", { hooks: [0, 1] })).decides(decision, { rewrite: { toolInput: "never" } })
      assert.notInclude(JSON.stringify(walk.context.turn?.calls), "never")
    }
  })

  it("judge a client's call before the client hears of it", () => {
    const walk = running(clientCall("x", 1_000, { hooks: [0] }))
    assert.strictEqual(walk.text, "user(A) intent(A)")
    assert.strictEqual(walk.decides("allow").text, "user(A) intent(A) hook(A: 0 allow) wait_created(A)")
    assert.strictEqual(
      walk.answer().text,
      "user(A) intent(A) hook(A: 0 allow) wait_created(A) wait_resolved(A: result) result(A)"
    )
  })

  it("let a client's call go, which roles refuse by then: it comes back, and its place goes to the next", () => {
    const denied = { code: "tool_denied" as const, text: "Not any more." }
    const walk = running(clientCall("x", 1_000, { hooks: [0] }), call("a", { hooks: [1] }), call("b"))
    assert.deepStrictEqual(walk.jobs, ["askHook 0 before_tool_call", "askHook 1 before_tool_call"])
    walk.decides("allow", { refused: { [walk.call().toolCallId]: denied } })
    assert.deepStrictEqual(walk.jobs, ["runTool b"])
    assert.match(walk.text, /hook\(A: 0 allow\) result\(A: tool_denied\)$/)
  })

  it("are not asked about a call that roles refuse", () => {
    const walk = running(refusedCall())
    assert.strictEqual(walk.text, "user(A) intent(A) result(A: tool_denied)")
    assert.deepStrictEqual(walk.asked, [])
  })
})

describe("a role's approval", () => {
  it("is asked for again when a hook puts another input in place", () => {
    const walk = running(call("a", { approval: "role_1/0", hooks: [0, 1] })).answer()
    walk.decides("allow", { rewrite: { toolInput: { amount: 10_000 } }, hooks: [1] })
    assert.strictEqual(walk.status, "awaiting")
    assert.strictEqual(waitOf(walk.call())?.type, "role_approval")
    assert.deepStrictEqual(walk.call().input, { amount: 10_000 })
    walk.answer().decides("allow")
    assert.deepStrictEqual(walk.jobs, ["runTool a"])
    assert.match(
      walk.text,
      /wait_created\(A\) wait_resolved\(A: allow\) hook\(A: 0 allow\) wait_created\(A\) wait_resolved\(A: allow\) hook\(A: 1 allow\)$/
    )
  })

  it("that is asked for again and brings another input has the hooks begin anew: each is asked under another name, and parks anew", () => {
    const walk = running(call("a", { approval: "role_1/0", hooks: [0, 1] })).answer()
    const [first] = walk.asked
    walk.decides("ask").answer(0, { ...allow, rewrite: { toolInput: "by one" } }, [1])
    walk.answer(0, { ...allow, rewrite: { toolInput: "by another" } }, [0, 1])
    const [second] = walk.asked
    assert.deepStrictEqual([walk.jobs, prompted(walk)], [["askHook 0 before_tool_call"], ["by another"]])
    assert.deepStrictEqual([first?.round, second?.round], [undefined, 1])
    walk.decides("ask").answer()
    // Nobody has asked this one yet: whoever knows no rounds calls it the same.
    assert.deepStrictEqual([walk.jobs, walk.asked[0]?.round], [["askHook 1 before_tool_call"], undefined])
    assert.deepStrictEqual(ran(walk.decides("allow")), ["by another"])
    const waits = walk.log.flatMap((fact) => (fact.type === "wait_created" ? [fact.event.waitId] : []))
    assert.strictEqual(new Set(waits).size, 4)
  })

  it("that has the hooks begin anew leaves decisions about the input before without effect", () => {
    const walk = running(call("a", { approval: "role_1/0", hooks: [0] })).answer()
    const before = walk.decision("allow")
    walk
      .decides("allow", { rewrite: { toolInput: "by the hook" }, hooks: [] })
      .answer(0, { ...allow, rewrite: { toolInput: "by a person" } }, [0])
    const { snapshot } = walk
    assert.strictEqual(walk.do(before).snapshot, snapshot)
    assert.deepStrictEqual(ran(walk.decides("allow")), ["by a person"])
  })

  it("that brings another input before any hook was asked has them asked as if it had been there from the start", () => {
    const walk = running(call("a", { approval: "role_1/0", hooks: [0] })).answer(
      0,
      { ...allow, rewrite: { toolInput: "other" } },
      [0]
    )
    assert.notProperty(walk.asked[0], "round")
  })

  it("comes before the hooks: they are asked when it is given", () => {
    const walk = running(call("a", { approval: "role_1/0", hooks: [0] }))
    assert.deepStrictEqual([walk.text, walk.jobs, walk.status], ["user(A) intent(A) wait_created(A)", [], "awaiting"])
    assert.strictEqual(waitOf(walk.call())?.type, "role_approval")
    walk.answer()
    assert.deepStrictEqual(
      [walk.text, walk.jobs],
      ["user(A) intent(A) wait_created(A) wait_resolved(A: allow)", ["askHook 0 before_tool_call"]]
    )
    assert.deepStrictEqual(walk.decides("allow").jobs, ["runTool a"])
  })

  it("goes with the call to where it runs", () => {
    const walk = running(call("a", { approval: "role_1/0" })).answer()
    const [job] = walk.steps.at(-1)?.jobs ?? []
    assert.strictEqual(job?.type === "runTool" ? job.params.approved : undefined, "role_1/0")
  })

  it("that is refused is tool_denied; that nobody gives is wait_expired", () => {
    assert.match(
      running(call("a", { approval: "role_1/0" })).answer(0, deny).text,
      /wait_resolved\(A: deny\) result\(A: tool_denied\)$/
    )
    assert.match(
      running(call("a", { approval: "role_1/0" })).due(86_400_000).text,
      /wait_resolved\(A: expired\) result\(A: wait_expired\)$/
    )
  })

  it("may bring another input: hooks judge that one", () => {
    const walk = running(call("a", { approval: "role_1/0", hooks: [0] })).answer(
      0,
      { ...allow, rewrite: { toolInput: "other" } },
      [1]
    )
    assert.deepStrictEqual([walk.jobs, prompted(walk)], [["askHook 1 before_tool_call"], ["other"]])
  })

  it("is wanted again of the next call, unless it was given for the thread: then not of this tool, also in later turns", () => {
    const once = running(call("a", { approval: "role_1/0" }))
      .answer()
      .returns()
      .reply("", call("a", { approval: "role_1/0" }))
    assert.strictEqual(once.status, "awaiting")
    const walk = running(call("a", { approval: "role_1/0" }))
      .answer(0, { ...allow, scope: "thread" })
      .returns()
      .reply()
      .queue("B")
    assert.deepStrictEqual(walk.reply("", call("a", { approval: "role_1/0" })).jobs, ["runTool a"])
    walk.returns().reply("", call("b", { approval: "role_1/0" }), call("a", { approval: "role_2/0" }))
    assert.deepStrictEqual(
      openWaits(walk.turn).map(({ call }) => call?.name),
      ["b", "a"],
      "another tool, and another grant"
    )
  })

  it("that is refused for the thread is asked for again", () => {
    const walk = running(call("a", { approval: "role_1/0" }))
      .answer(0, { ...deny, scope: "thread" })
      .reply("", call("a", { approval: "role_1/0" }))
    assert.strictEqual(walk.status, "awaiting")
  })
})

describe("an ask", () => {
  it("is its decision and its wait in one step, and the thread awaits", () => {
    const walk = running(call("a", { hooks: [0] })).decides("ask")
    assert.deepStrictEqual([lastFacts(walk), walk.status], [["hook_decision", "wait_created"], "awaiting"])
    const [decision, wait] = walk.log.slice(-2).map(({ event }) => ("waitId" in event ? event.waitId : undefined))
    assert.strictEqual(decision, wait)
  })

  it("that is allowed goes on with the next hook, and does not ask this one again", () => {
    const walk = running(call("a", { hooks: [0, 1] }))
      .decides("ask")
      .answer()
    assert.deepStrictEqual(
      [walk.text, walk.jobs],
      ["user(A) intent(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: allow)", ["askHook 1 before_tool_call"]]
    )
    assert.deepStrictEqual(walk.decides("allow").jobs, ["runTool a"])
  })

  it("that is denied is the call's result, after the wait's", () => {
    const walk = running(call("a", { hooks: [0, 1] }))
      .decides("ask")
      .answer(0, { ...deny, reason: "No." })
    assert.deepStrictEqual(lastFacts(walk), ["wait_resolved", "tool_result"])
    assert.match(walk.text, /wait_resolved\(A: deny\) result\(A: hook_denied\)$/)
  })

  it("is about what the hook has rewritten, and a person may rewrite that again", () => {
    const asked = () =>
      running(call("a", { hooks: [0, 1] })).decides("ask", { rewrite: { toolInput: "by the hook" }, hooks: [] })
    assert.strictEqual(asked().call().input, "by the hook")
    assert.deepStrictEqual(ran(asked().answer()), ["by the hook"])
    assert.deepStrictEqual(ran(asked().answer(0, { ...allow, rewrite: { toolInput: "by a person" } }, [])), [
      "by a person"
    ])
  })

  it("whose rewrite concerns other hooks goes on with those, also when its end counts as an allow", () => {
    const walk = running(call("a", { hooks: [0, 1] })).decides("ask", {
      ...asks("allow"),
      rewrite: { toolInput: 1 },
      hooks: [2]
    })
    assert.deepStrictEqual(walk.due(1_000).jobs, ["askHook 2 before_tool_call"])
  })

  it.each([
    ["deny", "wait_resolved(A: expired) result(A: wait_expired)", "running", ["sample 2.1 m/one"]],
    ["allow", "wait_resolved(A: expired)", "running", ["askHook 1 before_tool_call"]],
    [
      "fail",
      "wait_resolved(A: expired) result(A: turn_interrupted) turn_failed(A: wait_expired)",
      "failed",
      ["abandon A"]
    ]
  ] as const)(
    "that nobody answers, with onTimeout %s: not before its time, then %s",
    (onTimeout, text, status, jobs) => {
      const walk = running(call("a", { hooks: [0, 1] })).decides("ask", asks(onTimeout))
      assert.strictEqual(walk.due(999).status, "awaiting")
      assert.strictEqual(walk.due(1).text, `user(A) intent(A) hook(A: 0 ask) wait_created(A) ${text}`)
      assert.deepStrictEqual([walk.status, walk.jobs], [status, jobs])
    }
  )

  it("with onTimeout fail ends the turn whatever else runs or waits", () => {
    const walk = running(call("a", { hooks: [0] }), call("b"), clientCall("x", 90_000)).decides("ask", asks("fail"))
    assert.strictEqual(
      walk.due(1_000).text,
      "user(A) intent(A) intent(A) intent(A) wait_created(A) hook(A: 0 ask) wait_created(A) wait_resolved(A: expired) wait_resolved(A: cancelled) " +
        "result(A: turn_interrupted) result(A: turn_interrupted) result(A: turn_interrupted) turn_failed(A: wait_expired)"
    )
    assert.deepStrictEqual(walk.jobs, ["abandon A"])
  })

  it("that was allowed for the thread is an allow from then on: of this hook and this tool, whatever the input", () => {
    const walk = running(call("a", { hooks: [0] }))
      .decides("ask")
      .answer(0, { ...allow, scope: "thread" })
      .returns()
      .reply()
      .queue("B")
    walk.reply("", { ...call("a", { hooks: [0] }), input: "another" }).decides("ask")
    assert.deepStrictEqual(walk.jobs, ["runTool a"])
    assert.match(walk.text, /hook\(B: 0 allow\)$/)
    walk
      .returns()
      .reply("", call("b", { hooks: [0] }))
      .decides("ask")
    assert.strictEqual(walk.status, "awaiting", "another tool")
    walk
      .answer()
      .returns()
      .reply("", call("a", { hooks: [1] }))
      .decides("ask")
    assert.strictEqual(walk.status, "awaiting", "another hook")
  })

  it("that was allowed for the thread hands its rewrite on, and is still not asked", () => {
    const walk = running(call("a", { hooks: [0] }))
      .decides("ask")
      .answer(0, { ...allow, scope: "thread" })
      .returns()
    walk.reply("", call("a", { hooks: [0] })).decides("ask", { rewrite: { toolInput: "new" }, hooks: [1] })
    assert.deepStrictEqual([walk.jobs, prompted(walk)], [["askHook 1 before_tool_call"], ["new"]])
  })

  it("takes a decision, and a client's call a result", () => {
    const walk = running(call("a", { hooks: [0] }), clientCall()).decides("ask")
    const [ask, client] = openWaits(walk.turn).map(({ wait }) => wait.waitId)
    assert.deepStrictEqual(walk.tell(walk.answering(ask ?? "")), { error: "wait_type_mismatch", type: "hook_ask" })
    assert.deepStrictEqual(walk.tell(walk.answering(client ?? "", allow)), {
      error: "wait_type_mismatch",
      type: "client_tool"
    })
  })

  it("is answered once, by whoever comes first", () => {
    const walk = running(call("a", { hooks: [0] })).decides("ask")
    const waitId = waitOf(walk.call())?.waitId ?? ""
    walk.answer()
    assert.deepStrictEqual(walk.tell(walk.answering(waitId, deny)), { error: "wait_not_open", waitId })
  })

  it("is void when the turn ends", () => {
    for (const end of [
      (walk: Walk) => walk.cancel(),
      (walk: Walk) => walk.interrupt("I"),
      (walk: Walk) => walk.poison()
    ]) {
      const walk = running(call("a", { hooks: [0] })).decides("ask")
      const waitId = waitOf(walk.call())?.waitId ?? ""
      assert.match(
        end(walk).text,
        /wait_created\(A\) wait_resolved\(A: cancelled\) result\(A: turn_interrupted\) turn_/
      )
      assert.deepStrictEqual(walk.tell(walk.answering(waitId, allow)), { error: "wait_not_open", waitId })
    }
  })

  it.each([
    [0, 0],
    [1, 0]
  ])("of each of two calls may be answered in any order (%i %i)", (...order) => {
    const walk = running(call("a", { hooks: [0] }), call("b", { hooks: [0] }))
      .decides("ask")
      .decides("ask")
    assert.lengthOf(openWaits(walk.turn), 2)
    for (const [i, place] of order.entries()) {
      assert.strictEqual(walk.status, i === 0 ? "awaiting" : "running")
      assert.deepStrictEqual(walk.answer(place).jobs, [`runTool ${order[0] === 0 ? "ab"[i] : "ba"[i]}`])
    }
  })
})

describe("places of calls", () => {
  const one = { ...plan, maxParallelTools: 1 }

  it("are taken while hooks are asked", () => {
    const walk = new Walk(one).queue("A").reply("", call("a", { hooks: [0] }), call("b"))
    assert.deepStrictEqual(walk.jobs, ["askHook 0 before_tool_call"])
    assert.deepStrictEqual(walk.decides("allow").jobs, ["runTool a"])
    assert.deepStrictEqual(walk.returns().jobs, ["runTool b"])
  })

  it("are given back while somebody is awaited, and wanted again after that", () => {
    const walk = new Walk(one).queue("A").reply("", call("a", { hooks: [0] }), call("b"))
    assert.deepStrictEqual(walk.decides("ask").jobs, ["runTool b"])
    assert.deepStrictEqual(walk.answer().jobs, [], "there is no place")
    assert.deepStrictEqual(walk.returns(1).jobs, ["runTool a"])
    assert.deepStrictEqual(lastFacts(walk), ["tool_result", "call_started"])
  })

  it("are taken by an answer where there is one, as its fact says", () => {
    const walk = running(call("a", { hooks: [0] }))
      .decides("ask")
      .answer()
    const fact = walk.log.at(-1)
    assert.deepStrictEqual(fact?.type === "wait_resolved" ? fact.detail : undefined, { started: true })
  })

  it("go on with the hooks after", () => {
    const walk = new Walk(one).queue("A").reply("", call("a"), call("b")).returns(0, undefined, [0])
    assert.deepStrictEqual(walk.jobs, ["askHook 0 after_tool_result"])
    assert.deepStrictEqual(walk.decides("allow").jobs, ["runTool b"])
  })
})

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

/** A walk of thousands of commands: held to the invariants when it is over. */
class LongWalk extends Walk {
  override tell(command: Command) {
    const refusal = refuse(this.snapshot, command)
    if (refusal !== undefined) return refusal
    const step = decide(this.snapshot, command)
    this.snapshot = step.next
    this.steps.push(step)
    this.log.push(...step.facts)
    return undefined
  }

  /** The highest number of an event that is no response's text. */
  conclude() {
    assert.deepStrictEqual(violations(this.recorded), [])
    const { carry, pending } = this.context
    assert.deepStrictEqual(
      plainSnapshot(fold({ carry, pending, facts: this.log, pos: 0, seq: 0 })),
      plainSnapshot(this.snapshot)
    )
    return Math.max(...this.log.filter(({ type }) => type !== "assistant_message").map(({ n }) => n))
  }

  /** Calls of one result each until the turn has so many events. */
  filledTo(events: number) {
    while (this.turn.events < events - 1) this.reply("", call()).returns()
    return this
  }

  /** Everything that can be asked is asked, and allowed with another input, at the greatest length. */
  askedAndAnswered() {
    while (this.context.turn !== null && (this.asked.length > 0 || openWaits(this.turn).length > 0)) {
      // While one is asked, the others that are answered find no place.
      if (this.asked.length > 0 && openWaits(this.turn).length === 0) this.decides("ask")
      else this.answerRewriting()
    }
    return this
  }

  /**
   * What the first hook asks about is put in other words, which the hooks behind it judge, and the role is asked about
   * anew.
   */
  private answerRewriting() {
    const hook = openWaits(this.turn)[0]?.wait.hook
    if (hook?.point !== "before_tool_call") return this.answer()
    const later = Array.from({ length: 15 - hook.index }, (_, i) => hook.index + 1 + i)
    return this.answer(0, { type: "decision", decision: "allow", rewrite: { toolInput: { by: hook.index } } }, later)
  }
}

describe("events of a turn", () => {
  const hooked = { ...plan, hooked: true as const, maxSteps: 10_000, maxParallelTools: 1 }
  const sixteen = Array.from({ length: 16 }, (_, index) => index)
  /** The most that a turn may hold and still begin a response. */
  const mostBefore = ({ turn }: Walk) => {
    let events = 0
    while (roomForResponse({ ...turn, events: events + 1 })) events++
    return events
  }

  it("never run into the numbers of its responses: 128 calls that wait for a role, sixteen hooks and the client", () => {
    const walk = new LongWalk(hooked).queue("A") as LongWalk
    walk.filledTo(mostBefore(walk))
    walk.reply(
      "",
      ...Array.from({ length: 128 }, () => clientCall("x", 1_000, { approval: "role_1/0", hooks: sixteen }))
    )
    walk.askedAndAnswered()
    assert.match(walk.text, /turn_failed\(A: step_limit\)$/)
    const highest = walk.conclude()
    assert.isBelow(highest, half)
    assert.isAbove(highest, 15_000, "it is the worst that can be")
  })

  it("nor when a person rewrites one call for ever: the turn ends while its end has its numbers", () => {
    const walk = new LongWalk(hooked).queue("A") as LongWalk
    walk.filledTo(mostBefore(walk))
    walk.reply("", ...Array.from({ length: 128 }, () => call("x", { approval: "role_1/0", hooks: [0] })))
    for (let i = 0; i < 20_000 && walk.context.turn !== null; i++) {
      if (walk.asked.length > 0 && openWaits(walk.turn).length === 0) walk.decides("ask")
      else
        walk.answer(
          0,
          { type: "decision", decision: "allow", rewrite: { toolInput: i } },
          openWaits(walk.turn)[0]?.wait.hook === undefined ? [0] : []
        )
    }
    assert.match(walk.text, /turn_failed\(A: step_limit\)$/)
    assert.isBelow(walk.conclude(), half)
  })

  it("leave room for one more response as long as all that it may begin has numbers", () => {
    for (const [hooked, most] of [
      [true, 2_484],
      [false, 14_948]
    ] as const) {
      assert.deepStrictEqual(
        [most, most + 1].map((events) => responseFits({ events, judged: 0, models: 1, hooked })),
        [true, false]
      )
    }
  })

  it("nor when a hundred steers, and another hundred as soon as there is room for them, are judged by sixteen hooks that ask", () => {
    const walk = new LongWalk(hooked).queue("A") as LongWalk
    walk.filledTo(mostBefore(walk) - 2_000)
    walk.openings = sixteen
    let steers = 0
    const more = () => {
      while (steers < 400 && walk.context.pending.length < 100) walk.steer(`s${++steers}`)
    }
    more()
    walk.reply()
    const { turnId } = walk.turn
    while (walk.context.turn?.turnId === turnId) {
      if (walk.asked.length > 0) walk.decides("ask")
      else if (walk.status === "awaiting") {
        more()
        walk.answer()
      } else walk.reply()
    }
    const highest = walk.conclude()
    assert.isBelow(highest, half)
    assert.isAbove(steers, 100)
    assert.notStrictEqual(walk.turn.turnId, turnOf("A"), "those that found no room run as turns of their own")
    assert.include(walk.text, "user(s2, in A)")
  })
})
