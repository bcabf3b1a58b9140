/** Requests that wait for approval: what parks, and what is carried out of it. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { startServer } from "../setup/server.ts"
import { agentsOf, change, decide, decided, makeSpaces, parked, parkingServer, policy, rule } from "./parkingFixture.ts"
import { assertRefused } from "./refusals.ts"
import { Watcher } from "./sse.ts"
import { makeAgent, makeThread } from "./threadFixture.ts"
import { call, makeWorker, outcomes, turnOf, fresh } from "./toolFixture.ts"

const server = await parkingServer()
const space = makeSpaces(server)

describe("the approval policy", () => {
  it("is empty until it is changed, and then what was put, with an ETag", async () => {
    const admin = await server.client(await server.workspace(fresh("policy")))
    const before = await admin.get(policy)
    assert.deepStrictEqual([before.body, before.headers.get("etag")], [{ policy: { rules: [] } }, '"0"'])
    const rules = [rule("agent.*")]
    const put = await admin.put(policy, { rules }, { "if-match": '"0"' })
    assert.deepStrictEqual([put.status, put.headers.get("etag")], [200, '"1"'])
    assert.deepStrictEqual(put.body.policy.rules, rules)
    assert.strictEqual(put.body.policy.updatedBy.type, "api_key")
    assertRefused(await admin.put(policy, { rules: [] }, { "if-match": '"0"' }), 412, "precondition_failed")
    // The same once more changes nothing.
    const again = await admin.put(policy, { rules })
    assert.deepStrictEqual([again.body, again.headers.get("etag")], [put.body, '"1"'])
    assert.deepStrictEqual((await admin.get(policy)).body, put.body)
  })

  it.each<[string, unknown]>([
    ["a rule without actions", { ...rule(), actions: [] }],
    ["an unknown action", rule("agent.burn")],
    ["an unknown noun", rule("memories.*")],
    ["an action twice", rule("agent.read", "agent.read")],
    ["nobody's requests", { ...rule("*"), principals: [] }],
    ["requests of schedules, which ask nothing", { ...rule("*"), principals: ["schedule"] }],
    ["no agents", { ...rule("*"), agentIds: [] }],
    [
      "65 agents",
      { ...rule("*"), agentIds: Array.from({ length: 65 }, (_, i) => `agt_${String(i).padStart(26, "0")}`) }
    ],
    ["an agent that is none", { ...rule("*"), agentIds: ["agent"] }],
    ["a rule that does not say", { actions: ["*"], principals: ["user"] }],
    ["what rules do not have", { ...rule("*"), expires: 1 }]
  ])("refuses %s", async (_, wrong) => {
    const answer = await server.alpha.put(policy, { rules: [rule("*"), wrong] })
    assertRefused(answer, 400, "invalid_request")
    assert.match(answer.body.message, /^rules\[1\]/)
  })

  it("takes 64 rules, and none more", async () => {
    const admin = await server.client(await server.workspace("many rules"))
    const rules = Array.from({ length: 65 }, () => rule("agent.create"))
    assertRefused(await admin.put(policy, { rules }), 400, "invalid_request")
    assert.strictEqual((await admin.put(policy, { rules: rules.slice(1) })).status, 200)
  })
})

describe("a request that the policy parks", () => {
  it("is carried out with its operation, or not at all", async () => {
    const { agentId, asker, decider } = await space([rule("agent.update")])
    const operation = await parked(asker.patch(`/v1/agents/${agentId}`, { name: "B" }))
    const run = (text: string) =>
      server.runtime.runPromise(server.database.run("test", (db) => sql.raw(text).execute(db)))
    const fail = "begin raise exception 'away' using errcode = '57P01'; end"
    await run(`create function away() returns trigger language plpgsql as $$ ${fail} $$`)
    await run("create trigger away before update on operations for each row execute function away()")
    try {
      assertRefused(await decide(decider, "approve", operation), 503, "runtime_unavailable")
    } finally {
      await run("drop trigger away on operations; drop function away()")
    }
    assert.strictEqual((await asker.get(`/v1/agents/${agentId}`)).body.agent.name, "Tester")
    assert.strictEqual((await asker.get(`/v1/operations/${operation.id}`)).body.operation.state, "pending")
    assert.strictEqual((await decided(decider, "approve", operation)).state, "completed")
    assert.strictEqual((await asker.get(`/v1/agents/${agentId}`)).body.agent.name, "B")
  })

  it("is carried out when somebody else approves it, and its result is what the call would have answered", async () => {
    const { asker, decider, profileId } = await space([rule("agent.create")])
    const body = { name: "New", profileId }
    const before = await agentsOf(asker)
    const operation = await parked(asker.post("/v1/agents", body))
    assert.strictEqual(operation.action, "agent.create")
    assert.strictEqual(Date.parse(operation.expiresAt) - Date.parse(operation.createdAt), 24 * 3_600_000)
    assert.strictEqual(await agentsOf(asker), before)
    const waiting = asker.get(`/v1/operations/${operation.id}?waitSeconds=10`)
    const done = await decided(decider, "approve", operation)
    assert.deepStrictEqual([done.state, done.result.status], ["completed", 201])
    assert.strictEqual(done.result.body.agent.name, "New")
    assert.isString(done.resolvedAt)
    assert.strictEqual(done.resolvedBy.type, "api_key")
    const seen = (await waiting).body.operation
    assert.deepStrictEqual([seen.state, seen.result, seen.request], ["completed", done.result, body])
    assert.strictEqual(await agentsOf(asker), before + 1)
    const agent = await asker.get(`/v1/agents/${done.result.body.agent.id}`)
    assert.deepStrictEqual(agent.body, done.result.body)
  })

  it("is the same operation as long as the same request of the same credential is pending", async () => {
    const { asker, decider, profileId } = await space([rule("agent.create")])
    const body = { name: "New", profileId, tags: ["a"] }
    const first = await parked(asker.post("/v1/agents", body))
    const turned = { tags: ["a"], profileId, name: "New" }
    assert.strictEqual((await parked(asker.post("/v1/agents", turned))).id, first.id)
    assert.notStrictEqual((await parked(asker.post("/v1/agents", { ...body, tags: ["b"] }))).id, first.id)
    assert.notStrictEqual((await parked(decider.post("/v1/agents", body))).id, first.id)
    await decided(decider, "deny", first)
    assert.notStrictEqual((await parked(asker.post("/v1/agents", body))).id, first.id)
  })

  it("with an Idempotency-Key is answered with its operation, headers and all, also once it is decided", async () => {
    const { asker, decider, profileId } = await space([rule("agent.create")])
    const send = () => asker.post("/v1/agents", { name: "New", profileId }, { "idempotency-key": "k" })
    const first = await parked(send())
    await decided(decider, "approve", first)
    const again = await send()
    assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
    assert.deepStrictEqual([again.status, again.headers.get("location")], [202, `/v1/operations/${first.id}`])
    assert.strictEqual(again.body.operation.id, first.id)
  })

  it("is refused at once where the call would be: nothing hopeless parks", async () => {
    const { agentId, asker, profileId } = await space([rule("*", "agent.read", "thread.read")])
    const unknown = agentId.replace(/.{4}$/, "zzzz")
    assertRefused(
      await asker.post("/v1/agents", { name: "A", profileId: profileId.replace(/.{4}$/, "zzzz") }),
      422,
      "profile_not_found"
    )
    assertRefused(
      await asker.patch(`/v1/agents/${agentId}`, { name: "B" }, { "if-match": '"9"' }),
      412,
      "precondition_failed"
    )
    assertRefused(await asker.patch(`/v1/agents/${agentId}`, { name: "" }), 400, "invalid_request")
    assertRefused(await asker.delete(`/v1/agents/${unknown}`), 404, "not_found")
    assertRefused(await asker.get(`/v1/agents/${unknown}`), 404, "not_found")
    assertRefused(await asker.get(`/v1/threads/${unknown.replace("agt", "thr")}`), 404, "not_found")
    assert.deepStrictEqual((await asker.get("/v1/operations")).body.operations, [])
    assert.strictEqual((await parked(asker.patch(`/v1/agents/${agentId}`, { name: "B" }))).agentId, agentId)
  })

  it("is held against what is there by then: a version that has moved is the result", async () => {
    const { admin, agentId, asker, decider } = await space([
      { ...rule("agent.update"), agentIds: ["agt_00000000000000000000000000"] }
    ])
    const put = (ids?: ReadonlyArray<string>) =>
      admin.put(policy, { rules: [{ ...rule("agent.update"), ...(ids && { agentIds: ids }) }] })
    await put()
    const etag = (await asker.get(`/v1/agents/${agentId}`)).headers.get("etag")!
    const operation = await parked(asker.patch(`/v1/agents/${agentId}`, { name: "Late" }, { "if-match": etag }))
    await put(["agt_00000000000000000000000000"])
    assert.strictEqual((await admin.patch(`/v1/agents/${agentId}`, { name: "Early" })).status, 200)
    const done = await decided(decider, "approve", operation)
    assert.deepStrictEqual(
      [done.state, done.result.status, done.result.body.error],
      ["failed", 412, "precondition_failed"]
    )
    assert.strictEqual((await asker.get(`/v1/agents/${agentId}`)).body.agent.name, "Early")
  })

  it("changes nothing in halves: an archived agent is archived by one approval, however many come at once", async () => {
    const { agentId, asker, id } = await space([rule("agent.archive")])
    const operation = await parked(asker.delete(`/v1/agents/${agentId}`))
    const other = await startServer({ beside: server, name: "other" })
    try {
      const deciders = await Promise.all([0, 1, 2, 3].map(() => server.client(id)))
      const answers = await Promise.all(
        deciders.map((decider, i) => decided(i % 2 === 0 ? decider : other.at(decider), "approve", operation))
      )
      const [first] = answers
      assert.deepStrictEqual([first.state, first.result], ["completed", { status: 204, body: null }])
      for (const answer of answers) assert.deepStrictEqual(answer, first)
    } finally {
      await other.stop()
    }
    assert.isString((await asker.get(`/v1/agents/${agentId}`)).body.agent.archivedAt)
  })

  it("parks for a command too, and the result is what the command has answered", async () => {
    const { asker, decider } = await space([rule("identity.*")])
    const operation = await parked(asker.post("/v1/identities/disable", { identity: " eve " }))
    assert.deepStrictEqual(operation.request, undefined)
    assert.deepStrictEqual((await asker.get("/v1/identities")).body.identities, [])
    const done = await decided(decider, "approve", operation)
    assert.deepStrictEqual([done.state, done.result.status], ["completed", 200])
    assert.deepStrictEqual([done.result.body.identity.identity, done.result.body.identity.disabled], ["eve", true])
    assert.strictEqual((await asker.get("/v1/identities")).body.identities[0].disabled, true)
  })

  it("is taken up by some node where the one that approved it has died before the command", async () => {
    const { asker } = await space([rule("identity.*")])
    const operation = await parked(asker.post("/v1/identities/disable", { identity: "eve" }))
    await change(
      server,
      (id) =>
        sql`update operations set state = 'approved', resolved_at = now() - interval '11 seconds' where id = ${id}`,
      operation
    )
    const seen = (await asker.get(`/v1/operations/${operation.id}?waitSeconds=15`)).body.operation
    assert.deepStrictEqual([seen.state, seen.result.body.identity.disabled], ["completed", true])
  })

  it("does not wait for those that only a later version can carry out", async () => {
    const { asker } = await space([rule("identity.*")])
    const operation = await parked(asker.post("/v1/identities/disable", { identity: "eve" }))
    await change(
      server,
      (id) => sql`insert into operations (workspace, id, action, state, requested_by, created_at, expires_at,
          resolved_at, request, requester, fingerprint)
        select workspace, gen_random_uuid(), 'feed.burn', 'approved', requested_by, created_at, expires_at,
          now() - interval '1 minute', request, requester, fingerprint || i
        from operations, generate_series(1, 50) i where id = ${id}`,
      operation
    )
    await change(
      server,
      (id) =>
        sql`update operations set state = 'approved', resolved_at = now() - interval '11 seconds' where id = ${id}`,
      operation
    )
    const seen = (await asker.get(`/v1/operations/${operation.id}?waitSeconds=15`)).body.operation
    assert.strictEqual(seen.state, "completed")
    await change(server, () => sql`delete from operations where action = 'feed.burn'`, operation)
  }, 20_000)

  it("may be a read, where a rule names it: `*` does not mean it", async () => {
    const { admin, agentId, asker, decider } = await space([rule("*", "agent.*")])
    const threadId = await makeThread(asker, agentId)
    assert.strictEqual((await asker.get(`/v1/threads/${threadId}`)).status, 200)
    assert.strictEqual((await asker.get(`/v1/agents/${agentId}`)).status, 200)
    await admin.put(policy, { rules: [rule("thread.read", "agent.read")] })
    const ofThread = await parked(asker.get(`/v1/threads/${threadId}`))
    const ofAgent = await parked(asker.get(`/v1/agents/${agentId}`))
    assert.deepStrictEqual([ofThread.action, ofAgent.action, ofAgent.agentId], ["thread.read", "agent.read", agentId])
    const done = await decided(decider, "approve", ofThread)
    assert.deepStrictEqual([done.state, done.result.status, done.result.body.thread.id], ["completed", 200, threadId])
    assert.strictEqual((await decided(decider, "approve", ofAgent)).result.body.agent.id, agentId)
  })

  it("may be a read of one agent's threads: those of others are answered", async () => {
    const { admin, agentId, asker } = await space([])
    const [own, other] = [await makeThread(admin, agentId), await makeThread(admin, await makeAgent(admin))]
    await admin.put(policy, { rules: [{ ...rule("thread.read"), agentIds: [agentId] }] })
    assert.strictEqual((await parked(asker.get(`/v1/threads/${own}`))).agentId, agentId)
    assert.strictEqual((await asker.get(`/v1/threads/${other}`)).status, 200)
  })

  it("may be an agent's own: where a rule names what a tool does, the tool returns the operation, and the turn goes on", async () => {
    const { admin, decider } = await space([{ ...rule("agent.read"), principals: ["agent"] }])
    const agentId = await makeWorker(admin, { families: ["agents"] })
    const log = await turnOf(
      admin,
      agentId,
      call("tool_search", { query: "agents" }),
      "/then",
      call("agents.get", { agentId })
    )
    const [, output] = outcomes(log) as ReadonlyArray<any>
    assert.deepStrictEqual(
      [output.operation.action, output.operation.state, output.operation.agentId],
      ["agent.read", "pending", agentId]
    )
    assert.strictEqual(log.at(-1)?.type, "turn_completed")
    const done = await decided(decider, "approve", output.operation)
    assert.deepStrictEqual([done.state, done.result.body.agent.id], ["completed", agentId])
    assert.deepStrictEqual((await admin.get(`/v1/operations/${done.id}`)).body.operation.requestedBy, {
      type: "agent",
      id: agentId
    })
  })

  it("is one of at most 1,000 that wait in a workspace", async () => {
    const { asker, id, profileId } = await space([rule("agent.create")])
    const first = await parked(asker.post("/v1/agents", { name: "0", profileId }))
    await change(
      server,
      (op) => sql`insert into operations (workspace, id, action, state, requested_by, created_at, expires_at, request,
          requester, fingerprint)
        select workspace, gen_random_uuid(), action, state, requested_by, created_at, expires_at, request, requester,
          fingerprint || i from operations, generate_series(1, 998) i where id = ${op}`,
      first
    )
    await parked(asker.post("/v1/agents", { name: "1", profileId }))
    const refused = await asker.post("/v1/agents", { name: "2", profileId })
    assertRefused(refused, 429, "queue_full")
    assert.isString(refused.headers.get("retry-after"))
    // The same one is no more than there was, and other workspaces have their own.
    assert.strictEqual((await parked(asker.post("/v1/agents", { name: "0", profileId }))).id, first.id)
    assert.isString(id)
  })

  it("takes two statements to park, and two to approve, beside the action's own", async () => {
    const { agentId, asker, decider } = await space([rule("agent.*", "identity.*")])
    const counted = async <A>(work: () => Promise<A>) => {
      const before = server.database.counts.api
      const result = await work()
      return [result, server.database.counts.api - before] as const
    }
    // What the server does now and then by itself is counted too: the least is what it takes.
    const least = { park: Infinity, command: Infinity, approve: Infinity }
    for (let i = 0; i < 4; i++) {
      const [operation, parking] = await counted(() => parked(asker.patch(`/v1/agents/${agentId}`, { name: `C${i}` })))
      const [, approving] = await counted(() => decided(decider, "approve", operation))
      const [, command] = await counted(() => parked(asker.post("/v1/identities/disable", { identity: `eve${i}` })))
      least.park = Math.min(least.park, parking)
      least.approve = Math.min(least.approve, approving)
      least.command = Math.min(least.command, command)
    }
    // The bar of four counts what parking and approving add. To begin and to end a transaction counts here as well; a
    // change is read and written, and tried in one of its own: within the other, behind a savepoint, it would be as many.
    assert.deepStrictEqual(least, { command: 2 + 2, park: 2 + 2 + 4, approve: 2 + 2 + 2 })
  })

  it("is told of on the streams of the workspace and of its agent", async () => {
    const { agentId, asker, decider } = await space([rule("agent.update")])
    const watchers = await Promise.all(
      ["/v1/events/stream", `/v1/agents/${agentId}/events/stream`].map((path) =>
        Watcher.open(server.base, path, asker.token!)
      )
    )
    for (const watcher of watchers) await watcher.until(({ frames }) => frames.length === 1)
    const { id: operationId } = await parked(asker.patch(`/v1/agents/${agentId}`, { name: "B" }))
    await decided(decider, "approve", { id: operationId })
    for (const watcher of watchers) {
      await watcher.until(({ frames }) => frames.some(({ data }) => data.state === "completed"))
      assert.deepStrictEqual(
        watcher.events("operation").map(({ data }) => data),
        ["pending", "completed"].map((state) => ({ operationId, action: "agent.update", state, agentId }))
      )
      watcher.close()
    }
  })
})
