/** Feeds: what they are, who may change them, and what is read from them. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { Database } from "../../src/database/Database.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import { retainMessages } from "../../src/feeds/retaining.ts"
import { during } from "../setup/during.ts"
import { Client, startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { makeAgent } from "./threadFixture.ts"
import { fresh } from "./toolFixture.ts"

const server = await during(startServer({ name: "one" }))
const other = await during(startServer({ beside: server, name: "two" }))

const makeFeed = async (client: Client, fields: object = {}) => {
  const made = await client.post("/v1/feeds", { name: fresh("feed"), ...fields })
  assert.strictEqual(made.status, 201, made.text)
  return made.body.feed
}
const append = (client: Client, feedId: string, messages: ReadonlyArray<object>, more: object = {}) =>
  client.post(`/v1/feeds/${feedId}/messages`, { messages, ...more })
const says = (...texts: ReadonlyArray<string>) => texts.map((text) => ({ text }))
const page = async (client: Client, feedId: string, query = "") => {
  const answer = await client.get(`/v1/feeds/${feedId}/messages${query}`)
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.body
}
const seqs = async (client: Client, feedId: string, query = ""): Promise<ReadonlyArray<number>> =>
  (await page(client, feedId, query)).messages.map(({ seq }: { readonly seq: number }) => seq)

/** A client of node two in the workspace of the first one's `alpha`. */
const beside = () => new Client(other.base, server.alpha.token)

