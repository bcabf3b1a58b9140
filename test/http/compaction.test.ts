/** Conversations that get too long for their model: what is summarised, when, and what goes on behind it. */
import { assert, describe, it } from "@effect/vitest"
import { factOf } from "../../actors/thread/replies/rows.ts"
import type { StoredFact } from "../../src/journal/Journal.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { startMcpServer } from "../tools/mcpServer.ts"
import { assertRefused } from "./refusals.ts"
import { addToolset, call, factsOf } from "./toolFixture.ts"
import { type Event, ended, logOf, makeThread, submit } from "./threadFixture.ts"

const server = await during(startServer())
const alpha = server.alpha

const small = "troupe/scripted-small"

interface Compaction {
  readonly throughSeq: number
  readonly attempt: string
  readonly preview?: string
}

const agentOf = async (compaction: object | undefined, more: object = {}) => {
  const profile = await alpha.post("/v1/profiles", {
    name: "Long",
    models: [small],
    ...(compaction === undefined ? {} : { compaction }),
    ...more
  })
  assert.strictEqual(profile.status, 201, profile.text)
  const agent = await alpha.post("/v1/agents", { name: "Long", profileId: profile.body.profile.id })
  return agent.body.agent.id as string
}

const words = (bytes: number) => "word ".repeat(Math.ceil(bytes / 5)).slice(0, bytes)
const of = (log: ReadonlyArray<Event>, type: string) => log.filter((event) => event.type === type)
const compactionOf = (event: Event | undefined) => event?.compaction as Compaction
const detail = async (threadId: string) => (await alpha.get(`/v1/threads/${threadId}`)).body
const last = (log: ReadonlyArray<Event>, type: string) =>
  of(log, type).at(-1) ?? assert.fail(`there is no ${type}: ${log.map((event) => event.type).join(" ")}`)
const textOf = (event: Event) => (event.content as ReadonlyArray<{ readonly text: string }>)[0]?.text
const tokensOf = ({ usage }: Event) => (usage as { readonly totalTokens: number }).totalTokens

/** Of a fact that brings a response first: what it was counted as. */
const usageIn = (stored: StoredFact) => {
  const fact = factOf(stored)
  return fact.type === "assistant_message"
    ? fact.detail.usage
    : fact.type === "tool_intent"
      ? fact.detail.response?.usage
      : undefined
}

/** Turns, one after the other. */
const say = async (threadId: string, ...messages: ReadonlyArray<string>) => {
  let log: ReadonlyArray<Event> = []
  for (const message of messages) {
    const turns = log.filter(({ type }) => type.startsWith("turn_")).length
    await submit(alpha, threadId, message)
    log = await logOf(alpha, threadId, ended(turns + 1))
  }
  return log
}

/** One more turn: the log once so many are over. */
const sayNext = async (threadId: string, message: string, turns: number) => {
  await submit(alpha, threadId, message)
  return logOf(alpha, threadId, ended(turns))
}

