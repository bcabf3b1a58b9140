/** Memory as agents use it: by the tools of the family, and by requests under their leases. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { memoryFamily } from "../../actors/thread/tools/families/memory.ts"
import { noUsage } from "../../src/domain/usage.ts"
import { freshId } from "../../src/seed.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { makeFamilyUsers, returned } from "./ofAgentsFixture.ts"
import { assertRefused } from "./refusals.ts"
import { ended, logOf } from "./threadFixture.ts"
import { addRole, call, fresh, turnOf } from "./toolFixture.ts"

const server = await during(startServer({ idleMs: 200 }))
const family = makeFamilyUsers(server, "memory")
const { ruled, use, worker } = family

const put = (key: string, value: string, more: object = {}) => call("memory.put", { key, value, ...more })

/** An agent whose turn waits, and the path of its memory. */
const leased = async (...given: Parameters<typeof family.leased>) => {
  const made = await family.leased(...given)
  return { ...made, own: `/v1/agents/${made.agentId}/memory` }
}

describe("the tools", () => {
  it("keep a note for other threads of the agent, with the turn that wrote it", async () => {
    const agentId = await worker()
    const log = await turnOf(server.alpha, agentId, put("people/ann", "Drinks tea."))
    const [{ entry }] = returned(log)
    assert.deepInclude(entry, { key: "people/ann", size: 11 })
    const stored = (await server.alpha.get(`/v1/agents/${agentId}/memory/entry?key=people/ann`)).body.entry
    assert.deepInclude(stored, {
      value: "Drinks tea.",
      version: entry.version,
      updatedBy: { type: "agent", id: agentId },
      threadId: log[0]!.threadId,
      turnId: log[0]!.turnId
    })
    const [list, found, got] = await use(
      agentId,
      call("memory.list", { prefix: "people/" }),
      call("memory.search", { q: "tea" }),
      call("memory.get", { key: "people/ann" })
    )
    assert.deepStrictEqual(
      list.entries.map(({ key }: { readonly key: string }) => key),
      ["people/ann"]
    )
    assert.strictEqual(found.entries[0].snippet, "Drinks tea.")
    assert.deepStrictEqual(got.entry, stored)
    // Not of other agents.
    assert.match((await use(await worker(), call("memory.get", { key: "people/ann" })))[0], /^tool_error: not_found/)
  })

  it("compare, and begin what they refuse with the word of it", async () => {
    const agentId = await worker()
    const [made, conflict, absent, gone, nothing, long] = await use(
      agentId,
      put("k", "1", { expectedVersion: "none" }),
      put("k", "2", { expectedVersion: "none" }),
      put("l", "2", { expectedVersion: "mver_01m7y1svs7e0087pe32vr71000" }),
      call("memory.delete", { key: "k" }),
      call("memory.delete", { key: "k" })
    )
    assert.strictEqual(conflict.slice(0, 27), "tool_error: memory_conflict")
    assert.include(conflict, made.entry.version)
    assert.match(absent, /^tool_error: not_found/)
    assert.deepStrictEqual([gone, nothing], [{ deleted: true }, { deleted: false }])
    assert.isUndefined(long)
  })

  it("list in pages", async () => {
    const agentId = await worker()
    const [, , , first] = await use(
      agentId,
      put("a", "1"),
      put("b", "2"),
      put("c", "3"),
      call("memory.list", { limit: 2 })
    )
    assert.lengthOf(first.entries, 2)
    const [second] = await use(agentId, call("memory.list", { limit: 2, cursor: first.nextCursor }))
    assert.deepStrictEqual([second.entries[0].key, second.nextCursor], ["c", undefined])
  })

  it.each([
    ["rw", "r", [true, true, true, false]],
    ["r", "rw", [true, false, true, true]],
    ["off", "off", [false, false, false, false]]
  ])("read and write as the profile says: agent %s, workspace %s", async (agent, workspace, allowed) => {
    const key = fresh("modes")
    const agentId = await worker({ memory: { agent, workspace } })
    await server.alpha.put(`/v1/memory/entry?key=${key}`, { value: "v" })
    await server.alpha.put(`/v1/agents/${agentId}/memory/entry?key=${key}`, { value: "v" })
    const results = await use(
      agentId,
      call("memory.get", { key }),
      put(key, "w"),
      call("memory.get", { key, store: "workspace" }),
      put(key, "w", { store: "workspace" })
    )
    assert.deepStrictEqual(
      results.map((result) => !String(result).startsWith("tool_error: permission_denied")),
      allowed
    )
  })

  it("find that a call was carried out, though it runs again and the entry has changed since", async () => {
    const agentId = await worker()
    const path = `/v1/agents/${agentId}/memory/entry`
    const { tools } = memoryFamily({
      approval: () => Effect.succeed(undefined),
      database: server.database,
      now: Date.now
    })
    const toolCallId = freshId("call")
    const run = (name: string, input: object) =>
      server.runtime.runPromise(
        tools
          .find((tool) => tool.name === name)!
          .run(
            {
              workspace: server.workspaces.alpha,
              agentId,
              threadId: freshId("thread"),
              carry: { usage: noUsage },
              hops: 0,
              memory: { agent: "rw", workspace: "r" }
            },
            input,
            toolCallId
          )
      )
    const first = await run("memory.put", { key: "k", value: "agent's" })
    await server.alpha.put(`${path}?key=k`, { value: "person's" })
    assert.deepStrictEqual(await run("memory.put", { key: "k", value: "agent's" }), first)
    assert.strictEqual((await server.alpha.get(`${path}?key=k`)).body.entry.value, "person's")
    // The same of a delete.
    await server.alpha.put(`${path}?key=l`, { value: "v" })
    const gone = await run("memory.delete", { key: "l" })
    await server.alpha.put(`${path}?key=l`, { value: "again" })
    assert.deepStrictEqual(await run("memory.delete", { key: "l" }), gone)
    assert.strictEqual((await server.alpha.get(`${path}?key=l`)).body.entry.value, "again")
  })

  it("are found by tool_search unless the profile shows families always", async () => {
    const hidden = await worker({ familyExposure: "search" })
    assert.match((await use(hidden, call("memory.list")))[0], /^tool_not_found/)
    const [, listed] = await use(hidden, call("tool_search", { query: "memory" }), call("memory.list"))
    assert.deepStrictEqual(listed, { entries: [] })
    assert.deepStrictEqual(await use(await worker(), call("memory.list")), [{ entries: [] }])
  })
})