describe("a feed", () => {
  it("is made empty, with who made it, and read as it was made", async () => {
    const name = fresh("reports/daily.")
    const made = await server.alpha.post("/v1/feeds", {
      name,
      description: "What was found",
      tags: ["ops"],
      retention: { maxMessages: 10 }
    })
    assert.strictEqual(made.status, 201, made.text)
    const { feed } = made.body
    assert.deepInclude(feed, {
      name,
      description: "What was found",
      tags: ["ops"],
      retention: { maxMessages: 10 },
      firstSeq: 1,
      lastSeq: 0
    })
    assert.strictEqual(feed.createdBy.type, "api_key")
    assert.strictEqual(made.headers.get("location"), `/v1/feeds/${feed.id}`)
    const read = await server.alpha.get(`/v1/feeds/${feed.id}`)
    assert.deepStrictEqual(read.body, { feed })
    assert.strictEqual(read.headers.get("etag"), made.headers.get("etag"))
  })

  it("is changed by a merge patch under If-Match", async () => {
    const { id } = await makeFeed(server.alpha, { description: "old", tags: ["a"], retention: { maxAgeSeconds: 60 } })
    const changed = await server.alpha.patch(
      `/v1/feeds/${id}`,
      { description: null, retention: { maxMessages: 5, maxAgeSeconds: null } },
      { "if-match": '"1"' }
    )
    assert.strictEqual(changed.status, 200, changed.text)
    assert.deepInclude(changed.body.feed, { tags: ["a"], retention: { maxMessages: 5 } })
    assert.notProperty(changed.body.feed, "description")
    refused(
      await server.alpha.patch(`/v1/feeds/${id}`, { tags: null }, { "if-match": '"1"' }),
      412,
      "precondition_failed"
    )
    const bare = await server.alpha.patch(`/v1/feeds/${id}`, { retention: { maxMessages: null } })
    assert.notProperty(bare.body.feed, "retention")
    const untagged = await server.alpha.patch(`/v1/feeds/${id}`, { tags: [] })
    assert.deepStrictEqual([untagged.body.feed.tags, untagged.headers.get("etag")], [[], '"4"'])
    for (const tags of [[], null])
      assert.strictEqual((await server.alpha.patch(`/v1/feeds/${id}`, { tags })).headers.get("etag"), '"4"')
  })

  it("keeps its name to itself, also once it is archived", async () => {
    const first = await makeFeed(server.alpha)
    const second = await makeFeed(server.alpha)
    refused(await server.alpha.post("/v1/feeds", { name: first.name }), 409, "feed_name_taken")
    await server.alpha.post(`/v1/feeds/${first.id}/archive`)
    refused(await server.alpha.post("/v1/feeds", { name: first.name }), 409, "feed_name_taken")
    refused(await server.alpha.patch(`/v1/feeds/${second.id}`, { name: first.name }), 409, "feed_name_taken")
    assert.strictEqual((await server.alpha.patch(`/v1/feeds/${second.id}`, { name: second.name })).status, 200)
    assert.strictEqual((await server.beta.post("/v1/feeds", { name: first.name })).status, 201)
  })

  it("is archived for good: it takes no messages, and is read on", async () => {
    const { id } = await makeFeed(server.alpha)
    await append(server.alpha, id, says("one"))
    const archived = await server.alpha.post(`/v1/feeds/${id}/archive`)
    assert.strictEqual(archived.status, 200, archived.text)
    assert.property(archived.body.feed, "archivedAt")
    assert.deepStrictEqual((await server.alpha.post(`/v1/feeds/${id}/archive`)).body, archived.body)
    refused(await append(server.alpha, id, says("two")), 409, "feed_archived")
    refused(await server.alpha.patch(`/v1/feeds/${id}`, { tags: ["late"] }), 409, "feed_archived")
    assert.deepStrictEqual(await seqs(server.alpha, id, "?waitSeconds=30"), [1])
    assert.deepStrictEqual(await seqs(server.alpha, id, "?startSeq=2&waitSeconds=30"), [])
  })

  const long = "a".repeat(128)
  it.each([
    ["a name of 128 characters", { name: long }, undefined],
    ["a name of 129", { name: `${long}a` }, "name"],
    ["a name that begins with a dot", { name: ".a" }, "name"],
    ["a name in capitals", { name: "A" }, "name"],
    ["a description of 4,096 bytes", { description: "é".repeat(2048) }, undefined],
    ["a description of 4,097", { description: `${"é".repeat(2048)}a` }, "description"],
    ["a description with U+0000", { description: "a\0" }, "description"],
    ["16 tags", { tags: Array.from({ length: 16 }, (_, i) => `t${i}`) }, undefined],
    ["17 tags", { tags: Array.from({ length: 17 }, (_, i) => `t${i}`) }, "tags"],
    ["a tag of 64 bytes", { tags: ["t".repeat(64)] }, undefined],
    ["a tag of 65", { tags: ["t".repeat(65)] }, "tags[0]"],
    ["1 message kept", { retention: { maxMessages: 1 } }, undefined],
    ["none kept", { retention: { maxMessages: 0 } }, "retention.maxMessages"],
    ["ten million kept", { retention: { maxMessages: 10_000_000 } }, undefined],
    ["one more", { retention: { maxMessages: 10_000_001 } }, "retention.maxMessages"],
    ["60 seconds", { retention: { maxAgeSeconds: 60 } }, undefined],
    ["59 seconds", { retention: { maxAgeSeconds: 59 } }, "retention.maxAgeSeconds"],
    ["ten years", { retention: { maxAgeSeconds: 315_360_000 } }, undefined],
    ["a second more", { retention: { maxAgeSeconds: 315_360_001 } }, "retention.maxAgeSeconds"]
  ])("with %s is taken or refused", async (_, fields, path) => {
    const client = await server.client(await server.workspace(fresh("limits")))
    const answer = await client.post("/v1/feeds", { name: "limit", ...fields })
    if (path === undefined) assert.strictEqual(answer.status, 201, answer.text)
    else refusedAt(answer, 400, "invalid_request", path)
  })

  it("is one of at most 10,000 that are not archived", async () => {
    const workspace = await server.workspace(fresh("full"))
    const client = await server.client(workspace)
    const { id } = await makeFeed(client)
    const database = await server.runtime.runPromise(Database)
    await server.runtime.runPromise(
      database.run("fill", (db) =>
        sql`insert into feeds (workspace, id, name, tags, created_at, created_by, updated_at)
          select workspace, gen_random_uuid(), 'filler/' || n, tags, created_at, created_by, updated_at
          from feeds, generate_series(1, ${limits.feeds - 2}) n where workspace = ${toUuid(workspace)}::uuid`.execute(
          db
        )
      )
    )
    await makeFeed(client)
    refused(await client.post("/v1/feeds", { name: "one-more" }), 409, "too_many_feeds")
    await client.post(`/v1/feeds/${id}/archive`)
    await makeFeed(client)
  })
})

