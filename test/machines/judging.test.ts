/** How calls of a turn are judged: roles and hooks in order, rewrites, what parks and what goes on, and places. */
import { assert, describe, it } from "@effect/vitest"
import { openWaits, waitOf } from "../../machines/thread/context.ts"
import { Walk } from "./Walk.ts"
import { call, clientCall, plan, refusedCall } from "./WalkCommands.ts"
import { allow, asks, deny, lastFacts, prompted, ran, running } from "./judged.ts"

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
