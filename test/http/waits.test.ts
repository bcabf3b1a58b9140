/** What a turn waits for over HTTP: results, decisions and approvals, and what is refused as such. */
import { assert, describe, it } from "@effect/vitest"
import { limits } from "../../src/domain/limits.ts"
import { assertRefused, assertRefusedAt } from "./refusals.ts"
import { submit } from "./threadFixture.ts"
import { addRole, only, outcomes, told, waitsOf } from "./toolFixture.ts"
import { asking, decision, failed, pathOf, resolved, result, type Wait } from "./waitFixture.ts"
import { deskStand } from "./deskFixture.ts"

const { asked, desk, detail, done, owed, park, say, server } = await deskStand()

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
    assertRefusedAt(await say(threadId, wait, result("one")), 400, "invalid_request", "output")
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
    assertRefusedAt(
      await say(threadId, wait, decision("allow", { rewrite: { toolInput: { document: 7 } } })),
      400,
      "invalid_request",
      "rewrite.toolInput"
    )
    assertRefusedAt(
      await say(threadId, wait, decision("allow", { rewrite: { toolOutput: 1 } })),
      400,
      "invalid_request",
      "rewrite.toolOutput"
    )
    assertRefusedAt(
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
    assertRefusedAt(await say(threadId, wait, rewrite([])), 400, "invalid_request", "rewrite.content")
    assertRefusedAt(
      await say(threadId, wait, rewrite(text("x".repeat(limits.userTextBytes + 1)))),
      400,
      "invalid_request",
      "rewrite.content"
    )
    assertRefusedAt(
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
    assertRefusedAt(
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
    assertRefusedAt(
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