describe("the list of feeds", () => {
  it("is by name, in pages, and holds archived ones where they are asked for", async () => {
    const client = await server.client(await server.workspace(fresh("lists")))
    for (const name of ["b/2", "a", "b/1", "c", "b0"])
      await makeFeed(client, { name, ...(name.startsWith("b") && { tags: ["bee", 'b"\\é'] }) })
    const names = async (query: string) =>
      (await client.get(`/v1/feeds${query}`)).body.feeds.map(({ name }: { readonly name: string }) => name)
    assert.deepStrictEqual(await names(""), ["a", "b/1", "b/2", "b0", "c"])
    assert.deepStrictEqual(await names("?namePrefix=b/"), ["b/1", "b/2"])
    assert.deepStrictEqual(await names("?tag=bee"), ["b/1", "b/2", "b0"])
    const first = await client.get(`/v1/feeds?limit=2&tag=${encodeURIComponent('b"\\é')}`)
    const second = await client.get(`/v1/feeds?limit=2&cursor=${first.body.nextCursor}`)
    assert.deepStrictEqual(
      second.body.feeds.map(({ name }: { readonly name: string }) => name),
      ["b0"]
    )
    assert.notProperty(second.body, "nextCursor")
    const [{ id }] = first.body.feeds
    await client.post(`/v1/feeds/${id}/archive`)
    assert.deepStrictEqual(await names("?namePrefix=b/"), ["b/2"])
    assert.deepStrictEqual(await names("?namePrefix=b/&includeArchived=true"), ["b/1", "b/2"])
    refusedAt(await client.get("/v1/feeds?limit=201"), 400, "invalid_request", "limit")
  })
})

