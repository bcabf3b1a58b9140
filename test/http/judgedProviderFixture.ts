/** Turns of every provider's models that hooks judge. */
import { assert } from "@effect/vitest"
import { afterAll } from "vitest"
import { toProviderName } from "../../src/models/toolNames.ts"
import { type Reply, startHookServer } from "../hooks/hookServer.ts"
import { png } from "../images.ts"
import type { Answer, Behaviour } from "../models/servers/server.ts"
import { startWays, type Way, ways } from "../models/servers/ways.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { startMcpServer, type TestTool, usualTools } from "../tools/mcpServer.ts"
import { ended, logOf, submit } from "./threadFixture.ts"
import { addToolset, assertSound, begin, fresh, Gate, leavesMemory, makeWorker } from "./toolFixture.ts"

/** A tool whose schema no provider would take as it is. */
export const either: TestTool = {
  name: "either.or",
  description: "Takes one of two",
  inputSchema: {
    oneOf: [
      { properties: { a: { type: "string" } }, required: ["a"] },
      { properties: { b: { type: "string" } }, required: ["b"] }
    ]
  },
  run: () => "either"
}

/** What gives a picture. */
export const picture: TestTool = {
  name: "picture",
  description: "Shows a picture",
  run: () => ({ content: [{ type: "image", data: png(2, 2).toString("base64"), mimeType: "image/png" }] })
}

/** A server and a model for each test of each way. */
export const places = 25
export const toText = { match: { conditions: [{ path: "/content/0", op: "exists" }] } }
export const says = (...words: ReadonlyArray<string>): Behaviour => ({ kind: "answer", answer: { text: words } })

/** A server whose models are those of all providers, and what its turns need: tools, hooks, a desk of clients. */
const begun = async () => {
  const gate = new Gate()
  const providers = await during(startWays(places, 30_000, ["png"]))
  const hooks = await during(startHookServer())
  const mcp = await during(
    startMcpServer({
      tools: [...usualTools, either, picture, { name: "gate", run: (_, { signal }) => gate.pass(signal) }]
    })
  )
  const server = await during(startServer({ idleMs: 50, leaseTtlMs: 20_000, models: providers.settings }))
  const { id: toolsetId, namespace: ns } = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
  const desk = await addToolset(server.alpha, {
    kind: "client",
    tools: [{ name: "ask.me", inputSchema: { type: "object" } }]
  })
  afterAll(() => assertSound(server))
  return { desk, gate, hooks, ns, providers, server, toolsetId }
}

const makeStages = (of: Awaited<ReturnType<typeof begun>>) => {
  const hook = (point: string, reply: Reply, more: object = {}) => ({
    name: fresh("hook"),
    point,
    processor: { type: "url", url: of.hooks.endpoint(reply).url },
    ...more
  })
  const echo = (words: string) => ({ name: toProviderName(`${of.ns}.echo`), input: { text: words } })

  /** What a test has of one way: responses with calls, and a thread whose model gives them. */
  const stageOf = ({ signs, title }: Way) => {
    /** With reasoning where the provider wants it back. */
    const calls = (...made: NonNullable<Answer["calls"]>): Behaviour => ({
      kind: "answer",
      answer: { ...(signs ? { reasoning: "Let me see." } : {}), text: ["I look."], calls: made }
    })

    /** `spare`: the model that is asked where the way's own cannot be had. */
    const start = async (
      { spare, ...profile }: { readonly spare?: string; readonly [field: string]: unknown },
      ...responses: ReadonlyArray<Behaviour>
    ) => {
      const provider = of.providers.next(title)
      provider.enqueue(...responses)
      const agentId = await makeWorker(of.server.alpha, {
        models: [provider.modelId, ...(spare === undefined ? [] : [spare])],
        toolsetIds: [of.toolsetId, of.desk.id],
        ...profile
      })
      const threadId = await begin(of.server.alpha, agentId, "go")
      const log = (turns = 1) => logOf(of.server.alpha, threadId, ended(turns))
      /** The turn is over; what it leaves is a history that the next one can go on from, read from the journal. */
      const goesOn = async (turns = 1) => {
        await log(turns)
        await leavesMemory(of.server, threadId)
        await submit(of.server.alpha, threadId, "and now?")
        const whole = await log(turns + 1)
        assert.strictEqual(whole.at(-1)!.type, "turn_completed", JSON.stringify(whole.at(-1)))
        return whole
      }
      const sent = (index: number) => JSON.stringify(provider.requests.at(index))
      return { goesOn, log, provider, sent, threadId }
    }
    return { calls, start }
  }

  /** The same with every provider, all at once. */
  const withEach = (work: (stage: ReturnType<typeof stageOf>) => Promise<void>) => async () => {
    await Promise.all(
      ways.map((way) =>
        work(stageOf(way)).catch((cause: unknown) => {
          throw new Error(`with a model of ${way.title}: ${cause instanceof Error ? cause.message : String(cause)}`, {
            cause
          })
        })
      )
    )
  }
  return { echo, hook, stageOf, withEach }
}

/** What a file's tests stand on. */
export const judgedProviderStand = async () => {
  const stand = await begun()
  return { ...stand, ...makeStages(stand) }
}
