/** Nothing of a workspace can be reached with a key of another, be its id ever so well known: every operation, every id. */
import { setTimeout } from "node:timers/promises"
import { isDeepStrictEqual } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import pg from "pg"
import { Api } from "../../http/Api.ts"
import { examples } from "../../http/examples.ts"
import { sibling, toUuid } from "../../src/domain/ids.ts"
import { startServer, type TestServer } from "../setup/server.ts"
import { logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"

const { paths } = OpenApi.fromApi(Api)
const methods = ["get", "post", "patch", "put", "delete"] as const
const operations = Object.entries(paths).flatMap(([path, found]) => methods.flatMap((method) => {
  const operation = found[method]
  if (operation === undefined || !path.includes("{")) return []
  const schema = operation.requestBody?.content["application/json"]?.schema
  const name = schema !== undefined && "$ref" in schema ? String(schema["$ref"]).replace("#/components/schemas/", "") : ""
  return [{ method: method.toUpperCase(), path, body: examples[name], names: [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!) }]
}))

type Ids = Readonly<Record<string, string>>

let furnished = 0
/** One of everything that has an id, alive. */
const furnish = async (client: TestServer["alpha"]): Promise<Ids> => {
  const namespace = `desk${++furnished}`
  const tools = [{ name: "ask", inputSchema: { type: "object" } }, { name: "sign", inputSchema: { type: "object" } }]
  const toolsetId = (await client.post("/v1/toolsets", { kind: "client", namespace, tools })).body.toolset.id
  const agentId = await makeAgent(client, undefined, { identity: "worker@example.com" })
  const { profileId } = (await client.get(`/v1/agents/${agentId}`)).body.agent
  const hooks = [{ name: "Signatures", point: "before_tool_call", match: { tools: ["*.sign"] }, processor: { type: "client" } }]
  assert.strictEqual((await client.patch(`/v1/profiles/${profileId}`, { toolsetIds: [toolsetId], hooks })).status, 200)
  // A client owes the result of one call, and a decision about the other.
  const script = `/call ${namespace}.ask {}\n/call ${namespace}.sign {}`
  const threadId = await makeThread(client, agentId, { message: { content: text(script) }, title: "Secret" })
  await logOf(client, threadId, (log) => log.filter(({ type }) => type === "wait_created").length === 2)
  const waits: ReadonlyArray<{ readonly id: string; readonly type: string; readonly toolCallId: string }> = (await client.get(`/v1/threads/${threadId}`)).body.pendingWaits
  const { id: waitId = "" } = waits.find(({ type }) => type === "hook_ask") ?? {}
  const { toolCallId = "" } = waits.find(({ type }) => type === "client_tool") ?? {}
  const deliveryId = sibling("delivery", waitId)
  const { id: inputId, turnId } = await submit(client, threadId, "waits")
  const operationId = (await client.post("/v1/identities/disable", { identity: "nobody@example.com" })).body.operation.id
  const connectionId = (await client.post("/v1/connections", { provider: "p", name: "C", secret: { token: "secret" }, allowedHosts: ["tools.example.com"] })).body.connection.id
  const keyId = (await client.post("/v1/auth/keys", { name: "K", scopes: ["read"] })).body.key.id
  const roleId = (await client.post("/v1/roles", { name: "R" })).body.role.id
  return { waitId, toolCallId, deliveryId, agentId, threadId, inputId, turnId, profileId, operationId, keyId, connectionId, roleId, toolsetId, version: "1" }
}

let server: TestServer
let database: pg.Client
let theirs: Ids
let ours: Ids
beforeAll(async () => {
  // A thread that leaves memory meanwhile would change its head.
  server = await startServer({ idleMs: 600_000 })
  database = new pg.Client({ connectionString: server.url })
  await database.connect()
  theirs = await furnish(server.alpha)
  ours = await furnish(server.beta)
})
afterAll(async () => {
  await database.end()
  await server.stop()
})

/** Every row of a workspace, of every table that has workspaces. When an identity or key was last seen is written later than it happens. */
const rowsOf = async (workspace: string) => {
  const tables = await database.query<{ readonly name: string }>(
    "select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'workspace' order by 1")
  assert.isAbove(tables.rows.length, 5)
  const rows: Record<string, unknown> = {}
  for (const { name } of tables.rows) {
    // The sweep's own notes: it takes settled ones away every second, whoever asks for what.
    if (name === "agenda") continue
    const found = await database.query(`select (to_jsonb(t) - array['last_seen', 'last_used_at'])::text as row from "${name}" t where workspace = $1 order by 1`, [toUuid(workspace)])
    rows[name] = found.rows
  }
  return rows
}

const absent = (id: string) => id.length > 26 ? `${id.slice(0, -26)}01m7y1svs7e0087pe32vr71000` : id

describe("the id of another workspace", () => {
  it("is in the path of many operations", () => assert.isAbove(operations.length, 20))

  it.each(operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))("%s: 404, as for one that is not there, and nothing changes", async (_, { body, method, names, path }) => {
    const at = (ids: Ids) => names.reduce((path, name) => path.replace(`{${name}}`, ids[name] ?? ""), path)
    const send = (ids: Ids) => server.beta.send(method, at(ids), body, { "idempotency-key": at(ids) })
    const before = await rowsOf(server.workspaces.alpha)
    const never = await send(Object.fromEntries(Object.entries(theirs).map(([name, id]) => [name, absent(id)])))
    assert.strictEqual(never.status, 404, never.text)
    // Each id of the path on its own, among ours, and all of them.
    const mixed = names.filter((name) => name !== "version").map((name): Ids => ({ ...ours, [name]: theirs[name] ?? "" }))
    for (const ids of [theirs, ...mixed]) {
      const answer = await send(ids)
      assert.deepStrictEqual([answer.status, answer.body?.error, answer.body?.code], [404, "not_found", never.body.code], `${at(ids)} ${answer.text}`)
      for (const id of Object.values(theirs)) if (id.length > 20) assert.notInclude(answer.text, id)
    }
    assert.deepStrictEqual(await rowsOf(server.workspaces.alpha), before)
  })

  it("leads somewhere with a key of its own workspace", async () => {
    const { alpha } = server
    const ids = await furnish(alpha)
    const last = (method: string) => method === "DELETE" ? 1 : 0
    for (const { body, method, names, path } of operations.filter(({ path }) => !path.endsWith("/stream")).sort((a, b) => last(a.method) - last(b.method))) {
      const answer = await alpha.send(method, names.reduce((path, name) => path.replace(`{${name}}`, ids[name] ?? ""), path), body)
      assert.include([200, 201, 204, 409], answer.status, `${method} ${path} ${answer.text}`)
    }
  })

  it("in a body or a query finds nothing", async () => {
    // What the workspace's own key has begun above comes to rest first: two looks that see the same.
    let before = await rowsOf(server.workspaces.alpha)
    for (let earlier: typeof before | undefined; !isDeepStrictEqual(before, earlier); before = await rowsOf(server.workspaces.alpha)) {
      earlier = before
      await setTimeout(200)
    }
    const { beta } = server
    const refused = [
      await beta.post("/v1/threads", { agentId: theirs["agentId"] }),
      await beta.post("/v1/agents", { name: "A", profileId: theirs["profileId"] }),
      await beta.patch(`/v1/agents/${ours["agentId"]}`, { profileId: theirs["profileId"] }),
      await beta.post(`/v1/threads/${ours["threadId"]}/messages`, { content: text("x"), expectedTurnId: theirs["turnId"] }),
      await beta.post(`/v1/threads/${ours["threadId"]}/cancel`, { turnId: theirs["turnId"] }),
      await beta.post("/v1/roles/evaluate", { roleIds: [theirs["roleId"]], tool: "a.b" }),
      await beta.post("/v1/roles/evaluate", { profileId: theirs["profileId"], tool: "a.b" }),
      await beta.post("/v1/toolsets", { kind: "mcp", namespace: "books", url: "https://tools.example.com/mcp", connectionId: theirs["connectionId"] })
    ]
    assert.deepStrictEqual(refused.map(({ body, status }) => [status, body.error]), [
      [422, "agent_not_found"], [422, "profile_not_found"], [422, "profile_not_found"], [409, "turn_conflict"], [409, "turn_conflict"],
      [422, "role_not_found"], [422, "profile_not_found"], [422, "connection_not_found"]
    ])
    assert.deepStrictEqual((await beta.get(`/v1/threads?agentId=${theirs["agentId"]}`)).body, { threads: [] })
    assert.deepStrictEqual((await beta.get(`/v1/operations?agentId=${theirs["agentId"]}`)).body, { operations: [] })
    assert.deepStrictEqual((await beta.get(`/v1/tools/calls?toolsetId=${theirs["toolsetId"]}`)).body, { calls: [] })
    assert.deepStrictEqual((await beta.get(`/v1/threads/${ours["threadId"]}/events?turnId=${theirs["turnId"]}`)).body, { events: [] })
    for (const list of ["agents", "profiles", "threads", "identities", "operations", "roles", "connections", "toolsets", "auth/keys", "tools/calls"]) {
      const { text } = await beta.get(`/v1/${list}`)
      for (const [name, id] of Object.entries(theirs)) if (name !== "version") assert.notInclude(text, id, `${list} ${name}`)
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
    const [one, two] = [await server.alpha.post("/v1/profiles", body, { "idempotency-key": "same" }), await server.beta.post("/v1/profiles", body, { "idempotency-key": "same" })]
    assert.deepStrictEqual([one.status, two.status, two.headers.get("idempotency-replayed")], [201, 201, null])
    assert.notStrictEqual(one.body.profile.id, two.body.profile.id)
  })
})
