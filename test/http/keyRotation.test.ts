/** Keys that take the place of others: what the new one is like, and when the old one ends. */
import { assert, describe, it } from "@effect/vitest"
import { during } from "../setup/during.ts"
import { Client, startServer } from "../setup/server.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { makeAgent } from "./threadFixture.ts"
import { fresh } from "./toolFixture.ts"

const server = await during(startServer())
const beside = await during(startServer({ beside: server, name: "beside" }))

const hour = 3_600_000
const later = (ms: number) => new Date(Date.now() + ms).toISOString()
const issue = async (by: Client, fields: object = {}) => {
  const made = await by.post("/v1/auth/keys", { name: "old", scopes: ["read"], ...fields })
  assert.strictEqual(made.status, 201, made.text)
  return { id: made.body.key.id as string, key: made.body.key, client: new Client(server.base, made.body.token) }
}
const rotate = (by: Client, id: string, body: object = {}, headers = {}) =>
  by.post(`/v1/auth/keys/${id}/rotate`, body, headers)
const statusOf = async (client: Client) => (await client.get("/v1/auth")).status
const endOf = async (id: string): Promise<string | undefined> =>
  (await server.alpha.get(`/v1/auth/keys/${id}`)).body.key.expiresAt
const near = (end: string | undefined, at: number) => assert.closeTo(Date.parse(end ?? ""), at, 10_000)

describe("a rotated key", () => {
  it("goes on for a day beside a new one that is like it", async () => {
    const agentId = await makeAgent(server.alpha)
    for (const fields of [
      { kind: "user", identity: "ann@example.com", scopes: ["read", "run"] },
      { kind: "trigger", provider: "slack", agentIds: [agentId], expiresAt: later(48 * hour) }
    ]) {
      const old = await issue(server.alpha, fields)
      const answer = await rotate(server.alpha, old.id)
      assert.strictEqual(answer.status, 201, answer.text)
      const { key, token } = answer.body
      assert.strictEqual(answer.headers.get("location"), `/v1/auth/keys/${key.id}`)
      const { createdAt: _, id: __, ...like } = old.key
      assert.deepInclude(key, like)
      assert.notStrictEqual(key.id, old.id)
      near(await endOf(old.id), Date.now() + 24 * hour)
      assert.deepStrictEqual([await statusOf(old.client), await statusOf(new Client(server.base, token))], [200, 200])
    }
  })

  it.each([
    [0, 201],
    [604_800, 201],
    [604_801, 400],
    [-1, 400],
    [1.5, 400],
    ["60", 400]
  ])("takes an overlap of 0 to 604800 seconds: %s", async (overlapSeconds, status) => {
    const old = await issue(server.alpha)
    const answer = await rotate(server.alpha, old.id, { overlapSeconds })
    assert.strictEqual(answer.status, status, answer.text)
    if (answer.status === 400) {
      refusedAt(answer, 400, "invalid_request", "overlapSeconds")
      assert.isUndefined(await endOf(old.id))
    }
  })

  it("ends at once on every node without an overlap", async () => {
    const old = await issue(server.alpha)
    const there = beside.at(old.client)
    assert.deepStrictEqual([await statusOf(old.client), await statusOf(there)], [200, 200])
    const answer = await rotate(server.alpha, old.id, { overlapSeconds: 0 })
    assert.strictEqual(answer.status, 201, answer.text)
    assert.strictEqual(await statusOf(old.client), 401)
    const deadline = Date.now() + 5_000
    while ((await statusOf(there)) !== 401) assert.isBelow(Date.now(), deadline, "it goes on elsewhere")
    assert.strictEqual(await statusOf(new Client(server.base, answer.body.token)), 200)
  })

  it("ends when it would have ended, if that is sooner; and so does the new one", async () => {
    const expiresAt = later(hour)
    const old = await issue(server.alpha, { expiresAt })
    const { key } = (await rotate(server.alpha, old.id)).body
    assert.deepStrictEqual([key.expiresAt, await endOf(old.id)], [expiresAt, expiresAt])
    const sooner = await rotate(server.alpha, old.id, { overlapSeconds: 60 })
    assert.strictEqual(sooner.body.key.expiresAt, expiresAt)
    near(await endOf(old.id), Date.now() + 60_000)
  })

  it("that has ended, was revoked, is of another workspace or never was is not rotated", async () => {
    const [over, revoked] = [await issue(server.alpha), await issue(server.alpha)]
    await rotate(server.alpha, over.id, { overlapSeconds: 0 })
    refused(await rotate(server.alpha, over.id), 400, "invalid_request")
    await server.alpha.delete(`/v1/auth/keys/${revoked.id}`)
    for (const id of [revoked.id, absent("key_"), (await issue(server.beta)).id])
      refused(await rotate(server.alpha, id), 404, "not_found")
  })

  it("rotates itself, and asks again under the same Idempotency-Key in vain", async () => {
    const self = await issue(server.alpha, { scopes: ["admin", "read"] })
    const headers = { "idempotency-key": "once" }
    const first = await rotate(self.client, self.id, { overlapSeconds: 600 }, headers)
    const again = await rotate(self.client, self.id, { overlapSeconds: 600 }, headers)
    assert.deepStrictEqual(again.body, first.body)
    assert.strictEqual(again.headers.get("location"), first.headers.get("location"))
    assert.deepStrictEqual(first.body.key.createdBy, { type: "api_key", id: self.id })
    // What it has made is of its lineage.
    await server.alpha.delete(`/v1/auth/keys/${self.id}?descendants=true`)
    assert.strictEqual(await statusOf(new Client(server.base, first.body.token)), 401)
  })
})

describe("whoever rotates", () => {
  it("gets no scope, identity or time that it does not have", async () => {
    const admin = await issue(server.alpha, { scopes: ["admin"], expiresAt: later(hour) })
    const bound = await issue(server.alpha, { scopes: ["admin", "read"], identity: "bob@example.com" })
    const more = await rotate(admin.client, (await issue(server.alpha)).id)
    refused(more, 403, "permission_denied")
    assert.strictEqual(more.body.code, "scope_not_held")
    refusedAt(
      await rotate(admin.client, (await issue(server.alpha, { scopes: ["admin"] })).id),
      400,
      "invalid_request",
      "expiresAt"
    )
    for (const identity of [undefined, "ann@example.com"]) {
      const foreign = await rotate(
        bound.client,
        (await issue(server.alpha, identity === undefined ? {} : { identity })).id
      )
      refused(foreign, 403, "permission_denied")
      assert.strictEqual(foreign.body.code, "foreign_identity")
    }
    const own = await issue(server.alpha, { identity: "bob@example.com" })
    assert.strictEqual((await rotate(bound.client, own.id)).status, 201)
  })

  it("gets nothing for an identity that is disabled", async () => {
    const identity = `${fresh("gone")}@example.com`
    const old = await issue(server.alpha, { identity })
    await server.alpha.post("/v1/identities/disable", { identity })
    refused(await rotate(server.alpha, old.id), 403, "identity_disabled")
  })
})
