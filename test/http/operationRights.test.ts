/** Whose rights an operation is carried out with, who may decide it, and who sees what has come of it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sql } from "kysely"
import { Decisions } from "../../http/operations/Decisions.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { type Client, sharedServer } from "../setup/server.ts"
import { decide, decided, makeSpaces, parked, policy, rule } from "./parkingFixture.ts"
import { assertRefused } from "./refusals.ts"
import { ended, logOf, makeThread, text } from "./threadFixture.ts"
import { addRole, call, makeWorker, outcomes } from "./toolFixture.ts"

const server = await sharedServer()
const space = makeSpaces(server)

const failedWith = ({ result, state }: any) => [state, result.status, result.body.error]

describe("what an agent has asked for by a tool", () => {
  const ofAgents = { ...rule("agent.read"), principals: ["agent"] }
  /** What came of agents.get, asked in a thread of its own. */
  const asks = async (client: Client, agentId: string, about: string, more: object = {}) => {
    const lines = [call("agents.get", { agentId: about })]
    const threadId = await makeThread(client, agentId, { ...more, message: { content: text(lines.join("\n")) } })
    const log = await logOf(client, threadId, ended(1))
    const [output]: ReadonlyArray<any> = outcomes(log)
    assert.isDefined(output?.operation, JSON.stringify(log))
    return output.operation
  }
  const families = { families: ["agents"], familyExposure: "always" }

  it("fails once the agent's own identity is disabled, whether or not its thread has another one", async () => {
    const { admin, agentId: other, decider } = await space([ofAgents])
    const agentId = await makeWorker(admin, families)
    assert.strictEqual((await admin.patch(`/v1/agents/${agentId}`, { identity: "bot" })).status, 200)
    const ofThread = await asks(admin, agentId, other, { identity: "ann" })
    const ofAgent = await asks(admin, agentId, other)
    const askedBy = async ({ id }: { readonly id: string }) =>
      (await admin.get(`/v1/operations/${id}`)).body.operation.requestedBy
    assert.deepStrictEqual(await askedBy(ofThread), { type: "agent", id: agentId, identity: "ann" })
    assert.deepStrictEqual(await askedBy(ofAgent), { type: "agent", id: agentId, identity: "bot" })
    await admin.post("/v1/identities/disable", { identity: "bot" })
    for (const operation of [ofThread, ofAgent])
      assert.deepStrictEqual(failedWith(await decided(decider, "approve", operation)), [
        "failed",
        403,
        "identity_disabled"
      ])
  })

  it("is decided by the identity that its thread acts for, among others: that person is whom it asks", async () => {
    const { admin, agentId: other, decider, id } = await space([ofAgents])
    const agentId = await makeWorker(admin, families)
    const ann = await server.client(id, { identity: "ann", scopes: ["read", "approve"] })
    for (const [client, verdict, state] of [
      [ann, "approve", "completed"],
      [ann, "deny", "denied"],
      [decider, "approve", "completed"]
    ] as const) {
      const operation = await asks(admin, agentId, other, { identity: "ann" })
      const shown = (await client.get(`/v1/operations/${operation.id}`)).body.operation
      assert.deepStrictEqual(shown.requestedBy, { type: "agent", id: agentId, identity: "ann" })
      assert.strictEqual((await decided(client, verdict, operation)).state, state)
    }
  })

  it("fails once the agent is archived", async () => {
    const { admin, agentId: other, decider } = await space([ofAgents])
    const agentId = await makeWorker(admin, families)
    const operation = await asks(admin, agentId, other)
    assert.strictEqual((await admin.delete(`/v1/agents/${agentId}`)).status, 204)
    assert.deepStrictEqual(failedWith(await decided(decider, "approve", operation)), ["failed", 409, "agent_archived"])
  })

  it("fails once its roles do not let it any more; to see itself it needs none", async () => {
    const { admin, agentId: other, decider } = await space([ofAgents])
    const roleId = await addRole(admin, { allow: [{ tools: "*" }] })
    const agentId = await makeWorker(admin, { ...families, roleIds: [roleId] })
    const ofOther = await asks(admin, agentId, other)
    const ofItself = await asks(admin, agentId, agentId)
    assert.strictEqual((await admin.patch(`/v1/roles/${roleId}`, { deny: [{ tools: "agents.get" }] })).status, 200)
    assert.deepStrictEqual(failedWith(await decided(decider, "approve", ofOther)), ["failed", 403, "permission_denied"])
    assert.strictEqual((await decided(decider, "approve", ofItself)).state, "completed")
  })
})

