/** Feeds as agents use them: by the tools of the family, and by requests under their leases. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sql } from "kysely"
import { feedsFamily } from "../../actors/thread/tools/families/feeds.ts"
import { Threads } from "../../actors/thread/Threads.ts"
import { Bus } from "../../src/bus/Bus.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { noUsage } from "../../src/domain/usage.ts"
import { ConditionJudge } from "../../src/subscriptions/ConditionJudge.ts"
import { Journal } from "../../src/journal/Journal.ts"
import { freshId } from "../../src/seed.ts"
import { during } from "../setup/during.ts"
import { type Client, startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { makeFamilyUsers, returned } from "./ofAgentsFixture.ts"
import { absent, assertRefused } from "./refusals.ts"
import { ended, logOf } from "./threadFixture.ts"
import { addRole, call, fresh, turnOf } from "./toolFixture.ts"

const server = await during(startServer({ idleMs: 200 }))
const { leased, ruled, use, worker } = makeFamilyUsers(server, "feeds")

const makeFeed = async (client = server.alpha, fields: object = {}): Promise<string> => {
  const made = await client.post("/v1/feeds", { name: fresh("feed"), ...fields })
  assert.strictEqual(made.status, 201, made.text)
  return made.body.feed.id
}
const append = (feedId: string, text: string, more: object = {}) =>
  call("feeds.append", { feedId, messages: [{ text }], ...more })
const messagesOf = async (client: Client, feedId: string): Promise<ReadonlyArray<any>> =>
  (await client.get(`/v1/feeds/${feedId}/messages`)).body.messages
const hopsOf = async (feedId: string) => {
  const { rows } = await server.query(sql<{ readonly hops: number }>`select hops from feed_messages
    where feed = ${toUuid(feedId)}::uuid order by seq`)
  return rows.map(({ hops }) => hops)
}

/** A message that so many turns lead to. */
const sent = async (workspace: string, client: Client, agentId: string, text: string, hops: number) => {
  const threadId = freshId("thread")
  const inputId = freshId("input")
  const threads = await server.runtime.runPromise(Threads)
  await server.runtime.runPromise(
    threads.start(
      { workspace, principal: { type: "api_key", id: freshId("key") } },
      { agentId, threadId, inputId, content: [{ type: "text", text }], hops }
    )
  )
  return logOf(client, threadId, ended(1))
}

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

describe("where the policy makes an agent's appends park", () => {
  it("the tool returns the operation, and what is approved has the hops of the turn that asked", async () => {
    const { admin, id } = await ruled(["feed.append"])
    const agentId = await worker({}, admin)
    const feedId = await makeFeed(admin)
    const [output] = returned(await sent(id, admin, agentId, append(feedId, "a"), 2))
    const { operation } = output
    assert.deepInclude(operation, { action: "feed.append", state: "pending", agentId })
    const path = `/v1/operations/${operation.id}`
    assert.deepStrictEqual((await admin.get(path)).body.operation.request, { feedId, messages: [{ text: "a" }] })
    assert.deepStrictEqual(await messagesOf(admin, feedId), [])
    const done = (await admin.post(`${path}/approve`)).body.operation
    assert.deepStrictEqual(
      [done.state, done.result],
      ["completed", { status: 201, body: { messages: [{ seq: 1 }], startSeq: 1, endSeq: 1 } }]
    )
    assert.deepStrictEqual((await messagesOf(admin, feedId))[0].principal, { type: "agent", id: agentId })
    assert.deepStrictEqual(await hopsOf(feedId), [3])
  })

  it("what is hopeless does not park", async () => {
    const { admin } = await ruled(["feed.*"])
    const agentId = await worker({}, admin)
    const feedId = await makeFeed(admin)
    const log = await turnOf(admin, agentId, append(feedId, "a", { expectedLastSeq: 7 }))
    assert.match(returned(log)[0], /^tool_error: feed_conflict/)
    assert.deepStrictEqual((await admin.get("/v1/operations")).body.operations, [])
  })

  it("is refused by what the roles say when it is approved", async () => {
    const { admin } = await ruled(["feed.append"])
    const roleId = await addRole(admin, { allow: [{ tools: "*" }] })
    const agentId = await worker({ roleIds: [roleId] }, admin)
    const feedId = await makeFeed(admin)
    const [{ operation }] = returned(await turnOf(admin, agentId, append(feedId, "a")))
    assert.strictEqual((await admin.patch(`/v1/roles/${roleId}`, { deny: [{ tools: "feeds.append" }] })).status, 200)
    const done = (await admin.post(`/v1/operations/${operation.id}/approve`)).body.operation
    assert.deepStrictEqual(
      [done.state, done.result.status, done.result.body.error],
      ["failed", 403, "permission_denied"]
    )
    assert.deepStrictEqual(await messagesOf(admin, feedId), [])
  })
})

