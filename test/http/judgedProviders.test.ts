/**
 * Judged turns of real models: whatever hooks, people, clients and the clock do to a turn, its history is one that
 * every provider takes. The local providers refuse a call without a result, a result without a call, a lost piece of
 * reasoning, and tools that they could not read.
 */
import { assert, describe, it } from "@effect/vitest"
import { toProviderName } from "../../src/models/toolNames.ts"
import { allow, ask, deny, type Reply, rewrite } from "../hooks/hookServer.ts"
import { png } from "../images.ts"
import { ways } from "../models/servers/ways.ts"
import { submit, text } from "./threadFixture.ts"
import { addRole, leavesMemory, only, outcomes, resolveWait, told, waitsOf } from "./toolFixture.ts"
import { judgedProviderStand, says, toText } from "./judgedProviderFixture.ts"

const stand = await judgedProviderStand()
const { echo, hook, ns, server, stageOf, withEach } = stand

describe.concurrent("a judged turn of every provider's models", () => {
  it(
    "shows the tools by names and schemas that it takes, and only those that a call could reach",
    withEach(async ({ calls, start }) => {
      const roleIds = [
        await addRole(server.alpha, {
          allow: [{ tools: "*" }],
          deny: [{ tools: "*.put" }, { tools: "*.echo", conditions: [{ path: "/text", op: "eq", value: "no" }] }]
        })
      ]
      const { log, provider, sent } = await start(
        { roleIds },
        calls(
          { name: toProviderName(`${ns}.delete.all`), input: {} },
          { name: toProviderName(`${ns}.either.or`), input: { a: "x" } }
        ),
        says("done")
      )
      assert.deepStrictEqual(outcomes(await log()), ["deleted", "either"])
      assert.lengthOf(provider.requests, 2)
      const shown = sent(0)
      for (const name of ["echo", "delete.all", "either.or"])
        assert.include(shown, `"${toProviderName(`${ns}.${name}`)}"`)
      assert.include(shown, `"${toProviderName(`${stand.desk.namespace}.ask.me`)}"`)
      assert.notInclude(shown, toProviderName(`${ns}.put`))
      assert.include(shown, "Gives back its text")
    })
  )

  it(
    "goes on after calls that hooks have denied",
    withEach(async ({ calls, start }) => {
      const reply: Reply = (response, received) =>
        (JSON.stringify(received.body.data).includes("bad") ? deny("no") : allow())(response, received)
      const { goesOn, sent } = await start(
        { hooks: [hook("before_tool_call", reply)] },
        calls(echo("good"), echo("bad")),
        says("done")
      )
      assert.deepStrictEqual(outcomes(await goesOn()), ["good", "hook_denied"])
      assert.include(sent(1), "hook_denied: no")
    })
  )

  it(
    "goes on after an ask that was allowed with another input, read from the journal",
    withEach(async ({ calls, start }) => {
      const { goesOn, sent, threadId } = await start(
        { hooks: [hook("before_tool_call", ask())] },
        calls(echo("raw")),
        says("done")
      )
      const [wait] = await waitsOf(server.alpha, threadId)
      await leavesMemory(server, threadId)
      await resolveWait(server.alpha, threadId, wait!.id, {
        type: "decision",
        decision: "allow",
        rewrite: { toolInput: { text: "better" } }
      })
      assert.deepStrictEqual(outcomes(await goesOn()), ["better"])
      // The call goes back as the model made it.
      assert.include(sent(1), "raw")
      assert.include(sent(1), "better")
    })
  )

  it(
    "goes on after asks that were denied, and that nobody answered",
    withEach(async ({ calls, start }) => {
      const expiring = hook("before_tool_call", ask(), {
        asyncTimeoutMs: 3_000,
        match: { conditions: [{ path: "/text", op: "eq", value: "late" }] }
      })
      const asking = hook("before_tool_call", ask(), {
        match: { conditions: [{ path: "/text", op: "eq", value: "never" }] }
      })
      const { goesOn, sent, threadId } = await start(
        { hooks: [expiring, asking] },
        calls(echo("late"), echo("never"), echo("now")),
        says("done")
      )
      const waits = await waitsOf(server.alpha, threadId, 2)
      const never = waits.find(({ toolInput }) => JSON.stringify(toolInput).includes("never"))
      await resolveWait(server.alpha, threadId, never!.id, { type: "decision", decision: "deny" })
      assert.deepStrictEqual(outcomes(await goesOn()), ["wait_expired", "hook_denied", "now"])
      for (const words of ["wait_expired", "hook_denied"]) assert.include(sent(1), words)
    })
  )

  it(
    "takes a client's result beside those of tools, and a steer behind them",
    withEach(async ({ calls, start }) => {
      const { goesOn, sent, threadId } = await start(
        {},
        calls({ name: toProviderName(`${stand.desk.namespace}.ask.me`), input: {} }, echo("a")),
        says("done")
      )
      const [wait] = await waitsOf(server.alpha, threadId)
      await submit(server.alpha, threadId, "rather left", { mode: "steer" })
      await leavesMemory(server, threadId)
      await resolveWait(server.alpha, threadId, wait!.id, { type: "tool_result", output: { said: "by a client" } })
      assert.deepStrictEqual(outcomes(await goesOn()), [{ said: "by a client" }, "a"])
      assert.isBelow(sent(1).indexOf("by a client"), sent(1).indexOf("rather left"))
    })
  )

  it(
    "shows the model its response as it was rewritten, with the reasoning that belongs to it",
    withEach(async ({ calls, start }) => {
      const rewriting = hook("after_model_response", rewrite({ content: text("A milder word.") }), toText)
      const { goesOn, provider, sent } = await start(
        { hooks: [rewriting] },
        calls(echo("a")),
        says("Something ", "worse.")
      )
      const log = await goesOn()
      assert.deepStrictEqual(
        only(log, "assistant_message").map(({ content }) => content),
        Array.from({ length: 3 }, () => text("A milder word."))
      )
      assert.lengthOf(provider.requests, 3)
      for (const request of [1, 2]) {
        assert.include(sent(request), "A milder word.")
        for (const words of ["I look.", "worse."]) assert.notInclude(sent(request), words)
      }
    })
  )

  it(
    "is asked about its response, with calls behind it, and goes on from the journal",
    withEach(async ({ calls, start }) => {
      const { goesOn, threadId } = await start(
        {
          hooks: [
            hook("after_model_response", ask(), {
              match: { conditions: [{ path: "/content/0/text", op: "eq", value: "I look." }] }
            })
          ]
        },
        calls(echo("a")),
        says("done")
      )
      const [wait] = await waitsOf(server.alpha, threadId)
      await leavesMemory(server, threadId)
      await resolveWait(server.alpha, threadId, wait!.id, { type: "decision", decision: "allow" })
      assert.deepStrictEqual(outcomes(await goesOn()), ["a"])
    })
  )

  it(
    "shows the model results as they were rewritten, and not those that were denied",
    withEach(async ({ calls, start }) => {
      const reply: Reply = (response, received) =>
        (JSON.stringify(received.body.data).includes("one")
          ? rewrite({ toolOutput: { redacted: true } })
          : deny("not that"))(response, received)
      const { goesOn, sent } = await start(
        { hooks: [hook("after_tool_result", reply)] },
        calls(echo("secret one"), echo("secret two")),
        says("done")
      )
      assert.deepStrictEqual(outcomes(await goesOn()), [{ redacted: true }, "hook_denied"])
      assert.include(sent(1), "redacted")
      assert.include(sent(1), "hook_denied: not that")
    })
  )

  it("goes on from images of messages and of results: at the next turn, at another provider, and from the journal", async () => {
    const titles = ways.map(({ title }) => title)
    await Promise.all(
      ways.map(async (way, i) => {
        const { calls, start } = stageOf(way)
        // Another way's model, which has no signature of this one's.
        const spare = stand.providers.next(titles[(i + 1) % titles.length]!)
        const { goesOn, log, provider, sent, threadId } = await start({ spare: spare.modelId }, says("Hello."))
        await log()
        const { agentId } = (await server.alpha.get(`/v1/threads/${threadId}`)).body.thread
        const upload = { format: "png", data: png(3, 3).toString("base64") }
        const { image } = (await server.alpha.post(`/v1/agents/${agentId}/images`, upload)).body
        const content = [...text("Look."), { type: "image", imageId: image.id }]
        const look = () => server.alpha.post(`/v1/threads/${threadId}/messages`, { content })
        const shown = [upload.data, png(2, 2).toString("base64")]
        const seen = (request: string) => shown.map((data) => request.split(data).length - 1)

        provider.enqueue(calls({ name: toProviderName(`${ns}.picture`), input: {} }), says("A dot."))
        assert.strictEqual((await look()).status, 201)
        assert.strictEqual((await log(2)).at(-1)!.type, "turn_completed", JSON.stringify((await log(2)).at(-1)))
        assert.deepStrictEqual(
          [seen(sent(-2)), seen(sent(-1))],
          [
            [1, 0],
            [1, 1]
          ]
        )

        // Its own model cannot be had, so the other one is asked.
        provider.enqueue({ kind: "status", status: 401 })
        assert.strictEqual((await look()).status, 201)
        const over = await log(3)
        assert.strictEqual(over.at(-1)!.type, "turn_completed", JSON.stringify(over.at(-1)))
        assert.strictEqual(over.at(-2)!.modelId, spare.modelId)
        assert.deepStrictEqual(seen(JSON.stringify(spare.requests.at(-1))), [2, 1])

        await goesOn(3)
        assert.deepStrictEqual(seen(sent(-1)), [2, 1])
        assert.notInclude(sent(-1), image.id)
      })
    )
  })

  it(
    "reads a message as it was rewritten, and a denied one ends the turn before it is asked",
    withEach(async ({ start }) => {
      const reply: Reply = (response, received) =>
        (JSON.stringify(received.body.data).includes("now") ? deny() : rewrite({ content: text("say hello") }))(
          response,
          received
        )
      const { log, provider, sent, threadId } = await start(
        { hooks: [hook("before_turn_start", reply)] },
        says("hello")
      )
      await log()
      assert.include(sent(0), "say hello")
      await submit(server.alpha, threadId, "and now?")
      assert.deepStrictEqual(told(await log(2)).slice(-3), [
        "user_message",
        "hook_decision: deny",
        "turn_failed: hook_denied"
      ])
      assert.lengthOf(provider.requests, 1)
    })
  )
})