describe("what a key has asked for", () => {
  it("fails once the key has ended by itself, or its place was taken without an overlap", async () => {
    const { admin, decider, profileId } = await space([rule("agent.create")])
    const issue = async (name: string) => {
      const made = (await admin.post("/v1/auth/keys", { name, scopes: ["read", "write"] })).body
      const client = server.at({ token: made.token } as Client)
      return { id: made.key.id as string, asked: await parked(client.post("/v1/agents", { name, profileId })) }
    }
    const [over, replaced] = [await issue("over"), await issue("replaced")]
    const past = sql`update api_keys set expires_at = now() - interval '1 second' where id = ${toUuid(over.id)}::uuid`
    await server.query(past)
    const rotated = await admin.post(`/v1/auth/keys/${replaced.id}/rotate`, { overlapSeconds: 0 })
    assert.strictEqual(rotated.status, 201, rotated.text)
    for (const { asked } of [over, replaced])
      assert.deepStrictEqual(failedWith(await decided(decider, "approve", asked)), ["failed", 401, "unauthenticated"])
    assert.lengthOf((await admin.get("/v1/agents")).body.agents, 1)
  })
})

describe("the result of a read", () => {
  it("is for who asked, and for who may approve: that others may not read it is why it waited", async () => {
    const { admin, agentId, asker, decider, id } = await space([rule("agent.read", "agent.update")])
    const reader = await server.client(id, { scopes: ["read"] })
    const seen = async (client: Client, operationId: string) => {
      const { operation } = (await client.get(`/v1/operations/${operationId}`)).body
      const listed: ReadonlyArray<any> = (await client.get("/v1/operations")).body.operations
      assert.deepStrictEqual(
        listed.find((one) => one.id === operationId),
        operation
      )
      return operation
    }
    const read = await parked(asker.get(`/v1/agents/${agentId}`))
    const done = await decided(decider, "approve", read)
    assert.strictEqual(done.result.body.agent.id, agentId)
    for (const client of [asker, admin]) assert.deepStrictEqual((await seen(client, read.id)).result, done.result)
    const hidden = await seen(reader, read.id)
    assert.deepStrictEqual([hidden.state, hidden.result], ["completed", undefined])
    // What has become of a change is nobody's secret.
    const change = await decided(decider, "approve", await parked(asker.patch(`/v1/agents/${agentId}`, { name: "B" })))
    assert.deepStrictEqual((await seen(reader, change.id)).result, change.result)
    // Nor is it that a read came to nothing.
    const denied = await decided(decider, "deny", await parked(asker.get(`/v1/agents/${agentId}`)))
    assert.deepStrictEqual((await seen(reader, denied.id)).result, denied.result)
  })
})

describe("an approved change of a subscription whose node died before it said that it is done", () => {
  it.each([
    ["held against a version", true],
    ["and somebody has changed it since", false]
  ])("is not made again, and is told as done: %s", async (_, isHeld) => {
    const { admin, agentId, asker, decider, id: workspace } = await space([rule("subscription.update")])
    const feedId = (await admin.post("/v1/feeds", { name: "news" })).body.feed.id
    const made = await admin.post(`/v1/agents/${agentId}/subscriptions`, { feedId, intent: "one" })
    assert.strictEqual(made.status, 201, made.text)
    const path = `/v1/subscriptions/${made.body.id}`
    const held = isHeld ? { "if-match": made.headers.get("etag") ?? "" } : undefined
    const operation = await parked(asker.patch(path, { intent: "two" }, held))
    await decided(decider, "approve", operation)
    await admin.put(policy, { rules: [] })
    if (!isHeld) assert.strictEqual((await admin.patch(path, { intent: "three" })).status, 200)
    await server.runtime.runPromise(
      server.database.run("test.dies", (db) =>
        sql`update operations set state = 'approved', status = null, body = null, resolved_at = now() - interval '11 s'
          where workspace = ${toUuid(workspace)}::uuid`.execute(db)
      )
    )
    const resumed = await server.runtime.runPromise(
      Effect.flatMap(Decisions, ({ resume }) => resume(workspace, operation.id))
    )
    assert.deepStrictEqual(
      [resumed?.operation.state, resumed?.operation.result?.status],
      ["completed", 200],
      JSON.stringify(resumed)
    )
    assert.strictEqual((await admin.get(path)).body.intent, isHeld ? "two" : "three")
  })
})

