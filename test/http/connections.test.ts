/** Connections: made, changed and deleted, and who may do it. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { sharedServer } from "../setup/server.ts"
import { assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { allowedHosts, makeConnectionTools, token, whsec } from "./connectionFixture.ts"

const server = await sharedServer()
const { create, post, secretOf } = makeConnectionTools(server)

describe("creating a connection", () => {
  it("answers with what may be shown of it, and the same is read back", async () => {
    const made = await post({
      baseUrl: "https://api.example.com/v1",
      allowedHosts: ["api.example.com", "*.example.org"]
    })
    assert.strictEqual(made.status, 201, made.text)
    const { createdAt, createdBy, id, updatedAt, ...rest } = made.body.connection
    assert.deepStrictEqual(rest, {
      provider: "example",
      name: "C",
      kind: "token",
      baseUrl: "https://api.example.com/v1",
      allowedHosts: ["api.example.com", "*.example.org"],
      last4: "ngth",
      status: "active"
    })
    assert.deepStrictEqual([createdAt, createdBy.type], [updatedAt, "api_key"])
    assert.deepStrictEqual([made.headers.get("location"), made.headers.get("etag")], [`/v1/connections/${id}`, `"1"`])
    const got = await server.alpha.get(`/v1/connections/${id}`)
    assert.deepStrictEqual([got.body, got.headers.get("etag")], [made.body, `"1"`])
  })

  for (const [what, secret, kind, opened] of [
    ["a token", { token }, "token", { token }],
    ["an API key", { apiKey: "sk-123" }, "apiKey", { apiKey: "sk-123" }],
    ["a signing secret", { signingSecret: whsec(24) }, "signing", { signing: [whsec(24)] }],
    [
      "two signing secrets, the current one first",
      { signingSecret: whsec(64), previousSigningSecret: whsec(24) },
      "signing",
      { signing: [whsec(64), whsec(24)] }
    ]
  ] as const) {
    it(`takes ${what}, and hands it to those who use it`, async () => {
      const made = await create({ secret })
      const found: unknown = await secretOf(made.id)
      assert.deepStrictEqual([made.kind, found], [kind, opened])
    })
  }

  it("shows the last four characters of secrets of at least 12", async () => {
    for (const [secret, last4] of [
      [{ token: "12345678901" }, undefined],
      [{ token: "123456789012" }, "9012"],
      [{ apiKey: "12345678abcd" }, "abcd"],
      [{ signingSecret: whsec(24) }, whsec(24).slice(-4)]
    ] as const)
      assert.strictEqual((await create({ secret })).last4, last4)
  })

  for (const [field, most, past, path = field] of [
    ["name", "n".repeat(128), "n".repeat(129)],
    ["provider", "p".repeat(64), "p".repeat(65)],
    [
      "allowedHosts",
      Array.from({ length: 32 }, (_, i) => `h${i}.example`),
      Array.from({ length: 33 }, (_, i) => `h${i}.example`)
    ],
    ["baseUrl", `https://a.example/${"p".repeat(2030)}`, `https://a.example/${"p".repeat(2031)}`]
  ] as const) {
    it(`accepts ${field} at its limit and refuses it past that`, async () => {
      assert.deepStrictEqual((await create({ [field]: most }))[field], most)
      refusedAt(await post({ [field]: past }), 400, "invalid_request", path)
    })
  }
  for (const [kind, most, past] of [
    ["token", "t".repeat(8192), "t".repeat(8193)],
    ["apiKey", "t".repeat(8192), "t".repeat(8193)],
    ["signingSecret", whsec(64), whsec(65)],
    ["signingSecret", whsec(24), whsec(23)]
  ] as const) {
    it(`accepts a ${kind} of ${most.length} characters and refuses one of ${past.length}`, async () => {
      await create({ secret: { [kind]: most } })
      refusedAt(await post({ secret: { [kind]: past } }), 400, "invalid_request", `secret.${kind}`)
    })
  }

  for (const [what, fields, path] of [
    ["no secret", { secret: undefined }, "secret"],
    ["an empty secret", { secret: {} }, "secret"],
    ["a secret that is text", { secret: token }, "secret"],
    ["null as a secret", { secret: null }, "secret"],
    ["two secrets", { secret: { token, apiKey: token } }, "secret"],
    ["a previous signing secret alone", { secret: { previousSigningSecret: whsec(24) } }, "secret"],
    ["a previous signing secret beside a token", { secret: { token, previousSigningSecret: whsec(24) } }, "secret"],
    ["an empty token", { secret: { token: "" } }, "secret.token"],
    ["a token with a line end", { secret: { token: "a\r\nx-injected: 1" } }, "secret.token"],
    ["a token with a space", { secret: { token: "Bearer abc" } }, "secret.token"],
    ["a token beyond ASCII", { secret: { token: "schlüssel" } }, "secret.token"],
    [
      "a signing secret without its prefix",
      { secret: { signingSecret: Buffer.alloc(24).toString("base64") } },
      "secret.signingSecret"
    ],
    [
      "a signing secret that is no base64",
      { secret: { signingSecret: `whsec_${"*".repeat(32)}` } },
      "secret.signingSecret"
    ],
    [
      "a signing secret in base64url",
      { secret: { signingSecret: `whsec_${Buffer.alloc(24, 255).toString("base64url")}` } },
      "secret.signingSecret"
    ],
    [
      "a signing secret without its padding",
      { secret: { signingSecret: whsec(25).replace(/=+$/, "") } },
      "secret.signingSecret"
    ],
    ["OAuth, which comes later", { secret: { oauth: { accessToken: "x" } } }, "secret.oauth"],
    ["an unknown kind of secret", { secret: { password: "x" } }, "secret.password"],
    ["no provider", { provider: undefined }, "provider"],
    ["a provider with a space", { provider: "a b" }, "provider"],
    ["a blank name", { name: " " }, "name"],
    ["a base URL with a query", { baseUrl: "https://a.example/?key=1" }, "baseUrl"],
    ["a base URL with credentials", { baseUrl: "https://u:p@a.example" }, "baseUrl"],
    ["a base URL that is none", { baseUrl: "a.example" }, "baseUrl"],
    ["an address of cloud metadata", { baseUrl: "http://169.254.169.254/latest" }, "baseUrl"],
    ["no allowed host at all", { allowedHosts: [] }, "allowedHosts"],
    ["an allowed host twice", { allowedHosts: ["a.example", "a.example"] }, "allowedHosts"],
    ["an allowed host with a port", { allowedHosts: ["a.example", "b.example:80"] }, "allowedHosts[1]"],
    ["a header's name with a space", { header: "X API Key" }, "header"],
    ["a header's name with a line end", { header: "X-A\r\nX-B" }, "header"],
    ["an empty header's name", { header: "" }, "header"],
    ["a header's name beyond ASCII", { header: "X-Schlüssel" }, "header"],
    ["a status", { status: "active" }, "status"],
    ["last4", { last4: "abcd" }, "last4"]
  ] as const) {
    it(`refuses ${what} with its path`, async () => {
      const answer = await post(fields)
      refusedAt(answer, 400, "invalid_request", path)
    })
  }

  it("says of OAuth what to give instead", async () => {
    assert.strictEqual(
      (await post({ secret: { oauth: {} } })).body.message,
      "secret.oauth: expected a token instead: this server does not do OAuth yet"
    )
  })
})

describe("changing a connection", () => {
  it("keeps what is absent, clears what is null, and raises the ETag only if something changed", async () => {
    const { id, updatedAt } = await create({ baseUrl: "https://a.example", allowedHosts: ["a.example"] })
    const renamed = await server.alpha.patch(`/v1/connections/${id}`, { name: "D", provider: "other" })
    assert.deepStrictEqual([renamed.status, renamed.headers.get("etag")], [200, `"2"`])
    assert.isAtLeast(Date.parse(renamed.body.connection.updatedAt), Date.parse(updatedAt))
    assert.deepStrictEqual(
      [renamed.body.connection.name, renamed.body.connection.last4, renamed.body.connection.baseUrl],
      ["D", "ngth", "https://a.example"]
    )
    const cleared = await server.alpha.patch(`/v1/connections/${id}`, { baseUrl: null })
    assert.deepStrictEqual(
      ["baseUrl" in cleared.body.connection, cleared.body.connection.allowedHosts],
      [false, ["a.example"]]
    )
    const same = await server.alpha.patch(`/v1/connections/${id}`, { name: "D", baseUrl: null })
    assert.deepStrictEqual(
      [same.headers.get("etag"), (await server.alpha.patch(`/v1/connections/${id}`, {})).headers.get("etag")],
      [`"3"`, `"3"`]
    )
    assert.deepStrictEqual(await secretOf(id), { token })
  })

  it("replaces the secret as a whole, by one of the same kind, from the next use on", async () => {
    const { id } = await create()
    const replaced = await server.alpha.patch(`/v1/connections/${id}`, { secret: { token: "short" } })
    assert.deepStrictEqual(
      [replaced.status, replaced.headers.get("etag"), "last4" in replaced.body.connection],
      [200, `"2"`, false]
    )
    assert.deepStrictEqual(await secretOf(id), { token: "short" })
    for (const secret of [{ apiKey: "short" }, { signingSecret: whsec(24) }]) {
      refusedAt(await server.alpha.patch(`/v1/connections/${id}`, { secret }), 400, "invalid_request", "secret")
    }
    assert.deepStrictEqual(await secretOf(id), { token: "short" })
  })

  it("rotates a signing secret with two that live side by side", async () => {
    const { id } = await create({ secret: { signingSecret: whsec(24, 1) } })
    const patch = (secret: Record<string, string>) => server.alpha.patch(`/v1/connections/${id}`, { secret })
    assert.strictEqual((await patch({ signingSecret: whsec(24, 2), previousSigningSecret: whsec(24, 1) })).status, 200)
    assert.deepStrictEqual(await secretOf(id), { signing: [whsec(24, 2), whsec(24, 1)] })
    assert.strictEqual((await patch({ signingSecret: whsec(24, 2) })).status, 200)
    assert.deepStrictEqual(await secretOf(id), { signing: [whsec(24, 2)] })
  })

  for (const [body, path] of [
    [{ name: null }, "name"],
    [{ provider: null }, "provider"],
    [{ secret: null }, "secret"],
    [{ secret: {} }, "secret"],
    [{ secret: { token: "a b" } }, "secret.token"],
    [{ secret: { oauth: {} } }, "secret.oauth"],
    [{ baseUrl: "x" }, "baseUrl"],
    [{ baseUrl: "http://169.254.169.254" }, "baseUrl"],
    [{ allowedHosts: [] }, "allowedHosts"],
    [{ kind: "token" }, "kind"],
    [{ id: "x" }, "id"]
  ] as const) {
    it(`refuses ${JSON.stringify(body)} with its path`, async () => {
      const { id } = await create()
      refusedAt(await server.alpha.patch(`/v1/connections/${id}`, body), 400, "invalid_request", path)
    })
  }
})

describe("deleting a connection", () => {
  it("takes the secret with it", async () => {
    const { id } = await create()
    const gone = await server.alpha.delete(`/v1/connections/${id}`)
    assert.deepStrictEqual([gone.status, gone.text], [204, ""])
    refused(await server.alpha.get(`/v1/connections/${id}`), 404, "not_found")
    refused(await server.alpha.delete(`/v1/connections/${id}`), 404, "not_found")
    assert.isUndefined(await secretOf(id))
    assert.strictEqual((await server.query(sql`select 1 from connections where id = ${toUuid(id)}`)).rows.length, 0)
  })

  it("is refused while a toolset uses it", async () => {
    const { id } = await create()
    const toolset = (
      await server.alpha.post("/v1/toolsets", {
        namespace: "held",
        kind: "mcp",
        url: "http://127.0.0.1:9/mcp",
        connectionId: id
      })
    ).body.toolset.id
    refused(await server.alpha.delete(`/v1/connections/${id}`), 409, "connection_in_use")
    assert.deepStrictEqual(await secretOf(id), { token })
    assert.strictEqual((await server.alpha.delete(`/v1/toolsets/${toolset}`)).status, 204)
    assert.strictEqual((await server.alpha.delete(`/v1/connections/${id}`)).status, 204)
  })

  const signing = { secret: { signingSecret: whsec(24) } }
  const hookOf = (connectionId: string) => ({
    name: "h",
    point: "before_tool_call",
    processor: { type: "url", url: "https://hooks.example.com", connectionId }
  })
  const profile = (fields: Record<string, unknown>) =>
    server.alpha.post("/v1/profiles", { name: "P", models: ["troupe/scripted"], ...fields })

  it("is refused while a hook of a profile's latest version, or of one that an agent is pinned to, names it; not for what a text says", async () => {
    const [told, named] = [await create(signing), await create(signing)]
    // The text of a prompt holds what a hook would: quotes in it are escaped, and \u0000 is legal in it.
    const made = await profile({ systemPrompt: `\u0000 "connectionId":"${told.id}"`, hooks: [hookOf(named.id)] })
    assert.strictEqual(made.status, 201, made.text)
    assert.strictEqual((await server.alpha.delete(`/v1/connections/${told.id}`)).status, 204, "only a text names it")
    refused(await server.alpha.delete(`/v1/connections/${named.id}`), 409, "connection_in_use")
    const profileId = made.body.profile.id
    assert.strictEqual((await server.alpha.patch(`/v1/profiles/${profileId}`, { hooks: [] })).body.profile.version, 2)
    const agent = (await server.alpha.post("/v1/agents", { name: "pinned", profileId, profileVersion: 1 })).body.agent
      .id
    refused(await server.alpha.delete(`/v1/connections/${named.id}`), 409, "connection_in_use")
    assert.strictEqual((await server.alpha.delete(`/v1/agents/${agent}`)).status, 204)
    assert.strictEqual(
      (await server.alpha.delete(`/v1/connections/${named.id}`)).status,
      204,
      "only an older version names it"
    )
  })

  it("never comes between a profile and the connection that it names, at whatever moment", async () => {
    for (let i = 0; i < 20; i++) {
      const { id } = await create(signing)
      const [gone, made] = await Promise.all([
        server.alpha.delete(`/v1/connections/${id}`),
        profile({ hooks: [hookOf(id)] })
      ])
      assert.include(
        [
          [204, 422],
          [409, 201]
        ].map(String),
        String([gone.status, made.status]),
        gone.text + made.text
      )
    }
  })
})

describe("who may do what with connections", () => {
  it("asks for the scope read to see them, and admin to change them", async () => {
    const { id } = await create()
    refused(await server.anonymous.get(`/v1/connections/${id}`), 401, "unauthenticated")
    const reader = await server.client(server.workspaces.alpha, { scopes: ["read"] })
    assert.deepStrictEqual(
      [(await reader.get(`/v1/connections/${id}`)).status, (await reader.get("/v1/connections")).status],
      [200, 200]
    )
    const writer = await server.client(server.workspaces.alpha, { scopes: ["read", "run", "write", "approve"] })
    refused(
      await writer.post("/v1/connections", { provider: "p", name: "C", secret: { token }, allowedHosts }),
      403,
      "permission_denied"
    )
    refused(await writer.patch(`/v1/connections/${id}`, { name: "D" }), 403, "permission_denied")
    refused(await writer.delete(`/v1/connections/${id}`), 403, "permission_denied")
  })
})
