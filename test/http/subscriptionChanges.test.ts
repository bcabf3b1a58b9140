/** Subscriptions over HTTP as resources, and what a change means for what comes meanwhile. */
import { sql } from "kysely"
import { assert, describe, it } from "@effect/vitest"
import { toUuid } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import { enlist } from "../../src/subscriptions/enlisting.ts"
import { freshId } from "../../src/seed.ts"
import { forgetUnborn } from "../../src/subscriptions/forgetting.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { until } from "../waiting.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread } from "./threadFixture.ts"
import { fresh } from "./toolFixture.ts"
import { makeSubscriptionTools } from "./subscriptionFixture.ts"

const server = await during(startServer())
const { append, listed, makeFeed, read, subscribe, subscribed, toldTimes } = makeSubscriptionTools(server)
/** Of tests that look at one answer. */
const agents = { one: await makeAgent(server.alpha) }
const feeds = { one: await makeFeed() }

describe("subscriptions as resources", () => {
  it("are changed by a merge patch under their ETag, listed by agent and feed, and deleted", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const made = await subscribe(agentId, feedId, { name: "First", intent: "Look." })
    assert.strictEqual(made.headers.get("location"), `/v1/subscriptions/${made.body.id}`)
    const path = `/v1/subscriptions/${made.body.id}`
    const etag = made.headers.get("etag") ?? ""
    assert.strictEqual((await server.alpha.get(path)).headers.get("etag"), etag)
    for (const patch of [{ name: "First" }, { condition: "" }, { cadence: null }]) {
      const same = await server.alpha.patch(path, patch, { "if-match": etag })
      assert.deepStrictEqual([same.headers.get("etag"), same.body.updatedAt], [etag, made.body.updatedAt])
    }
    const patched = await server.alpha.patch(path, { name: null, includeSelf: true }, { "if-match": etag })
    assert.notProperty(patched.body, "name")
    assert.include(patched.body, { includeSelf: true, intent: "Look." })
    refusedAt(
      await server.alpha.patch(path, { name: "Third" }, { "if-match": etag }),
      412,
      "precondition_failed",
      "If-Match"
    )
    refusedAt(await server.alpha.delete(path, { "if-match": etag }), 412, "precondition_failed", "If-Match")
    const second = await subscribed(agentId, feedId)
    const idsOf = async (query: string) =>
      (await server.alpha.get(`/v1/subscriptions?${query}`)).body.subscriptions.map(({ id }: { id: string }) => id)
    assert.deepStrictEqual(await idsOf(`agentId=${agentId}`), [second.id, made.body.id])
    assert.deepStrictEqual(await idsOf(`feedId=${feedId}`), [second.id, made.body.id])
    const page = await server.alpha.get(`/v1/subscriptions?agentId=${agentId}&limit=1`)
    assert.deepStrictEqual(await idsOf(`limit=1&cursor=${page.body.nextCursor}`), [made.body.id])
    assert.deepStrictEqual(await idsOf(`agentId=${agentId}&feedId=${await makeFeed()}`), [])
    assert.strictEqual((await server.alpha.delete(path)).status, 204)
    refused(await server.alpha.get(path), 404, "not_found")
    refused(await server.alpha.patch(path, { name: "x" }), 404, "not_found")
    assert.deepStrictEqual(await idsOf(`agentId=${agentId}`), [second.id])
    refused(await server.beta.get(`/v1/subscriptions/${second.id}`), 404, "not_found")
  })

  it("are made once by requests of one key", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const headers = { "idempotency-key": fresh("key") }
    const path = `/v1/agents/${agentId}/subscriptions`
    const [first, second] = [
      await server.alpha.post(path, { feedId }, headers),
      await server.alpha.post(path, { feedId }, headers)
    ]
    assert.deepStrictEqual([first.status, second.status], [201, 201])
    assert.deepStrictEqual(second.body, first.body)
    assert.strictEqual(second.headers.get("location"), `/v1/subscriptions/${first.body.id}`)
  })

  it.each([
    [{ name: "x".repeat(120) }, { name: "x".repeat(121) }, "name"],
    [{ intent: "é".repeat(2048) }, { intent: "é".repeat(2049) }, "intent"],
    [{ condition: `text == "${"x".repeat(1014)}"` }, { condition: `text == "${"x".repeat(1015)}"` }, "condition"],
    [
      { screen: { model: "troupe/scripted", instructions: "x".repeat(4096) } },
      { screen: { model: "troupe/scripted", instructions: "x".repeat(4097) } },
      "screen.instructions"
    ],
    [
      { cadence: { mode: "window", windowSeconds: 30, maxMessages: 1000 } },
      { cadence: { mode: "window", windowSeconds: 29 } },
      "cadence.windowSeconds"
    ],
    [
      { cadence: { mode: "window", windowSeconds: 86_400, maxMessages: 1 } },
      { cadence: { mode: "window", windowSeconds: 86_401 } },
      "cadence.windowSeconds"
    ],
    [
      { cadence: { mode: "immediate", maxMessages: 1000 } },
      { cadence: { mode: "immediate", maxMessages: 1001 } },
      "cadence.maxMessages"
    ],
    [
      { cadence: { mode: "immediate", maxMessages: 1 } },
      { cadence: { mode: "immediate", maxMessages: 0 } },
      "cadence.maxMessages"
    ],
    [
      { cadence: { mode: "window", windowSeconds: 30, maxMessages: 1 } },
      { cadence: { mode: "window", windowSeconds: 30, maxMessages: 0 } },
      "cadence.maxMessages"
    ],
    [
      { cadence: { mode: "window", windowSeconds: 30, maxMessages: 1000 } },
      { cadence: { mode: "window", windowSeconds: 30, maxMessages: 1001 } },
      "cadence.maxMessages"
    ],
    [{ cursor: 0 }, { cursor: -1 }, "cursor"]
  ])("take what is at a limit and refuse one past it: %o", async (fits, past, path) => {
    assert.strictEqual((await subscribe(agents.one, feeds.one, fits)).status, 201)
    refusedAt(await subscribe(agents.one, feeds.one, past), 400, "invalid_request", path)
  })

  it("name what is there", async () => {
    const [feedId, agentId] = [await makeFeed(), await makeAgent(server.alpha)]
    refused(await subscribe(absent("agt_"), feedId), 404, "not_found")
    refusedAt(await subscribe(agentId, absent("feed_")), 422, "feed_not_found", "feedId")
    const other = await makeThread(server.alpha, await makeAgent(server.alpha))
    for (const threadId of [other, absent("thr_")])
      refusedAt(
        await subscribe(agentId, feedId, { target: { mode: "thread", threadId } }),
        422,
        "thread_not_found",
        "target.threadId"
      )
  })

  it("have their places: 100 an agent, 1,000 a feed", async () => {
    const agentId = await makeAgent(server.alpha)
    const feedId = await makeFeed()
    // As if they were being made.
    const fill = (count: number, agent: string, feed: string) =>
      server.query(sql`insert into subscribers (workspace, feed, id, agent, listed, include_self, created_at)
        select ${toUuid(server.workspaces.alpha)}::uuid, ${toUuid(feed)}::uuid, gen_random_uuid(), ${toUuid(agent)}::uuid,
          false, false, clock_timestamp() + n * interval '1 millisecond' from generate_series(1, ${count}::int) n`)
    await fill(limits.subscriptionsPerAgent - 1, agentId, await makeFeed())
    await fill(limits.subscriptionsPerFeed - 1, absent("agt_"), feedId)
    await subscribed(agentId, feedId)
    const other = await makeAgent(server.alpha)
    refused(await subscribe(agentId, await makeFeed()), 409, "too_many_subscriptions")
    refused(await subscribe(other, feedId), 409, "too_many_subscriptions")
  })

  it("lose a place after an hour that nobody was born into, and take it again where somebody is", async () => {
    const [agentId, feedId] = [await makeAgent(server.alpha), await makeFeed()]
    const born = await subscribed(agentId, feedId)
    const taken = (age: string) =>
      server.query(sql`insert into subscribers (workspace, feed, id, agent, listed, include_self, created_at)
        values (${toUuid(server.workspaces.alpha)}::uuid, ${toUuid(feedId)}::uuid, gen_random_uuid(),
          ${toUuid(agentId)}::uuid, false, false, clock_timestamp() - ${age}::interval)`)
    await taken("59 minutes")
    await taken("61 minutes")
    await server.query(
      sql`update subscribers set created_at = created_at - interval '1 day' where id = ${toUuid(born.id)}::uuid`
    )
    assert.strictEqual(await server.runtime.runPromise(forgetUnborn()), 1)
    const places = () => server.query(sql`select id from subscribers where feed = ${toUuid(feedId)}::uuid`)
    assert.lengthOf((await places()).rows, 2)
    await server.query(sql`delete from subscribers where feed = ${toUuid(feedId)}::uuid`)
    // As its actor does with every change.
    const as = { listed: true, condition: undefined, includeSelf: false }
    await server.runtime.runPromise(
      server.database.atomically("test", (tx) =>
        enlist(tx, server.workspaces.alpha, { id: born.id, version: 1, agentId, feedId, as })
      )
    )
    await append(feedId, "one")
    await toldTimes(agentId, 1)
  })
})

