/** A workspace that has something on every page of the console's setup. */
import { ended, logOf, makeAgent, makeThread, submit } from "../http/threadFixture.ts"
import type { Client } from "../setup/server.ts"

export const configure = async (alpha: Client, webhookUrl = "https://receiver.example/hook") => {
  const agentId = await makeAgent(alpha)
  const profileId: string = (await alpha.get(`/v1/agents/${agentId}`)).body.agent.profileId
  const role = await alpha.post("/v1/roles", { name: "asks", allow: [{ tools: "thread.*", approval: "required" }] })
  const roleId: string = role.body.role.id
  const toolset = await alpha.post("/v1/toolsets", {
    kind: "client",
    namespace: "shop",
    tools: [{ name: "order", description: "Orders things", inputSchema: { type: "object" } }]
  })
  const toolsetId: string = toolset.body.toolset.id
  const schedule = await alpha.post(`/v1/agents/${agentId}/schedules`, {
    name: "daily",
    trigger: { type: "cron", expression: "0 9 * * *", timezone: "UTC" },
    target: { mode: "spawn" },
    message: { content: [{ type: "text", text: "good morning" }] }
  })
  const scheduleId: string = schedule.body.schedule.id
  const feed = await alpha.post("/v1/feeds", { name: "news" })
  const feedId: string = feed.body.feed.id
  await alpha.post(`/v1/feeds/${feedId}/messages`, {
    messages: Array.from({ length: 60 }, (_, index) => ({ text: `message ${index + 1}.` }))
  })
  const subscription = await alpha.post(`/v1/agents/${agentId}/subscriptions`, { feedId, name: "reads news" })
  const subscriptionId: string = subscription.body.id
  const webhook = await alpha.post("/v1/webhooks", { url: webhookUrl, events: ["webhook.test"] })
  const webhookId: string = webhook.body.webhook.id
  const threadId = await makeThread(alpha, agentId)
  await submit(alpha, threadId, "hello")
  await logOf(alpha, threadId, ended(1))
  await alpha.post("/v1/identities/enable", { identity: "ada" })
  await alpha.post("/v1/connections", {
    provider: "example",
    name: "Example",
    baseUrl: "https://api.example.com",
    secret: { apiKey: "never-to-be-seen-1234" }
  })
  return { agentId, feedId, profileId, roleId, scheduleId, subscriptionId, toolsetId, webhookId }
}
