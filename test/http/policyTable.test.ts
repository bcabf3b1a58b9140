/**
 * The table of the approval policy as requests meet it: what runs and what parks, whoever asks - keys of programs and of
 * people, a trigger, a lease, a built-in tool - and whatever a rule says.
 */
import { assert, describe, it } from "@effect/vitest"
import { operationActions } from "../../src/operations/operation.ts"
import { Client, sharedServer } from "../setup/server.ts"
import { makeFamilyUsers } from "./ofAgentsFixture.ts"
import { text } from "./threadFixture.ts"
import { call, fresh } from "./toolFixture.ts"

const server = await sharedServer()
const families = ["memory", "thread", "agents", "feeds", "schedules", "subscriptions"]
const { leased, useBy } = makeFamilyUsers(server, ...families)

type Asker = "api_key" | "user" | "trigger" | "a lease" | "a built-in tool"
type Rule = "no rule" | "a rule for all changes" | "a rule for reads" | "a rule that lets all run"
/** What the contract says of an action. */
type Kind = "read" | "let already" | "mutation" | "identity"

const kinds: Readonly<Record<string, Kind>> = {
  "agent.read": "read",
  "thread.read": "read",
  "subscription.read": "read",
  "memory.put": "let already",
  "memory.delete": "let already",
  "feed.append": "let already",
  "schedule.run": "let already",
  "agent.create": "mutation",
  "agent.update": "mutation",
  "agent.archive": "mutation",
  "feed.create": "mutation",
  "feed.update": "mutation",
  "feed.archive": "mutation",
  "schedule.create": "mutation",
  "schedule.update": "mutation",
  "schedule.delete": "mutation",
  "subscription.create": "mutation",
  "subscription.update": "mutation",
  "subscription.delete": "mutation",
  "identity.disable": "identity",
  "identity.enable": "identity"
}

const parks = (asker: Asker, rule: Rule, action: string) => {
  const kind = kinds[action] ?? assert.fail(action)
  const isAgents = asker === "a lease" || asker === "a built-in tool"
  if (isAgents && kind === "identity") return true
  switch (rule) {
    case "no rule":
      return isAgents && kind === "mutation"
    case "a rule for all changes":
      return kind !== "read"
    case "a rule for reads":
      return kind === "read" || (isAgents && kind === "mutation")
    case "a rule that lets all run":
      return false
  }
}

const everybody = ["user", "api_key", "agent", "trigger"]
const reads = ["agent.read", "thread.read", "subscription.read"]
const rules: Readonly<Record<Rule, ReadonlyArray<object>>> = {
  "no rule": [],
  "a rule for all changes": [{ actions: ["*"], principals: everybody, require: true }],
  "a rule for reads": [{ actions: reads, principals: everybody, require: true }],
  "a rule that lets all run": [{ actions: ["*", ...reads], principals: everybody, require: false }]
}

const schedule = (name: string) => ({
  name,
  trigger: { type: "interval", seconds: 86_400 },
  target: { mode: "spawn" },
  message: { content: text("S") }
})

/** A workspace with an agent whose turn waits, its lease, and one of everything that requests are about. */
const furnished = async (rule: Rule) => {
  const workspace = await server.workspace(fresh("table"))
  const admin = await server.client(workspace)
  const grants = [{ tools: "*" }]
  const { agentId, lease, threadId } = await leased({ memory: { workspace: "rw" } }, grants, {
    client: admin,
    workspace
  })
  const made = async (path: string, body: object) => {
    const answer = await admin.post(path, body)
    assert.strictEqual(answer.status, 201, answer.text)
    return answer.body
  }
  const { profileId } = (await admin.get(`/v1/agents/${agentId}`)).body.agent
  const feedId: string = (await made("/v1/feeds", { name: fresh("feed") })).feed.id
  const otherFeedId: string = (await made("/v1/feeds", { name: fresh("feed") })).feed.id
  const scheduleId: string = (await made(`/v1/agents/${agentId}/schedules`, schedule("S"))).schedule.id
  const subscriptionId: string = (await made(`/v1/agents/${agentId}/subscriptions`, { feedId, condition: "false" })).id
  const otherAgentId: string = (await made("/v1/agents", { name: "Other", profileId })).agent.id
  const key = async (fields: object) =>
    new Client(server.base, (await made("/v1/auth/keys", { name: "K", ...fields })).token)
  const everything = ["read", "run", "write", "admin", "approve"]
  const clients = {
    api_key: await key({ scopes: everything }),
    user: await key({ kind: "user", scopes: everything }),
    trigger: await key({
      kind: "trigger",
      provider: "slack",
      agentIds: [agentId],
      feedIds: [feedId],
      scopes: ["read", "run"]
    }),
    "a lease": lease
  }
  assert.strictEqual((await admin.put("/v1/approval-policy", { rules: rules[rule] })).status, 200)
  return { admin, agentId, clients, feedId, otherAgentId, otherFeedId, profileId, scheduleId, subscriptionId, threadId }
}
type Furnished = Awaited<ReturnType<typeof furnished>>