describe("another target", () => {
  const next = (id: string, after: number) =>
    until("another evaluation", async () => {
      const { evaluations } = (await server.alpha.get(`/v1/subscriptions/${id}/evaluations`)).body
      return evaluations.length > after && evaluations[0]
    })

  it("is where a batch goes that the one before has refused: to a thread, and to one that is made", async () => {
    const feedId = await makeFeed()
    const unable = await makeAgent(server.alpha, ["nobody/has-it"])
    const threadId = await makeThread(server.alpha, unable)
    const toThread = await subscribed(unable, feedId, { condition: "true", target: { mode: "spawn" } })
    const paying = await makeAgent(server.alpha, ["troupe/scripted-paid"])
    const spent = await makeThread(server.alpha, paying, { maxCost: 1e-9 })
    await server.alpha.post(`/v1/threads/${spent}/messages`, { content: [{ type: "text", text: "one" }] })
    await logOf(server.alpha, spent, ended(1))
    const toNew = await subscribed(paying, feedId, { condition: "true", target: { mode: "thread", threadId: spent } })
    for (const { id } of [toThread, toNew]) await listed(id)
    await append(feedId, "one")
    for (const { id } of [toThread, toNew]) assert.strictEqual((await next(id, 0)).status, "failed")
    await server.alpha.patch(`/v1/subscriptions/${toThread.id}`, { target: { mode: "thread", threadId } })
    await server.alpha.patch(`/v1/subscriptions/${toNew.id}`, { target: { mode: "spawn" } })
    await next(toThread.id, 1)
    assert.isUndefined((await read(toThread.id)).disabledReason)
    const made = await next(toNew.id, 1)
    assert.strictEqual(made.status, "escalated")
    assert.notStrictEqual(made.threadId, spent)
  })
})