describe("where the policy makes an agent's writes park", () => {
  it("the tool returns the operation, and the turn goes on", async () => {
    const { admin, id } = await ruled(["memory.*"])
    const agentId = await worker({}, admin)
    const log = await turnOf(admin, agentId, put("k", "v"))
    const [output] = returned(log)
    assert.deepInclude(output.operation, { action: "memory.put", state: "pending", agentId })
    const decider = await server.client(id)
    const path = `/v1/operations/${output.operation.id}`
    assert.deepStrictEqual((await decider.get(path)).body.operation.request, { agentId, key: "k", value: "v" })
    const done = (await decider.post(`${path}/approve`)).body.operation
    assert.deepStrictEqual([done.state, done.result.status], ["completed", 201])
    const { entry } = (await admin.get(`/v1/agents/${agentId}/memory/entry?key=k`)).body
    assert.deepStrictEqual(done.result.body, { entry })
    assert.deepInclude(entry, { threadId: log[0]!.threadId, turnId: log[0]!.turnId })
  })

  it("what is hopeless does not park, and what has become so fails when it is approved", async () => {
    const { admin } = await ruled(["memory.delete"])
    const agentId = await worker({}, admin)
    const path = `/v1/agents/${agentId}/memory/entry?key=k`
    const { version } = (await admin.put(path, { value: "v" })).body.entry
    const other = "mver_01m7y1svs7e0087pe32vr71000"
    const refusing = await turnOf(admin, agentId, call("memory.delete", { key: "k", expectedVersion: other }))
    assert.match(returned(refusing)[0], /^tool_error: memory_conflict/)
    assert.deepStrictEqual((await admin.get("/v1/operations")).body.operations, [])
    const log = await turnOf(admin, agentId, call("memory.delete", { key: "k", expectedVersion: version }))
    const [{ operation }] = returned(log)
    const now = (await admin.put(path, { value: "w" })).body.entry.version
    const done = (await admin.post(`/v1/operations/${operation.id}/approve`)).body.operation
    assert.strictEqual(done.state, "failed")
    assert.deepInclude(done.result.body, { error: "memory_conflict", currentVersion: now })
    assert.strictEqual(done.result.status, 409)
  })

  it("is refused by what the roles say when it is approved", async () => {
    const { admin } = await ruled(["memory.*"])
    const roleId = await addRole(admin, { allow: [{ tools: "*" }] })
    const agentId = await worker({ roleIds: [roleId] }, admin)
    const [{ operation }] = returned(await turnOf(admin, agentId, put("k", "v")))
    assert.strictEqual((await admin.patch(`/v1/roles/${roleId}`, { deny: [{ tools: "memory.put" }] })).status, 200)
    const done = (await admin.post(`/v1/operations/${operation.id}/approve`)).body.operation
    assert.deepStrictEqual(
      [done.state, done.result.status, done.result.body.error],
      ["failed", 403, "permission_denied"]
    )
  })
})

