/** Where a connection's secret goes: in which header, to which hosts, and when it was used. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { sharedServer, startServer } from "../setup/server.ts"
import { absent, assertRefusedAt as refusedAt } from "./refusals.ts"
import { allowedHosts, makeConnectionTools, token, whsec } from "./connectionFixture.ts"

const server = await sharedServer()
const { create, post, secretOf, used } = makeConnectionTools(server)

describe("the header that a secret goes into", () => {
  const headerOf = async (id: string) => {
    const found = await used(id)
    return found?.kind === "signing" ? undefined : found?.header
  }

  it("is shown, changed and cleared, and whoever uses the secret is told of it", async () => {
    const { header, id } = await create({ header: "X-API-Key" })
    assert.deepStrictEqual([header, await headerOf(id)], ["X-API-Key", "X-API-Key"])
    assert.strictEqual(
      (await server.alpha.patch(`/v1/connections/${id}`, { header: "Authorization" })).body.connection.header,
      "Authorization"
    )
    assert.strictEqual(await headerOf(id), "Authorization")
    const cleared = await server.alpha.patch(`/v1/connections/${id}`, { header: null })
    assert.deepStrictEqual(
      [cleared.status, cleared.body.connection.header, await headerOf(id)],
      [200, undefined, undefined]
    )
  })

  it("has a name of 1 to 64 characters", async () => {
    await create({ header: "x" })
    await create({ header: "x".repeat(64) })
    refusedAt(await post({ header: "x".repeat(65) }), 400, "invalid_request", "header")
  })

  it("is none that HTTP, MCP or this server use themselves, however it is written", async () => {
    for (const header of [
      "Host",
      "HOST",
      "cookie",
      "Set-Cookie",
      "Connection",
      "Keep-Alive",
      "Transfer-Encoding",
      "TE",
      "Trailer",
      "Upgrade",
      "Proxy-Authorization",
      "proxy-x",
      "Content-Length",
      "content-type",
      "Content-Anything",
      "Accept",
      "Accept-Encoding",
      "Expect",
      "User-Agent",
      "Origin",
      "If-Match",
      "Range",
      "Via",
      "Mcp-Session-Id",
      "MCP-Protocol-Version",
      "Last-Event-ID",
      "Idempotency-Key",
      "X-Forwarded-For",
      "Forwarded",
      "Sec-Fetch-Mode",
      "X-Troupe-Request",
      "Troupe-Signature",
      "webhook-id"
    ])
      refusedAt(await post({ header }), 400, "invalid_request", "header")
    for (const header of ["X-Host", "Api-Key", "PRIVATE-TOKEN", "xi-api-key", "Tea", "X-Mcp-Key"])
      await create({ header })
  })
})

describe("where a secret may be sent", () => {
  const reach = async (fields: Record<string, unknown>) => (await used((await create(fields)).id))?.reach

  it("is what allowedHosts say, else the origin of the base URL, its port included", async () => {
    assert.deepStrictEqual(
      [
        await reach({ allowedHosts: ["a.example"], baseUrl: "https://b.example" }),
        await reach({ allowedHosts: undefined, baseUrl: "https://B.example:8443/x" }),
        await reach({ allowedHosts: undefined, baseUrl: "https://[2606:4700::1111]/" })
      ],
      [{ hosts: ["a.example"] }, { origin: "https://b.example:8443" }, { origin: "https://[2606:4700::1111]" }]
    )
  })

  it("has to be said of a token and of an API key: without both 400 hosts_required", async () => {
    for (const secret of [{ token }, { apiKey: token }]) {
      const answer = await post({ secret, allowedHosts: undefined })
      refusedAt(answer, 400, "invalid_request", "allowedHosts")
      assert.strictEqual(answer.body.code, "hosts_required")
    }
  })

  it("need not be said of a signing secret, which is never sent itself", async () => {
    for (const provider of ["example", "openai"]) {
      assert.deepStrictEqual(
        await used((await create({ provider, secret: { signingSecret: whsec(24) }, allowedHosts: undefined })).id).then(
          (found) => [found?.kind, found?.reach]
        ),
        ["signing", undefined]
      )
    }
    assert.deepStrictEqual(
      await reach({ secret: { signingSecret: whsec(24) }, allowedHosts: undefined, baseUrl: "https://a.example/x" }),
      { origin: "https://a.example" }
    )
  })

  for (const [provider, origin] of [
    ["openai", "https://api.openai.com"],
    ["anthropic", "https://api.anthropic.com"],
    ["google", "https://generativelanguage.googleapis.com"]
  ] as const) {
    it(`is the provider's own address for ${provider} where nothing else is said`, async () => {
      assert.deepStrictEqual(await reach({ provider, secret: { apiKey: "sk-123" }, allowedHosts: undefined }), {
        origin
      })
      assert.deepStrictEqual(await reach({ provider, secret: { apiKey: "sk-123" }, allowedHosts: ["a.example"] }), {
        hosts: ["a.example"]
      })
    })
  }

  it("cannot be taken back by a change, neither of the hosts nor of the provider", async () => {
    const listed = await create({ baseUrl: "https://a.example" })
    assert.strictEqual((await server.alpha.patch(`/v1/connections/${listed.id}`, { allowedHosts: null })).status, 200)
    const hosted = await create({ provider: "openai", allowedHosts: undefined })
    for (const [id, body] of [
      [listed.id, { baseUrl: null }],
      [hosted.id, { provider: "example" }]
    ] as const) {
      const answer = await server.alpha.patch(`/v1/connections/${id}`, body)
      refusedAt(answer, 400, "invalid_request", "allowedHosts")
      assert.strictEqual(answer.body.code, "hosts_required")
    }
    assert.deepStrictEqual((await used(listed.id))?.reach, { origin: "https://a.example" })
  })

  it("is nowhere for a connection from before it had to be said: it may be renamed, and gets a new secret with hosts only", async () => {
    const { id } = await create()
    await server.query(sql`update connections set body = (body::jsonb - 'allowedHosts')::json where id = ${toUuid(id)}`)
    assert.deepStrictEqual((await used(id))?.reach, { hosts: [] })
    const patch = (body: object) => server.alpha.patch(`/v1/connections/${id}`, body)
    assert.deepStrictEqual([(await patch({})).status, (await patch({ name: "old" })).status], [200, 200])
    assert.strictEqual((await patch({ secret: { token: "another-token-0001" } })).body.code, "hosts_required")
    assert.strictEqual((await patch({ secret: { token: "another-token-0001" }, allowedHosts })).status, 200)
    assert.deepStrictEqual((await used(id))?.reach, { hosts: allowedHosts })
  })
})

describe("the use of a connection", () => {
  it("is noted, without another ETag", async () => {
    const { id } = await create()
    await secretOf(id)
    for (;;) {
      const { body, headers } = await server.alpha.get(`/v1/connections/${id}`)
      if (body.connection.lastUsedAt === undefined) continue
      assert.match(body.connection.lastUsedAt, /^\d{4}-.*Z$/)
      assert.strictEqual(headers.get("etag"), `"1"`)
      break
    }
  })

  it("finds nothing in another workspace, nor for an id of another form", async () => {
    const { id } = await create()
    assert.deepStrictEqual(
      [
        await secretOf(id, server.workspaces.beta),
        await secretOf(absent("conn_")),
        await secretOf("x"),
        await secretOf(id.replace("conn_", "agt_"))
      ],
      Array(4).fill(undefined)
    )
  })

  it("finds nothing where the sealed text is that of another connection, or changed", async () => {
    const [one, two] = [
      await create({ secret: { token: "one-secret-token" } }),
      await create({ secret: { token: "two-secret-token" } })
    ]
    await server.query(sql`update connections set sealed = (select sealed from connections where id = ${toUuid(two.id)})
      where id = ${toUuid(one.id)}`)
    assert.deepStrictEqual([await secretOf(one.id), await secretOf(two.id)], [undefined, { token: "two-secret-token" }])
    await server.query(sql`update connections set sealed = overlay(sealed placing 'AAAA' from length(sealed) - 8)
      where id = ${toUuid(two.id)}`)
    assert.isUndefined(await secretOf(two.id))
  })
})

describe("a server that allows no private networks", () => {
  it("refuses base URLs that it would never ask, and says which rule they break", async () => {
    const strict = await startServer({ outbound: { allowPrivateNetwork: false } })
    try {
      const made = await strict.alpha.post("/v1/connections", {
        provider: "p",
        name: "C",
        secret: { token },
        baseUrl: "https://a.example"
      })
      assert.strictEqual(made.status, 201, made.text)
      for (const [baseUrl, code] of [
        ["http://a.example", "forbidden_url"],
        ["https://127.0.0.1", "forbidden_address"],
        ["https://0x7f.1", "forbidden_address"],
        ["https://[::ffff:a00:1]", "forbidden_address"]
      ] as const) {
        for (const answer of [
          await strict.alpha.post("/v1/connections", { provider: "p", name: "C", secret: { token }, baseUrl }),
          await strict.alpha.patch(`/v1/connections/${made.body.connection.id}`, { baseUrl })
        ]) {
          refusedAt(answer, 400, "invalid_request", "baseUrl")
          assert.strictEqual(answer.body.code, code)
        }
      }
    } finally {
      await strict.stop()
    }
  })
})
