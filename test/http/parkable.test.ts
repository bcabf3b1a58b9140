/** What a policy may park, action by action; and what no rule makes wait. */
import { assert, describe, it } from "@effect/vitest"
import { limits } from "../../src/domain/limits.ts"
import { operationActions, type OperationAction } from "../../src/operations/operation.ts"
import { actionSelectors } from "../../src/operations/policy.ts"
import { during } from "../setup/during.ts"
import { type Client, startServer } from "../setup/server.ts"
import { furnish } from "./everything.ts"
import { text } from "./threadFixture.ts"

const server = await during(startServer())
const client = await server.client(await server.workspace("parkable"))
const ids = await furnish(client)
const rules = [{ actions: actionSelectors, principals: ["api_key"], require: true }]
const put = await client.put("/v1/approval-policy", { rules })
assert.strictEqual(put.status, 200, put.text)

type Answer = ReturnType<Client["send"]>
const schedule = {
  name: "S",
  trigger: { type: "interval", seconds: 86_400 },
  target: { mode: "spawn" },
  message: { content: text("S") }
}
/** A request for each. */
const requests: Readonly<Record<OperationAction, () => Answer>> = {
  "agent.read": () => client.get(`/v1/agents/${ids.agentId}`),
  "agent.create": () => client.post("/v1/agents", { name: "A", profileId: ids.profileId }),
  "agent.update": () => client.patch(`/v1/agents/${ids.agentId}`, { name: "B" }),
  "agent.archive": () => client.delete(`/v1/agents/${ids.agentId}`),
  "thread.read": () => client.get(`/v1/threads/${ids.threadId}`),
  "identity.disable": () => client.post("/v1/identities/disable", { identity: "ann" }),
  "identity.enable": () => client.post("/v1/identities/enable", { identity: "ann" }),
  "memory.put": () => client.put("/v1/memory/entry?key=k", { value: "w" }),
  "memory.delete": () => client.delete("/v1/memory/entry?key=k"),
  "feed.create": () => client.post("/v1/feeds", { name: "another" }),
  "feed.update": () => client.patch(`/v1/feeds/${ids.feedId}`, { tags: ["a"] }),
  "feed.archive": () => client.post(`/v1/feeds/${ids.feedId}/archive`),
  "feed.append": () => client.post(`/v1/feeds/${ids.feedId}/messages`, { messages: [{ text: "m" }] }),
  "schedule.create": () => client.post(`/v1/agents/${ids.agentId}/schedules`, schedule),
  "schedule.update": () => client.patch(`/v1/agents/${ids.agentId}/schedules/${ids.scheduleId}`, { name: "T" }),
  "schedule.delete": () => client.delete(`/v1/agents/${ids.agentId}/schedules/${ids.scheduleId}`),
  "schedule.run": () => client.post(`/v1/agents/${ids.agentId}/schedules/${ids.scheduleId}/run`),
  "subscription.read": () => client.get(`/v1/subscriptions/${ids.subscriptionId}`),
  "subscription.create": () => client.post(`/v1/agents/${ids.agentId}/subscriptions`, { feedId: ids.feedId }),
  "subscription.update": () => client.patch(`/v1/subscriptions/${ids.subscriptionId}`, { name: "S" }),
  "subscription.delete": () => client.delete(`/v1/subscriptions/${ids.subscriptionId}`)
}

describe("under a rule for everything", () => {
  it.each(operationActions)("%s parks", async (action) => {
    const { body, headers, status, text } = await requests[action]()
    assert.strictEqual(status, 202, text)
    assert.deepInclude(body.operation, { action, state: "pending" })
    assert.strictEqual(headers.get("location"), `/v1/operations/${body.operation.id}`)
  })

  it.each<[string, number, () => Answer]>([
    [
      "a connection, which has a secret",
      201,
      () =>
        client.post("/v1/connections", {
          provider: "p",
          name: "C",
          secret: { token: "t" },
          allowedHosts: ["tools.example.com"]
        })
    ],
    ["a key, which is one", 201, () => client.post("/v1/auth/keys", { name: "K", scopes: ["read"] })],
    [
      "a thread with a message, which runs",
      201,
      () => client.post("/v1/threads", { agentId: ids.agentId, message: { content: text("hello") } })
    ],
    ["a message", 201, () => client.post(`/v1/threads/${ids.threadId}/messages`, { content: text("hello") })],
    ["a cancel", 200, () => client.post(`/v1/threads/${ids.threadId}/cancel`)]
  ])("%s does not park", async (_, status, send) => {
    const answer = await send()
    assert.strictEqual(answer.status, status, answer.text)
  })

  it("the rule names all that there is to name, in fewer words than a rule may have", () => {
    assert.isBelow(actionSelectors.length, limits.ruleActions)
  })
})
