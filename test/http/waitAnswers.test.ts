/** Waits over HTTP that are answered again, by two at once, too late, and several of one turn. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { assertRefused } from "./refusals.ts"
import { logOf, submit } from "./threadFixture.ts"
import { leavesMemory, only, outcomes, told, waitsOf } from "./toolFixture.ts"
import { answer, asking, decision, failed, pathOf, resolved, result, type Wait } from "./waitFixture.ts"
import { deskStand } from "./deskFixture.ts"

const { asked, desk, detail, done, owed, park, say, server } = await deskStand()

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
