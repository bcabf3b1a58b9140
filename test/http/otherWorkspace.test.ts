/**
 * Nothing of a workspace can be reached with a key of another, be its id ever so well known: every operation, every id.
 */
import { setTimeout } from "node:timers/promises"
import { isDeepStrictEqual } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import pg from "pg"
import { toUuid } from "../../src/domain/ids.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { isIn, type Operation, operations, prefixOf, schemaOf, titleOf } from "./document.ts"
import { absent, furnish, type Ids, pathWith } from "./everything.ts"
import { makeAgent, text } from "./threadFixture.ts"
import { fresh } from "./toolFixture.ts"

const withIds = operations
  // Charts are the server's, the same for all.
  .filter(({ names, path }) => names.length > 0 && !path.startsWith("/v1/charts/"))
  .map((operation) => [titleOf(operation), operation] as const)

/** Texts in the place of an id that are none, made from one: whatever their form, they lead nowhere. */
const malformed = (id: string): ReadonlyArray<string> =>
  id.length > 26
    ? [
        "x",
        id.slice(0, -1),
        `${id}0`,
        id.toUpperCase(),
        id.slice(0, -1) + "u",
        `8${id.slice(-25)}`,
        id.replace("_", "-"),
        `nope_${id.slice(-26)}`,
        toUuid(id),
        `${id}%0A`,
        `${id}%00`,
        `%20${id}`,
        `..%2F${id}`,
        "%F0%9F%98%80",
        "*",
        "null"
      ]
    : ["0", "01", "-1", "1.0", "1e0", "+1", "x", "1%00", "1000000000", "%31%20", "null"]

// A thread that leaves memory meanwhile would change its head.
const server = await during(startServer({ idleMs: 600_000 }))
const database = await during(new pg.Client({ connectionString: server.url }).connect(), (client) => client.end())
const theirs = await furnish(server.alpha)
const ours = await furnish(server.beta)

/**
 * Every row of a workspace, of every table that has workspaces. When an identity or key was last seen is written later
 * than it happens.
 */
const rowsOf = async (workspace: string) => {
  const tables = await database.query<{ readonly name: string }>(
    "select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'workspace' order by 1"
  )
  assert.isAbove(tables.rows.length, 5)
  const rows: Record<string, unknown> = {}
  for (const { name } of tables.rows) {
    // The sweep's own notes, taken away every second, and what a node has counted of before, written a second later.
    if (name === "agenda" || name === "tallies" || name === "usage_by_day") continue
    const found = await database.query(
      `select (to_jsonb(t) - array['last_seen', 'last_used_at'])::text as row from "${name}" t where workspace = $1 order by 1`,
      [toUuid(workspace)]
    )
    rows[name] = found.rows
  }
  return rows
}

/** A sample names no feed: only a client knows one. */
const bodyFor = (path: string, example: unknown, { feedId }: Ids) =>
  path.endsWith("/subscriptions") ? { feedId } : example