describe("messages", () => {
  it("are read as they were appended, with their seq and who appended them", async () => {
    const { id } = await makeFeed(server.alpha)
    const done = await append(server.alpha, id, [
      { text: "one", tags: ["t"], data: { deep: [1, null, "\0"] }, dedupeKey: "k" },
      { text: "two" }
    ])
    assert.strictEqual(done.status, 201, done.text)
    assert.deepStrictEqual(done.body, { messages: [{ seq: 1 }, { seq: 2 }], startSeq: 1, endSeq: 2 })
    const { messages } = await page(server.alpha, id)
    const [{ appendedAt, principal, ...first }, second] = messages
    assert.deepStrictEqual(first, {
      seq: 1,
      feedId: id,
      text: "one",
      tags: ["t"],
      data: { deep: [1, null, "\0"] },
      dedupeKey: "k"
    })
    assert.strictEqual(principal.type, "api_key")
    assert.isTrue(Number.isFinite(Date.parse(appendedAt)))
    assert.deepInclude(second, { seq: 2, text: "two", tags: [] })
    assert.deepInclude((await server.alpha.get(`/v1/feeds/${id}`)).body.feed, { firstSeq: 1, lastSeq: 2 })
  })

  it("are read by range, by tail and in pages", async () => {
    const { id } = await makeFeed(server.alpha)
    await append(server.alpha, id, says("1", "2", "3", "4", "5"))
    assert.deepStrictEqual(await seqs(server.alpha, id, "?startSeq=2&endSeq=4"), [2, 3, 4])
    assert.deepStrictEqual(await seqs(server.alpha, id, "?tailOffset=2"), [4, 5])
    assert.deepStrictEqual(await seqs(server.alpha, id, "?tailOffset=10000"), [1, 2, 3, 4, 5])
    assert.deepStrictEqual(await page(server.alpha, id, "?startSeq=6"), { messages: [] })
    const first = await page(server.alpha, id, "?limit=2")
    assert.strictEqual(first.nextSeq, 3)
    assert.notProperty(await page(server.alpha, id, "?startSeq=4&limit=2"), "nextSeq")
    assert.notProperty(await page(server.alpha, id, "?startSeq=1&endSeq=2&limit=2"), "nextSeq")
    for (const [query, name] of [
      ["?tailOffset=1&startSeq=1", "tailOffset"],
      ["?tailOffset=1&endSeq=1", "tailOffset"],
      ["?tailOffset=0", "tailOffset"],
      ["?tailOffset=10001", "tailOffset"],
      ["?waitSeconds=31", "waitSeconds"],
      ["?limit=201", "limit"]
    ] as const)
      refusedAt(await server.alpha.get(`/v1/feeds/${id}/messages${query}`), 400, "invalid_request", name)
  })

  it("end a page at 4 MiB", async () => {
    const { id } = await makeFeed(server.alpha)
    // 192 KiB as JSON each.
    const loud = "\u0001".repeat(limits.feedTextBytes)
    for (let i = 0; i < 3; i++)
      assert.strictEqual((await append(server.alpha, id, says(...Array(8).fill(loud)))).status, 201)
    const first = await server.alpha.get(`/v1/feeds/${id}/messages`)
    assert.isAtMost(Buffer.byteLength(first.text), limits.pageBytes + 100)
    assert.strictEqual(first.body.nextSeq, first.body.messages.length + 1)
    assert.strictEqual((await seqs(server.alpha, id, `?startSeq=${first.body.nextSeq}`)).at(-1), 24)
  })

  it("wake whoever waits for them, on another node too", async () => {
    const { id } = await makeFeed(server.alpha)
    const waiting = [
      page(server.alpha, id, "?startSeq=1&waitSeconds=30"),
      page(beside(), id, "?startSeq=1&waitSeconds=30")
    ]
    await append(server.alpha, id, says("news"))
    for (const { messages } of await Promise.all(waiting)) assert.deepInclude(messages[0], { seq: 1, text: "news" })
  })

  it("are waited for no longer than asked", async () => {
    const { id } = await makeFeed(server.alpha)
    assert.deepStrictEqual(await page(server.alpha, id, "?waitSeconds=1"), { messages: [] })
  })
})

describe("retention", () => {
  const retain = () => server.runtime.runPromise(retainMessages())
  const rowsOf = async (feedId: string) => {
    const database = await server.runtime.runPromise(Database)
    const { rows } = await server.runtime.runPromise(
      database.run("count", (db) =>
        sql<{
          readonly n: number
        }>`select count(*)::int as n from feed_messages where feed = ${toUuid(feedId)}::uuid`.execute(db)
      )
    )
    return rows[0]?.n
  }
  const age = async (feedId: string, seconds: number, upTo: number) => {
    const database = await server.runtime.runPromise(Database)
    await server.runtime.runPromise(
      database.run("age", (db) =>
        sql`update feed_messages set appended_at = now() - make_interval(secs => ${seconds})
          where feed = ${toUuid(feedId)}::uuid and seq <= ${upTo}`.execute(db)
      )
    )
  }

  it("keeps the newest messages, as many as it says, and seqs go on", async () => {
    const { id } = await makeFeed(server.alpha, { retention: { maxMessages: 2 } })
    await append(server.alpha, id, says("1", "2", "3", "4", "5"))
    await retain()
    assert.deepStrictEqual(await seqs(server.alpha, id), [4, 5])
    assert.deepStrictEqual(await seqs(server.alpha, id, "?startSeq=1&limit=1"), [4])
    assert.deepInclude((await server.alpha.get(`/v1/feeds/${id}`)).body.feed, { firstSeq: 4, lastSeq: 5 })
    assert.strictEqual(await rowsOf(id), 2)
    assert.strictEqual((await append(server.alpha, id, says("6"))).body.startSeq, 6)
  })

  it("keeps messages for as long as it says", async () => {
    const { id } = await makeFeed(server.alpha, { retention: { maxAgeSeconds: 60 } })
    await append(server.alpha, id, says("1", "2", "3"))
    await age(id, 61, 2)
    await retain()
    assert.deepStrictEqual(await seqs(server.alpha, id), [3])
    await age(id, 61, 3)
    await retain()
    assert.deepInclude((await server.alpha.get(`/v1/feeds/${id}`)).body.feed, { firstSeq: 4, lastSeq: 3 })
    assert.strictEqual(await rowsOf(id), 0)
  })

  it("forgets no key before its 24 hours", async () => {
    const { id } = await makeFeed(server.alpha, { retention: { maxMessages: 1 } })
    await append(server.alpha, id, [{ text: "1", dedupeKey: "k" }, { text: "2" }])
    await retain()
    assert.deepStrictEqual(await seqs(server.alpha, id), [2])
    const again = await append(server.alpha, id, [{ text: "1", dedupeKey: "k" }])
    assert.deepStrictEqual([again.status, again.body], [200, { messages: [{ seq: 1, duplicate: true }] }])
    await age(id, 24 * 3600 + 1, 1)
    await retain()
    assert.strictEqual(await rowsOf(id), 1)
    assert.strictEqual((await append(server.alpha, id, [{ text: "1", dedupeKey: "k" }])).body.startSeq, 3)
  })
})

