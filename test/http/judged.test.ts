/**
 * Whole turns that hooks judge: real endpoints that answer well, badly, late and never; real tools, with a ledger of
 * what has run.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { HookPoint } from "../../src/domain/event.ts"
import {
  allow,
  ask,
  defer,
  deny,
  garbage,
  hang,
  type HookServer,
  json,
  nothing,
  type Received,
  redirect,
  type Reply,
  rewrite,
  startHookServer,
  status,
  text
} from "../hooks/hookServer.ts"
import { Client, startServer, type TestServer } from "../setup/server.ts"
import { type McpServer, startMcpServer, usualTools } from "../tools/mcpServer.ts"
import { ended, type Event, logOf, submit, text as content } from "./threadFixture.ts"
import {
  addRole,
  addToolset,
  assertSound,
  begin,
  call,
  eventually,
  fresh,
  leavesMemory,
  makeWorker,
  only,
  outcomes,
  resolveWait,
  told,
  turnOf,
  waitsOf
} from "./toolFixture.ts"

type Point = typeof HookPoint.Type
const points: ReadonlyArray<Point> = [
  "before_turn_start",
  "before_tool_call",
  "after_tool_result",
  "after_model_response"
]

/** Says more than its output. */
const pixels = Buffer.alloc(90, 1).toString("base64")
const shown = [
  { type: "text", text: "Five, as a picture:" },
  { type: "image", mimeType: "image/png", data: pixels }
]
const picture = { name: "picture", run: () => ({ content: shown, structuredContent: { sum: 5 }, _meta: { cost: 3 } }) }

let server: TestServer
let mcp: McpServer
let hooks: HookServer
let ns: string
let toolsetId: string
beforeAll(async () => {
  ;[server, mcp, hooks] = await Promise.all([
    startServer({ idleMs: 50, leaseTtlMs: 20_000 }),
    startMcpServer({ tools: [...usualTools, picture] }),
    startHookServer()
  ])
  const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
  ns = namespace
  toolsetId = id
})
afterAll(async () => {
  await assertSound(server)
  await Promise.all([server.stop(), mcp.close(), hooks.stop()])
})

/** A response of calls only is not what these hooks are about. */
const match = (point: Point) =>
  point === "after_model_response" ? { match: { conditions: [{ path: "/content/0", op: "exists" }] } } : {}
const hook = (point: Point, reply: Reply, more: object = {}) => ({
  name: fresh("hook"),
  point,
  ...match(point),
  processor: { type: "url", url: hooks.endpoint(reply).url },
  ...more
})

const worker = (...hooks: ReadonlyArray<object>) => makeWorker(server.alpha, { toolsetIds: [toolsetId], hooks })
/** Inputs of the calls that have run: a tool that only reads may run twice under one id, which is as good as once. */
const executed = (log: ReadonlyArray<Event>) =>
  only(log, "tool_intent").flatMap(
    ({ toolCallId }) => mcp.calls.find((ran) => ran.toolCallId === toolCallId)?.input ?? []
  )
const dataOf = (received: Received | undefined) => received?.body.data

/** The log of a turn of one call, with these events where the point has its place; the rest where it goes on. */
const told1 = (point: Point, judged: ReadonlyArray<string>, ending?: string) => {
  const before = {
    before_turn_start: ["user_message"],
    before_tool_call: ["user_message", "tool_intent"],
    after_tool_result: ["user_message", "tool_intent"],
    after_model_response: ["user_message", "tool_intent", "tool_result"]
  }[point]
  const after = {
    before_turn_start: ["tool_intent", "tool_result", "assistant_message", "turn_completed"],
    before_tool_call: ["tool_result", "assistant_message", "turn_completed"],
    after_tool_result: ["tool_result", "assistant_message", "turn_completed"],
    after_model_response: ["assistant_message", "turn_completed"]
  }[point]
  if (ending === undefined) return [...before, ...judged, ...after]
  const ofCall = point === "before_tool_call" || point === "after_tool_result"
  return [
    ...before,
    ...judged,
    ...(ofCall ? [`tool_result: ${ending}`, "assistant_message", "turn_completed"] : [`turn_failed: ${ending}`])
  ]
}
const script = () => [call(`${ns}.echo`, { text: "hello" }), "/say done"]
const ranOnce = (point: Point, denied: boolean) => (denied && point.startsWith("before_") ? [] : [{ text: "hello" }])

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

