/** Dry runs of hooks. */
import { assert, beforeEach, describe, it } from "@effect/vitest"
import { HookTest } from "../../http/hooks/api.ts"
import { after, allow, deny, garbage, newSecret, rewrite, startHookServer, status } from "../hooks/hookServer.ts"
import { during } from "../setup/during.ts"
import { sharedServer } from "../setup/server.ts"
import { assertShape } from "./shape.ts"
import { assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { fresh } from "./toolFixture.ts"

const server = await sharedServer()
const endpoint = await during(startHookServer())
beforeEach(() => endpoint.forget())

describe("a dry run", () => {
  const data = {
    point: "before_tool_call",
    toolCallId: "call_1",
    toolName: "payments.refund",
    toolInput: { amount: 75 }
  }
  const hook = (fields: object = {}) => ({
    name: "h",
    point: "before_tool_call",
    processor: { type: "url", url: endpoint.url },
    ...fields
  })
  const test = async (fields: object = {}, sample: object = data) => {
    const answer = await server.alpha.post("/v1/hooks/test", { hook: hook(fields), data: sample })
    assert.strictEqual(answer.status, 200, answer.text)
    assertShape(HookTest, answer.body)
    return answer.body
  }

  it("shows what was sent, what came back and what comes of it", async () => {
    endpoint.answers(deny("too much"))
    const { matched, outcome, request, response } = await test()
    assert.isTrue(matched)
    assert.deepInclude(outcome, { decision: "deny", reason: "too much" })
    assert.deepStrictEqual(response, { status: 200, body: JSON.stringify({ decision: "deny", reason: "too much" }) })
    const [received] = endpoint.received
    assert.deepStrictEqual(request.body, received?.body)
    assert.strictEqual(request.url, endpoint.url)
    assert.deepInclude(request.body, {
      type: "hook.before_tool_call",
      workspaceId: server.workspaces.alpha,
      attempt: 1,
      deliveryId: outcome.deliveryId
    })
    assert.deepStrictEqual(request.body.data, {
      toolCallId: "call_1",
      toolName: "payments.refund",
      toolInput: { amount: 75 }
    })
    assert.notProperty(request.body, "answerToken")
    assert.strictEqual(request.headers["webhook-id"], outcome.deliveryId)
  })

  it("is signed, and shows neither secret nor signature", async () => {
    const secret = newSecret()
    endpoint.trusts(secret)
    endpoint.answers(allow())
    const made = await server.alpha.post("/v1/connections", {
      provider: "hooks",
      name: "c",
      secret: { signingSecret: secret }
    })
    const answer = await server.alpha.post("/v1/hooks/test", {
      hook: hook({ processor: { type: "url", url: endpoint.url, connectionId: made.body.connection.id } }),
      data
    })
    const [received] = endpoint.received
    assert.deepStrictEqual(received?.signedBy, [secret])
    assert.strictEqual(answer.body.request.headers["webhook-signature"], "v1,…")
    assert.notInclude(answer.text, String(received?.headers["webhook-signature"]).slice(3))
    assert.notInclude(answer.text, secret.slice(6))
  })

  it("says whether the hook's match fits, and asks in any case", async () => {
    endpoint.answers(allow())
    assert.isTrue(
      (
        await test({
          match: { tools: ["payments.*"], conditions: [{ path: "/amount", op: "gt", value: 50 }] },
          enabled: false
        })
      ).matched
    )
    assert.isFalse((await test({ match: { tools: ["mail.*"] } })).matched)
    assert.lengthOf(endpoint.received, 2)
  })

  it("shows the last of several attempts, and what onError makes of them", async () => {
    endpoint.answers(status(500))
    const { outcome, request, response } = await test({ onError: "ask", asyncTimeoutMs: 5_000 })
    assert.deepInclude(outcome, {
      decision: "ask",
      failed: true,
      ask: { target: "person", timeoutMs: 5_000, onTimeout: "deny" }
    })
    assert.deepStrictEqual([request.body.attempt, response.status], [3, 500])
  })

  it("shows an answer that is none, and a silence", async () => {
    endpoint.answers(garbage())
    const { outcome, response } = await test()
    assert.isTrue(outcome.failed)
    assert.strictEqual(response.body, "}{ this is no answer")
    endpoint.answers(after(3_000, allow()))
    assert.notProperty(await test({ timeoutMs: 1_000 }), "response")
  })

  it("shows a rewrite at every point", async () => {
    for (const [sample, value] of [
      [
        { point: "before_turn_start", content: [{ type: "text", text: "hi" }], submitMode: "queue" },
        { content: [{ type: "text", text: "ho" }] }
      ],
      [data, { toolInput: { amount: 1 } }],
      [{ ...data, point: "after_tool_result", toolOutput: 1 }, { toolOutput: null }],
      [
        {
          point: "after_model_response",
          content: [{ type: "text", text: "hi" }],
          modelId: "a/b",
          usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
        },
        { content: [{ type: "text", text: "ho" }] }
      ]
    ] as const) {
      endpoint.answers(rewrite(value))
      assert.deepStrictEqual((await test({ point: sample.point }, sample)).outcome.rewrite, value)
    }
  })

  it("of a client asks at once, and sends nothing", async () => {
    const { outcome, ...rest } = await test({ processor: { type: "client" } })
    assert.deepInclude(outcome, {
      decision: "ask",
      latencyMs: 0,
      ask: { target: "client", timeoutMs: 86_400_000, onTimeout: "deny" }
    })
    assert.deepStrictEqual(rest, { matched: true })
  })

  for (const [what, body, path] of [
    ["no hook", { data }, "hook"],
    ["no data", { hook: { name: "h", point: "before_tool_call", processor: { type: "client" } } }, "data"],
    [
      "data of another point",
      { hook: { name: "h", point: "before_turn_start", processor: { type: "client" } }, data },
      "data.point"
    ],
    [
      "a hook that is none",
      { hook: { name: "h", point: "before_tool_call", processor: { type: "client" }, timeoutMs: 1_000 }, data },
      "hook.timeoutMs"
    ],
    [
      "a URL of cloud metadata",
      {
        hook: { name: "h", point: "before_tool_call", processor: { type: "url", url: "http://169.254.169.254/" } },
        data
      },
      "hook.processor.url"
    ],
    [
      "an unknown field",
      { hook: { name: "h", point: "before_tool_call", processor: { type: "client" } }, data, threadId: "t" },
      "threadId"
    ],
    [
      "an unknown field in the data",
      { hook: { name: "h", point: "before_tool_call", processor: { type: "client" } }, data: { ...data, more: 1 } },
      "data.more"
    ]
  ] as const) {
    it(`refuses ${what}`, async () =>
      refusedAt(await server.alpha.post("/v1/hooks/test", body), 400, "invalid_request", path))
  }

  it("refuses a URL that is never asked with the rule that it breaks, in profiles too", async () => {
    const processor = { type: "url", url: "http://169.254.169.254/" }
    const tried = await server.alpha.post("/v1/hooks/test", {
      hook: { name: "h", point: "before_tool_call", processor },
      data
    })
    assert.deepStrictEqual([tried.status, tried.body.code], [400, "forbidden_address"])
    const hooks = [
      { name: "h", point: "before_tool_call", processor: { type: "client" } },
      { name: "h", point: "before_tool_call", processor }
    ]
    const { id } = (await server.alpha.post("/v1/profiles", { name: "P", models: ["troupe/scripted"] })).body.profile
    for (const answer of [
      await server.alpha.post("/v1/profiles", { name: "P", models: ["troupe/scripted"], hooks }),
      await server.alpha.patch(`/v1/profiles/${id}`, { hooks })
    ]) {
      refusedAt(answer, 400, "invalid_request", "hooks[1].processor.url")
      assert.strictEqual(answer.body.code, "forbidden_address")
    }
  })

  it("is for those who may write profiles", async () => {
    const reader = await server.client(server.workspaces.alpha, { scopes: ["read", "run"] })
    refused(await reader.post("/v1/hooks/test", { hook: hook(), data }), 403, "permission_denied")
    assert.lengthOf(endpoint.received, 0)
  })

  it("is sent once for an Idempotency-Key", async () => {
    endpoint.answers(allow())
    const key = { "idempotency-key": fresh("dry") }
    const send = () => server.alpha.post("/v1/hooks/test", { hook: hook(), data }, key)
    const [a, b] = [await send(), await send()]
    assert.deepStrictEqual([a.text, b.headers.get("idempotency-replayed")], [b.text, "true"])
    assert.lengthOf(endpoint.received, 1)
  })
})
