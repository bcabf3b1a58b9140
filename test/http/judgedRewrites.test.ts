/** What hooks put in the place of messages, inputs, outputs and responses. */
import { assert, describe, it } from "@effect/vitest"
import { allow, deny, type Reply, rewrite } from "../hooks/hookServer.ts"
import { text as content } from "./threadFixture.ts"
import { addRole, call, makeWorker, only, outcomes, told, turnOf } from "./toolFixture.ts"
import { dataOf, judgedStand } from "./judgedFixture.ts"

const { executed, hook, hooks, ns, server, toolsetId, worker } = await judgedStand()

describe.concurrent("a rewrite", () => {
  it("of a message is what the model reads; the log keeps what was said", async () => {
    const log = await turnOf(
      server.alpha,
      await worker(hook("before_turn_start", rewrite({ content: content("/say rewritten") }))),
      "/say original"
    )
    assert.deepStrictEqual(told(log), ["user_message", "hook_decision: allow", "assistant_message", "turn_completed"])
    assert.deepStrictEqual([log[0]!.content, log[2]!.content], [content("/say original"), content("rewritten")])
    assert.deepInclude(log[1]!.hook, { rewrote: true })
  })

  it("of an input is what runs; the log keeps what the model asked for", async () => {
    const log = await turnOf(
      server.alpha,
      await worker(hook("before_tool_call", rewrite({ toolInput: { text: "better" } }))),
      call(`${ns}.echo`, { text: "raw" })
    )
    assert.deepStrictEqual(told(log), [
      "user_message",
      "tool_intent",
      "hook_decision: allow",
      "tool_result",
      "assistant_message",
      "turn_completed"
    ])
    assert.deepStrictEqual(log[1]!.toolInput, { text: "raw" })
    assert.deepStrictEqual([outcomes(log), executed(log)], [["better"], [{ text: "better" }]])
  })

  it("of an input that does not fit the tool's schema is tool_input_invalid", async () => {
    for (const toolInput of [{ text: 1 }, "text", null, []]) {
      const log = await turnOf(
        server.alpha,
        await worker(hook("before_tool_call", rewrite({ toolInput }))),
        call(`${ns}.echo`, { text: "raw" })
      )
      assert.deepStrictEqual([outcomes(log), executed(log)], [["tool_input_invalid"], []])
    }
  })

  it("into what the roles deny is tool_denied, and into what they want approved is too", async () => {
    const roleIds = [
      await addRole(server.alpha, {
        allow: [
          { tools: "*" },
          { tools: "*", approval: "required", conditions: [{ path: "/text", op: "eq", value: "approve me" }] }
        ],
        deny: [{ tools: "*.echo", conditions: [{ path: "/text", op: "contains", value: "secret" }] }]
      })
    ]
    for (const words of ["a secret", "approve me"]) {
      const agentId = await makeWorker(server.alpha, {
        toolsetIds: [toolsetId],
        roleIds,
        hooks: [hook("before_tool_call", rewrite({ toolInput: { text: words } }))]
      })
      const log = await turnOf(server.alpha, agentId, call(`${ns}.echo`, { text: "harmless" }))
      assert.deepStrictEqual([outcomes(log), executed(log)], [["tool_denied"], []])
    }
  })

  it("of an output is the result, in the log and for the model", async () => {
    for (const toolOutput of ["redacted", { a: [1, null] }, null, "", 0, false]) {
      const log = await turnOf(
        server.alpha,
        await worker(hook("after_tool_result", rewrite({ toolOutput }))),
        call(`${ns}.echo`, { text: "raw" })
      )
      assert.deepStrictEqual(told(log), [
        "user_message",
        "tool_intent",
        "hook_decision: allow",
        "tool_result",
        "assistant_message",
        "turn_completed"
      ])
      assert.deepStrictEqual(
        [outcomes(log), log.at(-2)!.content],
        [[toolOutput], content(`Done: ${JSON.stringify([toolOutput])}`)]
      )
    }
  })

  it("of a response is the response", async () => {
    const log = await turnOf(
      server.alpha,
      await worker(hook("after_model_response", rewrite({ content: content("Better.") }))),
      "/say Worse."
    )
    assert.deepStrictEqual(told(log), ["user_message", "hook_decision: allow", "assistant_message", "turn_completed"])
    assert.deepStrictEqual(log[2]!.content, content("Better."))
  })

  it("that takes all away from a response, or brings more than a message holds, is none", async () => {
    for (const words of [
      [],
      content("x".repeat(64 * 1024 + 1)),
      content(" "),
      [{ type: "image", imageId: `img_${"0".repeat(64)}` }]
    ]) {
      const log = await turnOf(
        server.alpha,
        await worker(hook("after_model_response", rewrite({ content: words }), { onError: "deny" })),
        "/say Fine."
      )
      assert.deepStrictEqual(
        told(log),
        ["user_message", "hook_decision: deny", "turn_failed: hook_failed"],
        JSON.stringify(words).slice(0, 80)
      )
    }
  })

  it("is seen by the hooks behind it, and decides which of them are asked", async () => {
    const add =
      (word: string): Reply =>
      (response, received) =>
        rewrite({ toolInput: { text: Object(dataOf(received)).toolInput.text + word } })(response, received)
    const onlyIf = (value: string) => ({
      match: { tools: [`${ns}.*`], conditions: [{ path: "/text", op: "endsWith", value }] }
    })
    const seen = hooks.endpoint(allow())
    const agentId = await worker(
      hook("before_tool_call", add("b")),
      hook("before_tool_call", deny(), onlyIf("a")),
      hook("before_tool_call", add("c"), onlyIf("b")),
      { name: "last", point: "before_tool_call", processor: { type: "url", url: seen.url } }
    )
    const log = await turnOf(server.alpha, agentId, call(`${ns}.echo`, { text: "a" }))
    assert.deepStrictEqual(
      only(log, "hook_decision").map(({ hook }) => Object(hook).index),
      [0, 2, 3]
    )
    assert.deepInclude(dataOf(seen.received()[0]), { toolName: `${ns}.echo`, toolInput: { text: "abc" }, toolsetId })
    assert.deepStrictEqual(executed(log), [{ text: "abc" }])
  })
})