describe.concurrent("a hook's endpoint", () => {
  const faults: ReadonlyArray<readonly [fault: string, reply: () => Reply]> = [
    ["answers with garbage", garbage],
    ["answers with a decision that there is not", () => json({ decision: "maybe" })],
    ["answers with more than is asked", () => allow({ extra: 1 })],
    ["answers with a rewrite for another point", () => rewrite({ somethingElse: 1 })],
    ["answers with an HTML page", () => text("<html>")],
    ["answers 500", () => status(500)],
    ["answers 404", () => status(404)],
    ["redirects to loopback", () => (response, received) => redirect(hooks.canaryUrl)(response, received)],
    ["closes the connection", nothing],
    ["never answers", hang]
  ]
  for (const point of points) {
    for (const [fault, reply] of faults) {
      it(`at ${point} that ${fault}: hook_failed, or an allow, or an ask, as onError says`, async () => {
        const threads = await Promise.all(
          (["deny", "allow", "ask"] as const).map(async (onError) =>
            begin(server.alpha, await worker(hook(point, reply(), { timeoutMs: 1_000, onError })), ...script())
          )
        )
        const [denied, allowed, asked] = await Promise.all(
          threads.map(async (threadId, i) => {
            if (i === 2) {
              const [wait] = await waitsOf(server.alpha, threadId)
              assert.deepInclude(wait, { type: "hook_ask", target: "person" })
              await resolveWait(server.alpha, threadId, wait!.id, { type: "decision", decision: "allow" })
            }
            return await logOf(server.alpha, threadId, ended(1))
          })
        )
        assert.deepStrictEqual(told(denied!), told1(point, ["hook_decision: deny"], "hook_failed"))
        assert.deepStrictEqual(executed(denied!), ranOnce(point, true))
        assert.deepStrictEqual(told(allowed!), told1(point, ["hook_decision: allow"]))
        assert.deepStrictEqual(
          told(asked!),
          told1(point, ["hook_decision: ask", "wait_created", "wait_resolved: allow"])
        )
        for (const log of [allowed!, asked!]) assert.deepStrictEqual(executed(log), [{ text: "hello" }])
      })
    }

    it(`at ${point} that fails: without an onError, before is a deny and after an allow`, async () => {
      const log = await turnOf(server.alpha, await worker(hook(point, garbage())), ...script())
      assert.deepStrictEqual(
        told(log),
        point.startsWith("before_")
          ? told1(point, ["hook_decision: deny"], "hook_failed")
          : told1(point, ["hook_decision: allow"])
      )
    })
  }

  it("is asked once more under the same id when it was busy, and its answer counts", async () => {
    let times = 0
    const { received, url } = hooks.endpoint((response, one) => (times++ === 0 ? status(503) : allow())(response, one))
    const log = await turnOf(
      server.alpha,
      await worker({ name: "H", point: "before_tool_call", processor: { type: "url", url } }),
      ...script()
    )
    assert.deepStrictEqual(told(log), told1("before_tool_call", ["hook_decision: allow"]))
    const hookTold = only(log, "hook_decision")[0]!.hook
    assert.deepStrictEqual(
      received().map(({ body, headers }) => [body.attempt, headers["webhook-id"]]),
      [1, 2].map((attempt) => [attempt, received()[0]?.body.deliveryId])
    )
    assert.deepInclude(hookTold, { deliveryId: received()[0]?.body.deliveryId })
  })
})

describe.concurrent("a redirect to loopback", () => {
  it("is followed by nobody", async () => {
    await turnOf(server.alpha, await worker(hook("before_tool_call", redirect(hooks.canaryUrl))), ...script())
    assert.strictEqual(hooks.canary(), 0)
  })
})

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