describe("under a lease", () => {
  const messages = (text: string) => ({ messages: [{ text }] })

  it("an agent does with feeds what its tools may, and a message has one hop more than its turn", async () => {
    const { agentId, lease } = await leased({}, [{ tools: "feeds.*" }], { hops: 5 })
    const feedId = await makeFeed()
    const path = `/v1/feeds/${feedId}`
    const done = await lease.post(`${path}/messages`, messages("a"))
    assert.strictEqual(done.status, 201, done.text)
    assert.strictEqual((await lease.get(path)).body.feed.lastSeq, 1)
    assert.deepStrictEqual(
      (await messagesOf(lease, feedId)).map(({ principal }) => principal),
      [{ type: "agent", id: agentId }]
    )
    assert.deepStrictEqual(await hopsOf(feedId), [6])
    assert.strictEqual((await lease.get("/v1/feeds?limit=1")).status, 200)
    // What no tool does.
    assertRefused(await lease.post("/v1/feeds", { name: fresh("feed") }), 403, "credential_not_accepted")
    assertRefused(await lease.patch(path, { description: "d" }), 403, "credential_not_accepted")
    assertRefused(await lease.post(`${path}/archive`), 403, "credential_not_accepted")
    const origin = { messages: [{ text: "a", origin: { provider: "slack", tenantId: "t", senderId: "s" } }] }
    assertRefused(await lease.post(`${path}/messages`, origin), 403, "origin_not_allowed")
  })

  it("waits for the next message", async () => {
    const { lease } = await leased()
    const feedId = await makeFeed()
    const waiting = lease.get(`/v1/feeds/${feedId}/messages?startSeq=1&waitSeconds=30`)
    await server.alpha.post(`/v1/feeds/${feedId}/messages`, messages("a"))
    assert.strictEqual((await waiting).body.messages[0].text, "a")
  })

  it("nothing where the profile does not name the family", async () => {
    const { lease } = await leased({ families: ["thread"] })
    const path = `/v1/feeds/${await makeFeed()}`
    for (const asked of [
      lease.get("/v1/feeds"),
      lease.get(path),
      lease.get(`${path}/messages`),
      lease.post(`${path}/messages`, messages("a"))
    ])
      assertRefused(await asked, 403, "permission_denied")
  })

  it("roles are asked as of the tool, with the request as its input", async () => {
    const feedId = await makeFeed()
    const other = await makeFeed()
    const own = { conditions: [{ path: "/feedId", op: "eq", value: feedId }] }
    const { lease } = await leased({}, [
      { tools: "feeds.append", ...own },
      { tools: "feeds.read", ...own }
    ])
    assert.strictEqual((await lease.post(`/v1/feeds/${feedId}/messages`, messages("a"))).status, 201)
    assert.strictEqual((await lease.get(`/v1/feeds/${feedId}/messages`)).status, 200)
    assertRefused(await lease.post(`/v1/feeds/${other}/messages`, messages("a")), 403, "permission_denied")
    assertRefused(await lease.get(`/v1/feeds/${other}/messages`), 403, "permission_denied")
    assertRefused(await lease.get(`/v1/feeds/${feedId}`), 403, "permission_denied")
  })

  it("a grant that wants approval refuses a read and parks an append, whose hops are those of its turn", async () => {
    const { admin, id } = await ruled([])
    const grants = [{ tools: "feeds.*", approval: "required" }]
    const { agentId, lease } = await leased({}, grants, { client: admin, workspace: id, hops: 7 })
    const feedId = await makeFeed(admin)
    const path = `/v1/feeds/${feedId}/messages`
    assertRefused(await lease.get(path), 403, "permission_denied")
    assertRefused(await lease.post(path, { ...messages("a"), expectedLastSeq: 1 }), 409, "feed_conflict")
    const parked = await lease.post(path, messages("a"))
    assert.strictEqual(parked.status, 202, parked.text)
    const { operation } = parked.body
    assert.deepInclude(operation, { action: "feed.append", state: "pending", agentId })
    assert.strictEqual((await lease.post(path, messages("a"))).body.operation.id, operation.id)
    const done = (await admin.post(`/v1/operations/${operation.id}/approve`)).body.operation
    assert.deepStrictEqual([done.state, done.result.status], ["completed", 201])
    assert.deepStrictEqual(await hopsOf(feedId), [8])
  })
})
