/**
 * Whole turns that hooks judge: real endpoints that allow, deny and ask; real tools, with a ledger of what has run.
 */
import { assert, describe, it } from "@effect/vitest"
import { allow, ask, defer, deny, rewrite } from "../hooks/hookServer.ts"
import { Client } from "../setup/server.ts"
import { ended, type Event, logOf, text as content } from "./threadFixture.ts"
import { begin, call, leavesMemory, only, resolveWait, told, turnOf, waitsOf } from "./toolFixture.ts"
import { dataOf, match, points, ranOnce, shown, told1, judgedStand } from "./judgedFixture.ts"

const { executed, hook, hooks, ns, script, server, worker } = await judgedStand()

describe.concurrent("what a tool says beside its output", () => {
  const beside = { toolOutput: { sum: 5 }, toolContent: shown, toolMeta: { cost: 3 } }
  const read = `{"sum":5}\nFive, as a picture:\n[image, image/png, 90 bytes]`
  const heldIn = (value: Readonly<Record<string, unknown>> | undefined) => {
    const { toolContent, toolMeta, toolOutput } = value ?? {}
    return { toolOutput, toolContent, toolMeta }
  }
  const saidIn = (log: ReadonlyArray<Event>) => JSON.stringify(only(log, "assistant_message")[0]?.content)

  it("is in the log, and a model reads it as text: an image by its type and size", async () => {
    const log = await turnOf(server.alpha, await worker(), call(`${ns}.picture`))
    assert.deepStrictEqual(heldIn(only(log, "tool_result")[0]), beside)
    assert.deepStrictEqual(only(log, "assistant_message")[0]?.content, content(`Done: ${JSON.stringify([read])}`))
  })

  it("is judged with it, kept through a restart, and gone where a hook puts something else in its place", async () => {
    const asked = hooks.endpoint(ask())
    const agentId = await worker({ name: "A", point: "after_tool_result", processor: { type: "url", url: asked.url } })
    const threadId = await begin(server.alpha, agentId, call(`${ns}.picture`))
    const [wait] = await waitsOf(server.alpha, threadId)
    assert.deepInclude(dataOf(asked.received()[0]), beside)
    const shownOf = await server.alpha.get(`/v1/threads/${threadId}/waits/${wait!.id}`)
    assert.deepStrictEqual(heldIn(shownOf.body.wait), beside, shownOf.text)
    await leavesMemory(server, threadId)
    await resolveWait(server.alpha, threadId, wait!.id, { type: "decision", decision: "allow" })
    assert.deepStrictEqual(heldIn(only(await logOf(server.alpha, threadId, ended(1)), "tool_result")[0]), beside)

    const log = await turnOf(
      server.alpha,
      await worker(hook("after_tool_result", rewrite({ toolOutput: "hidden" }))),
      call(`${ns}.picture`)
    )
    assert.deepStrictEqual(heldIn(only(log, "tool_result")[0]), {
      toolOutput: "hidden",
      toolContent: undefined,
      toolMeta: undefined
    })
    assert.notInclude(saidIn(log), "picture")
  })
})