describe.concurrent("hooks", () => {
  it("are not asked about what does not run: denied, unknown, invalid", async () => {
    const before = hooks.endpoint(allow())
    const after = hooks.endpoint(allow())
    const roleIds = [await addRole(server.alpha, { allow: [{ tools: `${ns}.echo` }] })]
    const agentId = await makeWorker(server.alpha, {
      toolsetIds: [toolsetId],
      roleIds,
      hooks: [
        { name: "B", point: "before_tool_call", processor: { type: "url", url: before.url } },
        { name: "A", point: "after_tool_result", processor: { type: "url", url: after.url } }
      ]
    })
    const log = await turnOf(
      server.alpha,
      agentId,
      call(`${ns}.put`),
      call("no.such"),
      call(`${ns}.echo`, { text: 1 }),
      call(`${ns}.echo`, { text: "this one" })
    )
    assert.deepStrictEqual(outcomes(log), ["tool_denied", "tool_not_found", "tool_input_invalid", "this one"])
    assert.deepStrictEqual(
      [before, after].map(({ received }) => received().length),
      [1, 1]
    )
  })

  it("after a tool hear of its failure", async () => {
    const after = hooks.endpoint(allow())
    const agentId = await worker({ name: "A", point: "after_tool_result", processor: { type: "url", url: after.url } })
    const log = await turnOf(server.alpha, agentId, call(`${ns}.fail`))
    assert.deepStrictEqual(outcomes(log), ["tool_error"])
    assert.deepInclude(dataOf(after.received()[0]), {
      toolName: `${ns}.fail`,
      toolOutput: "it went wrong",
      failureCode: "tool_error"
    })
  })

  it("judge calls of one response each for itself", async () => {
    const reply: Reply = (response, received) =>
      (JSON.stringify(received.body.data).includes("bad")
        ? deny()
        : JSON.stringify(received.body.data).includes("ask")
          ? ask()
          : allow())(response, received)
    const threadId = await begin(
      server.alpha,
      await worker(hook("before_tool_call", reply)),
      ...["good", "bad", "ask one", "ask two"].map((words) => call(`${ns}.echo`, { text: words }))
    )
    const [one, two] = await waitsOf(server.alpha, threadId, 2)
    const inputOf = (wait: typeof one) => Object(wait?.toolInput).text
    const [first, second] = inputOf(one) === "ask one" ? [one, two] : [two, one]
    // In any order, and one of them leaves the other waiting.
    await resolveWait(server.alpha, threadId, second!.id, { type: "decision", decision: "deny" })
    assert.strictEqual((await server.alpha.get(`/v1/threads/${threadId}`)).body.status, "awaiting")
    await resolveWait(server.alpha, threadId, first!.id, {
      type: "decision",
      decision: "allow",
      rewrite: { toolInput: { text: "asked" } }
    })
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(outcomes(log), ["good", "hook_denied", "asked", "hook_denied"])
  })

  it("judge steers when they join: a denied one ends the turn", async () => {
    const reply: Reply = (response, received) =>
      (JSON.stringify(received.body.data).includes("steer me") ? deny("no steering") : allow())(response, received)
    const threadId = await begin(
      server.alpha,
      await worker(hook("before_turn_start", reply)),
      "/wait 300ms",
      call(`${ns}.echo`, { text: "a" }),
      "/say done"
    )
    await logOf(server.alpha, threadId, (log) => only(log, "hook_decision").length === 1)
    await submit(server.alpha, threadId, "steer me", { mode: "steer" })
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(told(log), [
      "user_message",
      "hook_decision: allow",
      "tool_intent",
      "tool_result",
      "user_message",
      "hook_decision: deny",
      "turn_failed: hook_denied"
    ])
  })

  it("are given up when the turn is interrupted while they are asked, or while it awaits", async () => {
    const asked = hooks.endpoint(hang())
    const agentId = await worker(
      {
        name: "H",
        point: "before_tool_call",
        match: { conditions: [{ path: "/text", op: "eq", value: "hang" }] },
        processor: { type: "url", url: asked.url }
      },
      hook("before_tool_call", ask())
    )
    const hanging = await begin(server.alpha, agentId, call(`${ns}.echo`, { text: "hang" }))
    await eventually(() => asked.received().length === 1, "the hook is asked")
    await submit(server.alpha, hanging, "/say stopped", { mode: "interrupt" })
    assert.deepStrictEqual(told(await logOf(server.alpha, hanging, ended(2))), [
      "user_message",
      "tool_intent",
      "tool_result: turn_interrupted",
      "turn_cancelled",
      "user_message",
      "assistant_message",
      "turn_completed"
    ])

    const parked = await begin(server.alpha, agentId, call(`${ns}.echo`, { text: "ask" }))
    const [wait] = await waitsOf(server.alpha, parked)
    await leavesMemory(server, parked)
    await submit(server.alpha, parked, "/say stopped", { mode: "interrupt" })
    assert.deepStrictEqual(told(await logOf(server.alpha, parked, ended(2))), [
      "user_message",
      "tool_intent",
      "hook_decision: ask",
      "wait_created",
      "wait_resolved: cancelled",
      "tool_result: turn_interrupted",
      "turn_cancelled",
      "user_message",
      "assistant_message",
      "turn_completed"
    ])
    const late = await server.alpha.post(`/v1/threads/${parked}/waits/${wait!.id}/resolve`, {
      type: "decision",
      decision: "allow"
    })
    assert.deepStrictEqual([late.status, late.body.error], [409, "wait_already_resolved"])
  })
})
