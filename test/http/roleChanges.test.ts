/** Roles as they are listed, changed and deleted, the built-in ones too. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { RoleAnswer, RolePage } from "../../http/roles/api.ts"
import { allTools, builtInRoles } from "../../src/roles/role.ts"
import { missingRole } from "../../src/roles/rows.ts"
import { type Client, sharedServer } from "../setup/server.ts"
import { assertShape } from "./shape.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { builtInIds, idsOf, made, makeWorkspaces } from "./roleFixture.ts"

const server = await sharedServer()
const { fresh } = makeWorkspaces(server)

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
        assertShape(RolePage, body)
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
    assertShape(RoleAnswer, renamed.body)
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
      refusedAt(await client.patch(`/v1/roles/${id}`, body), 400, "invalid_request", path)
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
      assertShape(RoleAnswer, answer.body)
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
