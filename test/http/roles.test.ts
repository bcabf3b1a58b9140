import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { Schema } from "effect"
import { sql } from "kysely"
import { RoleAnswer, RoleDecision, RolePage } from "../../http/roles/api.ts"
import { allTools, builtInRoles, noTools, readOnly } from "../../src/roles/role.ts"
import { missingRole } from "../../src/roles/rows.ts"
import { ensureWorkspace } from "../../src/workspaces/ensure.ts"
import { type Client, sharedServer, type TestServer } from "../setup/server.ts"
import { absent, assertRefused as refused } from "./refused.ts"

let server: TestServer
beforeAll(async () => {
  server = await sharedServer()
})
afterAll(() => server.stop())

const fits = (schema: Schema.Decoder<unknown>, body: unknown) => {
  Schema.decodeUnknownSync(schema, { onExcessProperty: "error" })(body)
}

/** A workspace of its own: roles are few, and tests must not fill each other's. */
let workspaces = 0
const fresh = async () => {
  const id = await server.runtime.runPromise(
    server.database.atomically("test.workspace", (tx) => ensureWorkspace(tx, `roles ${workspaces++}`))
  )
  return server.client(id)
}

const made = async (client: Client, fields: object = {}) => {
  const answer = await client.post("/v1/roles", { name: "R", ...fields })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body.role
}
const idsOf = (roles: ReadonlyArray<{ readonly id: string }>) => roles.map(({ id }) => id)
const builtInIds = idsOf(builtInRoles)

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
    fits(RoleAnswer, answer.body)
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
    refused(await client.post("/v1/roles", { name: "R", ...body(most + 1) }), 400, "invalid_request", path)
    // A patch is held to the same.
    refused(await client.patch(`/v1/roles/${id}`, body(most + 1)), 400, "invalid_request", path)
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
    refused(await client.post("/v1/roles", { name: "R", ...body }), 400, "invalid_request", path)
    assert.strictEqual((await client.get("/v1/roles?limit=200")).body.roles.length, before)
  })

  it("refuses a number that no double can hold", async () => {
    const text = `{"name":"R","allow":[{"tools":"*","conditions":[{"path":"/a","op":"lt","value":1e999}]}]}`
    refused(await client.send("POST", "/v1/roles", text), 400, "invalid_request", "allow[0].conditions[0].value")
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

describe("listing roles", () => {
  it("shows the built-in ones, then those of the workspace, newest first, on pages of any size", async () => {
    const client = await fresh()
    const ids: Array<string> = []
    for (let i = 0; i < 4; i++) ids.unshift((await made(client, { name: `${i}` })).id)
    const expected = [...builtInIds, ...ids]
    for (const limit of [1, 2, 3, 4, 5, 6, 7, 200]) {
      const seen: Array<string> = []
      let cursor = ""
      for (let page = 0; page < 10; page++) {
        const { body } = await client.get(`/v1/roles?limit=${limit}${cursor}`)
        fits(RolePage, body)
        assert.isAtMost(body.roles.length, limit)
        seen.push(...idsOf(body.roles))
        if (!("nextCursor" in body)) break
        cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`
      }
      assert.deepStrictEqual(seen, expected, `${limit}`)
    }
    assert.deepStrictEqual(idsOf((await client.get("/v1/roles")).body.roles), expected)
  })

  it("shows a new workspace the built-in ones alone", async () => {
    assert.deepStrictEqual((await (await fresh()).get("/v1/roles?limit=3")).body, { roles: builtInRoles })
  })

  it("goes on where it was when roles come and go between pages", async () => {
    const client = await fresh()
    const [old, middle, young] = [await made(client), await made(client), await made(client)]
    const first = (await client.get("/v1/roles?limit=4")).body
    assert.deepStrictEqual(idsOf(first.roles), [...builtInIds, young.id])
    await made(client)
    await client.delete(`/v1/roles/${young.id}`)
    await client.delete(`/v1/roles/${middle.id}`)
    assert.deepStrictEqual(idsOf((await client.get(`/v1/roles?limit=4&cursor=${first.nextCursor}`)).body.roles), [
      old.id
    ])
  })
})

describe("changing a role", () => {
  let client: Client
  beforeAll(async () => {
    client = await fresh()
  })

  it("merges: absent keeps, null clears, a list replaces the list", async () => {
    const before = await made(client, {
      description: "d",
      allow: [{ tools: "a" }, { tools: "b", approval: "required" }],
      deny: [{ tools: "c" }]
    })
    const path = `/v1/roles/${before.id}`
    const renamed = await client.patch(path, { name: "S" })
    fits(RoleAnswer, renamed.body)
    assert.deepStrictEqual([renamed.status, renamed.headers.get("etag")], [200, `"2"`])
    assert.deepStrictEqual(renamed.body.role, { ...before, name: "S", updatedAt: renamed.body.role.updatedAt })
    const replaced = (
      await client.patch(path, { allow: [{ tools: "x", conditions: [{ path: "/a", op: "eq", value: null }] }] })
    ).body.role
    assert.deepStrictEqual(
      [replaced.allow, replaced.deny],
      [[{ tools: "x", conditions: [{ path: "/a", op: "eq", value: null }] }], [{ tools: "c" }]]
    )
    const cleared = (await client.patch(path, { description: null, allow: null, deny: null })).body.role
    assert.deepStrictEqual([cleared.allow, cleared.deny, "description" in cleared, cleared.name], [[], [], false, "S"])
    assert.deepStrictEqual((await client.get(path)).body.role, cleared)
  })

  it("that changes nothing keeps its ETag", async () => {
    const role = await made(client, { description: "d", allow: [{ tools: "a" }] })
    for (const body of [{}, { name: "R" }, { allow: [{ tools: "a" }], deny: null, description: "d" }]) {
      const answer = await client.patch(`/v1/roles/${role.id}`, body)
      assert.deepStrictEqual([answer.status, answer.headers.get("etag"), answer.body.role], [200, `"1"`, role])
    }
  })

  it("refuses what would leave an invalid role", async () => {
    const { id } = await made(client)
    for (const [body, path] of [
      [{ name: null }, "name"],
      [{ name: "" }, "name"],
      [{ id: "x" }, "id"],
      [{ createdAt: null }, "createdAt"],
      [{ allow: [null] }, "allow[0]"],
      [{ allow: [{ tools: null }] }, "allow[0].tools"],
      [{ deny: [{ tools: "*", conditions: null }] }, "deny[0].conditions"],
      [{ deny: [{ tools: "*", approval: "required" }] }, "deny[0].approval"]
    ] as const)
      refused(await client.patch(`/v1/roles/${id}`, body), 400, "invalid_request", path)
    assert.strictEqual((await client.get(`/v1/roles/${id}`)).headers.get("etag"), `"1"`)
  })
})

describe("deleting a role", () => {
  let client: Client
  beforeAll(async () => {
    client = await fresh()
  })
  const profile = async (fields: object) => {
    const answer = await client.post("/v1/profiles", { name: "P", models: ["troupe/scripted"], ...fields })
    assert.strictEqual(answer.status, 201, answer.text)
    return answer.body.profile.id as string
  }

  it("is refused while the latest version of a profile lists it", async () => {
    const { id } = await made(client)
    // A text that PostgreSQL's JSON operators would stumble over.
    const profileId = await profile({ systemPrompt: "\u0000 \ud800", roleIds: [id] })
    refused(await client.delete(`/v1/roles/${id}`), 409, "role_in_use")
    await client.patch(`/v1/profiles/${profileId}`, { roleIds: [allTools.id] })
    assert.strictEqual((await client.delete(`/v1/roles/${id}`)).status, 204)
  })

  it("is refused while an agent is pinned to a version that lists it, until that is archived", async () => {
    const { id } = await made(client)
    const profileId = await profile({ roleIds: [id] })
    const agent = (await client.post("/v1/agents", { name: "A", profileId, profileVersion: 1 })).body.agent
    await client.patch(`/v1/profiles/${profileId}`, { roleIds: [allTools.id] })
    refused(await client.delete(`/v1/roles/${id}`), 409, "role_in_use")
    await client.delete(`/v1/agents/${agent.id}`)
    assert.strictEqual((await client.delete(`/v1/roles/${id}`)).status, 204)
  })

  it("does not mind texts in which its id stands, nor profiles of other workspaces", async () => {
    const { id } = await made(client)
    await profile({ name: id, systemPrompt: `"${id}"`, description: id })
    await server.alpha.post("/v1/profiles", { name: id, models: ["troupe/scripted"], systemPrompt: id })
    assert.strictEqual((await client.delete(`/v1/roles/${id}`)).status, 204)
  })

  it("and listing it in a profile at the same moment never leaves a profile with a role that is gone", async () => {
    for (let i = 0; i < 10; i++) {
      const { id } = await made(client)
      const [listed, deleted] = await Promise.all([
        client.post("/v1/profiles", { name: "P", models: ["troupe/scripted"], roleIds: [id] }),
        client.delete(`/v1/roles/${id}`)
      ])
      assert.deepInclude(
        [
          [201, 409],
          [422, 204]
        ],
        [listed.status, deleted.status],
        `${listed.text} ${deleted.text}`
      )
    }
  })

  it("waits for whoever holds it to write a profile", async () => {
    const { id } = await made(client)
    const { workspaceId } = (await client.get("/v1/auth")).body
    const { deleted, missing } = await server.runtime.runPromise(
      server.database.atomically("test.holds", async (tx) => {
        const missing = await missingRole(tx, workspaceId, [allTools.id, id, absent("role_")])
        const deleted = client.delete(`/v1/roles/${id}`)
        const blocked = sql<{
          readonly count: number
        }>`select count(*)::int as count from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`
        for (let tries = 0; (await blocked.execute(tx)).rows[0]?.count === 0; tries++)
          assert.isBelow(tries, 1_000, "nobody waits")
        return { missing, deleted: deleted.then(({ status }) => status) }
      })
    )
    assert.strictEqual(missing, absent("role_"))
    assert.strictEqual(await deleted, 204)
  })
})

describe("the built-in roles", () => {
  it("are read like others, and cannot be changed or deleted with any scope", async () => {
    for (const role of builtInRoles) {
      const path = `/v1/roles/${role.id}`
      const answer = await server.alpha.get(path)
      fits(RoleAnswer, answer.body)
      assert.deepStrictEqual([answer.status, answer.body.role, answer.headers.get("etag")], [200, { ...role }, `"1"`])
      for (const refusal of [
        await server.alpha.patch(path, { name: "mine" }),
        await server.alpha.patch(path, {}),
        await server.alpha.delete(path),
        await server.alpha.delete(path, { "if-match": `"9"` })
      ]) {
        refused(refusal, 403, "permission_denied")
        assert.strictEqual(refusal.body.code, "built_in_role")
      }
    }
    assert.deepStrictEqual(
      (await server.alpha.get("/v1/roles?limit=3")).body.roles.map(({ name }: { name: string }) => name),
      ["all_tools", "read_only", "no_tools"]
    )
  })
})

describe("explaining a decision", () => {
  let client: Client
  let guarded: string
  let support: string
  beforeAll(async () => {
    client = await fresh()
    support = (
      await made(client, {
        allow: [
          { tools: "tickets.*" },
          { tools: "payments.refund", conditions: [{ path: "/amount", op: "lte", value: 50 }] },
          { tools: "payments.refund", conditions: [{ path: "/amount", op: "lte", value: 500 }], approval: "required" }
        ],
        deny: [{ tools: "*.delete*" }]
      })
    ).id
    guarded = (
      await made(client, {
        deny: [{ tools: "payments.*", conditions: [{ path: "/currency", op: "ne", value: "EUR" }] }]
      })
    ).id
  })
  const ask = async (body: object) => {
    const answer = await client.post("/v1/roles/evaluate", body)
    assert.strictEqual(answer.status, 200, answer.text)
    fits(RoleDecision, answer.body)
    return answer.body
  }

  it("names what allows", async () => {
    assert.deepStrictEqual(await ask({ roleIds: [support], tool: "tickets.search" }), {
      decision: "allow",
      by: support,
      matched: [{ roleId: support, list: "allow", index: 0 }],
      reason: `allowed by the role ${support}, allow[0]`
    })
  })

  it("names what asks for approval", async () => {
    assert.deepStrictEqual(
      await ask({ roleIds: [allTools.id, support], tool: "payments.refund", input: { amount: 100 } }),
      {
        decision: "allow",
        approval: "required",
        by: support,
        matched: [
          { roleId: allTools.id, list: "allow", index: 0 },
          { roleId: support, list: "allow", index: 2, approval: "required" }
        ],
        reason: `allowed by the role ${support}, allow[2], once it is approved`
      }
    )
  })

  it("names what denies, and what would have allowed", async () => {
    const matched = [
      { roleId: guarded, list: "deny", index: 0 },
      { roleId: support, list: "allow", index: 1 },
      { roleId: support, list: "allow", index: 2, approval: "required" }
    ]
    for (const input of [{ amount: 5, currency: "USD" }, { amount: 5 }]) {
      assert.deepStrictEqual(await ask({ roleIds: [support, guarded], tool: "payments.refund", input }), {
        decision: "deny",
        by: guarded,
        matched,
        reason: `denied by the role ${guarded}, deny[0]`
      })
    }
  })

  it("says when nothing allows, and when there is no role at all", async () => {
    const nothing = { decision: "deny", matched: [], reason: "no role allows this tool with this input" }
    assert.deepStrictEqual(await ask({ roleIds: [support], tool: "payments.refund" }), nothing)
    assert.deepStrictEqual(await ask({ roleIds: [support], tool: "payments.refund", input: { amount: "5" } }), nothing)
    assert.deepStrictEqual(await ask({ roleIds: [], tool: "a.b" }), nothing)
    assert.deepStrictEqual(await ask({ roleIds: [noTools.id], tool: "a.b" }), nothing)
  })

  it("takes a tool's mark as read-only into account", async () => {
    for (const [mark, decision] of [
      [true, "allow"],
      [false, "deny"],
      [undefined, "deny"]
    ] as const) {
      assert.strictEqual(
        (await ask({ roleIds: [readOnly.id], tool: "a.b", ...(mark !== undefined && { readOnly: mark }) })).decision,
        decision
      )
    }
  })

  it("asks the roles of a profile's latest version, as a turn would", async () => {
    const profile = async (fields: object) =>
      (await client.post("/v1/profiles", { name: "P", models: ["troupe/scripted"], ...fields })).body.profile.id
    const profileId = await profile({ roleIds: [support] })
    assert.strictEqual((await ask({ profileId, tool: "tickets.search" })).by, support)
    await client.patch(`/v1/profiles/${profileId}`, { roleIds: [noTools.id] })
    assert.strictEqual((await ask({ profileId, tool: "tickets.search" })).decision, "deny")
    assert.strictEqual((await ask({ profileId: await profile({}), tool: "a.b" })).by, allTools.id)
    assert.strictEqual((await ask({ profileId: await profile({ roleIds: [] }), tool: "a.b" })).decision, "deny")
  })

  it("follows a change at once", async () => {
    const { id } = await made(client, { allow: [{ tools: "*" }] })
    assert.strictEqual((await ask({ roleIds: [id], tool: "a.b" })).decision, "allow")
    await client.patch(`/v1/roles/${id}`, { allow: null })
    assert.strictEqual((await ask({ roleIds: [id], tool: "a.b" })).decision, "deny")
  })

  it("answers the same again under an Idempotency-Key", async () => {
    const send = () =>
      client.post("/v1/roles/evaluate", { roleIds: [support], tool: "tickets.a" }, { "idempotency-key": "explain" })
    const [a, b] = [await send(), await send()]
    assert.deepStrictEqual(
      [b.text, b.headers.get("idempotency-replayed"), b.headers.get("location")],
      [a.text, "true", null]
    )
  })

  it.each<[string, object, string]>([
    ["neither roles nor a profile", { tool: "a.b" }, "the body"],
    ["both", { tool: "a.b", roleIds: [allTools.id], profileId: absent("prof_") }, "the body"],
    ["nine roles", { tool: "a.b", roleIds: Array(9).fill(allTools.id) }, "roleIds"],
    ["an id of another noun", { tool: "a.b", roleIds: [absent("prof_")] }, "roleIds[0]"],
    ["no tool", { roleIds: [] }, "tool"],
    ["an empty tool", { roleIds: [], tool: "" }, "tool"],
    ["a tool of more than 512 bytes", { roleIds: [], tool: "t".repeat(513) }, "tool"],
    ["a mark that is a text", { roleIds: [], tool: "a.b", readOnly: "true" }, "readOnly"],
    ["an unknown field", { roleIds: [], tool: "a.b", args: {} }, "args"]
  ])("refuses %s with its path", async (_, body, path) =>
    refused(await client.post("/v1/roles/evaluate", body), 400, "invalid_request", path)
  )

  it("takes eight roles, and a tool of 512 bytes", async () => {
    assert.strictEqual((await ask({ roleIds: Array(8).fill(allTools.id), tool: "t".repeat(512) })).matched.length, 8)
  })

  it("refuses roles and profiles that are not there, or of another workspace", async () => {
    refused(
      await client.post("/v1/roles/evaluate", { tool: "a.b", roleIds: [allTools.id, absent("role_")] }),
      422,
      "role_not_found",
      "roleIds[1]"
    )
    refused(
      await client.post("/v1/roles/evaluate", { tool: "a.b", profileId: absent("prof_") }),
      422,
      "profile_not_found",
      "profileId"
    )
    refused(
      await server.alpha.post("/v1/roles/evaluate", { tool: "a.b", roleIds: [support] }),
      422,
      "role_not_found",
      "roleIds[0]"
    )
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
    fits(RolePage, (await client.get("/v1/roles?limit=200")).body)
  })
})

it("an edit raises the auth revision, so that every node drops what it holds; one that changes nothing does not", async () => {
  const revision = () =>
    server.runtime.runPromise(
      server.database.run("test.revision", async (db) =>
        Number((await db.selectFrom("auth_revision").select("revision").executeTakeFirstOrThrow()).revision)
      )
    )
  const { id } = await made(server.alpha)
  const before = await revision()
  await server.alpha.patch(`/v1/roles/${id}`, { name: "R" })
  assert.strictEqual(await revision(), before)
  await server.alpha.patch(`/v1/roles/${id}`, { name: "S" })
  await server.alpha.delete(`/v1/roles/${id}`)
  assert.strictEqual(await revision(), before + 2)
})