describe("a conversation above the trigger", () => {
  it("is summarised up to the end of a turn before the kept ones, and goes on", async () => {
    const threadId = await makeThread(alpha, await agentOf(undefined))
    const log = await say(threadId, words(2_000), words(2_000), words(2_000), "And now?")
    const began = last(log, "compacting")
    const over = last(log, "compacted")
    assert.strictEqual(compactionOf(began).attempt, "build:0")
    const boundary = log.find(({ seq }) => seq === compactionOf(began).throughSeq)
    assert.strictEqual(boundary?.type, "turn_completed")
    const { preview = "", ...round } = compactionOf(over)
    assert.deepStrictEqual(round, compactionOf(began))
    assert.match(preview, /^Summary of \d+ events\.$/)
    assert.strictEqual(began.modelId, small)
    assert.isAbove(tokensOf(over), 0)
    assert.isAtLeast((over.timing as { readonly durationMs: number }).durationMs, 0)
    assert.strictEqual(textOf(last(log, "assistant_message")), "You said: And now?")
    assert.strictEqual(log.at(-1)?.type, "turn_completed")
  })

  it("counts its summaries in the thread's usage, not in the turn's", async () => {
    const threadId = await makeThread(alpha, await agentOf(undefined))
    const log = await say(threadId, words(2_000), words(2_000), words(2_000), "And now?")
    const total = (events: ReadonlyArray<Event>) => events.reduce((sum, event) => sum + tokensOf(event), 0)
    const { usage } = await detail(threadId)
    assert.strictEqual(usage.totalTokens, total([...of(log, "turn_completed"), ...of(log, "compacted")]))
  })

  it("runs on and on: no turn fails, and no prompt is above the window", async () => {
    const threadId = await makeThread(alpha, await agentOf(undefined))
    const log = await say(threadId, ...Array.from({ length: 40 }, (_, i) => `${i} ${words(600)}`))
    assert.deepStrictEqual(of(log, "turn_failed"), [])
    assert.isAbove(of(log, "compacted").length, 3)
    for (const { usage } of of(log, "turn_completed"))
      assert.isAtMost((usage as { readonly inputTokens: number }).inputTokens, 2_000)
    const bounds = of(log, "compacted").map((event) => compactionOf(event).throughSeq)
    assert.deepStrictEqual(
      bounds,
      bounds.toSorted((a, b) => a - b)
    )
  }, 30_000)

  it("is left alone where the profile says so, and fails as its provider does", async () => {
    const threadId = await makeThread(alpha, await agentOf({ enabled: false }))
    const log = await say(threadId, words(3_000), words(3_000), words(3_000))
    assert.deepStrictEqual(of(log, "compacting"), [])
    assert.strictEqual(log.at(-1)?.failureCode, "context_overflow")
  })

  it("that its provider counts higher than was foreseen is summarised after it has said so", async () => {
    const threadId = await makeThread(alpha, await agentOf({ triggerRatio: 0.95, keepTurns: 1 }))
    // The provider counts other tokens than were foreseen.
    const log = await say(threadId, `${words(3_000)}\n/usage 10 10`, `${words(3_000)}\n/usage 10 10`, words(3_000))
    const [began] = of(log, "compacting")
    assert.strictEqual(compactionOf(began).attempt, "overflow")
    assert.strictEqual(log.at(-1)?.type, "turn_completed")
  })
})

