/**
 * Every failure code of the contract, over HTTP. Each is brought about for real: by a tool, a hook, a provider, a limit
 * or a fault.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { type FailureCode, failureCodes } from "../../src/domain/failure.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { ask, deny, garbage, startHookServer } from "../hooks/hookServer.ts"
import { gif } from "../images.ts"
import type { Behaviour } from "../models/servers/server.ts"
import { startWays } from "../models/servers/ways.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { startLiar } from "../tools/liar.ts"
import { startMcpServer } from "../tools/mcpServer.ts"
import { eventually } from "../waiting.ts"
import { ended, type Event, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import {
  addRole,
  addToolset,
  assertSound,
  begin,
  call,
  Gate,
  loseLease,
  makeWorker,
  only,
  turnOf,
  fresh
} from "./toolFixture.ts"

const gate = new Gate()
const providers = await during(startWays(8))
const server = await during(startServer({ models: providers.settings }))
const hooks = await during(startHookServer())
const mcp = await during(
  startMcpServer({
    tools: [
      { name: "fine", run: () => "fine" },
      { name: "gate", run: (_, { signal }) => gate.pass(signal) },
      { name: "fail", run: () => ({ isError: true, content: [{ type: "text", text: "it went wrong" }] }) },
      { name: "count", inputSchema: { type: "object", properties: { n: { type: "integer" } } }, run: () => "counted" }
    ]
  })
)
const toolset = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
afterAll(() => assertSound(server))

type Log = Promise<ReadonlyArray<Event>>
type Making = () => Log

const calling = async (name: string, profile: object = {}, input: unknown = {}) =>
  turnOf(
    server.alpha,
    await makeWorker(server.alpha, { toolsetIds: [toolset.id], ...profile }),
    call(`${toolset.namespace}.${name}`, input)
  )
const hooked = async (hook: object) => calling("fine", { hooks: [{ name: "H", point: "before_tool_call", ...hook }] })
const provided =
  (...behaviours: ReadonlyArray<Behaviour>): Making =>
  async () => {
    const provider = providers.next("openai")
    provider.enqueue(...behaviours)
    return turnOf(server.alpha, await makeWorker(server.alpha, { models: [provider.modelId] }), "hi")
  }
const status = (code: number, more: object = {}): Behaviour => ({ kind: "status", status: code, ...more })
const at = async (
  url: string,
  prepare: (toolset: { readonly namespace: string }) => Promise<void>,
  tool: string
): Log => {
  const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url })
  await prepare({ namespace })
  return turnOf(server.alpha, await makeWorker(server.alpha, { toolsetIds: [id] }), call(`${namespace}.${tool}`))
}

/** An agent whose model has a price. */
const payer = (more: object = {}) => makeAgent(server.alpha, ["troupe/scripted-paid"], more)

/** The turn of an input that waited while this happened. */
const queuedWhile = async (threadId: string, happen: () => Promise<unknown>): Log => {
  await submit(server.alpha, threadId, "/wait 600s")
  await submit(server.alpha, threadId, "the next")
  await happen()
  assert.strictEqual((await server.alpha.post(`/v1/threads/${threadId}/cancel`)).status, 200)
  return logOf(server.alpha, threadId, ended(2))
}

const takeovers = async (threadId: string) => {
  const { epoch } = await server.runtime.runPromise(
    server.database.run("test.epoch", (db) =>
      db.selectFrom("heads").select("epoch").where("id", "=", toUuid(threadId)).executeTakeFirstOrThrow()
    )
  )
  return epoch - 1
}

/** The whole node suffers from it. */
const alone = (make: Making) => ({ alone: true as const, make })

type Way = Making | ReturnType<typeof alone>

