/** Histories of judged turns that were broken off, tried again or summarised: every provider takes them. */
import { assert, describe, it } from "@effect/vitest"
import { toProviderName } from "../../src/models/toolNames.ts"
import { allow, ask, deny, type Reply } from "../hooks/hookServer.ts"
import { eventually } from "../waiting.ts"
import { logOf, submit } from "./threadFixture.ts"
import { leavesMemory, only, outcomes, waitsOf } from "./toolFixture.ts"
import { judgedProviderStand, says, toText } from "./judgedProviderFixture.ts"

const stand = await judgedProviderStand()
const { echo, hook, ns, server, withEach } = stand

describe.concurrent("a judged turn of every provider's models", () => {
  it(
    "leaves a whole history when it is interrupted or cancelled while it awaits",
    withEach(async ({ calls, start }) => {
      for (const how of ["interrupt", "cancel"] as const) {
        const { goesOn, log, sent, threadId } = await start(
          { hooks: [hook("before_tool_call", ask())] },
          calls(echo("a"), echo("b")),
          ...(how === "interrupt" ? [says("stopped")] : [])
        )
        await waitsOf(server.alpha, threadId, 2)
        await leavesMemory(server, threadId)
        if (how === "interrupt") await submit(server.alpha, threadId, "stop", { mode: "interrupt" })
        else await server.alpha.post(`/v1/threads/${threadId}/cancel`)
        const turns = how === "interrupt" ? 2 : 1
        assert.deepStrictEqual(outcomes(await log(turns)), ["turn_interrupted", "turn_interrupted"])
        await goesOn(turns)
        assert.include(sent(1), "turn_interrupted")
      }
    })
  )

  it(
    "leaves a whole history when it is cancelled while tools run",
    withEach(async ({ calls, start }) => {
      const { goesOn, sent, threadId } = await start(
        {},
        calls({ name: toProviderName(`${ns}.gate`), input: {} }, echo("done before"))
      )
      await logOf(server.alpha, threadId, (log) => only(log, "tool_result").length === 1)
      await server.alpha.post(`/v1/threads/${threadId}/cancel`)
      assert.deepStrictEqual(outcomes(await goesOn()), ["turn_interrupted", "done before"])
      await eventually(() => stand.gate.inside === 0, "nothing runs any more")
      assert.include(sent(1), "turn_interrupted")
    })
  )

  it(
    "that failed over a denied response or message is left out of its retry, or left whole",
    withEach(async ({ calls, start }) => {
      const reply: Reply = (response, received) =>
        (JSON.stringify(received.body.data).includes("worse") ? deny() : allow())(response, received)
      const { goesOn, log, sent, threadId } = await start(
        { hooks: [hook("after_model_response", reply, toText)] },
        calls(echo("first try")),
        says("worse"),
        calls(echo("second try")),
        says("fine")
      )
      assert.strictEqual((await log()).at(-1)!.failureCode, "hook_denied")
      await leavesMemory(server, threadId)
      assert.strictEqual((await server.alpha.post(`/v1/threads/${threadId}/retry`)).status, 201)
      assert.strictEqual((await log(2)).at(-1)!.type, "turn_completed", JSON.stringify((await log(2)).at(-1)))
      await goesOn(2)
      assert.notInclude(sent(3), "first try")
      assert.notInclude(sent(-1), "worse")

      const whole = await start(
        { hooks: [hook("after_model_response", reply, toText)] },
        calls(echo("a")),
        says("worse")
      )
      assert.strictEqual((await whole.log()).at(-1)!.failureCode, "hook_denied")
      await whole.goesOn()
      assert.notInclude(whole.sent(-1), "worse")
    })
  )

  it(
    "keeps apart calls to which the provider has given one id, and says what is wrong with what is no JSON",
    withEach(async ({ calls, start }) => {
      const twice = { ...echo("one"), id: "call_same" }
      const { goesOn, log } = await start(
        {},
        calls(twice, { ...echo("two"), id: "call_same" }, { name: toProviderName(`${ns}.echo`), raw: '{"text": ' }),
        calls({ ...echo("three"), id: "call_same" }),
        says("done")
      )
      await goesOn()
      const first = await log()
      assert.deepStrictEqual(outcomes(first), ["one", "two", "tool_input_invalid", "three"])
      assert.lengthOf(new Set(only(first, "tool_intent").map(({ toolCallId }) => toolCallId)), 4)
    })
  )

  it(
    "goes on from a summary of its calls, and so does its retry",
    withEach(async ({ calls, start }) => {
      const { goesOn, log, provider, sent, threadId } = await start(
        { compaction: { keepTurns: 1 } },
        calls(echo("first words")),
        says("done")
      )
      await goesOn()
      assert.strictEqual((await server.alpha.post(`/v1/threads/${threadId}/compact`)).status, 200)
      // Who makes a summary may say what it likes: calls are nobody's to make there.
      provider.enqueue(calls(echo("nobody's")), { kind: "status", status: 400 })
      await submit(server.alpha, threadId, "and then?")
      const failed = await log(3)
      assert.strictEqual(only(failed, "compacted")[0]?.failureCode, undefined, sent(-2))
      assert.strictEqual(failed.at(-1)?.failureCode, "model_error")
      assert.include(sent(-2), "first words")
      assert.include(sent(-1), "I look.")
      await leavesMemory(server, threadId)
      assert.strictEqual((await server.alpha.post(`/v1/threads/${threadId}/retry`)).status, 201)
      const whole = await log(4)
      assert.strictEqual(whole.at(-1)?.type, "turn_completed", JSON.stringify(whole.at(-1)))
      assert.deepStrictEqual(outcomes(whole), ["first words"])
      assert.include(sent(-1), "I look.")
      assert.notInclude(sent(-1), "first words")
    })
  )

  it(
    "ends the summary that is being made when it is interrupted, and goes on",
    withEach(async ({ calls, start }) => {
      const { goesOn, log, provider, sent, threadId } = await start(
        { compaction: { keepTurns: 1 } },
        calls(echo("first words")),
        says("done")
      )
      await goesOn()
      assert.strictEqual((await server.alpha.post(`/v1/threads/${threadId}/compact`)).status, 200)
      // It lives, and does not answer before it is given up.
      provider.enqueue({ kind: "answer", answer: { text: ["late"] }, pings: { count: 600, pauseMs: 50 } })
      await submit(server.alpha, threadId, "and then?")
      await logOf(server.alpha, threadId, (events) => only(events, "compacting").length === 1)
      await submit(server.alpha, threadId, "stop", { mode: "interrupt" })
      assert.deepStrictEqual(
        only(await log(4), "compacted").map(({ failureCode }) => failureCode),
        ["turn_interrupted"]
      )
      assert.include(sent(-1), "first words")
      assert.strictEqual((await log(4)).at(-1)?.type, "turn_completed")
    })
  )

  it(
    "goes on from a summary of the calls that made it too long itself",
    withEach(async ({ calls, start }) => {
      const { goesOn, log, sent } = await start(
        {},
        ...Array.from({ length: 5 }, (_, i) => calls(echo(`words ${i}`))),
        { kind: "status", status: 413, message: "prompt is too long" },
        says("Words were echoed."),
        says("done")
      )
      const [over] = only(await log(), "compacted")
      assert.strictEqual(over?.failureCode, undefined, JSON.stringify(over))
      assert.include(sent(-2), "words 0")
      for (const words of ["Words were echoed.", "words 2", "go"]) assert.include(sent(-1), words)
      assert.notInclude(sent(-1), "words 0")
      await goesOn()
      assert.include(sent(-1), "Words were echoed.")
    })
  )
})