describe("the id of another workspace", () => {
  it("is in the path of many operations", () => assert.isAbove(withIds.length, 20))

  it.each(withIds)(
    "%s: 404, as for one that is not there or is none, and nothing changes",
    async (_, { example, method, names, path }) => {
      const send = (ids: Ids) =>
        server.beta.send(method, pathWith(path, ids), bodyFor(path, example, ids), { "idempotency-key": path })
      const before = await rowsOf(server.workspaces.alpha)
      const never = await send(Object.fromEntries(Object.entries(theirs).map(([name, id]) => [name, absent(id)])))
      assert.strictEqual(never.status, 404, never.text)
      // Each id of the path on its own, among ours, and all of them: theirs, nobody's, and what is no id.
      const among = (name: string, id: string): Ids => ({ ...ours, [name]: id })
      const bodiless = names.filter((name) => name !== "version")
      for (const ids of [
        theirs,
        ...bodiless.map((name) => among(name, theirs[name]!)),
        ...names.map((name) => among(name, absent(ours[name]!))),
        ...names.flatMap((name) => malformed(ours[name]!).map((id) => among(name, id)))
      ]) {
        const answer = await send(ids)
        assert.deepStrictEqual(
          [answer.status, answer.body?.error, answer.body?.code],
          [404, "not_found", never.body.code],
          `${method} ${pathWith(path, ids)} ${answer.text}`
        )
        for (const id of Object.values(theirs)) if (id.length > 20) assert.notInclude(answer.text, id)
      }
      assert.deepStrictEqual(await rowsOf(server.workspaces.alpha), before)
    }
  )

  const filters = operations.flatMap((operation) =>
    operation.parameters.filter(isIn("query")).flatMap((parameter) => {
      const prefix = prefixOf(schemaOf(parameter))
      return prefix === undefined ? [] : [[titleOf(operation), String(parameter.name), operation] as const]
    })
  )

  it.each(filters.filter(([, , { path }]) => !path.endsWith("/stream")))(
    "%s: as a filter %s finds what one finds that is not there",
    async (_, name, { method, path }) => {
      const send = (id: string) => server.beta.send(method, `${pathWith(path, ours)}?${name}=${id}`)
      const [foreign, never, none] = [
        await send(theirs[name] ?? ""),
        await send(absent(theirs[name] ?? "")),
        await send("x")
      ]
      assert.deepStrictEqual([foreign.status, foreign.body], [200, never.body], foreign.text)
      assert.deepStrictEqual([none.status, none.body.code], [400, "invalid_parameter"])
    }
  )

  it("leads somewhere with a key of its own workspace", async () => {
    const { alpha } = server
    const ids = await furnish(alpha)
    // What is in another thing goes before it.
    const last = ({ method, path }: Operation) => (method === "DELETE" ? 1_000 - path.length : 0)
    const ended = withIds.map(([, operation]) => operation).filter(({ path }) => !path.endsWith("/stream"))
    for (const { example, method, path } of ended.sort((a, b) => last(a) - last(b))) {
      const answer = await alpha.send(method, pathWith(path, ids), bodyFor(path, example, ids))
      assert.include([200, 201, 204, 409], answer.status, `${method} ${path} ${answer.text}`)
    }
  })

  it("in a body or a query finds nothing", async () => {
    // What the workspace's own key has begun above comes to rest first: no actor has to be told anything any more, and
    // two looks see the same.
    let before = await rowsOf(server.workspaces.alpha)
    for (
      let earlier: typeof before | undefined;
      !isDeepStrictEqual(before, earlier) || !isDeepStrictEqual(before.inbox, []);
      before = await rowsOf(server.workspaces.alpha)
    ) {
      earlier = before
      await setTimeout(200)
    }
    const { beta } = server
    const refused = [
      await beta.post("/v1/threads", { agentId: theirs.agentId }),
      await beta.post("/v1/agents", { name: "A", profileId: theirs.profileId }),
      await beta.patch(`/v1/agents/${ours.agentId}`, { profileId: theirs.profileId }),
      await beta.post(`/v1/threads/${ours.threadId}/messages`, {
        content: text("x"),
        expectedTurnId: theirs.turnId
      }),
      await beta.post(`/v1/threads/${ours.threadId}/cancel`, { turnId: theirs.turnId }),
      await beta.post("/v1/roles/evaluate", { roleIds: [theirs.roleId], tool: "a.b" }),
      await beta.post("/v1/roles/evaluate", { profileId: theirs.profileId, tool: "a.b" }),
      await beta.post("/v1/toolsets", {
        kind: "mcp",
        namespace: "books",
        url: "https://tools.example.com/mcp",
        connectionId: theirs.connectionId
      })
    ]
    assert.deepStrictEqual(
      refused.map(({ body, status }) => [status, body.error]),
      [
        [422, "agent_not_found"],
        [422, "profile_not_found"],
        [422, "profile_not_found"],
        [409, "turn_conflict"],
        [409, "turn_conflict"],
        [422, "role_not_found"],
        [422, "profile_not_found"],
        [422, "connection_not_found"]
      ]
    )
    assert.deepStrictEqual((await beta.get(`/v1/threads?agentId=${theirs.agentId}`)).body, { threads: [] })
    assert.deepStrictEqual((await beta.get(`/v1/operations?agentId=${theirs.agentId}`)).body, { operations: [] })
    assert.deepStrictEqual((await beta.get(`/v1/tools/calls?toolsetId=${theirs.toolsetId}`)).body, { calls: [] })
    assert.deepStrictEqual((await beta.get(`/v1/threads/${ours.threadId}/events?turnId=${theirs.turnId}`)).body, {
      events: []
    })
    for (const list of [
      "agents",
      "profiles",
      "threads",
      "identities",
      "operations",
      "roles",
      "connections",
      "toolsets",
      "auth/keys",
      "tools/calls"
    ]) {
      const { text } = await beta.get(`/v1/${list}`)
      for (const [name, id] of Object.entries(theirs))
        if (name !== "version") assert.notInclude(text, id, `${list} ${name}`)
    }
    assert.deepStrictEqual(await rowsOf(server.workspaces.alpha), before)
  })

  it("in a cursor of another workspace's list is refused", async () => {
    await makeAgent(server.alpha)
    const { nextCursor } = (await server.alpha.get("/v1/agents?limit=1")).body
    assert.isString(nextCursor)
    const answer = await server.beta.get(`/v1/agents?limit=1&cursor=${encodeURIComponent(nextCursor)}`)
    assert.deepStrictEqual([answer.status, answer.body.code], [400, "invalid_cursor"])
  })

  it("has its own idempotency keys", async () => {
    const body = { name: "Same", models: ["troupe/scripted"] }
    const key = { "idempotency-key": fresh("same") }
    const [one, two] = [
      await server.alpha.post("/v1/profiles", body, key),
      await server.beta.post("/v1/profiles", body, key)
    ]
    assert.deepStrictEqual([one.status, two.status, two.headers.get("idempotency-replayed")], [201, 201, null])
    assert.notStrictEqual(one.body.profile.id, two.body.profile.id)
  })
})