const table: Readonly<Record<FailureCode, Way>> = {
  model_image_format_unsupported: async () => {
    const agentId = await makeWorker(server.alpha)
    const upload = { format: "gif", data: gif().toString("base64") }
    const { id } = (await server.alpha.post(`/v1/agents/${agentId}/images`, upload)).body.image
    const threadId = await makeThread(server.alpha, agentId, { message: { content: [{ type: "image", imageId: id }] } })
    return logOf(server.alpha, threadId, ended(1))
  },
  budget_exceeded: async () =>
    turnOf(server.alpha, await payer({ budget: { limit: 1e-6, window: "total" } }), call("nothing")),
  thread_cost_exceeded: async () => {
    const threadId = await makeThread(server.alpha, await payer(), { maxCost: 1e-6 })
    await submit(server.alpha, threadId, call("nothing"))
    return logOf(server.alpha, threadId, ended(1))
  },
  // Nobody has told the price of the provider's model, and the budget comes while the input waits.
  model_not_priced: async () => {
    const agentId = await makeWorker(server.alpha, { models: [providers.next("openai").modelId] })
    const threadId = await makeThread(server.alpha, agentId)
    await submit(server.alpha, threadId, "/wait 600s", { model: "troupe/scripted" })
    await submit(server.alpha, threadId, "the next")
    const budget = { limit: 1, window: "24h" }
    assert.strictEqual((await server.alpha.patch(`/v1/agents/${agentId}`, { budget })).status, 200)
    assert.strictEqual((await server.alpha.post(`/v1/threads/${threadId}/cancel`)).status, 200)
    return logOf(server.alpha, threadId, ended(2))
  },
  // Whoever is to make the summary says nothing.
  compaction_failed: async () => {
    const { enqueue, modelId } = providers.next("openai")
    enqueue({ kind: "answer", answer: { text: [" "] } })
    const agentId = await makeWorker(server.alpha, { compaction: { keepTurns: 1, model: modelId } })
    const threadId = await begin(server.alpha, agentId, "one")
    for (const [i, message] of ["two", "three"].entries()) {
      await logOf(server.alpha, threadId, ended(i + 1))
      await submit(server.alpha, threadId, message)
    }
    await logOf(server.alpha, threadId, ended(3))
    assert.strictEqual((await server.alpha.post(`/v1/threads/${threadId}/compact`)).status, 200)
    await submit(server.alpha, threadId, "four")
    const log = await logOf(server.alpha, threadId, ended(4))
    // The call goes ahead with what there is.
    assert.strictEqual(log.at(-1)?.type, "turn_completed")
    return log
  },

  model_error: provided(status(400)),
  model_rate_limited: provided(status(429, { code: "insufficient_quota" })),
  model_overloaded: provided(status(503), status(503), status(503)),
  model_unavailable: provided(status(401)),
  content_refused: provided({ kind: "answer", answer: { text: [], end: "refused" } }),
  context_overflow: async () =>
    turnOf(server.alpha, await makeWorker(server.alpha, { models: ["troupe/scripted-small"] }), "x".repeat(8 * 1024)),

  tool_error: () => calling("fail"),
  tool_not_found: () => calling("nothing"),
  tool_input_invalid: () => calling("count", {}, { n: "one" }),
  tool_denied: async () =>
    calling("fine", { roleIds: [await addRole(server.alpha, { allow: [{ tools: "other.*" }] })] }),
  tool_timeout: async () => {
    const { id, namespace } = await addToolset(server.alpha, {
      kind: "client",
      tools: [{ name: "ask", inputSchema: { type: "object" }, timeoutMs: 10_000 }]
    })
    return turnOf(server.alpha, await makeWorker(server.alpha, { toolsetIds: [id] }), call(`${namespace}.ask`))
  },
  tool_outcome_unknown: async () => {
    const liar = await startLiar("tools/call", (response) => response.destroy())
    return at(liar.url, async () => {}, "change").finally(() => liar.close())
  },
  toolset_unreachable: async () => {
    const gone = await startMcpServer()
    return at(gone.url, () => gone.close(), "read")
  },
  toolset_unauthorized: async () => {
    const locked = await startMcpServer()
    return at(locked.url, async () => locked.expect("another token"), "read").finally(() => locked.close())
  },

  hook_denied: () => hooked({ processor: { type: "url", url: hooks.endpoint(deny("no")).url } }),
  hook_failed: () => hooked({ processor: { type: "url", url: hooks.endpoint(garbage()).url } }),
  wait_expired: () => hooked({ processor: { type: "url", url: hooks.endpoint(ask()).url }, asyncTimeoutMs: 1_000 }),

  turn_interrupted: async () => {
    const threadId = await begin(
      server.alpha,
      await makeWorker(server.alpha, { toolsetIds: [toolset.id] }),
      call(`${toolset.namespace}.gate`)
    )
    await eventually(() => gate.inside > 0, "the tool runs")
    await submit(server.alpha, threadId, "stop", { mode: "interrupt" })
    return logOf(server.alpha, threadId, ended(2))
  },
  turn_timeout: async () =>
    turnOf(server.alpha, await makeWorker(server.alpha, { limits: { maxTurnSeconds: 1 } }), "/wait 600s"),
  step_limit: () => calling("fine", { limits: { maxSteps: 1 } }),
  identity_disabled: async () => {
    const identity = `${fresh("leaver")}@example.com`
    const threadId = await makeThread(server.alpha, await makeWorker(server.alpha), { identity })
    return queuedWhile(threadId, () => server.alpha.post("/v1/identities/disable", { identity }))
  },
  agent_archived: async () => {
    const agentId = await makeWorker(server.alpha)
    return queuedWhile(await makeThread(server.alpha, agentId), () => server.alpha.delete(`/v1/agents/${agentId}`))
  },

  internal: alone(async () => {
    const roleIds = [await addRole(server.alpha, { allow: [{ tools: "*" }] })]
    const agentId = await makeWorker(server.alpha, { toolsetIds: [toolset.id], roleIds })
    const rename = (from: string, to: string) =>
      server.runtime.runPromise(
        server.database.run("test.rename", (db) => db.schema.alterTable(from).renameTo(to).execute())
      )
    await rename("roles", "elsewhere")
    return turnOf(server.alpha, agentId, "hi").finally(() => rename("elsewhere", "roles"))
  }),
  turn_poisoned: alone(async () => {
    const threadId = await begin(server.alpha, await makeWorker(server.alpha), "/wait 600s")
    // Each time it is taken over it begins to wait anew, and gets no further.
    for (let times = 1; times <= 3; times++) {
      await loseLease(server)
      await eventually(async () => (await takeovers(threadId)) >= times, "the turn is taken over")
    }
    return logOf(server.alpha, threadId, ended(1))
  })
}