describe("under a lease", () => {
  it("an agent does with its memory what its tools may, and its entries say in which turn", async () => {
    const { agentId, lease, own, threadId, turnId } = await leased()
    const made = await lease.put(`${own}/entry?key=k`, { value: "v" })
    assert.strictEqual(made.status, 201, made.text)
    assert.deepInclude(made.body.entry, { threadId, turnId, updatedBy: { type: "agent", id: agentId } })
    assert.strictEqual((await lease.get(`${own}/entry?key=k`)).status, 200)
    assert.lengthOf((await lease.get(own)).body.entries, 1)
    assert.lengthOf((await lease.get(`${own}/search?q=v`)).body.entries, 1)
    const gone = await lease.delete(`${own}/entry?key=k`)
    assert.deepStrictEqual([gone.status, gone.body.operation.state], [200, "completed"])
    // Not what no tool does, and nothing of others.
    assertRefused(await lease.get(`${own}/entry/versions?key=k`), 403, "credential_not_accepted")
    assertRefused(await lease.get(`/v1/agents/${await worker()}/memory`), 404, "not_found")
  })

  it("the workspace's memory is read, and written only where the profile lets it", async () => {
    const key = fresh("shared")
    const { lease } = await leased()
    assertRefused(await lease.put(`/v1/memory/entry?key=${key}`, { value: "v" }), 403, "permission_denied")
    assert.strictEqual((await lease.get("/v1/memory?limit=1")).status, 200)
    const writer = await leased({ memory: { workspace: "rw" } })
    assert.strictEqual((await writer.lease.put(`/v1/memory/entry?key=${key}`, { value: "v" })).status, 201)
    assert.strictEqual((await lease.get(`/v1/memory/entry?key=${key}`)).body.entry.value, "v")
    const none = await leased({ families: ["thread"] })
    assertRefused(await none.lease.get(none.own), 403, "permission_denied")
  })

  it("roles are asked as of the tool, with the request as its input", async () => {
    const onlyNotes = { tools: "memory.*", conditions: [{ path: "/key", op: "startsWith", value: "notes/" }] }
    const { lease, own } = await leased({}, [onlyNotes])
    assert.strictEqual((await lease.put(`${own}/entry?key=notes/a`, { value: "v" })).status, 201)
    assertRefused(await lease.put(`${own}/entry?key=other`, { value: "v" }), 403, "permission_denied")
    assertRefused(await lease.get(`${own}/entry?key=other`), 403, "permission_denied")
  })

  it("a grant that wants approval parks a write, once, and it is carried out when it is approved", async () => {
    const { admin, id } = await ruled([])
    const grants = [{ tools: "memory.delete", approval: "required" }, { tools: "memory.*" }]
    const { agentId, lease, own } = await leased({}, grants, { client: admin, workspace: id })
    await lease.put(`${own}/entry?key=k`, { value: "v" })
    const parked = await lease.delete(`${own}/entry?key=k`)
    assert.strictEqual(parked.status, 202, parked.text)
    const { operation } = parked.body
    assert.strictEqual(parked.headers.get("location"), `/v1/operations/${operation.id}`)
    assert.deepInclude(operation, { action: "memory.delete", state: "pending", agentId })
    assert.strictEqual((await lease.delete(`${own}/entry?key=k`)).body.operation.id, operation.id)
    assertRefused(
      await lease.delete(`${own}/entry?key=k&expectedVersion=mver_01m7y1svs7e0087pe32vr71000`),
      409,
      "memory_conflict"
    )
    assert.strictEqual((await lease.get(`${own}/entry?key=k`)).status, 200)
    const done = (await admin.post(`/v1/operations/${operation.id}/approve`)).body.operation
    assert.deepStrictEqual([done.state, done.result], ["completed", { status: 204, body: null }])
    assert.strictEqual((await lease.get(`${own}/entry?key=k`)).status, 404)
    assert.strictEqual((await lease.get(`/v1/operations/${operation.id}`)).body.operation.state, "completed")
  })

  it("is no more once the turn is over", async () => {
    const { lease, own, threadId } = await leased()
    await server.alpha.post(`/v1/threads/${threadId}/cancel`)
    await logOf(server.alpha, threadId, ended(1))
    await eventually(async () => (await lease.get(own)).status === 401, "the lease is over")
  })
})

/** Of an entry's store: what is there, what is sent, and what comes of it in the end, whoever sends it. */
type Row = readonly [there: boolean, method: "PUT" | "DELETE", expected: string | undefined, status: number]
const rows: ReadonlyArray<Row> = [
  [false, "PUT", undefined, 201],
  [false, "PUT", "none", 201],
  [false, "PUT", "another", 404],
  [true, "PUT", undefined, 200],
  [true, "PUT", "current", 200],
  [true, "PUT", "none", 409],
  [true, "PUT", "another", 409],
  [false, "DELETE", undefined, 204],
  [false, "DELETE", "another", 404],
  [true, "DELETE", undefined, 204],
  [true, "DELETE", "current", 204],
  [true, "DELETE", "another", 409]
]

