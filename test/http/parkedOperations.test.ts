/** Operations that wait: who decides them, who cancels them, and how they end. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sql } from "kysely"
import { Database } from "../../src/database/Database.ts"
import { forgetOperations } from "../../src/operations/due.ts"
import { parkRequest } from "../../src/operations/parking.ts"
import { freshId } from "../../src/seed.ts"
import { type Client, startServer } from "../setup/server.ts"
import { agentsOf, change, decide, decided, makeSpaces, parked, parkingServer, rule } from "./parkingFixture.ts"
import { assertRefused } from "./refusals.ts"
import { Watcher } from "./sse.ts"

const server = await parkingServer()
const space = makeSpaces(server)

describe("an operation", () => {
  it("is found by whoever asks again under its id, also once it is decided: it is not asked for twice", async () => {
    const { agentId, asker, decider, id: workspace } = await space([])
    const id = freshId("operation")
    const requester = { principal: { type: "agent", id: agentId }, credential: { type: "lease", agentId } } as const
    const parks = () =>
      server.runtime.runPromise(
        Effect.flatMap(Database, (database) =>
          database.atomically("test.park", (tx) =>
            parkRequest(
              tx,
              workspace,
              { id, action: "agent.read", agentId, request: { agentId }, requester },
              Date.now()
            )
          )
        )
      )
    assert.strictEqual((await parks()).operation?.state, "pending")
    await decided(decider, "deny", { id })
    const again = await parks()
    assert.deepStrictEqual([again.operation?.id, again.operation?.state, again.written], [id, "denied", []])
    assert.lengthOf((await asker.get("/v1/operations?state=pending")).body.operations, 0)
  })

  it("is one, however often the same is asked at once, of whichever node", async () => {
    const other = await startServer({ beside: server, name: "other" })
    try {
      const { admin, agentId, asker, profileId } = await space([rule("agent.create", "identity.*", "agent.read")])
      const clients = [asker, other.at(asker)]
      const ids = (ask: (client: Client) => ReturnType<Client["send"]>) =>
        Promise.all(
          Array.from({ length: 12 }, async (_, i) => (await parked(ask(clients[i % 2] ?? asker))).id as string)
        )
      const all = [
        await ids((client) => client.post("/v1/agents", { name: "A", profileId })),
        await ids((client) => client.post("/v1/identities/disable", { identity: "eve@example.com" })),
        await ids((client) => client.get(`/v1/agents/${agentId}`))
      ]
      for (const same of all) assert.lengthOf(new Set(same), 1)
      assert.lengthOf((await admin.get("/v1/operations")).body.operations, 3)
    } finally {
      await other.stop()
    }
  })

  it("is not decided by who asked, nor by another key of the same identity", async () => {
    const { asker, id, profileId } = await space([rule("agent.create")], { identity: "ann" })
    const operation = await parked(asker.post("/v1/agents", { name: "A", profileId }))
    for (const own of [asker, await server.client(id, { identity: "ann" })]) {
      for (const verdict of ["approve", "deny"] as const) {
        const refused = await decide(own, verdict, operation)
        assertRefused(refused, 403, "permission_denied")
        assert.strictEqual(refused.body.code, "own_operation")
      }
    }
    assert.strictEqual(
      (await decided(await server.client(id, { identity: "ben" }), "approve", operation)).state,
      "completed"
    )
  })

  it("is cancelled by who asked, and by nobody else", async () => {
    const { asker, decider, profileId } = await space([rule("agent.create")])
    const operation = await parked(asker.post("/v1/agents", { name: "A", profileId }))
    assertRefused(await decide(decider, "cancel", operation), 403, "permission_denied")
    const cancelled = await decided(asker, "cancel", operation)
    assert.deepStrictEqual(
      [cancelled.state, cancelled.result.status, cancelled.result.body.error],
      ["cancelled", 409, "operation_cancelled"]
    )
    assert.deepStrictEqual(await decided(asker, "cancel", operation), cancelled)
    assertRefused(await decide(decider, "approve", operation), 409, "operation_resolved")
  })

  it("that is denied is so for good, and says why", async () => {
    const { asker, decider, profileId } = await space([rule("agent.create")])
    const operation = await parked(asker.post("/v1/agents", { name: "A", profileId }))
    const answer = await decider.post(`/v1/operations/${operation.id}/deny`, { reason: "not today" })
    const { result, state } = answer.body.operation
    assert.deepStrictEqual([state, result.status, result.body.error], ["denied", 403, "operation_denied"])
    assert.include(result.body.message, "not today")
    assert.strictEqual((await decided(decider, "deny", operation)).state, "denied")
    assertRefused(await decide(decider, "approve", operation), 409, "operation_resolved")
    assertRefused(await decide(asker, "cancel", operation), 409, "operation_resolved")
  })

  it("that was approved is approved again with the same answer, and not denied", async () => {
    const { asker, decider, profileId } = await space([rule("agent.create")])
    const operation = await parked(asker.post("/v1/agents", { name: "A", profileId }))
    const before = await agentsOf(asker)
    const done = await decided(decider, "approve", operation)
    assert.deepStrictEqual(await decided(decider, "approve", operation), done)
    assert.strictEqual(await agentsOf(asker), before + 1)
    assertRefused(await decide(decider, "deny", operation), 409, "operation_resolved")
  })

  it("whose time is over is expired at once, and written so by some node", async () => {
    const { asker, decider, profileId } = await space([rule("agent.create")])
    const operation = await parked(asker.post("/v1/agents", { name: "A", profileId }))
    await change(
      server,
      (id) => sql`update operations set expires_at = now() - interval '1 millisecond' where id = ${id}`,
      operation
    )
    const seen = (await asker.get(`/v1/operations/${operation.id}`)).body.operation
    assert.deepStrictEqual(
      [seen.state, seen.result.status, seen.result.body.error],
      ["expired", 410, "operation_expired"]
    )
    assert.strictEqual(seen.resolvedBy, undefined)
    for (const verdict of ["approve", "deny"] as const)
      assertRefused(await decide(decider, verdict, operation), 410, "operation_expired")
    const listed = async (state: string) => (await asker.get(`/v1/operations?state=${state}`)).body.operations.length
    assert.deepStrictEqual([await listed("pending"), await listed("expired")], [0, 1])
    // The same request parks anew.
    assert.notStrictEqual((await parked(asker.post("/v1/agents", { name: "A", profileId }))).id, operation.id)
    assert.deepStrictEqual([await listed("pending"), await listed("expired")], [1, 1])
  })

  it("fails where whoever asked may not any more: a key that was revoked, an identity that was disabled", async () => {
    const { admin, id, profileId } = await space([rule("agent.create")])
    const keyed = (await admin.post("/v1/auth/keys", { name: "K", scopes: ["read", "write"] })).body
    const known = (await admin.post("/v1/auth/keys", { name: "I", scopes: ["read", "write"], identity: "ann" })).body
    const asking = async (token: string) =>
      parked(server.at({ token } as Client).post("/v1/agents", { name: token.slice(0, 12), profileId }))
    const [ofKey, ofAnn] = [await asking(keyed.token), await asking(known.token)]
    await admin.delete(`/v1/auth/keys/${keyed.key.id}`)
    await admin.post("/v1/identities/disable", { identity: "ann" })
    const decider = await server.client(id)
    const results = [await decided(decider, "approve", ofKey), await decided(decider, "approve", ofAnn)]
    assert.deepStrictEqual(
      results.map(({ result, state }) => [state, result.status, result.body.error]),
      [
        ["failed", 401, "unauthenticated"],
        ["failed", 403, "identity_disabled"]
      ]
    )
    assert.strictEqual(await agentsOf(admin), 1)
  })

  it("shows what was asked, and by whom, to who asked and to who may approve", async () => {
    const { asker, id, profileId } = await space([rule("agent.create")], { scopes: ["read", "write"] })
    const { id: operationId } = await parked(asker.post("/v1/agents", { name: "A", profileId }))
    const shown = async (client: Client) => {
      const { operation } = (await client.get(`/v1/operations/${operationId}`)).body
      const [listed] = (await client.get("/v1/operations")).body.operations
      assert.deepStrictEqual(listed, operation)
      return [operation.request, operation.requestedBy?.type]
    }
    const request = { name: "A", profileId }
    assert.deepStrictEqual(await shown(asker), [request, "api_key"])
    assert.deepStrictEqual(await shown(await server.client(id, { scopes: ["read", "approve"] })), [request, "api_key"])
    assert.deepStrictEqual(await shown(await server.client(id, { scopes: ["read"] })), [undefined, undefined])
  })

  it("that has expired unnoticed is told of where the same request takes its place", async () => {
    const { asker, profileId } = await space([rule("agent.create")])
    const watcher = await Watcher.open(server.base, "/v1/events/stream", asker.token!)
    await watcher.until(({ frames }) => frames.length === 1)
    const ask = () => parked(asker.post("/v1/agents", { name: "A", profileId }))
    const { id } = await ask()
    await change(server, (op) => sql`update operations set expires_at = now() where id = ${op}`, { id })
    const { id: next } = await ask()
    await watcher.until(({ frames }) => frames.some(({ data }) => data.operationId === next))
    assert.deepStrictEqual(
      watcher.events("operation").map(({ data }) => [data.operationId, data.state]),
      [
        [id, "pending"],
        [id, "expired"],
        [next, "pending"]
      ]
    )
    watcher.close()
  })

  it("is kept for 90 days after it was resolved", async () => {
    const { asker, decider, profileId } = await space([rule("agent.create")])
    const [old, young] = [
      await parked(asker.post("/v1/agents", { name: "A", profileId })),
      await parked(asker.post("/v1/agents", { name: "B", profileId }))
    ]
    for (const operation of [old, young]) await decided(decider, "deny", operation)
    await change(
      server,
      (id) => sql`update operations set resolved_at = now() - interval '89 days' where id = ${id}`,
      young
    )
    await change(
      server,
      (id) => sql`update operations set resolved_at = now() - interval '91 days' where id = ${id}`,
      old
    )
    const forgotten = await server.runtime.runPromise(server.database.run("test", forgetOperations))
    assert.strictEqual(forgotten, 1)
    assert.strictEqual((await asker.get(`/v1/operations/${old.id}`)).status, 404)
    assert.strictEqual((await asker.get(`/v1/operations/${young.id}`)).status, 200)
  })
  it("is told of at every change, also of a command, and of a day that passes", async () => {
    const { admin, agentId, asker, decider } = await space([rule("agent.update", "identity.*")])
    const watcher = await Watcher.open(server.base, "/v1/events/stream?types=operation", admin.token!)
    await watcher.until(({ frames }) => frames.length === 1)
    const statesOf = (id: string) =>
      watcher
        .events("operation")
        .filter(({ data }) => data.operationId === id)
        .map(({ data }) => data.state)
    const command = await parked(asker.post("/v1/identities/disable", { identity: "eve@example.com" }))
    await decided(decider, "approve", command)
    const [denied, cancelled, expired] = [
      await parked(asker.patch(`/v1/agents/${agentId}`, { name: "B" })),
      await parked(asker.patch(`/v1/agents/${agentId}`, { name: "C" })),
      await parked(asker.patch(`/v1/agents/${agentId}`, { name: "D" }))
    ]
    await decided(decider, "deny", denied)
    await decided(asker, "cancel", cancelled)
    await change(server, (id) => sql`update operations set expires_at = now() where id = ${id}`, expired)
    // Nobody looks: a node's chore writes it.
    await watcher.until(() => statesOf(expired.id).includes("expired"))
    assert.deepStrictEqual(
      [command, denied, cancelled, expired].map(({ id }) => statesOf(id)),
      [
        ["pending", "approved", "completed"],
        ["pending", "denied"],
        ["pending", "cancelled"],
        ["pending", "expired"]
      ]
    )
    for (const { data } of watcher.events("operation"))
      assert.strictEqual(data.agentId, data.operationId === command.id ? undefined : agentId)
    watcher.close()
  })

  it("that is waited for is answered as it is when the time is over", async () => {
    const { asker, profileId } = await space([rule("agent.create")])
    const { id } = await parked(asker.post("/v1/agents", { name: "A", profileId }))
    const began = performance.now()
    const { body } = await asker.get(`/v1/operations/${id}?waitSeconds=1`)
    assert.strictEqual(body.operation.state, "pending")
    assert.isAtLeast(performance.now() - began, 900)
  })
})
