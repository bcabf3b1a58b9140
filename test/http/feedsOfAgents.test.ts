/** Feeds as agents use them by the tools of the family, in turns that somebody or a schedule begins. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { feedsFamily } from "../../actors/thread/tools/families/feeds.ts"
import { Bus } from "../../src/bus/Bus.ts"
import { noUsage } from "../../src/domain/usage.ts"
import { ConditionJudge } from "../../src/subscriptions/ConditionJudge.ts"
import { Journal } from "../../src/journal/Journal.ts"
import { freshId } from "../../src/seed.ts"
import { eventually } from "../waiting.ts"
import { append, feedsStand } from "./feedsOfAgentsFixture.ts"
import { returned } from "./ofAgentsFixture.ts"
import { absent } from "./refusals.ts"
import { call, fresh } from "./toolFixture.ts"

const { hopsOf, makeFeed, messagesOf, ruled, sent, server, use, worker } = await feedsStand()

describe("the tools", () => {
  it("append to a feed and read it, in the name of the agent", async () => {
    const agentId = await worker()
    const feedId = await makeFeed(server.alpha, { description: "Reports." })
    const [appended, page, got] = await use(
      agentId,
      call("feeds.append", { feedId, messages: [{ text: "a", tags: ["t"], data: { n: 1 } }, { text: "b" }] }),
      call("feeds.read", { feedId, startSeq: 2 }),
      call("feeds.get", { feedId })
    )
    assert.deepStrictEqual(appended, { messages: [{ seq: 1 }, { seq: 2 }], startSeq: 1, endSeq: 2 })
    assert.deepStrictEqual(
      page.messages.map(({ principal, seq, text }: any) => [seq, text, principal]),
      [[2, "b", { type: "agent", id: agentId }]]
    )
    assert.deepStrictEqual(got.feed, (await server.alpha.get(`/v1/feeds/${feedId}`)).body.feed)
    const [first] = await messagesOf(server.alpha, feedId)
    assert.deepInclude(first, { text: "a", tags: ["t"], data: { n: 1 }, principal: { type: "agent", id: agentId } })
  })

  it("list feeds in pages, by prefix and tag, without archived ones", async () => {
    const agentId = await worker()
    const prefix = fresh("listed")
    const ids: Array<string> = []
    for (const name of ["a", "b", "c"])
      ids.push(await makeFeed(server.alpha, { name: `${prefix}/${name}`, tags: ["x"] }))
    await server.alpha.post(`/v1/feeds/${ids[1]}/archive`)
    const list = (more: object = {}) => call("feeds.list", { namePrefix: prefix, ...more })
    const [first, all, tagged] = await use(
      agentId,
      list({ limit: 1 }),
      list({ includeArchived: true }),
      list({ tag: "y" })
    )
    assert.deepStrictEqual(
      [first.feeds.map(({ id }: any) => id), all.feeds.map(({ id }: any) => id), tagged.feeds],
      [[ids[0]], ids, []]
    )
    const [second] = await use(agentId, list({ limit: 1, cursor: first.nextCursor }))
    assert.deepStrictEqual([second.feeds[0].id, second.nextCursor], [ids[2], undefined])
  })

  it("give 20 rows unless a call says how many, and at most 50", async () => {
    const agentId = await worker()
    const prefix = fresh("many")
    const [feedId = ""] = await Promise.all(
      Array.from({ length: 51 }, (_, i) => makeFeed(server.alpha, { name: `${prefix}/${i}` }))
    )
    const messages = Array.from({ length: 51 }, (_, i) => ({ text: `m${i}` }))
    assert.strictEqual((await server.alpha.post(`/v1/feeds/${feedId}/messages`, { messages })).status, 201)
    for (const [name, input, rows] of [
      ["feeds.read", { feedId }, "messages"],
      ["feeds.list", { namePrefix: prefix }, "feeds"]
    ] as const) {
      const [usual, most, past] = await use(
        agentId,
        call(name, input),
        call(name, { ...input, limit: 50 }),
        call(name, { ...input, limit: 51 })
      )
      assert.deepStrictEqual([usual[rows].length, most[rows].length], [20, 50])
      assert.match(past, /^tool_input_invalid: /)
    }
  })

  it("read as much as fits, and say where to go on", async () => {
    const agentId = await worker()
    const feedId = await makeFeed()
    const text = "x".repeat(30 * 1024)
    await server.alpha.post(`/v1/feeds/${feedId}/messages`, {
      messages: [{ text }, { text }, { text }, { text: "last" }]
    })
    const [page, tail] = await use(
      agentId,
      call("feeds.read", { feedId }),
      call("feeds.read", { feedId, tailOffset: 1 })
    )
    assert.deepStrictEqual([page.messages.length, page.nextSeq], [2, 3])
    assert.deepStrictEqual([tail.messages[0].text, tail.nextSeq], ["last", undefined])
  })

  it("wait for the next message, and no longer than they are told to", async () => {
    const agentId = await worker()
    const feedId = await makeFeed()
    const read = (waitSeconds: number) => call("feeds.read", { feedId, startSeq: 1, waitSeconds })
    assert.deepStrictEqual(await use(agentId, read(1)), [{ messages: [] }])
    const waiting = use(agentId, read(30))
    await server.alpha.post(`/v1/feeds/${feedId}/messages`, { messages: [{ text: "at last" }] })
    const [page] = await waiting
    assert.deepStrictEqual(
      page.messages.map(({ text }: any) => text),
      ["at last"]
    )
  })

  it("begin what they refuse with the word of it", async () => {
    const agentId = await worker()
    const feedId = await makeFeed()
    const gone = await makeFeed()
    await server.alpha.post(`/v1/feeds/${gone}/archive`)
    const nowhere = absent("feed_")
    const results = await use(
      agentId,
      append(feedId, "a", { expectedLastSeq: 1 }),
      append(gone, "a"),
      append(nowhere, "a"),
      call("feeds.read", { feedId: nowhere }),
      call("feeds.get", { feedId: nowhere }),
      call("feeds.read", { feedId, startSeq: 1, tailOffset: 1 }),
      call("feeds.append", { feedId, messages: [{ text: "a", origin: { provider: "slack" } }] }),
      call("feeds.append", { feedId, messages: [] })
    )
    assert.deepStrictEqual(
      results.map((text) => /^(tool_error: )?[a-z_]+:/.exec(text)?.[0]),
      [
        "tool_error: feed_conflict:",
        "tool_error: feed_archived:",
        "tool_error: not_found:",
        "tool_error: not_found:",
        "tool_error: not_found:",
        "tool_error: invalid_request:",
        "tool_input_invalid:",
        "tool_input_invalid:"
      ]
    )
    assert.deepStrictEqual(await messagesOf(server.alpha, feedId), [])
  })

  it("append once, however often a call runs, also at the same time and where others have appended since", async () => {
    const agentId = await worker()
    const feedId = await makeFeed()
    const { tools } = feedsFamily({
      approval: () => Effect.succeed(undefined),
      bus: await server.runtime.runPromise(Bus),
      conditions: await server.runtime.runPromise(ConditionJudge),
      database: server.database,
      journal: await server.runtime.runPromise(Journal)
    })
    const tool = tools.find(({ name }) => name === "feeds.append") ?? assert.fail("there is no such tool")
    const by = {
      workspace: server.workspaces.alpha,
      agentId,
      threadId: freshId("thread"),
      carry: { usage: noUsage },
      hops: 0,
      memory: { agent: "rw", workspace: "r" }
    } as const
    const run = (toolCallId: string) =>
      server.runtime.runPromise(
        tool.run(by, { feedId, messages: [{ text: "a" }, { text: "b" }], expectedLastSeq: 0 }, toolCallId)
      )
    const toolCallId = freshId("call")
    const outcomes = await Promise.all([run(toolCallId), run(toolCallId), run(toolCallId)])
    const done = { output: { messages: [{ seq: 1 }, { seq: 2 }], startSeq: 1, endSeq: 2 } }
    const unsettled = outcomes.filter(({ failure }) => failure !== undefined)
    assert.deepStrictEqual(
      outcomes.filter(({ failure }) => failure === undefined),
      outcomes.slice(unsettled.length).map(() => done)
    )
    await server.alpha.post(`/v1/feeds/${feedId}/messages`, { messages: [{ text: "person's" }] })
    assert.deepStrictEqual(await run(toolCallId), done)
    assert.deepStrictEqual(
      (await messagesOf(server.alpha, feedId)).map(({ text }) => text),
      ["a", "b", "person's"]
    )
  })

  it("give a message one hop more than lead to the turn", async () => {
    const agentId = await worker()
    const feedId = await makeFeed()
    await use(agentId, append(feedId, "begun by a client"))
    await sent(server.workspaces.alpha, server.alpha, agentId, append(feedId, "begun by a feed"), 3)
    assert.deepStrictEqual(await hopsOf(feedId), [1, 4])
  })
})

describe("schedules", () => {
  const trusted = async () => {
    const { admin, id } = await ruled([])
    const rules = [{ actions: ["schedule.*"], principals: ["agent"], require: false }]
    assert.strictEqual((await admin.put("/v1/approval-policy", { rules })).status, 200)
    const agentId = await worker({ families: ["feeds", "schedules"] }, admin)
    return { admin, id, agentId, feedId: await makeFeed(admin), path: `/v1/agents/${agentId}/schedules` }
  }
  const appending = (feedId: string) => ({
    name: "Appends",
    trigger: { type: "interval", seconds: 3_600 },
    target: { mode: "spawn" },
    overlap: "allow",
    message: { content: [{ type: "text", text: append(feedId, "again") }] }
  })

  it("count on from the turn that has made or changed them, or has them run", async () => {
    const { admin, agentId, feedId, id, path } = await trusted()
    const inTurn = (hops: number, tool: string, input: object) => sent(id, admin, agentId, call(tool, input), hops)
    const [made] = returned(await inTurn(3, "schedules.create", appending(feedId)))
    const { id: scheduleId } = made.schedule
    const run = async () => assert.strictEqual((await admin.post(`${path}/${scheduleId}/run`)).status, 201)
    const appended = async (...hops: ReadonlyArray<number>) => {
      await eventually(async () => (await hopsOf(feedId)).length >= hops.length, "the run appends")
      assert.deepStrictEqual(await hopsOf(feedId), hops)
    }
    await run()
    await appended(4)
    await inTurn(5, "schedules.update", { scheduleId, name: "Changed" })
    await run()
    await appended(4, 6)
    assert.strictEqual((await admin.patch(`${path}/${scheduleId}`, { name: "By a client" })).status, 200)
    await run()
    await appended(4, 6, 1)
    await inTurn(2, "schedules.run", { scheduleId })
    await appended(4, 6, 1, 3)
  })

  it("are no way around the hops that end a loop of turns", async () => {
    const { admin, agentId, feedId, path } = await trusted()
    const { body } = await admin.post(path, appending(feedId))
    const intent = call("schedules.run", { scheduleId: body.schedule.id })
    const made = await admin.post(`/v1/agents/${agentId}/subscriptions`, { feedId, includeSelf: true, intent })
    assert.strictEqual(made.status, 201, made.text)
    await admin.post(`/v1/feeds/${feedId}/messages`, { messages: [{ text: "first" }] })
    const subscription = async () => (await admin.get(`/v1/subscriptions/${made.body.id}`)).body
    await eventually(async () => (await subscription()).lastReason === "hop_limit", "the loop ends")
    assert.deepStrictEqual(await hopsOf(feedId), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })
})