describe("a turn that is too long itself", () => {
  it("is cut between its responses; its message stands again, and its rounds go on being counted", async () => {
    const threadId = await makeThread(alpha, await agentOf({ triggerRatio: 0.5 }))
    const rounds = Array.from({ length: 12 }, () => `/call nothing {"of":"${words(150)}"}`).join("\n/then\n")
    const log = await say(threadId, rounds)
    assert.strictEqual(log.at(-1)?.type, "turn_completed", JSON.stringify(log.at(-1)))
    assert.strictEqual(of(log, "tool_intent").length, 12)
    assert.isAtLeast(of(log, "compacted").length, 1)
    assert.match(textOf(last(log, "assistant_message")) ?? "", /^Done: \[null,/)
    const open = new Set<unknown>()
    for (const event of log) {
      if (event.type === "tool_intent") open.add(event.toolCallId)
      if (event.type === "tool_result") open.delete(event.toolCallId)
      if (event.type !== "compacting") continue
      const through = compactionOf(event).throughSeq
      const cut = log.filter(({ seq, type }) => seq <= through && type === "tool_intent")
      for (const { toolCallId } of cut)
        assert.isTrue(
          log.some((other) => other.type === "tool_result" && other.toolCallId === toolCallId && other.seq <= through)
        )
    }
  })
})

describe("whoever wants a summary", () => {
  const compact = (threadId: string) => alpha.post(`/v1/threads/${threadId}/compact`)

  it("gets one before the next model call, also where the profile does without", async () => {
    const threadId = await makeThread(alpha, await agentOf({ enabled: false }))
    await say(threadId, "one", "two", "three")
    const answer = await compact(threadId)
    assert.strictEqual(answer.status, 200, answer.text)
    assert.strictEqual(answer.body.thread.id, threadId)
    const log = await sayNext(threadId, "four", 4)
    assert.strictEqual(compactionOf(last(log, "compacting")).attempt, "build:0")
    assert.strictEqual(textOf(last(log, "assistant_message")), "You said: four")
    assert.strictEqual(of(await sayNext(threadId, "five", 5), "compacting").length, 1)
  })

  it("is told where nothing could be summarised", async () => {
    const threadId = await makeThread(alpha, await agentOf(undefined))
    await say(threadId, "one", "two")
    assertRefused(await compact(threadId), 409, "nothing_to_compact")
    assertRefused(await compact("thr_00000000000000000000000000"), 404, "not_found")
  })
})

describe("what a profile says of summaries", () => {
  it("is shown with its defaults, and changed by a patch", async () => {
    const made = await alpha.post("/v1/profiles", { name: "P", models: [small], compaction: { keepTurns: 3 } })
    assert.deepStrictEqual(made.body.profile.compaction, { enabled: true, triggerRatio: 0.8, keepTurns: 3 })
    const path = `/v1/profiles/${made.body.profile.id}`
    const changed = await alpha.patch(path, {
      compaction: { keepTurns: null, model: "troupe/*", instructions: "Names." }
    })
    assert.deepStrictEqual(changed.body.profile.compaction, {
      enabled: true,
      triggerRatio: 0.8,
      keepTurns: 2,
      model: "troupe/*",
      instructions: "Names."
    })
  })

  it.each([
    [{ triggerRatio: 0.1 }, 201],
    [{ triggerRatio: 0.09 }, 400],
    [{ triggerRatio: 0.95 }, 201],
    [{ triggerRatio: 0.96 }, 400],
    [{ keepTurns: 1 }, 201],
    [{ keepTurns: 0 }, 400],
    [{ keepTurns: 20 }, 201],
    [{ keepTurns: 21 }, 400],
    [{ instructions: "x".repeat(4096) }, 201],
    [{ instructions: "x".repeat(4097) }, 400],
    [{ model: "none" }, 400],
    [{ other: 1 }, 400]
  ])("is held to its limits: %o is %i", async (compaction, status) => {
    const made = await alpha.post("/v1/profiles", { name: "P", models: [small], compaction })
    assert.strictEqual(made.status, status, made.text)
    if (status === 400) assert.match(made.body.message, /^compaction\./)
  })
})

describe("a round that comes to nothing", () => {
  it("before a call lets the call go ahead, and is not begun again in its turn", async () => {
    // The first summary takes what is left of the budget; the model that answers is free.
    const profile = { models: ["troupe/scripted"] }
    const agentId = await agentOf({ model: "troupe/scripted-paid", triggerRatio: 0.1, keepTurns: 1 }, profile)
    assert.strictEqual(
      (await alpha.patch(`/v1/agents/${agentId}`, { budget: { limit: 1e-6, window: "total" } })).status,
      200
    )
    const threadId = await makeThread(alpha, agentId)
    const long = "/usage 200000 1"
    const calls = `/call nothing\n${long}\n/then\n/call no\n${long}\n/then\n${long}`
    const log = await say(threadId, `${words(2_000)}\n${long}`, `And now?\n${long}`, calls)
    const codes = (events: ReadonlyArray<Event>) => of(events, "compacted").map(({ failureCode }) => failureCode)
    assert.deepStrictEqual(codes(log), [undefined, "budget_exceeded"])
    assert.strictEqual(of(log, "tool_result").length, 2)
    assert.strictEqual(log.at(-1)?.type, "turn_completed")
    assert.deepStrictEqual(codes(await sayNext(threadId, "And then?", 4)), [
      undefined,
      "budget_exceeded",
      "budget_exceeded"
    ])
  })

  it("is over before its turn is", async () => {
    const threadId = await makeThread(alpha, await agentOf(undefined))
    await say(threadId, "one", "two", "three")
    await alpha.post(`/v1/threads/${threadId}/compact`)
    const log = await sayNext(threadId, "four", 4)
    const types = log.map(({ type }) => type)
    assert.isBelow(types.indexOf("compacted"), types.lastIndexOf("turn_completed"))
  })
})

describe("a summary that costs money", () => {
  const paid = "troupe/scripted-paid"
  const spent = async (agentId: string) =>
    (await alpha.get(`/v1/usage?agentId=${agentId}`)).body.budget as {
      readonly spent: number
      readonly reserved: number
    }

  const agentWith = async (limit: number, more: object = {}) => {
    const profile = await alpha.post("/v1/profiles", {
      name: "Paid",
      models: [paid],
      compaction: { keepTurns: 1, triggerRatio: 0.1, ...more }
    })
    const budget = { limit, window: "total" }
    const body = { name: "Paid", profileId: profile.body.profile.id, budget }
    return (await alpha.post("/v1/agents", body)).body.agent.id as string
  }

  it("is booked with its outcome: the budget's spend is the thread's cost", async () => {
    const agentId = await agentWith(10)
    const threadId = await makeThread(alpha, agentId)
    const log = await say(threadId, `one\n/usage 150000 1`, "two", "three")
    assert.isAtLeast(of(log, "compacted").length, 1)
    const { usage } = await detail(threadId)
    const { reserved, spent: booked } = await spent(agentId)
    assert.deepStrictEqual([booked, reserved], [usage.estimatedCost, 0])
  })

  it("is not begun where nothing is left: the message is refused", async () => {
    const agentId = await agentWith(0.15, { model: paid })
    const threadId = await makeThread(alpha, agentId)
    const log = await say(threadId, `one\n/usage 150000 1`)
    assert.strictEqual(log.at(-1)?.type, "turn_completed")
    const refused = await alpha.post(`/v1/threads/${threadId}/messages`, { content: [{ type: "text", text: "two" }] })
    assertRefused(refused, 402, "budget_exceeded")
  })
})

describe("a turn of 400 calls, one after the other, with 4 KiB of output each", async () => {
  const mcp = await during(startMcpServer({ tools: [{ name: "t", run: () => "x".repeat(4096) }] }))
  // As short as can be: the script of four hundred calls has to fit into a message.
  const { id } = await addToolset(alpha, { kind: "mcp", url: mcp.url, namespace: "z" })

  it("completes, and no prompt is above the trigger by more than one response and its results", async () => {
    const agentId = await agentOf(
      { triggerRatio: 0.1 },
      { models: ["troupe/scripted"], limits: { maxSteps: 500 }, toolsetIds: [id] }
    )
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, Array.from({ length: 400 }, () => call("z.t")).join("\n/then\n"))
    let log: ReadonlyArray<Event> = []
    for (let begun = Date.now(); !ended(1)(log) && Date.now() - begun < 60_000; ) {
      const page = await alpha.get(
        `/v1/threads/${threadId}/events?limit=200&waitSeconds=5&afterSeq=${log.at(-1)?.seq ?? 0}`
      )
      log = [...log, ...page.body.events]
    }
    assert.strictEqual(last(log, "turn_completed").seq, log.at(-1)?.seq)
    assert.strictEqual(of(log, "tool_result").length, 400)
    assert.strictEqual(of(log, "tool_result")[399]?.failureCode, undefined)
    assert.isAtLeast(of(log, "compacted").length, 4)
    const trigger = 0.1 * 1_000_000
    let allowed = trigger
    let prompts = 0
    for (const fact of await factsOf(server, threadId)) {
      if (fact.type === "tool_result") allowed += Math.ceil(Buffer.byteLength(fact.event) / 4)
      const usage = usageIn(fact)
      if (usage === undefined) continue
      assert.isAtMost(usage.inputTokens, allowed, `prompt ${prompts}`)
      prompts++
      allowed = trigger + usage.outputTokens
    }
    assert.strictEqual(prompts, 401)
  }, 90_000)
})
