/** Schedules as agents have them: by their tools, under their leases, and under the approval policy. */
import { assert, describe, it } from "@effect/vitest"
import { AgentLeases } from "../../src/keys/AgentLeases.ts"
import { during } from "../setup/during.ts"
import { Client, startServer } from "../setup/server.ts"
import { ended, type Event, logOf, makeThread, submit, text } from "./threadFixture.ts"

const server = await during(startServer())
const alpha = server.alpha

const input = (more: object = {}) => ({
  name: "Later",
  trigger: { type: "interval", seconds: 3_600 },
  target: { mode: "spawn" },
  message: { content: text("Go on.") },
  ...more
})

const makeWorker = async (profile: object = {}, client = alpha): Promise<string> => {
  const made = await client.post("/v1/profiles", {
    name: "W",
    models: ["troupe/scripted"],
    families: ["schedules"],
    familyExposure: "always",
    ...profile
  })
  assert.strictEqual(made.status, 201, made.text)
  return (await client.post("/v1/agents", { name: "W", profileId: made.body.profile.id })).body.agent.id
}

/** Lets agents make schedules without anybody's word. */
const trust = async (require = false) => {
  const rules = [{ actions: ["schedule.*"], principals: ["agent"], require }]
  assert.strictEqual((await alpha.put("/v1/approval-policy", { rules })).status, 200)
}

/** What the calls of one message have returned. */
const use = async (agentId: string, ...calls: ReadonlyArray<readonly [tool: string, input: object]>) => {
  const threadId = await makeThread(alpha, agentId)
  await submit(
    alpha,
    threadId,
    calls.map(([tool, given]) => `/call ${tool} ${JSON.stringify(given)}`).join("\n/then\n")
  )
  const log = await logOf(alpha, threadId, ended(1))
  return log.filter(({ type }: Event) => type === "tool_result").map((event) => event as any)
}

describe("the family schedules", () => {
  it("makes, lists, changes, runs and deletes the agent's own", async () => {
    await trust()
    const agentId = await makeWorker()
    const [created] = await use(agentId, ["schedules.create", input()])
    const { schedule } = created.toolOutput
    assert.deepInclude(schedule, { agentId, name: "Later", enabled: true })
    assert.deepInclude(schedule.createdBy, { type: "agent", id: agentId })
    assert.strictEqual((await alpha.get(`/v1/agents/${agentId}/schedules/${schedule.id}`)).status, 200)
    const { id: scheduleId } = schedule
    const results = await use(
      agentId,
      ["schedules.list", {}],
      ["schedules.update", { scheduleId, name: "Sooner", trigger: { seconds: 60 } }],
      ["schedules.get", { scheduleId }],
      ["schedules.run", { scheduleId }],
      ["schedules.delete", { scheduleId }],
      ["schedules.get", { scheduleId }]
    )
    const [listed, updated, got, run, deleted, gone] = results
    assert.strictEqual(listed.toolOutput.schedules.length, 1)
    assert.deepInclude(updated.toolOutput.schedule, { name: "Sooner", trigger: { type: "interval", seconds: 60 } })
    assert.strictEqual(got.toolOutput.schedule.name, "Sooner")
    assert.deepInclude(run.toolOutput.run, { scheduleId, by: "manual", status: "starting" })
    assert.deepStrictEqual(deleted.toolOutput, { deleted: true })
    assert.match(gone.failureText, /^not_found: no such schedule/)
  })

  it("says why it does not, in the endpoint's words", async () => {
    await trust()
    const agentId = await makeWorker()
    const foreign = await makeWorker()
    const [other] = await use(foreign, ["schedules.create", input()])
    const results = await use(
      agentId,
      ["schedules.create", input({ trigger: { type: "cron", expression: "0 0 31 4 *", timezone: "UTC" } })],
      ["schedules.create", input({ target: { mode: "thread", threadId: await makeThread(alpha, foreign) } })],
      ["schedules.update", { scheduleId: other.toolOutput.schedule.id, name: "Mine" }],
      ["schedules.create", { name: "no trigger" }]
    )
    assert.deepStrictEqual(
      results.map(({ failureCode, failureText }) => `${failureCode} ${failureText.split(":")[0]}`),
      [
        "tool_error invalid_request",
        "tool_error thread_not_found",
        "tool_error not_found",
        results.at(-1).failureCode + " " + results.at(-1).failureText.split(":")[0]
      ]
    )
    assert.strictEqual(results.at(-1).failureCode, "tool_input_invalid")
  })

  it("takes no identity: a schedule works for whom the turn works for that makes it", async () => {
    await trust()
    const agentId = await makeWorker()
    const [created, ceo] = await use(
      agentId,
      ["schedules.create", input()],
      ["schedules.create", input({ identity: "ceo" })]
    )
    const { id: scheduleId } = created.toolOutput.schedule
    const changes = await use(
      agentId,
      ["schedules.update", { scheduleId, identity: "ceo" }],
      ["schedules.update", { scheduleId, identity: null }]
    )
    for (const { failureCode } of [ceo, ...changes]) assert.strictEqual(failureCode, "tool_input_invalid")
  })

  it("names no model that its profile does not select", async () => {
    await trust()
    const agentId = await makeWorker()
    const [created, other] = await use(
      agentId,
      ["schedules.create", input({ model: "troupe/scripted" })],
      ["schedules.create", input({ model: "troupe/scripted-paid" })]
    )
    const { id: scheduleId } = created.toolOutput.schedule
    const [changed] = await use(agentId, ["schedules.update", { scheduleId, model: "troupe/scripted-paid" }])
    for (const { failureText } of [other, changed]) assert.match(failureText, /^permission_denied: model: /)
  })

  it("parks where the policy wants approval: the turn goes on, and nothing is made before", async () => {
    await trust(true)
    const agentId = await makeWorker()
    const [created] = await use(agentId, ["schedules.create", input()])
    const { operation } = created.toolOutput
    assert.deepInclude(operation, { action: "schedule.create", state: "pending", agentId })
    assert.deepStrictEqual((await alpha.get(`/v1/agents/${agentId}/schedules`)).body.schedules, [])
    const approved = await alpha.post(`/v1/operations/${operation.id}/approve`, {})
    assert.deepInclude(approved.body.operation, { state: "completed" })
    assert.strictEqual(approved.body.operation.result.status, 201)
    assert.strictEqual((await alpha.get(`/v1/agents/${agentId}/schedules`)).body.schedules.length, 1)
    await trust()
  })
})