const makingOf = (way: Way): Making => (typeof way === "function" ? way : way.make)

const meet = async (code: FailureCode) => {
  const log = await makingOf(table[code])()
  const failed = log.filter(({ failureCode }) => failureCode === code)
  assert.isNotEmpty(
    failed,
    JSON.stringify(log.map(({ failureCode, failureText, type }) => [type, failureCode, failureText]))
  )
  for (const { failureDetails, failureText, type } of failed) {
    assert.include(["tool_result", "turn_failed", "compacted"], type)
    assert.isNotEmpty(failureText)
    assert.strictEqual(failureDetails !== undefined, code === "model_image_format_unsupported")
  }
  assert.lengthOf(only(log, "tool_intent"), only(log, "tool_result").length)
}

const kindOf = (code: FailureCode) => {
  const way = table[code]
  return typeof way === "function" ? "together" : "alone"
}

describe("every failure code", () => {
  it("has its way", () => assert.sameMembers(Object.keys(table), [...failureCodes]))
})
describe.concurrent("the failure code", () => {
  it.each(failureCodes.filter((code) => kindOf(code) === "together"))("%s", meet)
})
describe("the failure code", () => {
  it.each(failureCodes.filter((code) => kindOf(code) === "alone"))("%s", meet)
})

it("model_not_priced is a refusal where the budget is there before the message", async () => {
  const agentId = await makeAgent(server.alpha, [providers.next("openai").modelId], {
    budget: { limit: 1, window: "24h" }
  })
  for (const refused of [
    await server.alpha.post("/v1/threads", { agentId, message: { content: text("hi") } }),
    await server.alpha.post(`/v1/threads/${await makeThread(server.alpha, agentId)}/messages`, { content: text("hi") })
  ])
    assert.deepStrictEqual([refused.status, refused.body.error], [422, "model_not_priced"], refused.text)
})