describe("a key that took another one's place", () => {
  it("is the one that asked: it cancels what the old one asked for, and does not decide it", async () => {
    const { admin, decider, profileId } = await space([rule("agent.create")])
    const made = (await admin.post("/v1/auth/keys", { name: "K", scopes: ["read", "write", "run", "approve"] })).body
    const old = server.at({ token: made.token } as Client)
    const rotate = async (keyId: string) => {
      const rotated = await admin.post(`/v1/auth/keys/${keyId}/rotate`)
      assert.strictEqual(rotated.status, 201, rotated.text)
      return { id: rotated.body.key.id, client: server.at({ token: rotated.body.token } as Client) }
    }
    const second = await rotate(made.key.id)
    const third = await rotate(second.id)
    const ask = (client: Client, name: string) => parked(client.post("/v1/agents", { name, profileId }))
    const [byOld, byThird] = [await ask(old, "A"), await ask(third.client, "B")]
    for (const [client, operation] of [
      [second.client, byOld],
      [third.client, byOld],
      [old, byThird]
    ] as const) {
      for (const verdict of ["approve", "deny"] as const)
        assertRefused(await decide(client, verdict, operation), 403, "permission_denied", "own_operation")
      assert.deepInclude((await client.get(`/v1/operations/${operation.id}`)).body.operation, {
        request: { name: operation.id === byOld.id ? "A" : "B", profileId }
      })
    }
    assert.strictEqual((await decided(third.client, "cancel", byOld)).state, "cancelled")
    assert.strictEqual((await decided(decider, "approve", byThird)).state, "completed")
    // A key that is only made like it is another one.
    const like = (await admin.post("/v1/auth/keys", { name: "K", scopes: ["read", "approve"] })).body
    const byOldAgain = await ask(old, "C")
    assert.strictEqual(
      (await decided(server.at({ token: like.token } as Client), "approve", byOldAgain)).state,
      "completed"
    )
  })
})

describe("who approves", () => {
  it("needs the scope and an identity that is enabled at that moment", async () => {
    const { admin, asker, id, profileId } = await space([rule("agent.create")])
    const operation = await parked(asker.post("/v1/agents", { name: "A", profileId }))
    const reader = await server.client(id, { scopes: ["read", "write", "admin"] })
    assertRefused(await decide(reader, "approve", operation), 403, "permission_denied", "missing_scope")
    const ben = await server.client(id, { identity: "ben" })
    await admin.post("/v1/identities/disable", { identity: "ben" })
    assertRefused(await decide(ben, "approve", operation), 403, "identity_disabled")
    await admin.post("/v1/identities/enable", { identity: "ben" })
    const keyed = (await admin.post("/v1/auth/keys", { name: "D", scopes: ["read", "approve"] })).body
    const revoked = server.at({ token: keyed.token } as Client)
    assert.strictEqual((await revoked.get(`/v1/operations/${operation.id}`)).status, 200)
    await admin.delete(`/v1/auth/keys/${keyed.key.id}`)
    assertRefused(await decide(revoked, "approve", operation), 401, "unauthenticated")
    assert.strictEqual((await asker.get(`/v1/operations/${operation.id}`)).body.operation.state, "pending")
    assert.strictEqual((await decided(ben, "approve", operation)).state, "completed")
    assert.strictEqual((await admin.put(policy, { rules: [] })).status, 200)
  })
})