describe("a lease", () => {
  const lease = async (agentId: string) => {
    const threadId = await makeThread(alpha, agentId)
    const { turnId } = await submit(alpha, threadId, "/wait 600s\nbusy")
    const { token } = await server.runtime.runPromise(
      AgentLeases.useSync((leases) =>
        leases.give({ workspace: server.workspaces.alpha, agentId, threadId, turnId, hops: 0 })
      )
    )
    return new Client(server.base, token)
  }

  it("may do with its own agent's schedules what the agent's tools may, and nothing with others'", async () => {
    await trust()
    const agentId = await makeWorker()
    const other = await makeWorker()
    const agent = await lease(agentId)
    const made = await agent.post(`/v1/agents/${agentId}/schedules`, input())
    assert.strictEqual(made.status, 201, made.text)
    assert.deepInclude(made.body.schedule.createdBy, { type: "agent", id: agentId })
    const path = `/v1/agents/${agentId}/schedules/${made.body.schedule.id}`
    assert.strictEqual((await agent.get(`/v1/agents/${agentId}/schedules`)).body.schedules.length, 1)
    assert.strictEqual((await agent.patch(path, { name: "New" })).status, 200)
    for (const foreign of [
      await agent.patch(path, { identity: "ceo" }),
      await agent.post(`/v1/agents/${agentId}/schedules`, input({ identity: "ceo" }))
    ])
      assert.deepStrictEqual([foreign.status, foreign.body.code], [403, "foreign_identity"])
    for (const foreign of [
      await agent.patch(path, { model: "troupe/scripted-paid" }),
      await agent.post(`/v1/agents/${agentId}/schedules`, input({ model: "troupe/scripted-paid" }))
    ])
      assert.deepStrictEqual([foreign.status, foreign.body.code], [403, "model_not_in_profile"])
    assert.strictEqual((await agent.patch(path, { model: "troupe/scripted" })).status, 200)
    assert.strictEqual((await agent.post(`${path}/run`)).status, 201)
    assert.strictEqual((await agent.get(`${path}/runs`)).status, 200)
    assert.strictEqual((await agent.delete(path)).status, 204)
    assert.strictEqual((await agent.get(`/v1/agents/${other}/schedules`)).status, 404)
    assert.strictEqual((await agent.post(`/v1/agents/${other}/schedules`, input())).status, 404)
  })

  it("may nothing without the family, reads nothing that a grant wants approved, and parks what it writes so", async () => {
    await trust()
    const without = await makeWorker({ families: ["thread"] })
    const plain = await lease(without)
    for (const answer of [
      await plain.get(`/v1/agents/${without}/schedules`),
      await plain.post(`/v1/agents/${without}/schedules`, input())
    ])
      assert.deepStrictEqual([answer.status, answer.body.error], [403, "permission_denied"])
    const role = await alpha.post("/v1/roles", {
      name: "asks",
      allow: [{ tools: "schedules.*", approval: "required" }]
    })
    const asking = await makeWorker({ roleIds: [role.body.role.id] })
    const agent = await lease(asking)
    assert.strictEqual((await agent.get(`/v1/agents/${asking}/schedules`)).status, 403)
    const parked = await agent.post(`/v1/agents/${asking}/schedules`, input())
    assert.strictEqual(parked.status, 202, parked.text)
    assert.strictEqual(parked.body.operation.action, "schedule.create")
  })
})
