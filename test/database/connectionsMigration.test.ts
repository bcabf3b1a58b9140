/** What a database of the version before becomes: where secrets may go, whose word counts, what profiles use. */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Kysely, PostgresDialect, sql } from "kysely"
import { randomUUID } from "node:crypto"
import pg from "pg"
import { fromUuid } from "../../src/domain/ids.ts"
import { freshId } from "../../src/seed.ts"
import { migrate } from "../../src/database/migrate.ts"
import { isNamed, naming } from "../../src/database/profileUses.ts"
import type { Tables } from "../../src/database/tables.ts"
import { type FreshDatabase, freshDatabase } from "../setup/database.ts"

const name = "007_connections"

let fresh: FreshDatabase
let client: pg.Client
const workspace = randomUUID()
const by = { type: "api_key", id: "key_x" }

const run = () => Effect.runPromise(migrate(Redacted.make(fresh.url)))
/** As an operator does before a rollback. */
const forget = () => client.query("delete from kysely_migration where name >= $1", [name])

beforeEach(async () => {
  fresh = await freshDatabase()
  client = new pg.Client({ connectionString: fresh.url })
  await client.connect()
  await client.query("insert into workspaces (id, name) values ($1, 'w')", [workspace])
  // The tables of the version before.
  await forget()
  await client.query("alter table toolsets drop column trusted")
  await client.query("drop index profile_versions_references")
  await client.query("drop function profile_references")
})
afterEach(async () => {
  await client.end()
  await fresh.drop()
})

const addConnection = async (body: object) => {
  const id = randomUUID()
  await client.query(
    "insert into connections (workspace, id, body, sealed, rev, created_at, updated_at) values ($1, $2, $3, 'v1', 3, now(), now())",
    [workspace, id, JSON.stringify({ provider: "p", name: "\u0000 \ud800", kind: "token", createdBy: by, ...body })]
  )
  return id
}
let made = 0
const addToolset = async (url: string | undefined, connection: string | null = null) => {
  const id = randomUUID()
  const body = url === undefined ? { kind: "client", namespace: "n" } : { kind: "mcp", namespace: "n", url }
  await client.query(
    "insert into toolsets (workspace, id, namespace, connection, body, checked, catalogue, rev, created_at, updated_at) values ($1, $2, $3, $4, $5, '{}', 0, 1, now(), now())",
    [workspace, id, `n${made++}`, connection, JSON.stringify(body)]
  )
  return id
}
const connectionOf = async (id: string) => {
  const { rows } = await client.query<{ body: { allowedHosts?: unknown; name: string }; rev: number }>(
    "select body, rev from connections where id = $1",
    [id]
  )
  assert.deepStrictEqual(
    rows.map(({ body }) => body.name),
    ["\u0000 \ud800"],
    "the rest of it stays"
  )
  return rows.flatMap(({ body: { allowedHosts }, rev }) => [allowedHosts, rev])
}
const trusted = async (id: string) =>
  (await client.query<{ trusted: boolean }>("select trusted from toolsets where id = $1", [id])).rows[0]?.trusted