describe("a trigger", () => {
  it("appends to its feeds with where a message comes from, and reaches no other", async () => {
    const [mine, foreign] = [await makeFeed(server.alpha), await makeFeed(server.alpha)]
    const wanted = {
      name: "Slack",
      kind: "trigger",
      provider: "slack",
      agentIds: [await makeAgent(server.alpha)],
      feedIds: [mine.id],
      scopes: ["read", "run"]
    }
    const made = await server.alpha.post("/v1/auth/keys", wanted)
    assert.strictEqual(made.status, 201, made.text)
    const client = new Client(server.base, made.body.token)
    const origin = { provider: "slack", tenantId: "T", senderId: "U" }
    assert.strictEqual((await append(client, mine.id, [{ text: "hello", origin }])).status, 201)
    const { messages } = await page(server.alpha, mine.id)
    assert.deepInclude(messages[0], { text: "hello", origin, principal: { type: "trigger", id: made.body.key.id } })
    refused(await append(client, foreign.id, says("hello")), 404, "not_found")
    refused(await client.get(`/v1/feeds/${mine.id}/messages`), 403, "permission_denied")
    refused(await client.get("/v1/feeds"), 403, "permission_denied")
    refusedAt(
      await append(server.alpha, mine.id, [{ text: "a" }, { text: "b", origin }]),
      403,
      "origin_not_allowed",
      "messages[1].origin"
    )
    refusedAt(
      await server.alpha.post("/v1/auth/keys", { ...wanted, feedIds: [mine.id, absent("feed_")] }),
      422,
      "feed_not_found",
      "feedIds[1]"
    )
  })
})

describe("a policy", () => {
  it("parks an append, which is carried out once it is approved", async () => {
    const workspace = await server.workspace("careful")
    const client = await server.client(workspace)
    const approver = await server.client(workspace)
    const { id } = await makeFeed(client)
    const rules = [{ actions: ["feed.append"], principals: ["api_key"], require: true }]
    assert.strictEqual((await client.put("/v1/approval-policy", { rules })).status, 200)
    refused(await append(client, id, says("a"), { expectedLastSeq: 1 }), 409, "feed_conflict")
    const parked = await append(client, id, says("a"))
    assert.strictEqual(parked.status, 202, parked.text)
    assert.deepStrictEqual(await seqs(client, id), [])
    const waiting = page(client, id, "?startSeq=1&waitSeconds=30")
    const approved = await approver.post(`/v1/operations/${parked.body.operation.id}/approve`)
    assert.deepInclude(approved.body.operation.result, {
      status: 201,
      body: { messages: [{ seq: 1 }], startSeq: 1, endSeq: 1 }
    })
    assert.strictEqual((await waiting).messages.length, 1)
    await eventually(async () => (await seqs(client, id)).length === 1, "the message is there")
  })
})