describe("a change that the feed has not heard of", () => {
  /** While its feed cannot be told: as if an append held its row for too long, each time. */
  const untold = async <A>(id: string, flow: () => Promise<A>): Promise<A> => {
    const name = sql.table(`untold_${fresh("t").replaceAll("-", "_")}`)
    await server.query(sql`create function ${name}() returns trigger language plpgsql as $$ begin
      raise exception 'held' using errcode = 'lock_not_available'; end $$`)
    await server.query(sql`create trigger ${name} before insert on subscribers for each row
      when (new.id = ${sql.lit(toUuid(id))}::uuid) execute function ${name}()`)
    try {
      return await flow()
    } finally {
      await server.query(sql`drop function ${name} cascade`)
    }
  }

  it.each([
    ["another condition", { condition: `text == "other"` }],
    ["a pause", { enabled: false }]
  ])("takes nothing back that was dealt with: %s", async (_, change) => {
    const [agentId, feedId] = [await makeAgent(server.alpha), await makeFeed()]
    const { id } = await subscribed(agentId, feedId, { condition: `text == "none"` })
    await listed(id)
    await append(feedId, "one", "two")
    assert.include(await read(id), { cursor: 2, pendingCount: 0 })
    const changed = await untold(id, () => server.alpha.patch(`/v1/subscriptions/${id}`, change))
    assert.include(changed.body, { ...change, cursor: 2, pendingCount: 0 })
  })

  it("is a pause that the feed knows of: what comes after that is not dealt with", async () => {
    const [agentId, feedId] = [await makeAgent(server.alpha), await makeFeed()]
    const { id } = await subscribed(agentId, feedId, { condition: `text == "none"` })
    await listed(id)
    await append(feedId, "one", "two")
    await untold(id, async () => {
      await server.alpha.patch(`/v1/subscriptions/${id}`, { enabled: false })
      // As by a node that dies before it hears of it.
      await server.query(
        sql`update subscribers set listed = false, told_version = 2, told_seq = 2 where id = ${toUuid(id)}::uuid`
      )
      await server.query(sql`update feeds set subscribers_rev = subscribers_rev + 1 where id = ${toUuid(feedId)}::uuid`)
      await append(feedId, "three")
      assert.include(await read(id), { cursor: 2, pendingCount: 1 })
    })
    const isHeard = () => server.query(sql<{ carry: string }>`select carry from heads where id = ${toUuid(id)}::uuid`)
    await until("it to hear", async () => JSON.parse((await isHeard()).rows[0]?.carry ?? "{}").listing === null)
    assert.include(await read(id), { cursor: 2, pendingCount: 1 })
  })

  it("takes nothing back where it is a pause that is over already, under another condition", async () => {
    const [agentId, feedId] = [await makeAgent(server.alpha), await makeFeed()]
    const { id } = await subscribed(agentId, feedId, { condition: `text == "before"` })
    await listed(id)
    await append(feedId, "after", "neither")
    const enabled = await untold(id, async () => {
      await server.alpha.patch(`/v1/subscriptions/${id}`, { enabled: false })
      return server.alpha.patch(`/v1/subscriptions/${id}`, { enabled: true, condition: `text == "after"` })
    })
    assert.include(enabled.body, { enabled: true, cursor: 2, pendingCount: 0 })
    await append(feedId, "after")
    const told = await toldTimes(agentId, 1)
    assert.match(told[0]?.text ?? "", /message 3:\n\n#3 /)
  })
})

describe("another condition", () => {
  /** Whenever a notice is taken, the next one is there already: as of a feed whose matches come faster than that. */
  const flooded = async (id: string, flow: () => Promise<void>) => {
    const name = `flood_${fresh("t").replaceAll("-", "_")}`
    const row = sql`old.workspace, ${sql.lit(id)} || ' flood ' || clock_timestamp(), old.actor, old.kind, old.command`
    await server.query(sql`create function ${sql.table(name)}() returns trigger language plpgsql as $$ begin
      insert into inbox (workspace, id, actor, kind, command) select ${row}; return null; end $$`)
    await server.query(sql`create trigger ${sql.table(name)} after delete on inbox for each row
      when (old.actor = ${sql.lit(toUuid(id))}::uuid) execute function ${sql.table(name)}()`)
    try {
      await flow()
    } finally {
      await server.query(sql`drop function ${sql.table(name)} cascade`)
    }
  }

  it("is heard of by its feed however many messages match the one before, of which none is lost", async () => {
    const [agentId, feedId] = [await makeAgent(server.alpha), await makeFeed()]
    const { id } = await subscribed(agentId, feedId, { condition: `text == "before"` })
    await listed(id)
    await flooded(id, async () => {
      await append(feedId, "before")
      await toldTimes(agentId, 1)
      const changed = await server.alpha.patch(`/v1/subscriptions/${id}`, { condition: `text == "after"` })
      assert.strictEqual(changed.status, 200, changed.text)
      await append(feedId, "before", "after")
      const told = await toldTimes(agentId, 2)
      const lines = told.map(({ text }) => /#(\d+) .*: (\w+)$/.exec(text)?.slice(1).join(" "))
      assert.sameMembers(lines, ["1 before", "3 after"])
    })
  })
})

describe("a feed that is told of a change", () => {
  const listened = async () => {
    const [agentId, feedId] = [await makeAgent(server.alpha), await makeFeed()]
    const { id } = await subscribed(agentId, feedId)
    const tell = (version: number, as: { readonly listed: boolean } | undefined) =>
      server.runtime.runPromise(
        server.database.atomically("test", (tx) =>
          enlist(tx, server.workspaces.alpha, {
            id,
            version,
            agentId,
            feedId,
            as: as && { ...as, condition: undefined, includeSelf: false }
          })
        )
      )
    const listed = async () => {
      const { rows } = await server.query(sql<{ readonly listed: boolean }>`select listed from subscribers
        where id = ${toUuid(id)}::uuid`)
      return rows.map(({ listed }) => listed)
    }
    await until("the feed to know of it", async () => (await listed())[0])
    return { feedId, id, listed, tell }
  }

  it("answers with where it was, when it is told again by whoever takes over", async () => {
    const { feedId, tell } = await listened()
    await append(feedId, "one")
    assert.strictEqual((await tell(7, { listed: false }))?.lastSeq, 1)
    await append(feedId, "two")
    assert.strictEqual((await tell(7, { listed: false }))?.lastSeq, 1)
    // Changed while it is paused: what came meanwhile was judged by nobody.
    assert.strictEqual((await tell(8, { listed: false }))?.lastSeq, 1)
    assert.strictEqual((await tell(9, { listed: true }))?.lastSeq, 2)
  })

  it("says which message comes first of those whose notice is on its way", async () => {
    const [agentId, feedId] = [await makeAgent(server.alpha), await makeFeed()]
    const [workspace, id] = [server.workspaces.alpha, freshId("subscription")]
    const as = { listed: true, condition: undefined, includeSelf: false }
    const told = await server.runtime.runPromise(
      server.database.atomically("test", async (tx) => {
        for (const from of [12, 9])
          await sql`insert into inbox (workspace, id, actor, kind, command) values (${toUuid(workspace)}::uuid,
            ${`${id} ${from}`}, ${toUuid(id)}::uuid, 'subscription', ${JSON.stringify({ type: "notice", from })})`.execute(
            tx
          )
        const told = await enlist(tx, workspace, { id, version: 1, agentId, feedId, as })
        await sql`delete from inbox where actor = ${toUuid(id)}::uuid`.execute(tx)
        return [told, await enlist(tx, workspace, { id, version: 2, agentId, feedId, as })]
      })
    )
    assert.deepStrictEqual(told, [
      { lastSeq: 0, from: 9, archived: false },
      { lastSeq: 0, archived: false }
    ])
  })

  it("keeps to the newest word, whichever comes last, and vouches for nothing that the late one asks of", async () => {
    const { feedId, listed, tell } = await listened()
    await tell(8, { listed: true })
    await append(feedId, "one", "two")
    assert.deepStrictEqual(await tell(7, { listed: false }), { lastSeq: 2, from: 1, archived: false })
    assert.deepStrictEqual(await listed(), [true])
  })

  it("does not bring back one that is deleted", async () => {
    const { id, listed, tell } = await listened()
    await server.alpha.delete(`/v1/subscriptions/${id}`)
    await until("the feed to know of it", async () => (await listed()).length === 0)
    await tell(9, { listed: true })
    assert.deepStrictEqual(await listed(), [])
  })
})
