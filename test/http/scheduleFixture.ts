/** Schedules as tests make them, and what becomes of their runs. */
import { assert } from "@effect/vitest"
import { sharing, startServer } from "../setup/server.ts"
import { until } from "../waiting.ts"
import { makeAgent, text } from "./threadFixture.ts"

/** The worker's server whose actors leave memory soon: what is due has to bring them back. */
const scheduleServer = sharing(() => startServer({ idleMs: 100 }))

export const soon = (ms = 300) => new Date(Date.now() + ms).toISOString()
export const cron = { type: "cron", expression: "0 9 * * 1-5", timezone: "Europe/Berlin" }
export const input = (more: object = {}) => ({
  name: "Morning report",
  trigger: cron,
  target: { mode: "spawn" },
  message: { content: text("Report.") },
  ...more
})

/** What a file's tests stand on: the worker's server, and an agent. */
export const scheduleStand = async () => {
  const server = await scheduleServer()
  const { alpha } = server
  const agentId = await makeAgent(alpha)
  const schedules = (agent = agentId) => `/v1/agents/${agent}/schedules`
  const make = async (more: object = {}, agent = agentId, client = server.alpha) => {
    const answer = await client.post(schedules(agent), input(more))
    assert.strictEqual(answer.status, 201, answer.text)
    return answer.body.schedule
  }
  const pathOf = ({ agentId, id }: { readonly agentId: string; readonly id: string }) => `${schedules(agentId)}/${id}`
  const get = async (schedule: { readonly agentId: string; readonly id: string }) => {
    const answer = await server.alpha.get(pathOf(schedule))
    assert.strictEqual(answer.status, 200, answer.text)
    return answer.body.schedule
  }
  const runsOf = async (schedule: { readonly agentId: string; readonly id: string }) =>
    (await server.alpha.get(`${pathOf(schedule)}/runs`)).body.runs
  const settled = (schedule: { readonly agentId: string; readonly id: string }, count: number) =>
    until(`${count} runs have begun or failed`, async () => {
      const runs = await runsOf(schedule)
      return runs.length >= count && runs.every(({ status }: { status: string }) => status !== "starting") && runs
    })
  const run = async (schedule: { readonly agentId: string; readonly id: string }) => {
    const answer = await server.alpha.post(`${pathOf(schedule)}/run`)
    assert.strictEqual(answer.status, 201, answer.text)
    return answer.body.run
  }
  return { agentId, alpha, get, make, pathOf, run, runsOf, schedules, server, settled }
}
