/**
 * Summaries that are not what was asked for, what is too long for any, and what happens to a thread while one is being
 * made. The summaries are those of a local provider, whose window is small.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { chatCompletions } from "../models/servers/chatCompletions.ts"
import { type Answer, startServer as startProvider } from "../models/servers/server.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { startMcpServer } from "../tools/mcpServer.ts"
import { assertRefused } from "./refusals.ts"
import { ended, type Event, logOf, makeThread, submit, text } from "./threadFixture.ts"
import { addToolset, assertSound, begin, call, makeWorker, only, fresh } from "./toolFixture.ts"

const model = "local/summariser"
const contextWindow = 400

const summariser = await during(startProvider(chatCompletions))
const provider = { id: model, provider: "openai-compatible", baseUrl: `${summariser.url}/v1`, apiKeyEnv: "SOME_KEY" }
const server = await during(
  startServer({
    models: {
      env: { SOME_KEY: summariser.key },
      modelsFile: { models: [{ ...provider, contextWindow }] },
      idleTimeoutMs: 60_000
    }
  })
)
const mcp = await during(startMcpServer({ tools: [{ name: "large", run: () => "word ".repeat(4_000) }] }))
const toolset = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
afterAll(() => assertSound(server))

/** What a round came to. */
const ends = (log: ReadonlyArray<Event>) => only(log, "compacted").map(({ failureCode }) => failureCode ?? "made")
const said = (log: ReadonlyArray<Event>) => only(log, "assistant_message").at(-1)?.content

/** A thread of two turns that is to have a summary made before its next one. */
const long = async (compaction: object = {}, thread: object = {}) => {
  const agentId = await makeWorker(server.alpha, { compaction: { keepTurns: 1, model, ...compaction } })
  const threadId = await makeThread(server.alpha, agentId, thread)
  for (const [i, words] of ["one", "two"].entries()) {
    await submit(server.alpha, threadId, words)
    await logOf(server.alpha, threadId, ended(i + 1))
  }
  const compact = () => server.alpha.post(`/v1/threads/${threadId}/compact`)
  assert.strictEqual((await compact()).status, 200)
  const log = (turns: number) => logOf(server.alpha, threadId, ended(turns))
  const goesOn = async (turns: number) => {
    await submit(server.alpha, threadId, "and then?")
    const whole = await log(turns)
    assert.deepStrictEqual(said(whole), [{ type: "text", text: "You said: and then?" }])
    return whole
  }
  return { agentId, threadId, compact, goesOn, log }
}

/** The third turn is in the middle of its round; `finish` lets the summary come. */
const inRound = async (more: object = {}) => {
  const { promise: after, resolve: finish } = Promise.withResolvers<void>()
  const thread = await long({}, more)
  summariser.enqueue({ kind: "answer", answer: { text: ["What was said."] }, after })
  await submit(server.alpha, thread.threadId, "three")
  await logOf(server.alpha, thread.threadId, (log) => only(log, "compacting").length === 1)
  return { ...thread, finish }
}

describe("a summariser", () => {
  const answers = async (answer: Answer) => {
    const thread = await long()
    summariser.enqueue({ kind: "answer", answer })
    return thread.goesOn(3)
  }

  it("that answers more than a window holds is heard up to an eighth of it", async () => {
    const log = await answers({ text: ["x".repeat(4 * contextWindow), "y".repeat(4 * contextWindow)] })
    assert.deepStrictEqual(ends(log), ["made"])
    const [{ compaction } = { compaction: undefined }] = only(log, "compacted")
    assert.propertyVal(compaction, "preview", "x".repeat(contextWindow / 2))
  })

  it("that answers nothing, or calls tools and says nothing, has failed: the turn goes on without", async () => {
    assert.deepStrictEqual(ends(await answers({ text: ["\n "] })), ["compaction_failed"])
    const log = await answers({ calls: [{ name: "nothing", input: {} }] })
    assert.deepStrictEqual(ends(log), ["compaction_failed"])
    assert.deepStrictEqual(only(log, "tool_intent"), [])
  })

  it("that no server has any more gives way to the model that is asked", async () => {
    const { goesOn } = await long({ model: "local/gone" })
    const log = await goesOn(3)
    assert.deepStrictEqual(
      only(log, "compacted").map(({ failureCode, modelId }) => failureCode ?? modelId),
      ["troupe/scripted"]
    )
  })
})

describe("what is above the window by itself", () => {
  const tooLong = async (...lines: ReadonlyArray<string>) => {
    const agentId = await makeWorker(server.alpha, {
      models: ["troupe/scripted-small"],
      toolsetIds: [toolset.id],
      compaction: { keepTurns: 1 }
    })
    const threadId = await begin(server.alpha, agentId, ...lines)
    const first = await logOf(server.alpha, threadId, ended(1))
    assert.strictEqual(first.at(-1)?.failureCode, "context_overflow", JSON.stringify(first).slice(-2_000))
    await submit(server.alpha, threadId, "and now?")
    const log = await logOf(server.alpha, threadId, ended(2))
    assert.strictEqual(log.at(-1)?.type, "turn_completed", JSON.stringify(log.at(-1)))
    assert.deepStrictEqual(ends(log), ["made"])
  }

  it("a message, fails its turn, and the next one goes on from a summary", () => tooLong("word ".repeat(1_620)))

  it("a tool's output, fails its turn, and the next one goes on from a summary", () =>
    tooLong(call(`${toolset.namespace}.large`)))
})

describe("in the middle of a round", () => {
  it("a profile that changes its compaction changes the next turn's", async () => {
    const { agentId, compact, finish, goesOn, log } = await inRound()
    const { profileId } = (await server.alpha.get(`/v1/agents/${agentId}`)).body.agent
    const compaction = { enabled: false, keepTurns: 20, model: null }
    assert.strictEqual((await server.alpha.patch(`/v1/profiles/${profileId}`, { compaction })).status, 200)
    finish()
    const [over] = only(await log(3), "compacted")
    assert.deepStrictEqual([over?.failureCode, over?.modelId], [undefined, model])
    assertRefused(await compact(), 409, "nothing_to_compact")
    assert.deepStrictEqual(ends(await goesOn(4)), ["made"])
  })

  it("an identity that is disabled lets the round and its turn finish, and begins no other turn", async () => {
    const identity = `${fresh("ann")}@example.com`
    const { finish, log, threadId } = await inRound({ identity })
    assert.strictEqual((await server.alpha.post("/v1/identities/disable", { identity })).status, 200)
    finish()
    const whole = await log(3)
    assert.deepStrictEqual([ends(whole), whole.at(-1)?.type], [["made"], "turn_completed"])
    const next = await server.alpha.post(`/v1/threads/${threadId}/messages`, { content: text("four") })
    assertRefused(next, 403, "identity_disabled")
  })

  it("a cancel ends the round first, and the next turn goes on without", async () => {
    const { goesOn, log, threadId } = await inRound()
    assert.strictEqual((await server.alpha.post(`/v1/threads/${threadId}/cancel`)).status, 200)
    assert.deepStrictEqual(
      (await log(3)).slice(-3).map(({ failureCode, type }) => failureCode ?? type),
      ["compacting", "turn_interrupted", "turn_cancelled"]
    )
    assert.deepStrictEqual(ends(await goesOn(4)), ["turn_interrupted"])
  })
})