describe("the migration of connections", () => {
  it("gives those that say nothing the hosts of the toolsets that name them, once, and leaves the others as they are", async () => {
    const silent = await addConnection({})
    for (const url of [
      "https://Tools.example.com:8443/mcp",
      "https://b.example/",
      "https://b.example/other",
      "https://[2606:4700::1111]/"
    ])
      await addToolset(url, silent)
    const hosted = await addConnection({ provider: "openai", kind: "apiKey" })
    await addToolset("https://proxy.example/", hosted)
    const [listed, based, signing, unused] = [
      await addConnection({ allowedHosts: ["a.example"] }),
      await addConnection({ baseUrl: "https://a.example" }),
      await addConnection({ kind: "signing" }),
      await addConnection({})
    ]
    for (const id of [listed, based, signing]) await addToolset("https://c.example/", id)
    assert.include(await run(), name)
    const [own = []] = await connectionOf(silent)
    assert.deepStrictEqual(await connectionOf(silent), [own, 4])
    assert.sameMembers(Array.isArray(own) ? own : [], ["tools.example.com", "b.example", "2606:4700::1111"])
    assert.deepStrictEqual(await connectionOf(hosted), [["api.openai.com", "proxy.example"], 4])
    assert.deepStrictEqual(
      [await connectionOf(listed), await connectionOf(based), await connectionOf(signing), await connectionOf(unused)],
      [
        [["a.example"], 3],
        [undefined, 3],
        [undefined, 3],
        [undefined, 3]
      ]
    )
    await addToolset("https://late.example/", silent)
    await forget()
    assert.include(await run(), name, "after a rollback it finds its work done")
    assert.deepStrictEqual(
      [await connectionOf(silent), await connectionOf(hosted)],
      [
        [own, 4],
        [["api.openai.com", "proxy.example"], 4]
      ]
    )
  })

  it("lets the word of servers count that are there; what the version before registers beside it, or after a rollback, is not trusted", async () => {
    const there = await addToolset("https://a.example/")
    await run()
    const beside = await addToolset("https://b.example/")
    await client.query("update toolsets set trusted = false where id = $1", [there])
    await forget()
    const after = await addToolset("https://c.example/")
    await run()
    assert.deepStrictEqual([await trusted(there), await trusted(beside), await trusted(after)], [false, false, false])
  })

  it("makes the first run trust them", async () => {
    const ids = [await addToolset("https://a.example/"), await addToolset(undefined)]
    await run()
    assert.deepStrictEqual(await Promise.all(ids.map(trusted)), [true, true])
  })
})

describe("what profiles name", () => {
  const referencesOf = async (body: object) =>
    (
      await client.query<{ found: ReadonlyArray<string> }>("select profile_references($1::json) as found", [
        JSON.stringify(body)
      ])
    ).rows[0]?.found.toSorted()

  it("is read from whatever JSON is stored: texts that PostgreSQL refuses to read, fields that are not there", async () => {
    await run()
    const hooks = [
      { processor: { type: "url", connectionId: "conn_1" } },
      { processor: { type: "agent", agentId: "agt_1" } },
      { processor: { type: "url", connectionId: "conn_1" } }
    ]
    const prompt = '\u0000 \ud800 \\u0000 \\\\u0000 \u{1F600} " role_text'
    assert.deepStrictEqual(
      await referencesOf({ systemPrompt: prompt, roleIds: ["role_1", "role_2"], toolsetIds: ["tset_1"], hooks }),
      ["conn_1", "role_1", "role_2", "tset_1"]
    )
    for (const body of [{}, { roleIds: null, hooks: null, toolsetIds: 7 }, { hooks: [null, {}, { processor: {} }] }])
      assert.deepStrictEqual(await referencesOf(body), [])
  })

  it("is found by an index, however many versions there are", async () => {
    await run()
    // 20,000 profiles of two versions. The first of one names a role that its second does not.
    const role = freshId("role")
    await client.query(
      "insert into profiles (workspace, id, version, created_at) select $1, gen_random_uuid(), 2, now() from generate_series(1, 20000)",
      [workspace]
    )
    await client.query(
      `insert into profile_versions (workspace, profile, version, body, created_at)
      select p.workspace, p.id, v, json_build_object('roleIds', json_build_array(case when p.n = 1 and v = 1 then $1 else 'role_common' end), 'toolsetIds', '[]'::json, 'hooks', '[]'::json), now()
        from (select *, row_number() over () as n from profiles) p, generate_series(1, 2) v`,
      [role]
    )
    await client.query("analyze profile_versions, profiles, agents")
    const db = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: fresh.url }) })
    })
    const wsp = fromUuid("workspace", workspace)
    const found = (named: string) =>
      db.transaction().execute(async (tx) => {
        const used = await isNamed(tx, wsp, named)
        const { rows } = await sql<{
          "QUERY PLAN": string
        }>`explain (analyze, timing off) ${naming(wsp, named)}`.execute(tx)
        const plan = rows.map((row) => row["QUERY PLAN"]).join("\n")
        assert.include(plan, "profile_versions_references")
        assert.notInclude(plan, "Seq Scan on profile_versions")
        return used
      })
    assert.deepStrictEqual([await found(role), await found("role_common")], [false, true])
    await client.query(
      "update profiles set version = 1 where id = (select profile from profile_versions where profile_references(body) @> array[$1])",
      [role]
    )
    assert.isTrue(await found(role))
    await db.destroy()
  })
})
