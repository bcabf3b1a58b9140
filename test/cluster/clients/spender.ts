/**
 * Agents whose budget is for a few calls, asked by many threads at once on all nodes.
 *
 * J11. What an agent has spent is within its limit, but for what one lone call costs beyond it.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { field } from "../../../src/cli/client.ts"
import { fromUuid, toUuid } from "../../../src/domain/ids.ts"
import type { Cluster } from "../Cluster.ts"
import type { History } from "../History.ts"
import type { Office } from "./office.ts"

/** What a call sets aside is what it costs: 8,192 tokens of output at two dollars a million, and its prompt. */
const script = "/usage 40 8192\n/wait 300ms"
const callCost = (40 + 8_192 * 2) / 1e6
const limit = callCost * 3.5
const threads = 8

const status = (body: unknown) => field(body, "status")

export const spend = async ({ create, history, working, ...office }: Office) => {
  const caller = office.caller()
  const profileId = await create(
    caller,
    "/v1/profiles",
    { name: "paid", models: ["troupe/scripted-paid"] },
    "profile",
    "id"
  )
  while (working()) {
    const body = { name: "spender", profileId, budget: { limit, window: "total" } }
    const agentId = await create(caller, "/v1/agents", body, "agent", "id")
    history.budgets.set(agentId, limit)
    const begun = await Promise.all(
      Array.from({ length: threads }, () =>
        caller.ask(
          "POST",
          "/v1/threads",
          { agentId, message: { content: [{ type: "text", text: script }] } },
          { key: office.next() }
        )
      )
    )
    for (const answer of begun) {
      if (answer?.status !== 201) continue
      const path = `/v1/threads/${field(answer.body, "thread", "id")}`
      for (let running = true; running && working(); await sleep(300)) {
        const seen = await caller.ask("GET", path)
        running = seen === undefined || status(seen.body) === "running"
      }
    }
    await sleep(caller.random() * 2 * office.roundMs)
  }
}

export const overspent = async ({ pool }: Cluster, { budgets }: History): Promise<ReadonlyArray<string>> => {
  const { rows } = await pool.query<{ agent: string; spent: number }>(
    "select subject as agent, sum(amount) as spent from spent where subject = any($1::uuid[]) group by subject",
    [[...budgets.keys()].map(toUuid)]
  )
  return rows.flatMap(({ agent, spent }) => {
    const agentId = fromUuid("agent", agent)
    const most = (budgets.get(agentId) ?? 0) + callCost
    return spent > most + 1e-9 ? [`J11: ${agentId} may spend ${limit}, and has spent ${spent}`] : []
  })
}