/** A request for each action, in an order in which the one before leaves what the next is about. */
const requestsOf = (
  of: Furnished
): ReadonlyArray<readonly [string, (client: Client) => ReturnType<Client["send"]>]> => {
  const { agentId, feedId, otherAgentId, otherFeedId, profileId, scheduleId, subscriptionId, threadId } = of
  const schedules = `/v1/agents/${agentId}/schedules`
  const memory = `/v1/agents/${agentId}/memory/entry?key=k`
  return [
    ["agent.read", (client) => client.get(`/v1/agents/${agentId}`)],
    ["thread.read", (client) => client.get(`/v1/threads/${threadId}`)],
    ["subscription.read", (client) => client.get(`/v1/subscriptions/${subscriptionId}`)],
    ["memory.put", (client) => client.put(memory, { value: "v" })],
    ["memory.delete", (client) => client.delete(memory)],
    ["feed.append", (client) => client.post(`/v1/feeds/${feedId}/messages`, { messages: [{ text: "m" }] })],
    ["schedule.run", (client) => client.post(`${schedules}/${scheduleId}/run`)],
    ["schedule.create", (client) => client.post(schedules, schedule("T"))],
    ["schedule.update", (client) => client.patch(`${schedules}/${scheduleId}`, { name: "U" })],
    ["schedule.delete", (client) => client.delete(`${schedules}/${scheduleId}`)],
    ["subscription.update", (client) => client.patch(`/v1/subscriptions/${subscriptionId}`, { name: "U" })],
    ["subscription.delete", (client) => client.delete(`/v1/subscriptions/${subscriptionId}`)],
    ["subscription.create", (client) => client.post(`/v1/agents/${agentId}/subscriptions`, { feedId })],
    ["agent.create", (client) => client.post("/v1/agents", { name: "New", profileId })],
    ["agent.update", (client) => client.patch(`/v1/agents/${otherAgentId}`, { name: "U" })],
    ["agent.archive", (client) => client.delete(`/v1/agents/${otherAgentId}`)],
    ["feed.create", (client) => client.post("/v1/feeds", { name: fresh("feed") })],
    ["feed.update", (client) => client.patch(`/v1/feeds/${otherFeedId}`, { tags: ["a"] })],
    ["feed.archive", (client) => client.post(`/v1/feeds/${otherFeedId}/archive`)],
    ["identity.disable", (client) => client.post("/v1/identities/disable", { identity: "ann@example.com" })],
    ["identity.enable", (client) => client.post("/v1/identities/enable", { identity: "ann@example.com" })]
  ]
}

/** What each kind of credential reaches at all. */
const reached: Readonly<Record<Exclude<Asker, "a built-in tool">, (action: string) => boolean>> = {
  api_key: () => true,
  user: () => true,
  trigger: (action) => action === "thread.read" || action === "feed.append",
  "a lease": (action) => !/^(?:agent\.(?:create|update|archive)|feed\.(?:create|update|archive))$/.test(action)
}

const askers: ReadonlyArray<Exclude<Asker, "a built-in tool">> = ["api_key", "user", "trigger", "a lease"]
const all = Object.keys(rules) as ReadonlyArray<Rule>
const cells = askers.flatMap((asker) => all.map((rule) => [asker, rule] as const))

describe("the table of what runs and what parks", () => {
  it("has every action", () => assert.sameMembers(Object.keys(kinds), [...operationActions]))

  it.each(cells)("holds of requests of %s under %s", async (asker, rule) => {
    const of = await furnished(rule)
    const client = of.clients[asker]
    for (const [action, ask] of requestsOf(of)) {
      const answer = await ask(client)
      const what = `${action}: ${answer.status} ${answer.text}`
      if (!reached[asker](action)) {
        assert.strictEqual(answer.status, 403, what)
        continue
      }
      const isParked = parks(asker, rule, action)
      assert.strictEqual(answer.status === 202, isParked, what)
      if (isParked) {
        assert.deepInclude(answer.body.operation, { action, state: "pending" })
        assert.strictEqual(answer.headers.get("location"), `/v1/operations/${answer.body.operation.id}`)
        assert.strictEqual(answer.headers.get("retry-after"), "2")
      } else assert.isBelow(answer.status, 300, what)
    }
  })

  it.each(all)("holds of built-in tools under %s", async (rule) => {
    const { admin, agentId, feedId, scheduleId, subscriptionId } = await furnished(rule)
    const calls: ReadonlyArray<readonly [action: string, line: string]> = [
      ["agent.read", call("agents.get", { agentId })],
      ["thread.read", call("thread.get")],
      ["subscription.read", call("subscriptions.get", { subscriptionId })],
      ["memory.put", call("memory.put", { key: "k", value: "v" })],
      ["memory.delete", call("memory.delete", { key: "k" })],
      ["feed.append", call("feeds.append", { feedId, messages: [{ text: "m" }] })],
      ["schedule.run", call("schedules.run", { scheduleId })],
      ["schedule.create", call("schedules.create", schedule("T"))],
      ["schedule.update", call("schedules.update", { scheduleId, name: "U" })],
      ["schedule.delete", call("schedules.delete", { scheduleId })],
      ["subscription.update", call("subscriptions.update", { subscriptionId, name: "U" })],
      ["subscription.delete", call("subscriptions.delete", { subscriptionId })],
      ["subscription.create", call("subscriptions.create", { feedId, condition: "false" })]
    ]
    const outputs = await useBy(admin, agentId, ...calls.map(([, line]) => line))
    assert.lengthOf(outputs, calls.length)
    for (const [i, [action]] of calls.entries()) {
      const { operation } = outputs[i]
      const what = `${action}: ${JSON.stringify(outputs[i])}`
      if (parks("a built-in tool", rule, action)) assert.deepInclude(operation, { action, state: "pending" }, what)
      else assert.isTrue(typeof outputs[i] === "object" && operation === undefined, what)
    }
  })
})
