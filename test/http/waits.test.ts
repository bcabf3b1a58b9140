/** What a turn waits for over HTTP: read, answered once, and refused in every way that the contract names. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { Threads } from "../../actors/thread/Threads.ts"
import { limits } from "../../src/domain/limits.ts"
import { startServer, type TestServer } from "../setup/server.ts"
import { absent, assertRefused } from "./refused.ts"
import { Watcher } from "./sse.ts"
import { ended, logOf, submit } from "./threadFixture.ts"
import { addRole, assertSound, leavesMemory, only, outcomes, told, waitsOf } from "./toolFixture.ts"
import {
  answer,
  asking,
  decision,
  type Desk,
  failed,
  furnish,
  parked,
  pathOf,
  resolved,
  result,
  type Wait
} from "./waitFixture.ts"

let server: TestServer
let desk: Desk
beforeAll(async () => {
  server = await startServer({ idleMs: 100 })
  desk = await furnish(server.alpha, "desk")
})
afterAll(async () => {
  await assertSound(server)
  await server.stop()
})

const park = (agentId: string, lines: ReadonlyArray<string>, count?: number) =>
  parked(server.alpha, agentId, lines, count)
const owed = () => park(desk.plain, [desk.tool("print", { document: "a" })])
const asked = (...names: ReadonlyArray<string>) =>
  park(
    desk.asked,
    (names.length === 0 ? ["sign"] : names).map((name) => desk.tool(name, { document: "a" })),
    names.length || 1
  )
const say = (threadId: string, wait: Wait, body: object, headers?: Record<string, string>) =>
  answer(server.alpha, threadId, wait, body, headers)
const done = (threadId: string, turns = 1) => logOf(server.alpha, threadId, ended(turns))
const detail = async (threadId: string) => (await server.alpha.get(`/v1/threads/${threadId}`)).body

describe.concurrent("the result of a call that a client executes", () => {
  it("goes to the model, and the answer tells the wait and the event that says so", async () => {
    const { threadId, wait } = await owed()
    const told200 = await say(threadId, wait, result({ pages: 3 }))
    assert.strictEqual(told200.status, 200, told200.text)
    const { principal: by } = (await server.alpha.get("/v1/auth")).body
    const log = await done(threadId)
    const [event] = only(log, "wait_resolved")
    assert.deepStrictEqual(told200.body, {
      wait: {
        ...wait,
        state: "resolved",
        waitResult: { outcome: "result", by, output: { pages: 3 } },
        resolvedAt: event?.occurredAt
      },
      seq: event?.seq
    })
    assert.deepStrictEqual(event?.waitResult, told200.body.wait.waitResult)
    assert.deepStrictEqual(outcomes(log), [{ pages: 3 }])
    assert.deepStrictEqual(told(log), [
      "user_message",
      "tool_intent",
      "wait_created",
      "wait_resolved: result",
      "tool_result",
      "assistant_message",
      "turn_completed"
    ])
  })

  it.each([[null], [false], [""], [{}], [[]], [{ "\u0000": "\ud800" }]])("may be %j", async (output) => {
    const { threadId, wait } = await owed()
    assert.deepStrictEqual(
      (await resolved(server.alpha, threadId, wait, result(output))).wait.waitResult.output,
      output
    )
    assert.deepStrictEqual(outcomes(await done(threadId)), [output])
    assert.strictEqual((await say(threadId, wait, result(output))).status, 200)
  })

  it("may be a failure: the model reads its code and message", async () => {
    const { threadId, wait } = await owed()
    const { waitResult } = (
      await resolved(server.alpha, threadId, wait, failed("no_paper", "The tray is empty.\nFill it."))
    ).wait
    assert.deepStrictEqual([waitResult.outcome, "output" in waitResult], ["error", false])
    const [said] = only(await done(threadId), "tool_result")
    assert.deepStrictEqual(
      [said?.failureCode, said?.failureText, said?.toolOutput],
      ["tool_error", "no_paper: The tray is empty.\nFill it.", null]
    )
  })

  it("is held to the tool's output schema, and the wait stays open", async () => {
    const { threadId, wait } = await park(desk.plain, [desk.tool("stamp")])
    assertRefused(await say(threadId, wait, result("one")), 400, "invalid_request", "output")
    assert.strictEqual((await resolved(server.alpha, threadId, wait, result(1))).wait.state, "resolved")
  })

  it("is kept up to 256 KiB, cut beyond, and known again all the same", async () => {
    const { threadId, wait } = await owed()
    const whole = "x".repeat(limits.toolOutputBytes - 2)
    const other = await owed()
    assert.strictEqual(
      (await resolved(server.alpha, other.threadId, other.wait, result(whole))).wait.waitResult.output,
      whole
    )
    const { output } = (await resolved(server.alpha, threadId, wait, result(`${whole}x`))).wait.waitResult
    assert.deepStrictEqual([output.truncated, output.text.length < whole.length], [true, true])
    assert.strictEqual((await say(threadId, wait, result(`${whole}x`))).status, 200)
    assertRefused(await say(threadId, wait, result(`y${whole}`)), 409, "wait_already_resolved")
  })
})

describe.concurrent("a decision", () => {
  it("that allows lets the call go on; its reason stands in the log", async () => {
    const { threadId, wait } = await asked()
    const body = await resolved(server.alpha, threadId, wait, decision("allow", { reason: "Known customer" }))
    assert.deepInclude(body.wait.waitResult, { outcome: "allow", reason: "Known customer" })
    const [next] = await waitsOf(server.alpha, threadId)
    assert.deepInclude(next, { type: "client_tool", toolCallId: wait.toolCallId })
    await resolved(server.alpha, threadId, next!, result("signed"))
    assert.deepStrictEqual(outcomes(await done(threadId)), ["signed"])
  })

  it("that denies ends the call with its reason", async () => {
    const { threadId, wait } = await asked()
    await resolved(server.alpha, threadId, wait, decision("deny", { reason: "Not on a Sunday" }))
    const [said] = only(await done(threadId), "tool_result")
    assert.deepStrictEqual([said?.failureCode, said?.failureText], ["hook_denied", "Not on a Sunday"])
  })

  it("that rewrites puts another input in place, if it fits the tool and the point", async () => {
    const { threadId, wait } = await asked()
    assertRefused(
      await say(threadId, wait, decision("allow", { rewrite: { toolInput: { document: 7 } } })),
      400,
      "invalid_request",
      "rewrite.toolInput"
    )
    assertRefused(
      await say(threadId, wait, decision("allow", { rewrite: { toolOutput: 1 } })),
      400,
      "invalid_request",
      "rewrite.toolOutput"
    )
    assertRefused(
      await say(threadId, wait, decision("allow", { rewrite: { content: [{ type: "text", text: "x" }] } })),
      400,
      "invalid_request",
      "rewrite.content"
    )
    await resolved(server.alpha, threadId, wait, decision("allow", { rewrite: { toolInput: { document: "b" } } }))
    const [next] = await waitsOf(server.alpha, threadId)
    assert.deepStrictEqual(next!.toolInput, { document: "b" })
  })

  it("for the thread is not asked about again, whatever the input; another tool is", async () => {
    const { threadId, wait } = await asked()
    await resolved(server.alpha, threadId, wait, decision("allow", { scope: "thread" }))
    const [first] = await waitsOf(server.alpha, threadId)
    await resolved(server.alpha, threadId, first!, result(1))
    await done(threadId)
    await submit(server.alpha, threadId, [desk.tool("sign", { document: "z" }), desk.tool("print")].join("\n"))
    const waits = await waitsOf(server.alpha, threadId, 2)
    assert.deepStrictEqual(waits.map(({ toolName, type }) => [toolName, type]).sort(), [
      ["desk.print", "hook_ask"],
      ["desk.sign", "client_tool"]
    ])
  })

  it("once is asked about again", async () => {
    const { threadId, wait } = await asked()
    await resolved(server.alpha, threadId, wait, decision("allow", { scope: "once" }))
    const [first] = await waitsOf(server.alpha, threadId)
    await resolved(server.alpha, threadId, first!, result(1))
    await done(threadId)
    await submit(server.alpha, threadId, desk.tool("sign", { document: "a" }))
    assert.deepInclude((await waitsOf(server.alpha, threadId))[0], { type: "hook_ask" })
  })
})

describe.concurrent("the approval that a role requires", () => {
  const required = async () => {
    const roleId = await addRole(server.alpha, {
      allow: [{ tools: "desk.sign", approval: "required" }, { tools: "desk.print" }]
    })
    return park(await desk.worker({ roleIds: [roleId] }), [desk.tool("sign", { document: "a" })])
  }

  it("is a person's, about the exact input; what is allowed goes on", async () => {
    const { threadId, wait } = await required()
    assert.deepInclude(wait, {
      type: "role_approval",
      target: "person",
      point: "before_tool_call",
      toolName: "desk.sign",
      toolInput: { document: "a" }
    })
    assert.notProperty(wait, "hookId")
    await resolved(server.alpha, threadId, wait, decision("allow"))
    assert.deepInclude((await waitsOf(server.alpha, threadId))[0], { type: "client_tool", toolCallId: wait.toolCallId })
  })

  it("that is denied is tool_denied", async () => {
    const { threadId, wait } = await required()
    await resolved(server.alpha, threadId, wait, decision("deny"))
    assert.deepStrictEqual(outcomes(await done(threadId)), ["tool_denied"])
  })

  it("for the thread is not asked for again there, and in another thread it is", async () => {
    const { threadId, wait } = await required()
    await resolved(server.alpha, threadId, wait, decision("allow", { scope: "thread" }))
    await resolved(server.alpha, threadId, (await waitsOf(server.alpha, threadId))[0]!, result(1))
    await done(threadId)
    await submit(server.alpha, threadId, desk.tool("sign", { document: "b" }))
    assert.deepInclude((await waitsOf(server.alpha, threadId))[0], { type: "client_tool" })
    const { agentId } = (await detail(threadId)).thread
    assert.deepInclude((await park(agentId, [desk.tool("sign")])).wait, { type: "role_approval" })
  })
})

describe.concurrent("what a hook asks about", () => {
  const shown = async (threadId: string, wait: Wait) => {
    const reader = await server.client(server.workspaces.alpha, { scopes: ["read"] })
    const [mine, theirs] = [await server.alpha.get(pathOf(threadId, wait)), await reader.get(pathOf(threadId, wait))]
    assert.deepStrictEqual(theirs.body, { wait })
    const { content, failureCode, toolOutput, ...rest } = mine.body.wait
    assert.deepStrictEqual(rest, wait)
    return {
      ...(content !== undefined && { content }),
      ...(failureCode !== undefined && { failureCode }),
      ...(toolOutput !== undefined && { toolOutput })
    }
  }
  const text = (words: string) => [{ type: "text", text: words }]

  it("before a turn is its message, which may be rewritten to another of a user", async () => {
    const { threadId, wait } = await park(await desk.worker({ hooks: [asking("before_turn_start")] }), ["/say no"])
    assert.deepStrictEqual(await shown(threadId, wait), { content: text("/say no") })
    const rewrite = (content: ReadonlyArray<object>) => decision("allow", { rewrite: { content } })
    assertRefused(await say(threadId, wait, rewrite([])), 400, "invalid_request", "rewrite.content")
    assertRefused(
      await say(threadId, wait, rewrite(text("x".repeat(limits.userTextBytes + 1)))),
      400,
      "invalid_request",
      "rewrite.content"
    )
    assertRefused(
      await say(threadId, wait, rewrite([...text("x"), { type: "image", imageId: `img_${"a".repeat(64)}` }])),
      400,
      "invalid_request",
      "rewrite.content"
    )
    await resolved(server.alpha, threadId, wait, rewrite(text(`/say yes\n${"x".repeat(limits.userTextBytes - 9)}`)))
    assert.deepStrictEqual(
      only(await done(threadId), "assistant_message").map(({ content }) => content),
      [text("yes")]
    )
    assert.deepStrictEqual((await server.alpha.get(pathOf(threadId, wait))).body.wait.content, undefined)
  })

  it("after a call is what it returned, and what is denied is kept nowhere", async () => {
    const agentId = await desk.worker({ hooks: [asking("after_tool_result")] })
    const { threadId, wait } = await park(agentId, [
      desk.tool("print"),
      "/then",
      desk.tool("print"),
      "/then",
      desk.tool("sign")
    ])
    const next = async () => (await waitsOf(server.alpha, threadId))[0] as Wait
    await resolved(server.alpha, threadId, wait, failed("jam", "Paper jam"))
    const jam = await next()
    assert.deepInclude(await shown(threadId, jam), { failureCode: "tool_error" })
    await resolved(server.alpha, threadId, jam, decision("allow"))
    await resolved(server.alpha, threadId, await next(), result("now"))
    const now = await next()
    assert.deepStrictEqual(await shown(threadId, now), { toolOutput: "now" })
    await resolved(server.alpha, threadId, now, decision("allow", { rewrite: { toolOutput: "later" } }))
    await resolved(server.alpha, threadId, await next(), result("secret word"))
    const secret = await next()
    assert.deepStrictEqual(await shown(threadId, secret), { toolOutput: "secret word" })
    await resolved(server.alpha, threadId, secret, decision("deny"))
    const log = await done(threadId)
    assert.deepStrictEqual(outcomes(log), ["tool_error", "later", "hook_denied"])
    assert.isNull(only(log, "tool_result").at(-1)!.toolOutput)
    assert.notInclude((await server.alpha.get(pathOf(threadId, secret))).text, "secret")
  })

  it("after a response is its text, which nobody else sees before", async () => {
    const { threadId, wait } = await park(await desk.worker({ hooks: [asking("after_model_response")] }), [
      "/say a draft"
    ])
    assert.deepStrictEqual(await shown(threadId, wait), { content: text("a draft") })
    assertRefused(
      await say(threadId, wait, decision("allow", { rewrite: { content: [] } })),
      400,
      "invalid_request",
      "rewrite.content"
    )
    assertRefused(
      await say(
        threadId,
        wait,
        decision("allow", { rewrite: { content: [{ type: "image", imageId: `img_${"a".repeat(64)}` }] } })
      ),
      400,
      "invalid_request"
    )
    // As long as a response may be, which is longer than a message.
    const final = "y".repeat(limits.assistantTextBytes)
    assertRefused(
      await say(threadId, wait, decision("allow", { rewrite: { content: text(`${final}y`) } })),
      400,
      "invalid_request",
      "rewrite.content"
    )
    await resolved(server.alpha, threadId, wait, decision("allow", { rewrite: { content: text(final) } }))
    const log = await done(threadId)
    assert.deepStrictEqual(
      only(log, "assistant_message").map(({ content }) => content),
      [text(final)]
    )
    assert.notInclude(JSON.stringify(log.filter(({ type }) => type !== "user_message")), "a draft")
  })
})

describe.concurrent("an answer that comes again", () => {
  const same: ReadonlyArray<readonly [string, "ask" | "call", object, object]> = [
    ["an allow without its reason", "ask", decision("allow", { reason: "a" }), decision("allow")],
    ["an allow that says once", "ask", decision("allow"), decision("allow", { scope: "once" })],
    ["a deny with another reason", "ask", decision("deny", { reason: "a" }), decision("deny", { reason: "b" })],
    [
      "the same rewrite in another order",
      "ask",
      decision("allow", { rewrite: { toolInput: { document: "b", n: { x: 1, y: [2] } } } }),
      decision("allow", { rewrite: { toolInput: { n: { y: [2], x: 1 }, document: "b" } } })
    ],
    ["an output in another order", "call", result([{ a: 1, b: 2 }]), result([{ b: 2, a: 1 }])],
    ["an error", "call", failed("c", "m"), failed("c", "m")]
  ]
  it.each(same)("is answered as the first time: %s", async (_, what, first, again) => {
    const { threadId, wait } = await (what === "ask" ? asked() : owed())
    const one = await say(threadId, wait, first)
    const other = await server.client(server.workspaces.alpha)
    for (const client of [server.alpha, other]) {
      const two = await answer(client, threadId, wait, again)
      assert.deepStrictEqual([two.status, two.text], [200, one.text])
    }
    const log = await logOf(server.alpha, threadId, (log) => only(log, "wait_resolved").length > 0)
    assert.lengthOf(only(log, "wait_resolved"), 1)
  })

  const different: ReadonlyArray<readonly [string, "ask" | "call", object, object, string]> = [
    ["a deny after an allow", "ask", decision("allow"), decision("deny"), "allow"],
    ["an allow after a deny", "ask", decision("deny"), decision("allow"), "deny"],
    [
      "a rewrite after a plain allow",
      "ask",
      decision("allow"),
      decision("allow", { rewrite: { toolInput: { document: "a" } } }),
      "allow"
    ],
    [
      "another rewrite",
      "ask",
      decision("allow", { rewrite: { toolInput: {} } }),
      decision("allow", { rewrite: { toolInput: { document: "" } } }),
      "allow"
    ],
    ["the whole thread after once", "ask", decision("allow"), decision("allow", { scope: "thread" }), "allow"],
    ["another output", "call", result(1), result("1"), "result"],
    ["a list in another order", "call", result([1, 2]), result([2, 1]), "result"],
    ["an error after an output", "call", result({ code: "c", message: "m" }), failed("c", "m"), "result"],
    ["another message", "call", failed("c", "m"), failed("c", "n"), "error"]
  ]
  it.each(different)("differently is refused, and says who was first: %s", async (_, what, first, again, outcome) => {
    const { threadId, wait } = await (what === "ask" ? asked() : owed())
    await resolved(server.alpha, threadId, wait, first)
    const refused = await say(threadId, wait, again)
    assertRefused(refused, 409, "wait_already_resolved")
    assert.strictEqual(refused.body.code, outcome)
    assert.match(refused.body.message, new RegExp(`: ${outcome} by api_key key_`))
    assert.deepStrictEqual((await server.alpha.get(pathOf(threadId, wait))).body.wait.waitResult.outcome, outcome)
  })

  it("under its Idempotency-Key is the same answer, and the key takes no other body", async () => {
    const { threadId, wait } = await asked()
    const one = await say(threadId, wait, decision("allow"), { "idempotency-key": "k1" })
    assert.isNull(one.headers.get("idempotency-replayed"))
    const two = await say(threadId, wait, decision("allow"), { "idempotency-key": "k1" })
    assert.deepStrictEqual([two.status, two.text, two.headers.get("idempotency-replayed")], [200, one.text, "true"])
    assertRefused(
      await say(threadId, wait, decision("deny"), { "idempotency-key": "k1" }),
      422,
      "idempotency_key_reused"
    )
    // Under another key it changes nothing, and is kept all the same.
    const three = await say(threadId, wait, decision("allow"), { "idempotency-key": "k2" })
    assert.deepStrictEqual([three.status, three.text, three.headers.get("idempotency-replayed")], [200, one.text, null])
    assert.strictEqual(
      (await say(threadId, wait, decision("allow"), { "idempotency-key": "k2" })).headers.get("idempotency-replayed"),
      "true"
    )
    assertRefused(
      await say(threadId, wait, decision("deny"), { "idempotency-key": "k2" }),
      422,
      "idempotency_key_reused"
    )
    // A refusal is not kept.
    for (let i = 0; i < 2; i++)
      assertRefused(
        await say(threadId, wait, decision("deny"), { "idempotency-key": "k3" }),
        409,
        "wait_already_resolved"
      )
  })

  it("is known when the thread has long left memory", async () => {
    const { threadId, wait } = await owed()
    const one = await say(threadId, wait, result(1))
    await done(threadId)
    await leavesMemory(server, threadId)
    assert.deepStrictEqual(
      [(await say(threadId, wait, result(1))).text, (await say(threadId, wait, result(2))).status],
      [one.text, 409]
    )
    assert.deepStrictEqual((await server.alpha.get(pathOf(threadId, wait))).text, one.text)
  })
})

describe("two clients at the same moment", () => {
  it("have one winner; whoever agrees gets the winner's answer, whoever does not is told", {
    timeout: 60_000
  }, async () => {
    const clients = await Promise.all(Array.from({ length: 6 }, () => server.client(server.workspaces.alpha)))
    for (let round = 0; round < 8; round++) {
      const { threadId, wait } = await (round % 2 === 0 ? asked() : owed())
      const bodies = round % 2 === 0 ? [decision("allow"), decision("deny")] : [result(1), failed("c", "m")]
      const answers = await Promise.all(clients.map((client, i) => answer(client, threadId, wait, bodies[i % 2]!)))
      const statuses = answers.map(({ status }) => status)
      assert.sameMembers(statuses, [200, 200, 200, 409, 409, 409], JSON.stringify(statuses))
      const texts = new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text))
      assert.strictEqual(texts.size, 1)
      for (const { body, status } of answers)
        if (status === 409) assert.strictEqual(body.error, "wait_already_resolved")
      const log = await logOf(server.alpha, threadId, (log) => only(log, "wait_resolved").length > 0)
      assert.lengthOf(only(log, "wait_resolved"), 1)
    }
  })
})

describe.concurrent("a wait that is over", () => {
  const overBy = async (stop: (threadId: string) => Promise<unknown>) => {
    const { threadId, waits } = await park(desk.asked, [desk.tool("sign"), desk.tool("print")], 2)
    await resolved(server.alpha, threadId, waits[0]!, decision("allow"))
    await waitsOf(server.alpha, threadId, 2)
    const open = (await detail(threadId)).pendingWaits as ReadonlyArray<Wait>
    await stop(threadId)
    return { threadId, open }
  }
  const assertVoided = async (threadId: string, open: ReadonlyArray<Wait>) => {
    assert.deepStrictEqual(open.map(({ type }) => type).sort(), ["client_tool", "hook_ask"])
    for (const wait of open) {
      const late = await say(threadId, wait, wait.type === "client_tool" ? result(1) : decision("deny"))
      assertRefused(late, 409, "wait_already_resolved")
      assert.strictEqual(late.body.code, "cancelled")
      const { body } = await server.alpha.get(pathOf(threadId, wait))
      assert.deepInclude(body.wait, { state: "cancelled", waitResult: { outcome: "cancelled" } })
      assert.isAbove(body.seq, 0)
    }
  }

  it("because its turn was interrupted takes no late answer", async () => {
    const { open, threadId } = await overBy((threadId) =>
      submit(server.alpha, threadId, "/say instead", { mode: "interrupt" })
    )
    await assertVoided(threadId, open)
    const log = await done(threadId, 2)
    assert.deepStrictEqual(
      only(log, "tool_result").map(({ failureCode }) => failureCode),
      ["turn_interrupted", "turn_interrupted"]
    )
    assert.deepStrictEqual(told(log).slice(-3), ["user_message", "assistant_message", "turn_completed"])
  })

  it("because its turn was cancelled takes no late answer", async () => {
    const { open, threadId } = await overBy((threadId) => server.alpha.post(`/v1/threads/${threadId}/cancel`))
    await assertVoided(threadId, open)
    assert.deepStrictEqual((await detail(threadId)).status, "cancelled")
  })

  it("because nobody answered in time is gone: 410, in whatever words", { timeout: 20_000 }, async () => {
    const { threadId, wait } = await park(
      await desk.worker({ hooks: [asking("before_tool_call", { asyncTimeoutMs: 1_000 })] }),
      [desk.tool("sign")]
    )
    const log = await done(threadId)
    assert.deepStrictEqual(outcomes(log), ["wait_expired"])
    for (const body of [decision("deny"), decision("allow")])
      assertRefused(await say(threadId, wait, body), 410, "wait_expired")
    assert.deepInclude((await server.alpha.get(pathOf(threadId, wait))).body.wait, {
      state: "expired",
      waitResult: { outcome: "expired" }
    })
  })

  it("because the client took too long for its call is gone, and the model goes on", { timeout: 30_000 }, async () => {
    const { threadId, wait } = await park(desk.plain, [desk.tool("quick")])
    await leavesMemory(server, threadId)
    const log = await done(threadId)
    assert.deepStrictEqual(outcomes(log), ["tool_timeout"])
    assertRefused(await say(threadId, wait, result(1)), 410, "wait_expired")
    assertRefused(
      await server.alpha.post(`/v1/tools/calls/${wait.toolCallId}/result`, { output: 1 }),
      410,
      "wait_expired"
    )
  })
})

describe.concurrent("a wait", () => {
  it("is for one type of answer, also when it is over", async () => {
    const [call, ask] = [await owed(), await asked()]
    for (let i = 0; i < 2; i++) {
      assertRefused(await say(call.threadId, call.wait, decision("allow")), 400, "wait_type_mismatch")
      assertRefused(await say(ask.threadId, ask.wait, result(1)), 400, "wait_type_mismatch")
      await say(call.threadId, call.wait, result(1))
      await say(ask.threadId, ask.wait, decision("deny"))
    }
  })

  it("is nobody else's: unknown, of another thread, of another workspace, without its form", async () => {
    const [{ threadId, wait }, other] = [await asked(), await asked()]
    const nowhere = { ...wait, id: absent("wait_") }
    for (const path of [
      pathOf(threadId, nowhere),
      pathOf(other.threadId, wait),
      pathOf(absent("thr_"), wait),
      pathOf(threadId, { id: "wait_x" })
    ]) {
      assertRefused(await server.alpha.get(path), 404, "not_found")
      assertRefused(await server.alpha.post(`${path}/resolve`, decision("allow")), 404, "not_found")
    }
    assertRefused(await server.beta.get(pathOf(threadId, wait)), 404, "not_found")
    assertRefused(await answer(server.beta, threadId, wait, decision("allow")), 404, "not_found")
    assert.deepStrictEqual((await detail(threadId)).inFlightWaitIds, [wait.id])
  })

  it("is answered by who may: approve for decisions, run for results", async () => {
    const client = (...scopes: ReadonlyArray<"read" | "run" | "write" | "approve" | "admin">) =>
      server.client(server.workspaces.alpha, { scopes })
    const [call, ask] = [await owed(), await asked()]
    for (const scopes of [["read", "run", "write", "admin"], ["run"]] as const) {
      const refused = await answer(await client(...scopes), ask.threadId, ask.wait, decision("allow"))
      assertRefused(refused, 403, "permission_denied")
      assert.strictEqual(refused.body.code, "missing_scope")
    }
    for (const scopes of [["read", "approve", "write", "admin"], ["approve"]] as const) {
      assertRefused(
        await answer(await client(...scopes), call.threadId, call.wait, result(1)),
        403,
        "permission_denied"
      )
    }
    assertRefused(
      await answer(await client("read", "write", "admin"), call.threadId, call.wait, result(1)),
      403,
      "permission_denied"
    )
    assertRefused(await (await client("approve", "run")).get(pathOf(ask.threadId, ask.wait)), 403, "permission_denied")
    assert.strictEqual((await answer(await client("approve"), ask.threadId, ask.wait, decision("deny"))).status, 200)
    assert.strictEqual((await answer(await client("run"), call.threadId, call.wait, result(1))).status, 200)
  })

  it("is not resolved by the agent that waits, nor from its own thread", async () => {
    const { threadId, wait } = await asked()
    const { agentId } = (await detail(threadId)).thread
    const as = (id: string, from?: string) =>
      server.runtime.runPromise(
        Effect.result(
          Threads.use((threads) =>
            threads.resolve(
              {
                workspace: server.workspaces.alpha,
                principal: { type: "agent", id },
                ...(from !== undefined && { from })
              },
              threadId,
              wait.id,
              { type: "decision", decision: "allow" }
            )
          )
        )
      )
    for (const refused of [await as(agentId), await as(desk.plain, threadId)]) {
      assert.deepInclude(refused, { _tag: "Failure" })
      if (refused._tag === "Failure")
        assert.deepInclude(refused.failure, { _tag: "Refused", reason: "permission_denied" })
    }
    const other = await as(desk.plain)
    assert.strictEqual(other._tag, "Success")
    assert.deepInclude((await server.alpha.get(pathOf(threadId, wait))).body.wait.waitResult, {
      outcome: "allow",
      by: { type: "agent", id: desk.plain }
    })
  })

  const at = limits.hookReasonBytes
  const bad: ReadonlyArray<readonly [string, unknown, string]> = [
    ["nothing", {}, "the body"],
    ["another type", { type: "elicitation", action: "accept" }, "the body"],
    ["no decision", { type: "decision" }, "decision"],
    ["another decision", { type: "decision", decision: "ask" }, "decision"],
    ["a reason of 1025 bytes", decision("allow", { reason: "é".repeat(at / 2) + "x" }), "reason"],
    ["another scope", decision("allow", { scope: "workspace" }), "scope"],
    ["a deny for the thread", decision("deny", { scope: "thread" }), "scope"],
    ["a deny that rewrites", decision("deny", { rewrite: { toolInput: {} } }), "rewrite"],
    ["an empty rewrite", decision("allow", { rewrite: {} }), "rewrite"],
    ["a rewrite of two things", decision("allow", { rewrite: { toolInput: {}, toolOutput: 1 } }), "rewrite"],
    ["a rewrite of something else", decision("allow", { rewrite: { toolName: "x" } }), "rewrite.toolName"],
    [
      "41 blocks",
      decision("allow", { rewrite: { content: Array.from({ length: 41 }, () => ({ type: "text", text: "x" })) } }),
      "rewrite.content"
    ],
    [
      "a blank block",
      decision("allow", { rewrite: { content: [{ type: "text", text: " " }] } }),
      "rewrite.content[0].text"
    ],
    ["a decision with an output", decision("allow", { output: 1 }), "output"],
    ["neither output nor error", { type: "tool_result" }, "the body"],
    ["output and error", { ...failed("c", "m"), output: 1 }, "the body"],
    ["an error without a message", { type: "tool_result", error: { code: "c" } }, "error.message"],
    ["an error with more", { type: "tool_result", error: { code: "c", message: "m", stack: "s" } }, "error.stack"],
    ["an empty code", failed("", "m"), "error.code"],
    ["a code of 65", failed("c".repeat(65), "m"), "error.code"],
    ["a code with a space", failed("no paper", "m"), "error.code"],
    ["an empty message", failed("c", ""), "error.message"],
    ["a message of 4097 bytes", failed("c", "m".repeat(limits.toolErrorBytes + 1)), "error.message"],
    ["a result with a decision", { ...result(1), decision: "allow" }, "decision"],
    ["a number that JSON cannot say again", `{"type":"tool_result","output":{"a":[1e308,-1e400]}}`, "output"],
    [
      "the same in a rewrite",
      `{"type":"decision","decision":"allow","rewrite":{"toolInput":1e400}}`,
      "rewrite.toolInput"
    ],
    ["a list", [], "the body"]
  ]
  it("takes nothing but an answer, and says where it is wrong", async () => {
    const { threadId, wait } = await asked()
    for (const [what, body, path] of bad) {
      const refused = await server.alpha.send("POST", `${pathOf(threadId, wait)}/resolve`, body)
      assert.deepStrictEqual(
        [refused.status, refused.body?.error, refused.body?.message.split(":")[0]],
        [400, "invalid_request", path],
        `${what} ${refused.text}`
      )
    }
    assertRefused(
      await server.alpha.post(`${pathOf(threadId, wait)}/resolve?scope=thread`, decision("allow")),
      400,
      "invalid_request",
      "scope"
    )
    assert.strictEqual((await detail(threadId)).status, "awaiting")
    await resolved(server.alpha, threadId, wait, decision("allow", { reason: "é".repeat(at / 2) }))
    const [next] = await waitsOf(server.alpha, threadId)
    await resolved(server.alpha, threadId, next!, failed("c".repeat(64), "m".repeat(limits.toolErrorBytes)))
  })
})

describe("several open waits", () => {
  it("are answered in any order: the thread awaits until the last, and results stand in the order of the calls", {
    timeout: 60_000
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }), async (order) => {
        const names = ["print", "sign", "print", "sign"]
        const { threadId, waits } = await park(
          desk.plain,
          names.map((name, i) => desk.tool(name, { document: String(i) })),
          4
        )
        const inOrder = await detail(threadId)
        assert.deepStrictEqual(
          inOrder.inFlightWaitIds,
          inOrder.pendingWaits.map((wait: Wait) => wait.id)
        )
        for (const [answered, i] of order.entries()) {
          const { pendingWaits, status } = await detail(threadId)
          assert.deepStrictEqual([status, pendingWaits.length], ["awaiting", 4 - answered])
          const wait = waits.find(
            ({ toolInput }) => (toolInput as { readonly document: string }).document === String(i)
          )
          await resolved(server.alpha, threadId, wait!, result(i))
        }
        assert.deepStrictEqual(outcomes(await done(threadId)), [0, 1, 2, 3])
      }),
      { numRuns: 6 }
    )
  })

  it("let the one that was allowed go on while the others wait", async () => {
    const found = await asked("sign", "print", "sign")
    const { threadId } = found
    // Ids of calls rise in the order in which the model has asked for them.
    const waits = found.waits.toSorted((a, b) => (a.toolCallId < b.toolCallId ? -1 : 1))
    await resolved(server.alpha, threadId, waits[1]!, decision("allow"))
    const now = await waitsOf(server.alpha, threadId, 3)
    assert.deepStrictEqual(now.map(({ type }) => type).sort(), ["client_tool", "hook_ask", "hook_ask"])
    await resolved(server.alpha, threadId, waits[2]!, decision("deny"))
    await resolved(server.alpha, threadId, now.find(({ type }) => type === "client_tool")!, result("printed"))
    assert.strictEqual((await detail(threadId)).status, "awaiting")
    await resolved(server.alpha, threadId, waits[0]!, decision("deny"))
    assert.deepStrictEqual(outcomes(await done(threadId)), ["hook_denied", "printed", "hook_denied"])
  })

  it("hold a steer back until the turn goes on", async () => {
    const { threadId, wait } = await owed()
    const { id, state } = await submit(server.alpha, threadId, "/say steered", { mode: "steer" })
    assert.strictEqual(state, "steered")
    assert.deepStrictEqual(
      (await detail(threadId)).queued.map((input: Wait) => input.id),
      [id]
    )
    assert.strictEqual((await detail(threadId)).status, "awaiting")
    await resolved(server.alpha, threadId, wait, result(1))
    const log = await done(threadId)
    assert.deepStrictEqual(told(log), [
      "user_message",
      "tool_intent",
      "wait_created",
      "wait_resolved: result",
      "tool_result",
      "user_message",
      "assistant_message",
      "turn_completed"
    ])
    assert.deepStrictEqual(only(log, "assistant_message")[0]!.content, [{ type: "text", text: "steered" }])
  })
})

describe("waits are seen", () => {
  it("in Thread detail and among the threads that wait, for persons and clients", async () => {
    const { threadId, wait } = await asked()
    const { inFlightWaitIds, pendingWaits, status, thread } = await detail(threadId)
    assert.deepStrictEqual([status, inFlightWaitIds, pendingWaits], ["awaiting", [wait.id], [wait]])
    const waiting = async () =>
      (await server.alpha.get(`/v1/threads?state=waiting&agentId=${thread.agentId}&limit=200`)).body
        .threads as ReadonlyArray<{ readonly thread: { readonly id: string }; readonly [field: string]: unknown }>
    const row = (await waiting()).find((found) => found.thread.id === threadId)
    assert.deepStrictEqual([row?.status, row?.pendingWaits], ["awaiting", pendingWaits])
    await resolved(server.alpha, threadId, wait, decision("deny"))
    await done(threadId)
    assert.notInclude(
      (await waiting()).map((found) => found.thread.id),
      threadId
    )
    assert.deepStrictEqual((await detail(threadId)).inFlightWaitIds, [])
    assertRefused(await server.alpha.get("/v1/threads?state=awaiting"), 400, "invalid_request", "state")
  })

  it("on the streams of thread, agent and workspace, as they open and as they end", async () => {
    const { threadId } = await owed()
    await server.alpha.post(`/v1/threads/${threadId}/cancel`)
    const token = server.alpha.token ?? ""
    const watchers = await Promise.all(
      [
        `/v1/threads/${threadId}/events/stream?types=wait`,
        `/v1/agents/${desk.plain}/events/stream?types=wait`,
        "/v1/events/stream?types=wait,status"
      ].map((path) => Watcher.open(server.base, path, token))
    )
    try {
      for (const watcher of watchers) await watcher.until((seen) => seen.events("ready").length === 1)
      await submit(server.alpha, threadId, desk.tool("print"))
      const [wait] = await waitsOf(server.alpha, threadId)
      await resolved(server.alpha, threadId, wait!, result(1))
      for (const watcher of watchers) {
        const mine = () =>
          watcher
            .events("wait")
            .map(({ data }) => data)
            .filter((data) => data.threadId === threadId)
        await watcher.until(() => mine().length >= 2)
        assert.deepStrictEqual(
          mine(),
          ["open", "resolved"].map((state) => ({ threadId, waitId: wait!.id, state, target: "client" }))
        )
      }
      const statuses = () =>
        watchers[2]!
          .events("status")
          .map(({ data }) => data)
          .filter((data) => data.threadId === threadId)
          .map(({ status }) => status)
      await watchers[2]!.until(() => statuses().at(-1) === "idle")
      assert.deepStrictEqual(statuses(), ["running", "awaiting", "running", "idle"])
    } finally {
      for (const watcher of watchers) watcher.close()
    }
  })
})