describe("the table of writes", () => {
  it.each([
    ["a key", "run"],
    ["a key", "park"],
    ["a lease", "run"],
    ["a lease", "park"]
  ])("holds of writes under %s that %s", async (who, how) => {
    const { admin, id } = await ruled([])
    const { lease, own } = await leased({}, [{ tools: "memory.*" }], { client: admin, workspace: id })
    const [writer, decider] = [who === "a key" ? admin : lease, await server.client(id)]
    const made = new Map<string, string>()
    for (const [i, [there]] of rows.entries())
      if (there) made.set(`k${i}`, (await admin.put(`${own}/entry?key=k${i}`, { value: "v" })).body.entry.version)
    const rules = how === "run" ? [] : [{ actions: ["memory.*"], principals: ["api_key", "agent"], require: true }]
    assert.strictEqual((await admin.put("/v1/approval-policy", { rules })).status, 200)

    for (const [i, [there, method, said, status]] of rows.entries()) {
      const what = `${method} ${there ? "of an entry" : "of none"}, expected ${said ?? "nothing"}`
      const [key, current] = [`k${i}`, made.get(`k${i}`)]
      const expectedVersion =
        said === "current" ? current : said === "another" ? "mver_01m7y1svs7e0087pe32vr71000" : said
      const sent = { key, ...(expectedVersion === undefined ? {} : { expectedVersion }) }
      const answer = await (method === "PUT"
        ? writer.put(`${own}/entry?key=${key}`, { ...sent, key: undefined, value: "w" })
        : writer.delete(`${own}/entry?${new URLSearchParams(sent).toString()}`))
      const isRefused = status >= 400
      if (isRefused) {
        assertRefused(answer, status, status === 404 ? "not_found" : "memory_conflict")
        assert.strictEqual(answer.body.currentVersion, status === 409 ? current : undefined, what)
      } else if (how === "run") {
        const { operation } = answer.body
        const came = method === "PUT" ? answer.status : answer.status === 200 && operation.result.status
        assert.strictEqual(came, status, `${what}: ${answer.text}`)
      } else {
        assert.strictEqual(answer.status, 202, `${what}: ${answer.text}`)
        // Until somebody decides, nothing has changed.
        assert.strictEqual((await admin.get(`${own}/entry?key=${key}`)).body.entry?.version, current, what)
        const path = `/v1/operations/${answer.body.operation.id}/approve`
        const { result, state } = (await decider.post(path)).body.operation
        assert.deepStrictEqual([state, result.status], ["completed", status], what)
      }
      const { entry } = (await admin.get(`${own}/entry?key=${key}`)).body
      if (isRefused) assert.strictEqual(entry?.version, current, what)
      else assert.strictEqual(entry?.value, method === "PUT" ? "w" : undefined, what)
    }
    // A delete that names no entry has nothing to wait for but a rule.
    const nothing = await writer.delete(`${own}/entry`)
    assert.strictEqual(nothing.status, how === "run" ? 200 : 202, nothing.text)
    assertRefused(await writer.delete(`${own}/entry?expectedVersion=mver_x`), 404, "not_found")
  })
})

it("a key's writes park where a rule says so, with what they would answer as the result", async () => {
  const { admin, id } = await ruled([])
  await admin.put("/v1/approval-policy", {
    rules: [{ actions: ["memory.*"], principals: ["api_key"], require: true }]
  })
  const decider = await server.client(id)
  const entry = "/v1/memory/entry?key=k"
  assertRefused(await admin.put(entry, { value: "v", expectedVersion: "mver_x" }), 404, "not_found")
  const parked = await admin.put(entry, { value: "v" })
  assert.strictEqual(parked.status, 202, parked.text)
  const done = (await decider.post(`/v1/operations/${parked.body.operation.id}/approve`)).body.operation
  assert.deepStrictEqual([done.state, done.result.status, done.result.body.entry.value], ["completed", 201, "v"])
  const deleting = await admin.delete(`${entry}&expectedVersion=${done.result.body.entry.version}`)
  assert.strictEqual(deleting.status, 202, deleting.text)
  const denied = (await decider.post(`/v1/operations/${deleting.body.operation.id}/deny`)).body.operation
  assert.deepStrictEqual([denied.state, denied.result.status], ["denied", 403])
  assert.strictEqual((await admin.get(entry)).status, 200)
})
