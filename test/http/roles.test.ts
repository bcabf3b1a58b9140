/** Roles as they are made: what is taken, and what is refused. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { RoleAnswer, RolePage } from "../../http/roles/api.ts"
import { type Client, sharedServer } from "../setup/server.ts"
import { assertShape } from "./shape.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { builtInIds, made, makeWorkspaces } from "./roleFixture.ts"

const server = await sharedServer()
const { fresh } = makeWorkspaces(server)

describe("creating a role", () => {
  let client: Client
  beforeAll(async () => {
    client = await fresh()
  })

  it("answers with all of it, and the same is read back", async () => {
    const allow = [
      { tools: "a.*" },
      {
        tools: "*",
        conditions: [{ path: "/a~1b/0", op: "in", value: [1, null, { x: "\u0000" }] }],
        approval: "required"
      }
    ]
    const deny = [
      {
        tools: "b.\u{1f600}",
        conditions: [
          { path: "", op: "exists" },
          { path: "/x", op: "eq", value: null }
        ]
      }
    ]
    const answer = await client.post("/v1/roles", {
      name: "Rôle \u{1f600}",
      description: "d\n\u0000\udfff",
      allow,
      deny
    })
    assert.strictEqual(answer.status, 201, answer.text)
    assertShape(RoleAnswer, answer.body)
    const { createdAt, createdBy, id, updatedAt, ...rest } = answer.body.role
    assert.deepStrictEqual(rest, { name: "Rôle \u{1f600}", description: "d\n\u0000\udfff", allow, deny })
    assert.match(id, /^role_[0-7][0-9a-z]{25}$/)
    assert.strictEqual(createdAt, updatedAt)
    assert.deepStrictEqual([createdBy.type, createdBy.id.slice(0, 4)], ["api_key", "key_"])
    assert.deepStrictEqual([answer.headers.get("location"), answer.headers.get("etag")], [`/v1/roles/${id}`, `"1"`])
    const read = await client.get(`/v1/roles/${id}`)
    assert.deepStrictEqual([read.status, read.headers.get("etag"), read.text], [200, `"1"`, answer.text])
  })

  it("needs no more than a name: it allows nothing and denies nothing then", async () => {
    const role = await made(client)
    assert.deepStrictEqual([role.allow, role.deny, "description" in role], [[], [], false])
  })

  const exists = { path: "/a", op: "exists" } as const
  const value = (bytes: number) => ({ path: "/a", op: "eq", value: "v".repeat(bytes) })
  it.each<[string, (size: number) => object, number, string]>([
    ["characters of a name", (n) => ({ name: "\u{1f600}".repeat(n) }), 64, "name"],
    ["bytes of a description", (n) => ({ description: "d".repeat(n) }), 4096, "description"],
    ["grants", (n) => ({ allow: Array(n).fill({ tools: "*" }) }), 32, "allow"],
    ["denials", (n) => ({ deny: Array(n).fill({ tools: "*" }) }), 32, "deny"],
    [
      "conditions of a grant",
      (n) => ({ allow: [{ tools: "*", conditions: Array(n).fill(exists) }] }),
      8,
      "allow[0].conditions"
    ],
    [
      "conditions of a denial",
      (n) => ({ deny: [{ tools: "*", conditions: Array(n).fill(exists) }] }),
      8,
      "deny[0].conditions"
    ],
    [
      "bytes of a selector",
      (n) => ({ allow: [{ tools: "*" }, { tools: "é".repeat(n >> 1) + "a".repeat(n & 1) }] }),
      176,
      "allow[1].tools"
    ],
    [
      "bytes of a condition's value",
      (n) => ({ deny: [{ tools: "*", conditions: [value(n)] }] }),
      512,
      "deny[0].conditions[0].value"
    ],
    [
      "bytes of a condition's path",
      (n) => ({ allow: [{ tools: "*", conditions: [{ path: `/${"p".repeat(n - 1)}`, op: "exists" }] }] }),
      512,
      "allow[0].conditions[0].path"
    ]
  ])("takes at most so many %s", async (_, body, most, path) => {
    const { id } = await made(client, body(most))
    refusedAt(await client.post("/v1/roles", { name: "R", ...body(most + 1) }), 400, "invalid_request", path)
    // A patch is held to the same.
    refusedAt(await client.patch(`/v1/roles/${id}`, body(most + 1)), 400, "invalid_request", path)
    assert.strictEqual((await client.delete(`/v1/roles/${id}`)).status, 204)
  })

  it("takes all of that at once", async () => {
    const conditions = Array.from({ length: 8 }, (_, i) => ({
      path: `/${"p".repeat(511)}`,
      op: "eq",
      value: `${i}${"v".repeat(511)}`
    }))
    const entries = Array.from({ length: 32 }, () => ({ tools: "t".repeat(176), conditions }))
    const role = await made(client, { allow: entries, deny: entries })
    assert.deepStrictEqual((await client.get(`/v1/roles/${role.id}`)).body.role, role)
  })

  it.each<[string, object, string]>([
    ["no name", { name: undefined }, "name"],
    ["a blank name", { name: " \t".trim() + " " }, "name"],
    ["a name of two lines", { name: "a\nb" }, "name"],
    ["a name with a lone surrogate", { name: "\ud800" }, "name"],
    ["an unknown field", { rules: [] }, "rules"],
    ["what only the server says", { id: absent("role_") }, "id"],
    ["the mark of a built-in role", { builtIn: true }, "builtIn"],
    ["grants that are no list", { allow: { tools: "*" } }, "allow"],
    ["null for grants", { allow: null }, "allow"],
    ["a grant that is a text", { allow: ["a.b"] }, "allow[0]"],
    ["a grant without tools", { allow: [{}] }, "allow[0].tools"],
    ["an unknown field of a grant", { allow: [{ tools: "*", tool: "a" }] }, "allow[0].tool"],
    ["the built-in role's own mark of a grant", { allow: [{ tools: "*", readOnly: true }] }, "allow[0].readOnly"],
    ["another approval than required", { allow: [{ tools: "*", approval: "optional" }] }, "allow[0].approval"],
    ["an approval of a denial", { deny: [{ tools: "*", approval: "required" }] }, "deny[0].approval"],
    ["an empty selector", { allow: [{ tools: "" }] }, "allow[0].tools"],
    ["a selector of two lines", { deny: [{ tools: "a\n*" }] }, "deny[0].tools"],
    [
      "a path that is no JSON Pointer",
      { allow: [{ tools: "*", conditions: [{ path: "a.b", op: "exists" }] }] },
      "allow[0].conditions[0].path"
    ],
    [
      "a path with a tilde alone",
      { allow: [{ tools: "*", conditions: [{ path: "/a~b", op: "exists" }] }] },
      "allow[0].conditions[0].path"
    ],
    [
      "an unknown op",
      { allow: [{ tools: "*", conditions: [{ path: "/a", op: "matches", value: ".*" }] }] },
      "allow[0].conditions[0].op"
    ],
    [
      "an unknown field of a condition",
      { allow: [{ tools: "*", conditions: [{ path: "/a", op: "eq", value: 1, not: true }] }] },
      "allow[0].conditions[0].not"
    ],
    [
      "a condition without its value",
      { allow: [{ tools: "*", conditions: [{ path: "/a", op: "eq" }] }] },
      "allow[0].conditions[0].value"
    ],
    [
      "in without a list",
      { allow: [{ tools: "*" }, { tools: "*", conditions: [{ path: "/a", op: "in", value: "x" }] }] },
      "allow[1].conditions[0].value"
    ],
    [
      "in nothing",
      { deny: [{ tools: "*", conditions: [{ path: "/a", op: "in", value: [] }] }] },
      "deny[0].conditions[0].value"
    ],
    [
      "an order with true",
      { deny: [{ tools: "*", conditions: [{ path: "/a", op: "gt", value: true }] }] },
      "deny[0].conditions[0].value"
    ],
    [
      "a start that is a number",
      { deny: [{ tools: "*", conditions: [{ path: "/a", op: "startsWith", value: 1 }] }] },
      "deny[0].conditions[0].value"
    ],
    [
      "an existence that is a text",
      { deny: [{ tools: "*", conditions: [{ path: "/a", op: "exists", value: "false" }] }] },
      "deny[0].conditions[0].value"
    ]
  ])("refuses %s with its path", async (_, body, path) => {
    const before = (await client.get("/v1/roles?limit=200")).body.roles.length
    refusedAt(await client.post("/v1/roles", { name: "R", ...body }), 400, "invalid_request", path)
    assert.strictEqual((await client.get("/v1/roles?limit=200")).body.roles.length, before)
  })

  it("refuses a number that no double can hold", async () => {
    const text = `{"name":"R","allow":[{"tools":"*","conditions":[{"path":"/a","op":"lt","value":1e999}]}]}`
    refusedAt(await client.send("POST", "/v1/roles", text), 400, "invalid_request", "allow[0].conditions[0].value")
  })

  it("names unknown fields as such", async () => {
    assert.strictEqual(
      (await client.post("/v1/roles", { name: "R", deny: [{ tools: "*", approval: "required" }] })).body.code,
      "unknown_field"
    )
  })
})

describe("the 64 roles of a workspace", () => {
  it("do not count the built-in ones, and the 65th is refused until one is deleted", async () => {
    const client = await fresh()
    const made64 = await Promise.all(Array.from({ length: 64 }, (_, i) => made(client, { name: `${i}` })))
    refused(await client.post("/v1/roles", { name: "one more" }), 409, "too_many_roles")
    assert.lengthOf((await client.get("/v1/roles?limit=200")).body.roles, 64 + builtInIds.length)
    assert.strictEqual((await client.delete(`/v1/roles/${made64[0].id}`)).status, 204)
    await made(client)
    refused(await client.post("/v1/roles", { name: "one more" }), 409, "too_many_roles")
    // Another workspace is not full.
    await made(await fresh())
  })

  it("are never 65, be there two or twenty creates at once", async () => {
    const client = await fresh()
    await Promise.all(Array.from({ length: 63 }, (_, i) => made(client, { name: `${i}` })))
    const statuses = (
      await Promise.all(Array.from({ length: 20 }, () => client.post("/v1/roles", { name: "last" })))
    ).map(({ status }) => status)
    assert.deepStrictEqual(statuses.sort(), [201, ...Array(19).fill(409)])
    assert.lengthOf((await client.get("/v1/roles?limit=200")).body.roles, 64 + builtInIds.length)
  })
})

describe("any body at all", () => {
  const json = fc.jsonValue({ maxDepth: 4, stringUnit: "binary" })
  const some = fc.oneof(
    json,
    fc.constantFrom(null, "*", [], {}, "\u0000", "\ud800", { tools: "*" }, [{ tools: "*" }], {
      path: "/a",
      op: "eq",
      value: 1
    })
  )
  const condition = fc.record(
    {
      path: fc.oneof(fc.constantFrom("", "/a", "/~1", "a"), some),
      op: fc.oneof(fc.constantFrom("eq", "in", "lt", "exists"), some),
      value: some
    },
    { requiredKeys: [] }
  )
  const entry = fc.oneof(
    some,
    fc.record(
      {
        tools: fc.oneof(fc.constantFrom("*", "a.*"), some),
        conditions: fc.oneof(fc.array(condition, { maxLength: 3 }), some),
        approval: some
      },
      { requiredKeys: [] }
    )
  )
  const list = fc.oneof(some, fc.array(entry, { maxLength: 3 }))
  const body = fc.record(
    {
      name: fc.oneof(fc.constant("R"), some),
      description: some,
      allow: list,
      deny: list,
      roleIds: some,
      profileId: some,
      tool: some,
      input: some,
      readOnly: some
    },
    { requiredKeys: [] }
  )

  it("is answered with 2xx or a 4xx, and never half-written", { timeout: 60_000 }, async () => {
    const client = await fresh()
    const { id } = await made(client)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("POST /v1/roles", `PATCH /v1/roles/${id}`, "POST /v1/roles/evaluate"),
        fc.oneof(body, json),
        async (route, body) => {
          const [method = "", path = ""] = route.split(" ")
          const answer = await client.send(method, path, JSON.stringify(body))
          assert.isBelow(answer.status, 500, answer.text)
          if (answer.status >= 400)
            assert.deepStrictEqual([typeof answer.body.error, typeof answer.body.message], ["string", "string"])
          if (answer.status === 201)
            assert.strictEqual((await client.delete(`/v1/roles/${answer.body.role.id}`)).status, 204)
        }
      ),
      { numRuns: 300 }
    )
    assertShape(RolePage, (await client.get("/v1/roles?limit=200")).body)
  })
})
