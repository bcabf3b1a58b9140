import { assert, describe, it } from "@effect/vitest"
import { toUuid } from "../../src/domain/ids.ts"
import { during } from "../setup/during.ts"
import { Client, startServer } from "../setup/server.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"

const server = await during(startServer())

const issue = async (fields: Record<string, unknown> = {}) => {
  const made = await server.alpha.post("/v1/auth/keys", { name: "ci", scopes: ["read"], ...fields })
  assert.strictEqual(made.status, 201, made.text)
  return { key: made.body.key, client: new Client(server.base, made.body.token), headers: made.headers }
}
const later = (ms: number) => new Date(Date.now() + ms).toISOString()

describe("the credential in use", () => {
  it("is told who it is taken for", async () => {
    const expiresAt = later(60_000)
    const { client, key } = await issue({ scopes: ["read", "run"], identity: "ann", expiresAt })
    assert.deepStrictEqual((await client.get("/v1/auth")).body, {
      principal: { type: "api_key", id: key.id, identity: "ann" },
      workspaceId: server.workspaces.alpha,
      scheme: "APIKeyBearer",
      scopes: ["read", "run"],
      expiresAt
    })
  })

  for (const [what, token] of [
    ["none", undefined],
    ["no key at all", "hello"],
    ["a mistyped key", `trp_00000000_${"0".repeat(38)}`],
    ["a lease", "trl_x"]
  ] as const) {
    it(`is refused with 401 and WWW-Authenticate when it is ${what}`, async () => {
      const answer = await new Client(server.base, token).get("/v1/auth/keys")
      if (token === "trl_x") return refused(answer, 403, "credential_not_accepted")
      refused(answer, 401, "unauthenticated")
      assert.match(
        answer.headers.get("www-authenticate") ?? "",
        token === undefined ? /^Bearer$/ : /^Bearer error="invalid_token"$/
      )
    })
  }
})

