/** Keys that keys have made: for how long, for whom, and how they end together. */
import { assert, describe, it } from "@effect/vitest"
import { Client, sharedServer } from "../setup/server.ts"
import { assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"

const server = await sharedServer()

const later = (ms: number) => new Date(Date.now() + ms).toISOString()
const hour = 3_600_000

const issue = async (by: Client, fields: object = {}) => {
  const made = await by.post("/v1/auth/keys", { name: "child", scopes: ["read", "admin"], ...fields })
  assert.strictEqual(made.status, 201, made.text)
  return { id: made.body.key.id as string, key: made.body.key, client: new Client(server.base, made.body.token) }
}
const works = async ({ client }: { readonly client: Client }) => (await client.get("/v1/auth")).status === 200

describe("a key that a key has made", () => {
  it("ends with its maker where it does not say when, and may end before", async () => {
    const expiresAt = later(hour)
    const maker = await issue(server.alpha, { expiresAt })
    assert.strictEqual((await issue(maker.client)).key.expiresAt, expiresAt)
    assert.strictEqual((await issue(maker.client, { expiresAt })).key.expiresAt, expiresAt)
    const sooner = later(hour / 2)
    assert.strictEqual((await issue(maker.client, { expiresAt: sooner })).key.expiresAt, sooner)
  })

  it("does not outlive its maker, not by a millisecond", async () => {
    const end = Date.now() + hour
    const maker = await issue(server.alpha, { expiresAt: new Date(end).toISOString() })
    refusedAt(
      await maker.client.post("/v1/auth/keys", {
        name: "late",
        scopes: ["read"],
        expiresAt: new Date(end + 1).toISOString()
      }),
      400,
      "invalid_request",
      "expiresAt"
    )
  })

  it("has no end where its maker has none", async () => {
    assert.notProperty((await issue(server.alpha)).key, "expiresAt")
  })

  it("has its maker's identity, and no other, whatever the scopes", async () => {
    const maker = await issue(server.alpha, { identity: "carol" })
    assert.strictEqual((await issue(maker.client)).key.identity, "carol")
    assert.strictEqual((await issue(maker.client, { identity: " carol " })).key.identity, "carol")
    const foreign = await maker.client.post("/v1/auth/keys", { name: "ghost", scopes: ["read"], identity: "ghost" })
    refused(foreign, 403, "permission_denied")
    assert.strictEqual(foreign.body.code, "foreign_identity")
    assert.strictEqual((await issue(server.alpha, { identity: "ghost" })).key.identity, "ghost")
  })

  it("goes on when its maker is revoked, unless they are to end together", async () => {
    const maker = await issue(server.alpha)
    const child = await issue(maker.client)
    assert.strictEqual((await server.alpha.delete(`/v1/auth/keys/${maker.id}?descendants=false`)).status, 204)
    assert.deepStrictEqual([await works(maker), await works(child)], [false, true])
  })
})

describe("a key and all that came of it", () => {
  /** A maker, its two children, and a child of the first. */
  const family = async () => {
    const maker = await issue(server.alpha)
    const child = await issue(maker.client)
    return { maker, child, other: await issue(maker.client), grandchild: await issue(child.client) }
  }

  it("end at once, and nobody else's do", async () => {
    const { child, grandchild, maker, other } = await family()
    const stranger = await issue(server.alpha)
    assert.strictEqual((await server.alpha.delete(`/v1/auth/keys/${maker.id}?descendants=true`)).status, 204)
    for (const key of [maker, child, other, grandchild]) assert.isFalse(await works(key))
    assert.deepStrictEqual([await works(stranger), (await server.alpha.get("/v1/auth")).status], [true, 200])
    refused(await server.alpha.delete(`/v1/auth/keys/${maker.id}?descendants=true`), 404, "not_found")
  })

  it("end also where some of them were revoked before", async () => {
    const { child, grandchild, maker, other } = await family()
    for (const { id } of [maker, child])
      assert.strictEqual((await server.alpha.delete(`/v1/auth/keys/${id}`)).status, 204)
    assert.strictEqual((await server.alpha.delete(`/v1/auth/keys/${maker.id}?descendants=true`)).status, 204)
    assert.deepStrictEqual([await works(other), await works(grandchild)], [false, false])
  })

  it("end though more are made at the same moment", async () => {
    const { child, maker } = await family()
    const making = Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? maker : child).client.post("/v1/auth/keys", { name: "quick", scopes: ["read"] })
      )
    )
    assert.strictEqual((await server.alpha.delete(`/v1/auth/keys/${maker.id}?descendants=true`)).status, 204)
    for (const { body, status } of await making) {
      assert.oneOf(status, [201, 401])
      if (status === 201) assert.isFalse(await works({ client: new Client(server.base, body.token) }))
    }
  })

  it("are not for another workspace to end", async () => {
    const { grandchild, maker } = await family()
    refused(await server.beta.delete(`/v1/auth/keys/${maker.id}?descendants=true`), 404, "not_found")
    assert.isTrue(await works(grandchild))
    const unknown = await server.alpha.delete(`/v1/auth/keys/${maker.id}?descendants=perhaps`)
    assert.strictEqual(unknown.status, 400, unknown.text)
  })
})

describe("one key", () => {
  it("is read where its Location points, with who made it and what it is", async () => {
    const maker = await issue(server.alpha, { kind: "user", identity: "dave" })
    const made = await maker.client.post("/v1/auth/keys", { name: "child", scopes: ["read"] })
    const found = await server.alpha.get(made.headers.get("location") ?? "")
    assert.deepStrictEqual([found.status, found.body], [200, { key: made.body.key }])
    assert.deepStrictEqual(found.body.key.createdBy, { type: "user", id: maker.id, identity: "dave" })
    assert.deepStrictEqual([maker.key.kind, found.body.key.kind], ["user", "api_key"])
    assert.deepStrictEqual((await maker.client.get("/v1/auth")).body.principal, {
      type: "user",
      id: maker.id,
      identity: "dave"
    })
  })

  it("is 404 once it is revoked, elsewhere, and for ids of another form", async () => {
    const { id } = await issue(server.alpha)
    refused(await server.beta.get(`/v1/auth/keys/${id}`), 404, "not_found")
    await server.alpha.delete(`/v1/auth/keys/${id}`)
    for (const path of [id, "key_1", `key_${"0".repeat(26)}`])
      refused(await server.alpha.get(`/v1/auth/keys/${path}`), 404, "not_found")
  })

  it("takes the scope admin", async () => {
    const { id } = await issue(server.alpha)
    const reader = await issue(server.alpha, { scopes: ["read", "run", "write", "approve"] })
    refused(await reader.client.get(`/v1/auth/keys/${id}`), 403, "permission_denied")
  })
})
