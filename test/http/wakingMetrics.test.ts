/** What `/metrics` tells of what wakes agents, and of what is told of them. */
import { assert, describe, it } from "@effect/vitest"
import { json, startHookServer } from "../hooks/hookServer.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { makeAgent, text } from "./threadFixture.ts"
import { fresh } from "./toolFixture.ts"

const hooks = await during(startHookServer())
const server = await during(startServer())

const metric = async (line: RegExp) => {
  const [, value] = line.exec((await server.anonymous.get("/metrics")).text) ?? []
  return value === undefined ? 0 : Number(value)
}
/** Until it has grown beyond what it was: metrics are the process's, and other files' servers counted there too. */
const grows = (line: RegExp, before: number) => eventually(async () => (await metric(line)) > before, String(line))

describe("the metrics", () => {
  it("count the runs of schedules, and how late they begin; those by hand are not late", async () => {
    const agentId = await makeAgent(server.alpha)
    const schedule = async (at: number) => {
      const made = await server.alpha.post(`/v1/agents/${agentId}/schedules`, {
        name: "S",
        trigger: { type: "once", at: new Date(at).toISOString() },
        target: { mode: "spawn" },
        message: { content: text("go") }
      })
      assert.strictEqual(made.status, 201, made.text)
      return made.body.schedule.id as string
    }
    const started = /^troupe_schedule_runs_total\{status="started"\} (\d+)/m
    const begun = /^troupe_schedule_lag_seconds_count (\d+)/m
    const lag = /^troupe_schedule_lag_seconds_sum ([\d.e-]+)/m
    const before = { started: await metric(started), begun: await metric(begun), lag: await metric(lag) }
    const id = await schedule(Date.now() + 86_400_000)
    assert.strictEqual((await server.alpha.post(`/v1/agents/${agentId}/schedules/${id}/run`)).status, 201)
    await grows(started, before.started)
    assert.strictEqual(await metric(begun), before.begun)
    await schedule(Date.now() + 300)
    await grows(begun, before.begun)
    assert.isBelow((await metric(lag)) - before.lag, 5)
  })

  it("count what subscriptions make of messages", async () => {
    const agentId = await makeAgent(server.alpha)
    const feed = await server.alpha.post("/v1/feeds", { name: fresh("news") })
    const path = `/v1/feeds/${feed.body.feed.id}/messages`
    const escalated = /^troupe_subscription_evaluations_total\{outcome="escalated"\} (\d+)/m
    const before = await metric(escalated)
    await server.alpha.post(`/v1/agents/${agentId}/subscriptions`, { feedId: feed.body.feed.id })
    await server.alpha.post(path, { messages: [{ text: "news" }] })
    await grows(escalated, before)
  })

  it("count attempts of webhooks by what came of them", async () => {
    hooks.answers(json({}, 500), json({}, 204))
    const made = await server.alpha.post("/v1/webhooks", { url: hooks.url, events: ["webhook.test"] })
    for (const outcome of ["failed", "delivered"]) {
      const attempts = new RegExp(`^troupe_webhook_attempts_total\\{outcome="${outcome}"\\} (\\d+)`, "m")
      const before = await metric(attempts)
      await server.alpha.post(`/v1/webhooks/${made.body.webhook.id}/test`)
      await grows(attempts, before)
    }
  })
})