describe("creating a key", () => {
  it("shows the token once, and it works at once", async () => {
    const made = await server.alpha.post("/v1/auth/keys", { name: "ci", scopes: ["read", "run"], identity: " ann " })
    assert.strictEqual(made.status, 201)
    const { key, token } = made.body
    assert.match(token, /^trp_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}$/)
    assert.strictEqual(made.headers.get("location"), `/v1/auth/keys/${key.id}`)
    const { createdAt, createdBy, id, ...rest } = key
    assert.match(id, /^key_/)
    assert.isString(createdAt)
    assert.strictEqual(createdBy.type, "api_key")
    assert.deepStrictEqual(rest, { name: "ci", kind: "api_key", scopes: ["read", "run"], identity: "ann" })
    assert.strictEqual((await new Client(server.base, token).get("/v1/agents")).status, 200)
    const listed = await server.alpha.get("/v1/auth/keys")
    assert.notInclude(listed.text, token)
    assert.deepInclude(listed.body.keys, key)
  })

  it("does not store the token in any readable form, and still replays it for its Idempotency-Key", async () => {
    const send = (name = "once") =>
      server.alpha.post("/v1/auth/keys", { name, scopes: ["read"] }, { "idempotency-key": "key 1" })
    const first = await send()
    const again = await send()
    assert.deepStrictEqual(
      [again.status, again.body, again.headers.get("idempotency-replayed")],
      [201, first.body, "true"]
    )
    refused(await send("twice"), 422, "idempotency_key_reused")
    const kept = await server.runtime.runPromise(
      server.database.run("test", (db) => db.selectFrom("idempotency").select("body").execute())
    )
    assert.isAbove(kept.length, 0)
    for (const { body } of kept) assert.notInclude(body, first.body.token)
  })

  it("accepts a name of 128 characters and an expiry in another zone", async () => {
    const { key } = await issue({ name: "n".repeat(128), expiresAt: "2999-01-01T02:00:00+02:00" })
    assert.strictEqual(key.expiresAt, "2999-01-01T00:00:00.000Z")
  })

  for (const [what, fields, path] of [
    ["no name", { name: undefined }, "name"],
    ["a name of 129 characters", { name: "n".repeat(129) }, "name"],
    ["no scopes", { scopes: [] }, "scopes"],
    ["a scope twice", { scopes: ["read", "read"] }, "scopes"],
    ["an unknown scope", { scopes: ["root"] }, "scopes[0]"],
    ["an expiry in the past", { expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt"],
    ["an expiry that is no time", { expiresAt: "tomorrow" }, "expiresAt"],
    ["an expiry on a day that is not", { expiresAt: "2999-02-31T00:00:00Z" }, "expiresAt"],
    ["an expiry that its offset carries past the year 9999", { expiresAt: "9999-12-31T23:59:59-23:59" }, "expiresAt"],
    ["an identity of 513 bytes", { identity: "i".repeat(513) }, "identity"],
    ["a trigger without a provider", { kind: "trigger" }, "provider"],
    ["a secret of the caller's choice", { token: "x" }, "token"]
  ] as const) {
    it(`refuses ${what}`, async () =>
      refusedAt(
        await server.alpha.post("/v1/auth/keys", { name: "ci", scopes: ["read"], ...fields }),
        400,
        "invalid_request",
        path
      ))
  }

  it("gives no scope that the caller lacks, and needs admin", async () => {
    const { client } = await issue({ scopes: ["admin", "read"] })
    assert.strictEqual((await client.post("/v1/auth/keys", { name: "a", scopes: ["read"] })).status, 201)
    refused(await client.post("/v1/auth/keys", { name: "a", scopes: ["read", "write"] }), 403, "permission_denied")
    const { client: writer } = await issue({ scopes: ["read", "run", "write", "approve"] })
    refused(await writer.post("/v1/auth/keys", { name: "a", scopes: ["read"] }), 403, "permission_denied")
    refused(await writer.get("/v1/auth/keys"), 403, "permission_denied")
    refused(await writer.delete(`/v1/auth/keys/${absent("key_")}`), 403, "permission_denied")
  })

  it("is refused for a disabled identity", async () => {
    await server.alpha.post("/v1/identities/disable", { identity: "mallory" })
    refused(
      await server.alpha.post("/v1/auth/keys", { name: "m", scopes: ["read"], identity: "mallory" }),
      403,
      "identity_disabled"
    )
    assert.strictEqual(
      (await server.beta.post("/v1/auth/keys", { name: "m", scopes: ["read"], identity: "mallory" })).status,
      201
    )
    await server.alpha.post("/v1/identities/enable", { identity: "mallory" })
    await issue({ identity: "mallory" })
  })
})

describe("the end of a key", () => {
  it("comes with its revocation, at once, and only once", async () => {
    const { client, key } = await issue()
    assert.strictEqual((await client.get("/v1/auth")).status, 200)
    const gone = await server.alpha.delete(`/v1/auth/keys/${key.id}`)
    assert.deepStrictEqual([gone.status, gone.text], [204, ""])
    refused(await client.get("/v1/auth"), 401, "unauthenticated")
    refused(await server.alpha.delete(`/v1/auth/keys/${key.id}`), 404, "not_found")
    const ids = (await server.alpha.get("/v1/auth/keys?limit=200")).body.keys.map((key: { id: string }) => key.id)
    assert.notInclude(ids, key.id)
  })

  it("raises the auth revision, so that other nodes forget it too", async () => {
    const revision = async () =>
      (
        await server.runtime.runPromise(
          server.database.run("test", (db) =>
            db.selectFrom("auth_revision").select("revision").executeTakeFirstOrThrow()
          )
        )
      ).revision
    const { key } = await issue()
    const before = await revision()
    await server.alpha.delete(`/v1/auth/keys/${key.id}`)
    assert.isAbove(Number(await revision()), Number(before))
  })

  it("comes with its expiry", async () => {
    const { client, key } = await issue({ expiresAt: later(60_000) })
    assert.strictEqual((await client.get("/v1/auth")).status, 200)
    // The clock is the database's: the row is moved into the past instead, and a revoke drops the caches.
    await server.runtime.runPromise(
      server.database.run("test", (db) =>
        db
          .updateTable("api_keys")
          .set({ expires_at: new Date(Date.now() - 1_000) })
          .where("id", "=", toUuid(key.id))
          .execute()
      )
    )
    await server.alpha.delete(`/v1/auth/keys/${(await issue()).key.id}`)
    refused(await client.get("/v1/auth"), 401, "unauthenticated")
  })

  it("is not for another workspace to bring about", async () => {
    const { client, key } = await issue()
    for (const id of [key.id, absent("key_"), "key_1", "x"])
      refused(await server.beta.delete(`/v1/auth/keys/${id}`), 404, "not_found")
    assert.strictEqual((await client.get("/v1/auth")).status, 200)
    assert.notInclude((await server.beta.get("/v1/auth/keys")).text, key.id)
  })
})

describe("listing keys", () => {
  it("pages newest first", async () => {
    const made = [(await issue()).key.id, (await issue()).key.id, (await issue()).key.id]
    const first = (await server.alpha.get("/v1/auth/keys?limit=2")).body
    const second = (await server.alpha.get(`/v1/auth/keys?limit=1&cursor=${first.nextCursor}`)).body
    assert.deepStrictEqual(
      [...first.keys, ...second.keys].map((key) => key.id),
      made.toReversed()
    )
    for (const limit of [0, 201])
      refusedAt(await server.alpha.get(`/v1/auth/keys?limit=${limit}`), 400, "invalid_request", "limit")
  })
})