describe.concurrent("a hook", () => {
  for (const point of points) {
    it(`of ${point} lets pass what it allows or has no opinion of`, async () => {
      const log = await turnOf(
        server.alpha,
        await worker(hook(point, allow({ reason: "fine" })), hook(point, defer())),
        ...script()
      )
      assert.deepStrictEqual(told(log), told1(point, ["hook_decision: allow", "hook_decision: defer"]))
      assert.deepStrictEqual(executed(log), [{ text: "hello" }])
    })

    it(`of ${point} that denies is hook_denied, with its reason, and nobody is asked after it`, async () => {
      const later = hooks.endpoint(allow())
      const log = await turnOf(
        server.alpha,
        await worker(
          hook(point, deny("not today")),
          hook(point, allow(), { processor: { type: "url", url: later.url } })
        ),
        ...script()
      )
      assert.deepStrictEqual(told(log), told1(point, ["hook_decision: deny"], "hook_denied"))
      assert.strictEqual(log.find(({ failureCode }) => failureCode === "hook_denied")?.failureText, "not today")
      if (point === "after_tool_result") assert.isNull(only(log, "tool_result")[0]!.toolOutput)
      assert.deepStrictEqual(executed(log), ranOnce(point, true))
      assert.deepStrictEqual(later.received(), [])
    })

    it(`of ${point} that asks parks the turn; what is allowed goes on, from the journal`, async () => {
      const threadId = await begin(
        server.alpha,
        await worker(hook(point, ask({ reason: "may it?" })), hook(point, allow())),
        ...script()
      )
      const [wait] = await waitsOf(server.alpha, threadId)
      assert.deepInclude(wait, {
        type: "hook_ask",
        target: "person",
        state: "open",
        point,
        processor: "url",
        reason: "may it?"
      })
      await leavesMemory(server, threadId)
      assert.deepStrictEqual((await server.alpha.get(`/v1/threads/${threadId}`)).body.status, "awaiting")
      await resolveWait(server.alpha, threadId, wait!.id, { type: "decision", decision: "allow" })
      const log = await logOf(server.alpha, threadId, ended(1))
      assert.deepStrictEqual(
        told(log),
        told1(point, ["hook_decision: ask", "wait_created", "wait_resolved: allow", "hook_decision: allow"])
      )
      assert.deepStrictEqual(executed(log), [{ text: "hello" }])
    })

    it(`of ${point} whose ask is denied by a person is hook_denied`, async () => {
      const threadId = await begin(server.alpha, await worker(hook(point, ask())), ...script())
      const [wait] = await waitsOf(server.alpha, threadId)
      await resolveWait(server.alpha, threadId, wait!.id, { type: "decision", decision: "deny", reason: "rather not" })
      const log = await logOf(server.alpha, threadId, ended(1))
      assert.deepStrictEqual(
        told(log),
        told1(point, ["hook_decision: ask", "wait_created", "wait_resolved: deny"], "hook_denied")
      )
      assert.strictEqual(log.find(({ failureCode }) => failureCode === "hook_denied")?.failureText, "rather not")
      assert.deepStrictEqual(executed(log), ranOnce(point, true))
    })

    it(`of ${point} for a client asks at once, and a client answers`, async () => {
      const threadId = await begin(
        server.alpha,
        await worker({ name: "C", point, ...match(point), processor: { type: "client" } }),
        ...script()
      )
      const [wait] = await waitsOf(server.alpha, threadId)
      assert.deepInclude(wait, { type: "hook_ask", target: "client", processor: "client" })
      await resolveWait(server.alpha, threadId, wait!.id, { type: "decision", decision: "allow" })
      const log = await logOf(server.alpha, threadId, ended(1))
      assert.deepStrictEqual(told(log), told1(point, ["hook_decision: ask", "wait_created", "wait_resolved: allow"]))
      assert.deepInclude(only(log, "hook_decision")[0]!.hook, { latencyMs: 0, decision: "ask", processor: "client" })
    })

    it(`of ${point} that answers later itself is waited for, and its word counts`, async () => {
      for (const decision of ["allow", "deny"]) {
        const asked = hooks.endpoint(ask({ answerBy: "url" }))
        const threadId = await begin(
          server.alpha,
          await worker({ name: "U", point, ...match(point), processor: { type: "url", url: asked.url } }),
          ...script()
        )
        const [wait] = await waitsOf(server.alpha, threadId)
        assert.deepInclude(wait, { type: "hook_ask", target: "url" })
        await leavesMemory(server, threadId)
        const { answerToken, answerUrl } = asked.received()[0]!.body
        const answer = await new Client(server.base, String(answerToken)).post(String(answerUrl), { decision })
        assert.strictEqual(answer.status, 200, answer.text)
        const log = await logOf(server.alpha, threadId, ended(1))
        const judged = ["hook_decision: ask", "wait_created", `wait_resolved: ${decision}`]
        assert.deepStrictEqual(told(log), told1(point, judged, decision === "allow" ? undefined : "hook_denied"))
        assert.deepStrictEqual(executed(log), ranOnce(point, decision === "deny"))
      }
    })

    for (const onTimeout of ["deny", "allow", "fail"] as const)
      it(`of ${point} whose ask nobody answers ends in ${onTimeout}`, async () => {
        const threadId = await begin(
          server.alpha,
          await worker(hook(point, ask(), { asyncTimeoutMs: 1_000, onTimeout })),
          ...script()
        )
        await leavesMemory(server, threadId)
        const log = await logOf(server.alpha, threadId, ended(1))
        const asked = ["hook_decision: ask", "wait_created", "wait_resolved: expired"]
        if (onTimeout === "fail" && point.includes("_tool_")) {
          assert.deepStrictEqual(told(log), [
            "user_message",
            "tool_intent",
            ...asked,
            "tool_result: turn_interrupted",
            "turn_failed: wait_expired"
          ])
        } else if (onTimeout === "allow") assert.deepStrictEqual(told(log), told1(point, asked))
        else assert.deepStrictEqual(told(log), told1(point, asked, "wait_expired"))
        assert.deepStrictEqual(executed(log), ranOnce(point, onTimeout !== "allow"))
      })
  }
})
