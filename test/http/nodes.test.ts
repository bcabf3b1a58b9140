/** Two nodes on one database and one bus: whichever is asked, the answer is the same. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { clearDeleted } from "../../src/threads/deleting.ts"
import { type Client, startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { assertRefused as refused } from "./refusals.ts"
import { Watcher } from "./sse.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { fresh } from "./toolFixture.ts"
import { nodesStand } from "./nodesFixture.ts"

const began = Date.now()
const { a, agentId, atA, atB, b, busLayer, cutting, ownerOf, twin } = await nodesStand()

describe("the list of nodes", () => {
  it("is the same from every node: names, lives, shards, actors, and how they do", async () => {
    await makeThread(atA, agentId, { message: { content: text("A\n/wait 20s") } })
    await eventually(
      async () => (await atB.get("/v1/nodes")).body.nodes.every(({ bus }: { bus: string }) => bus === "connected"),
      "all are connected"
    )
    const { body, status } = await atB.get("/v1/nodes")
    assert.strictEqual(status, 200)
    const [one, two] = body.nodes
    assert.deepStrictEqual([body.nodes.length, one.name, two.name], [2, "a", "b"])
    assert.strictEqual(one.shards + two.shards, 4_096)
    for (const node of body.nodes) {
      assert.deepStrictEqual(Object.keys(node).sort(), [
        "actors",
        "bus",
        "draining",
        "incarnation",
        "leaseAgeMs",
        "name",
        "shards",
        "since",
        "version"
      ])
      assert.match(node.incarnation, /^node_/)
      assert.match(node.version, /^\d+\.\d+\.\d+/)
      // By the database's clock, which may be another machine's.
      assert.isAtLeast(Date.parse(node.since), began - 1_000)
      assert.isAtMost(Date.parse(node.since), Date.now() + 1_000)
      assert.isAtMost(node.leaseAgeMs, 3_000)
      assert.deepStrictEqual([node.draining, node.bus], [false, "connected"])
    }
    await eventually(async () => (await atA.get("/v1/nodes")).body.nodes[0].actors > 0, "it has told of its actors")
    const stable = ({ actors: _, leaseAgeMs: __, ...node }: Record<string, unknown>) => node
    assert.deepStrictEqual((await atA.get("/v1/nodes")).body.nodes.map(stable), body.nodes.map(stable))
  })

  it("shows two nodes that have one name, and one that is gone no more", async () => {
    const c = await startServer({ bus: busLayer(), name: "a", beside: a })
    const nodes = async () => (await atA.get("/v1/nodes")).body.nodes
    await eventually(async () => (await nodes()).length === 3, "there are 3 nodes")
    assert.deepStrictEqual(
      (await nodes()).map(({ name }: { name: string }) => name),
      ["a", "a", "b"]
    )
    assert.strictEqual(new Set((await nodes()).map(({ incarnation }: { incarnation: string }) => incarnation)).size, 3)
    await c.stop()
    await eventually(async () => (await nodes()).length === 2, "there are 2 nodes")
  })

  it("is for those who operate: the scope admin", async () => {
    const reader = await a.client(a.workspaces.alpha, { scopes: ["read", "run"] })
    refused(await reader.get("/v1/nodes"), 403, "permission_denied")
    refused(await a.anonymous.get("/v1/nodes"), 401, "unauthenticated")
    refused(await atA.get("/v1/nodes?limit=1"), 400, "invalid_request")
  })
})

describe("a thread of one node, asked of another", () => {
  it("takes messages, and both tell the same log, never less than was acknowledged", async () => {
    const threadId = await makeThread(atA, agentId)
    const owner = await ownerOf(threadId)
    for (let turn = 1; turn <= 10; turn++) {
      const [sender, reader] = turn % 2 === 0 ? [atA, atB] : [atB, atA]
      const { seq } = await submit(sender, threadId, `message ${turn}`)
      assert.isAtLeast((await reader.get(`/v1/threads/${threadId}`)).body.lastSeq, seq)
      const page = await reader.get(`/v1/threads/${threadId}/events?afterSeq=${seq - 1}`)
      assert.strictEqual(page.body.events[0].seq, seq)
      await logOf(reader, threadId, ended(turn))
    }
    assert.deepStrictEqual(await logOf(atA, threadId, ended(10)), await logOf(atB, threadId, ended(10)))
    assert.deepStrictEqual(await ownerOf(threadId), owner)
  })

  it("answers every command, and refuses in the same words", async () => {
    const threadId = await makeThread(atA, agentId)
    const path = `/v1/threads/${threadId}`
    const { id, turnId } = await submit(atB, threadId, "A\n/wait 20s")
    const queued = await submit(atB, threadId, "B")
    assert.strictEqual(queued.state, "queued")
    assert.strictEqual((await atB.patch(`${path}/queue/${queued.id}`, { content: text("B2") })).status, 200)
    assert.strictEqual((await atA.get(`${path}/queue`)).body[0].content[0].text, "B2")
    assert.strictEqual((await atB.post(`${path}/queue/${queued.id}/promote`, { mode: "steer" })).body.state, "steered")
    assert.strictEqual((await atB.delete(`${path}/queue/${queued.id}`)).status, 204)
    assert.strictEqual((await atB.delete(`${path}/queue/${queued.id}`)).status, 204)
    refused(await atB.delete(`${path}/queue/${id}`), 409, "input_not_pending")
    refused(
      await atB.post(`${path}/messages`, { content: text("C"), expectedTurnId: `trn_${"0".repeat(26)}` }),
      409,
      "turn_conflict"
    )
    refused(await atB.post(`${path}/retry`), 409, "nothing_to_retry")
    refused(await twin(a.beta).post(`${path}/messages`, { content: text("C") }), 404, "not_found")
    assert.strictEqual((await atB.post(`${path}/cancel`, { turnId })).body.status, "cancelled")
    assert.strictEqual((await atB.post(`${path}/retry`)).status, 201)
    assert.strictEqual((await atB.post(`${path}/cancel`)).status, 200)
  })

  it("knows of what was edited on the other node", async () => {
    const threadId = await makeThread(atA, agentId, { title: "old" })
    await submit(atA, threadId, "A\n/wait 20s")
    assert.strictEqual((await atB.patch(`/v1/threads/${threadId}`, { title: "new" })).status, 200)
    assert.strictEqual((await atA.post(`/v1/threads/${threadId}/cancel`)).body.thread.title, "new")
  })

  it("takes a request with a key once, whichever nodes get it", async () => {
    const threadId = await makeThread(atA, agentId)
    const key = { "idempotency-key": "once" }
    const send = (client: Client) => client.post(`/v1/threads/${threadId}/messages`, { content: text("A") }, key)
    const answers = await Promise.all([atA, atB, atB, atA].map(send))
    assert.strictEqual(
      new Set(answers.map(({ text }) => text)).size,
      1,
      JSON.stringify(answers.map(({ body }) => body))
    )
    const log = await logOf(atB, threadId, ended(1))
    assert.strictEqual(log.filter(({ type }) => type === "user_message").length, 1)
    const made = await Promise.all([atA, atB].map((client) => client.post("/v1/threads", { agentId }, key)))
    assert.strictEqual(made[0]!.text, made[1]!.text)
  })

  it("is watched there as here: streams and long polls", async () => {
    const threadId = await makeThread(atA, agentId)
    const watchers = await Promise.all(
      [
        `/v1/threads/${threadId}/events/stream?afterSeq=0&deltas=text`,
        `/v1/agents/${agentId}/events/stream`,
        "/v1/events/stream"
      ].map((path) => Watcher.open(b.base, path, atB.token!))
    )
    for (const watcher of watchers) await watcher.until(({ frames }) => frames.some(({ event }) => event === "ready"))
    const started = performance.now()
    const poll = atB.get(`/v1/threads/${threadId}/events?waitSeconds=10&afterSeq=2`)
    await submit(atA, threadId, "A\n/wait 300ms")
    assert.strictEqual((await poll).body.events.at(-1).type, "turn_completed")
    assert.isBelow(performance.now() - started, 1_500)
    for (const watcher of watchers) {
      await watcher.until(({ frames }) => frames.filter(({ event }) => event === "event").length === 3)
      await watcher.close()
    }
  })

  it("that is archived and deleted there is so here at once, and both clear its rows away in portions", async () => {
    const threadId = await makeThread(atA, agentId)
    for (const turns of [1, 2, 3]) {
      await submit(atA, threadId, String(turns))
      await logOf(atA, threadId, ended(turns))
    }
    const [path, message] = [`/v1/threads/${threadId}`, { content: text("more") }]
    const archived = await atB.post(`${path}/archive`)
    assert.strictEqual(archived.status, 200, archived.text)
    refused(await atA.post(`${path}/messages`, message), 409, "thread_archived")
    assert.strictEqual((await atA.get(path)).body.thread.archivedAt, archived.body.thread.archivedAt)
    assert.strictEqual((await atB.delete(path)).status, 204)
    for (const client of [atA, atB]) {
      for (const read of [path, `${path}/events`, `${path}/queue`]) refused(await client.get(read), 404, "not_found")
      refused(await client.post(`${path}/messages`, message), 404, "not_found")
      refused(await client.delete(path), 404, "not_found")
    }
    const left = () =>
      a.runtime.runPromise(
        a.database.run("test.left", async (db) => {
          const id = toUuid(threadId)
          const { rows } = await sql<{
            readonly rows: number
          }>`select (select count(*) from facts where actor = ${id})::int
            + (select count(*) from inputs where actor = ${id})::int
            + (select count(*) from deleted_threads where thread = ${id})::int as rows`.execute(db)
          return rows[0]?.rows
        })
      )
    await eventually(async () => {
      await Promise.all([a, b].map(({ runtime }) => runtime.runPromise(clearDeleted(2))))
      return (await left()) === 0
    }, "nothing is left of it")
  })
})

describe("a credential", () => {
  it("that is revoked on one node is good on none, and its streams end, within seconds, with or without the bus", async () => {
    const check = async () => {
      const client = await a.client(a.workspaces.alpha)
      const there = twin(client)
      const watcher = await Watcher.open(b.base, "/v1/events/stream", client.token!)
      await watcher.until(({ frames }) => frames.some(({ event }) => event === "ready"))
      const { body } = await there.get("/v1/auth")
      assert.strictEqual((await atA.delete(`/v1/auth/keys/${body.principal.id}`)).status, 204)
      const revoked = performance.now()
      await eventually(async () => (await there.get("/v1/auth")).status === 401, "it is refused there", 5_000)
      await watcher.until(({ frames }) => frames.some(({ event }) => event === "bye"))
      assert.isBelow(performance.now() - revoked, 5_000)
    }
    await check()
    await cutting(check)
  })

  it("of an identity that is disabled on one node opens nothing on any, nor does an agent of it", async () => {
    const identity = fresh("ida")
    const mine = await a.client(a.workspaces.alpha, { identity })
    const there = twin(mine)
    assert.strictEqual((await there.get("/v1/auth")).status, 200)
    const theirs = await makeAgent(atA, ["troupe/scripted"], { identity })
    const threadId = await makeThread(atB, theirs)
    await atA.post("/v1/identities/disable", { identity })
    await eventually(async () => (await there.get("/v1/auth")).status === 403, "it is refused there", 5_000)
    await eventually(
      async () => (await atB.post(`/v1/threads/${threadId}/messages`, { content: text("A") })).status === 403,
      "its agent is refused",
      5_000
    )
  })
})

describe("an identity that nobody has named before", () => {
  it("is disabled and enabled from both nodes at once, and every call is answered", async () => {
    const names = Array.from({ length: 12 }, (_, n) => `fresh ${n}`)
    const answers = await Promise.all(
      names.flatMap((identity, n) =>
        Array.from({ length: 8 }, (_, i) =>
          (i % 2 === 0 ? atA : atB).post(`/v1/identities/${(i + n) % 3 === 0 ? "enable" : "disable"}`, { identity })
        )
      )
    )
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      answers.map(() => 200)
    )
    for (const identity of names) {
      for (const client of [atA, atB])
        assert.strictEqual(
          (await client.post("/v1/identities/disable", { identity })).body.operation.result.body.identity.disabled,
          true
        )
    }
  })
})
