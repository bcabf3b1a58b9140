import { assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { createServer } from "node:net"
import type { Hook, HookData } from "../../src/domain/hook.ts"
import { DeliveryTokens } from "../../src/hooks/deliveryToken.ts"
import { type HookRuling, Hooks } from "../../src/hooks/Hooks.ts"
import { absent } from "../http/refusals.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { ask, call } from "./asking.ts"
import {
  after,
  allow,
  defer,
  deny,
  endless,
  garbage,
  hang,
  json,
  newSecret,
  nothing,
  redirect,
  rewrite,
  sized,
  startHookServer,
  status,
  text,
  tooMany
} from "./hookServer.ts"
import * as endpoint from "./hookServer.ts"

const server = await during(startServer())
const hooks = await during(startHookServer())
const service = await server.runtime.runPromise(Hooks)
const workspace = server.workspaces.alpha
beforeEach(() => hooks.forget())

const connection = async (secret: object) => {
  const made = await server.alpha.post("/v1/connections", {
    provider: "hooks",
    name: "Hooks",
    secret,
    allowedHosts: ["127.0.0.1"]
  })
  assert.strictEqual(made.status, 201, made.text)
  return made.body.connection.id
}

const url = (more: object = {}) => ({ type: "url" as const, url: hooks.url, ...more })
const evaluate = (hook: Partial<Hook> = {}, data?: HookData) =>
  server.runtime.runPromise(service.evaluate(ask(workspace, { processor: url(), ...hook }, data)))

/** The outcome without what differs from run to run. */
const bare = ({ deliveryId, latencyMs, ...rest }: HookRuling) => {
  assert.match(deliveryId, /^dlv_/)
  assert.isTrue(Number.isInteger(latencyMs) && latencyMs >= 0)
  return rest
}

describe("a delivery", () => {
  it("says what happens where and to whom, and until when an answer counts", async () => {
    hooks.answers(allow())
    const question = ask(workspace, { processor: url(), timeoutMs: 5_000 })
    const outcome = await server.runtime.runPromise(service.evaluate(question))
    const [{ body, headers, path }] = (await hooks.until(1)) as [endpoint.Received]
    const { answerToken, occurredAt, respondBy, ...rest } = body
    const { point, ...data } = call
    assert.deepStrictEqual(rest, {
      type: "hook.before_tool_call",
      deliveryId: question.deliveryId,
      attempt: 1,
      workspaceId: workspace,
      agentId: question.agentId,
      threadId: question.threadId,
      turnId: question.turnId,
      hookId: question.hook.id,
      index: 3,
      point,
      principal: question.principal,
      turnPrincipal: question.turnPrincipal,
      data,
      answerUrl: `/v1/hooks/deliveries/${question.deliveryId}/decision`
    })
    assert.strictEqual(Date.parse(String(respondBy)) - Date.parse(String(occurredAt)), 5_000)
    assert.isBelow(Math.abs(Date.parse(String(occurredAt)) - Date.now()), 10_000)
    const tokens = await server.runtime.runPromise(DeliveryTokens)
    assert.deepStrictEqual(tokens.open(question.deliveryId, String(answerToken)), {
      workspace,
      threadId: question.threadId,
      deliveryId: question.deliveryId
    })
    assert.deepStrictEqual(
      [path, headers["content-type"], headers["webhook-id"]],
      ["/hook", "application/json", question.deliveryId]
    )
    assert.deepStrictEqual([outcome.decision, outcome.deliveryId], ["allow", question.deliveryId])
  })

  it("tells at each point what happens there", async () => {
    hooks.answers(allow())
    const points: ReadonlyArray<HookData> = [
      { point: "before_turn_start", content: [{ type: "text", text: "hi" }], submitMode: "steer" },
      { ...call, point: "after_tool_result", toolOutput: { ok: true } },
      { ...call, point: "after_tool_result", toolOutput: null, failureCode: "tool_error" },
      {
        point: "after_model_response",
        content: [],
        modelId: "a/b",
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
      }
    ]
    for (const data of points) {
      hooks.forget()
      await evaluate({}, data)
      const { point, ...rest } = data
      assert.deepStrictEqual([hooks.received[0]?.body.type, hooks.received[0]?.body.data], [`hook.${point}`, rest])
    }
  })

  it("keeps the query of its URL", async () => {
    hooks.answers(allow())
    await evaluate({ processor: url({ url: `${hooks.url}?tenant=a%20b&x` }) })
    assert.strictEqual(hooks.received[0]?.path, "/hook?tenant=a%20b&x")
  })
})

describe("the signature", () => {
  it("is one that the library of receivers verifies", async () => {
    const secret = newSecret()
    hooks.trusts(secret, newSecret())
    hooks.answers(allow())
    const connectionId = await connection({ signingSecret: secret })
    assert.deepStrictEqual(bare(await evaluate({ processor: url({ connectionId }) })), { decision: "allow" })
    assert.deepStrictEqual(hooks.received[0]?.signedBy, [secret])
    assert.notInclude(hooks.received[0]?.text, secret)
  })

  it("is made with both secrets while they change", async () => {
    const [next, last] = [newSecret(), newSecret()]
    hooks.trusts(next, last)
    const connectionId = await connection({ signingSecret: next, previousSigningSecret: last })
    await evaluate({ processor: url({ connectionId }) })
    assert.deepStrictEqual(hooks.received[0]?.signedBy, [next, last])
    assert.match(String(hooks.received[0]?.headers["webhook-signature"]), /^v1,\S+ v1,\S+$/)
  })

  it("is left out without a connection", async () => {
    await evaluate()
    assert.isUndefined(hooks.received[0]?.headers["webhook-signature"])
  })

  it("is not left out because a secret is gone or of another kind: then nothing is sent", async () => {
    for (const connectionId of [absent("conn_"), await connection({ token: "not-for-signing" })]) {
      assert.deepStrictEqual(bare(await evaluate({ processor: url({ connectionId }) })), {
        decision: "deny",
        reason: "the connection of the hook has no signing secret",
        failed: true
      })
    }
    assert.lengthOf(hooks.received, 0)
  })

  it("is of the workspace's own connection only", async () => {
    const made = await server.beta.post("/v1/connections", {
      provider: "hooks",
      name: "Hooks",
      secret: { signingSecret: newSecret() }
    })
    assert.isTrue((await evaluate({ processor: url({ connectionId: made.body.connection.id }) })).failed)
    assert.lengthOf(hooks.received, 0)
  })
})

describe("a decision", () => {
  it("is taken as it is answered", async () => {
    hooks.answers(allow({ reason: "fine" }), deny("too much"), defer(), rewrite({ toolInput: { amount: 1 } }))
    assert.deepStrictEqual(bare(await evaluate()), { decision: "allow", reason: "fine" })
    assert.deepStrictEqual(bare(await evaluate()), { decision: "deny", reason: "too much" })
    assert.deepStrictEqual(bare(await evaluate()), { decision: "defer" })
    assert.deepStrictEqual(bare(await evaluate()), { decision: "allow", rewrite: { toolInput: { amount: 1 } } })
  })

  it("to ask is for a person, or for the endpoint that says so, and stays open as the hook says", async () => {
    hooks.answers(endpoint.ask(), endpoint.ask({ answerBy: "url", rewrite: { toolInput: 1 } }))
    assert.deepStrictEqual(bare(await evaluate()), {
      decision: "ask",
      ask: { target: "person", timeoutMs: 3_600_000, onTimeout: "deny" }
    })
    assert.deepStrictEqual(bare(await evaluate({ asyncTimeoutMs: 1_000, onTimeout: "fail" })), {
      decision: "ask",
      rewrite: { toolInput: 1 },
      ask: { target: "url", timeoutMs: 1_000, onTimeout: "fail" }
    })
  })

  it("takes as long as it took", async () => {
    hooks.answers(after(120, allow()))
    assert.isAtLeast((await evaluate()).latencyMs, 115)
  })
})

describe("what is tried again", () => {
  for (const [what, first] of [
    ["500", status(500)],
    ["503", status(503)],
    ["429", tooMany()],
    ["no word at all", nothing()]
  ] as const) {
    it(`is a delivery that was answered with ${what}, under the same id`, async () => {
      hooks.answers(first, allow())
      assert.deepStrictEqual(bare(await evaluate()), { decision: "allow" })
      assert.deepStrictEqual(
        hooks.received.map(({ body }) => body.attempt),
        [1, 2]
      )
      assert.strictEqual(new Set(hooks.received.map(({ headers }) => headers["webhook-id"])).size, 1)
      assert.strictEqual(new Set(hooks.received.map(({ body }) => body.occurredAt)).size, 1)
    })
  }

  it("is tried three times, not more", async () => {
    hooks.answers(status(500))
    assert.deepStrictEqual(bare(await evaluate()), {
      decision: "deny",
      reason: "the endpoint answered with status 500",
      failed: true
    })
    assert.deepStrictEqual(
      hooks.received.map(({ body }) => body.attempt),
      [1, 2, 3]
    )
  })

  it("is signed anew each time, and each time verifies", async () => {
    const secret = newSecret()
    hooks.trusts(secret)
    hooks.answers(status(500))
    await evaluate({ processor: url({ connectionId: await connection({ signingSecret: secret }) }) })
    assert.deepStrictEqual(
      hooks.received.map(({ signedBy }) => signedBy),
      [[secret], [secret], [secret]]
    )
  })

  it("waits as long as it is told to by Retry-After", async () => {
    hooks.answers(tooMany("1"), allow())
    assert.strictEqual((await evaluate()).decision, "allow")
    const [first, second] = hooks.received
    assert.isAtLeast(second!.at - first!.at, 990)
  })

  it("is not, when Retry-After is longer than the hook has time", async () => {
    hooks.answers(tooMany("3600"), allow())
    const outcome = await evaluate({ timeoutMs: 2_000 })
    assert.deepStrictEqual(bare(outcome), {
      decision: "deny",
      reason: "the endpoint answered with status 429",
      failed: true
    })
    assert.isBelow(outcome.latencyMs, 1_500)
    assert.lengthOf(hooks.received, 1)
  })

  it("is an endpoint that does not listen", async () => {
    const free = createServer()
    const port = await new Promise<number>((resolve) =>
      free.listen(0, "127.0.0.1", () => {
        const address = free.address()
        free.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
      })
    )
    const outcome = await evaluate({ processor: url({ url: `http://127.0.0.1:${port}/` }) })
    assert.isTrue(outcome.failed)
    // Two pauses, of which half is random: 125 to 250 ms and 250 to 500 ms.
    assert.isAtLeast(outcome.latencyMs, 370)
  })
})

describe("what is no answer", () => {
  for (const [what, reply, reason] of [
    ["garbage", () => garbage(), /is not JSON/],
    ["an unknown decision", () => json({ decision: "maybe" }), /does not fit/],
    ["an unknown field", () => json({ decision: "allow", also: 1 }), /does not fit: also: unknown field$/],
    [
      "several problems",
      () => json({ decision: "deny", also: 1, reason: 2 }),
      /does not fit: also: unknown field; reason: expected a string$/
    ],
    ["a rewrite for another point", () => rewrite({ toolOutput: 1 }), /does not fit/],
    ["a 201", () => json({ decision: "allow" }, 201), /status 201/],
    [
      "a 204",
      () => (response: Parameters<endpoint.Reply>[0]) => {
        response.writeHead(204).end()
      },
      /status 204/
    ],
    ["a 400", () => json({ decision: "allow" }, 400), /status 400/],
    ["a 401", () => status(401), /status 401/],
    ["an empty 200", () => text(""), /is not JSON/],
    ["a redirect to a place that would allow", () => redirect(hooks.canaryUrl), /redirect/],
    ["a redirect of another kind", () => redirect(hooks.canaryUrl, 303), /redirect/],
    ["64 KiB and a byte", () => sized(64 * 1024 + 1), /larger than/],
    ["a body without end", () => endless(), /within 1000 ms/],
    ["nothing for longer than the hook has time", () => hang(), /within 1000 ms/],
    ["an answer that comes too late", () => after(1_500, allow()), /within 1000 ms/]
  ] as const) {
    it(`is ${what}: not tried again, and the hook's onError decides`, async () => {
      hooks.answers(reply())
      const outcome = await evaluate({ timeoutMs: 1_000 })
      assert.deepStrictEqual([outcome.decision, outcome.failed], ["deny", true])
      assert.match(outcome.reason ?? "", reason)
      assert.lengthOf(hooks.received, 1)
      assert.strictEqual(hooks.canary(), 0)
      assert.isBelow(outcome.latencyMs, 1_400)
    })
  }

  it("is not one of exactly 64 KiB: that is taken", async () => {
    hooks.answers(sized(64 * 1024))
    assert.deepStrictEqual(bare(await evaluate()), { decision: "allow" })
  })

  it("is a slow one after a quick failure: all attempts share the hook's time", async () => {
    hooks.answers(status(500), hang())
    const outcome = await evaluate({ timeoutMs: 1_000 })
    assert.deepStrictEqual(bare(outcome), {
      decision: "deny",
      reason: "the endpoint did not answer within 1000 ms",
      failed: true
    })
    assert.isBelow(outcome.latencyMs, 1_400)
    assert.lengthOf(hooks.received, 2)
  })

  it("becomes what onError says, at every point", async () => {
    hooks.answers(garbage())
    const result: HookData = { ...call, point: "after_tool_result", toolOutput: 1 }
    for (const [data, onError, decision] of [
      [call, undefined, "deny"],
      [call, "allow", "allow"],
      [call, "ask", "ask"],
      [result, undefined, "allow"],
      [result, "deny", "deny"],
      [result, "ask", "ask"]
    ] as const) {
      const { reason, ...rest } = bare(
        await evaluate({ asyncTimeoutMs: 5_000, ...(onError !== undefined && { onError }) }, data)
      )
      const ruling =
        decision === "ask"
          ? { decision, ask: { target: "person" as const, timeoutMs: 5_000, onTimeout: "deny" as const } }
          : { decision }
      assert.deepStrictEqual(rest, { ...ruling, failed: true })
      assert.isNotEmpty(reason)
    }
  })
})

it("an evaluation that is given up closes its connection", async () => {
  let closed: () => void = () => {}
  const gone = new Promise<void>((resolve) => {
    closed = resolve
  })
  hooks.answers((response) => {
    response.on("close", closed)
  })
  const fiber = server.runtime.runFork(service.evaluate(ask(workspace, { processor: url() })))
  await hooks.until(1)
  await Effect.runPromise(Fiber.interrupt(fiber))
  await gone
})

describe("where private networks are closed", () => {
  it("no hook reaches this machine, whatever was stored", async () => {
    const closed = await startServer({ outbound: { allowPrivateNetwork: false } })
    try {
      const guarded = await closed.runtime.runPromise(Hooks)
      for (const target of [
        hooks.url,
        hooks.url.replace("http:", "https:"),
        "https://localhost/hook",
        "https://169.254.169.254/latest"
      ]) {
        const outcome = await closed.runtime.runPromise(
          guarded.evaluate(ask(closed.workspaces.alpha, { processor: url({ url: target }) }))
        )
        assert.deepStrictEqual([outcome.decision, outcome.failed], ["deny", true], target)
      }
      assert.lengthOf(hooks.received, 0)
    } finally {
      await closed.stop()
    }
  })
})
