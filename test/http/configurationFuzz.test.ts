import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { startServer, type TestServer } from "../setup/server.ts"

let server: TestServer
let ids: { readonly agent: string; readonly profile: string; readonly connection: string }
beforeAll(async () => {
  server = await startServer()
  const profile = (await server.alpha.post("/v1/profiles", { name: "P", models: ["troupe/scripted"] })).body.profile.id
  const connection = (
    await server.alpha.post("/v1/connections", {
      provider: "p",
      name: "C",
      secret: { token: "t" },
      allowedHosts: ["tools.example.com"]
    })
  ).body.connection.id
  ids = {
    profile,
    connection,
    agent: (await server.alpha.post("/v1/agents", { name: "A", profileId: profile })).body.agent.id
  }
})
afterAll(() => server.stop())

const seed = Number(process.env.TROUPE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))

const nasty = fc.constantFrom(
  "",
  " ",
  "\u0000",
  "\ud800",
  "a\u0000b",
  "é".repeat(3000),
  "x".repeat(70_000),
  "trp_",
  "%00",
  "__proto__",
  "' or 1=1 --",
  "2999-99-99T99:99:99Z"
)
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  nasty,
  fc.constant(null),
  fc.double(),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(Number),
  fc.array(nasty, { maxLength: 40 }),
  fc.dictionary(nasty, nasty, { maxKeys: 3 })
)
const key = fc.constantFrom(
  "name",
  "profileId",
  "profileVersion",
  "description",
  "avatar",
  "identity",
  "tags",
  "budget",
  "models",
  "systemPrompt",
  "limits",
  "roleIds",
  "toolsetIds",
  "families",
  "hooks",
  "hook",
  "data",
  "point",
  "processor",
  "match",
  "scopes",
  "expiresAt",
  "provider",
  "secret",
  "baseUrl",
  "allowedHosts",
  "reason",
  "__proto__",
  "constructor",
  "extra"
)
const requests = fc.record({
  route: fc.constantFrom(
    "POST /v1/agents",
    "PATCH /v1/agents/:agent",
    "POST /v1/profiles",
    "PATCH /v1/profiles/:profile",
    "POST /v1/auth/keys",
    "POST /v1/connections",
    "PATCH /v1/connections/:connection",
    "POST /v1/hooks/test",
    "POST /v1/identities/disable",
    "POST /v1/identities/enable"
  ),
  valid: fc.boolean(),
  changes: fc.array(fc.tuple(key, value), { maxLength: 3 }),
  idempotencyKey: fc.option(fc.constantFrom("a", "b", "c"), { nil: undefined })
})

const valid = (route: string): Record<string, unknown> =>
  route.includes("PATCH")
    ? {}
    : route.includes("agents")
      ? { name: "A", profileId: ids.profile }
      : route.includes("profiles")
        ? { name: "P", models: ["troupe/scripted"] }
        : route.includes("connections")
          ? { provider: "p", name: "C", secret: { token: "t" }, allowedHosts: ["tools.example.com"] }
          : route.includes("hooks")
            ? {
                hook: { name: "H", point: "before_turn_start", processor: { type: "client" } },
                data: { point: "before_turn_start", content: [{ type: "text", text: "t" }], submitMode: "queue" }
              }
            : route.includes("keys")
              ? { name: "K", scopes: ["read"] }
              : { identity: "someone" }

describe(`configuration endpoints under random bodies (seed ${seed})`, () => {
  it("answer 2xx, or 4xx with an ErrorResponse that repeats no control character, never 500", {
    timeout: 60_000
  }, async () => {
    await fc.assert(
      fc.asyncProperty(requests, async ({ changes, idempotencyKey, route, valid: from }) => {
        const [method = "", path = ""] = route
          .replace(":agent", ids.agent)
          .replace(":profile", ids.profile)
          .replace(":connection", ids.connection)
          .split(" ")
        const fields = [...Object.entries(from ? valid(route) : {}), ...changes]
        // Written by hand, so that __proto__ is a property and doubles keep their form.
        const body = `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value) ?? "null"}`).join(",")}}`
        const answer = await server.alpha.send(
          method,
          path,
          body,
          idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }
        )
        assert.isTrue(
          (answer.status >= 200 && answer.status < 300) || (answer.status >= 400 && answer.status < 500),
          `${answer.status} ${answer.text}`
        )
        if (answer.status >= 400) {
          assert.deepStrictEqual([typeof answer.body.error, typeof answer.body.message], ["string", "string"])
          assert.notMatch(answer.body.message, /[\p{Cc}\p{Cs}]/u)
        }
      }),
      { numRuns: 600, seed }
    )
    for (const path of [
      "/v1/agents",
      "/v1/profiles",
      "/v1/auth/keys",
      "/v1/connections",
      "/v1/identities",
      "/v1/operations"
    ]) {
      assert.strictEqual((await server.alpha.get(`${path}?limit=200`)).status, 200, path)
    }
  })

  it("never answer 500 to random query strings and paths", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(
          "agents",
          "profiles",
          "models",
          "auth/keys",
          "connections",
          "identities",
          "operations",
          "hooks/decisions"
        ),
        fc.array(
          fc.tuple(
            fc.constantFrom(
              "limit",
              "cursor",
              "state",
              "action",
              "agentId",
              "includeArchived",
              "waitSeconds",
              "hookId",
              "from",
              "point",
              "x"
            ),
            nasty.map((text) => text.slice(0, 500))
          ),
          { maxLength: 3 }
        ),
        fc.option(
          nasty.map((text) => text.slice(0, 500)),
          { nil: undefined }
        ),
        async (list, query, id) => {
          const sent = query.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join("&")
          const answer = await server.alpha.get(
            `/v1/${list}${id === undefined ? "" : `/${encodeURIComponent(id.toWellFormed())}`}?${sent}`
          )
          assert.isTrue([200, 400, 404, 405].includes(answer.status), `${answer.status} ${answer.text}`)
        }
      ),
      { numRuns: 300, seed }
    )
  })
})
