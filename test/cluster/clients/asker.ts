/**
 * Requests that the policy parks, by keys of people; somebody approves, denies, or approves twice at once on two nodes,
 * and sometimes the key is revoked before that.
 *
 * O1. What was approved is carried out once; what was not, never.
 * O2. What was asked by a key that has been revoked meanwhile is not carried out.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { field } from "../../../src/cli/client.ts"
import { fromUuid } from "../../../src/domain/ids.ts"
import type { Cluster } from "../Cluster.ts"
import type { History } from "../History.ts"
import type { Office } from "./office.ts"

export const askApproval = async ({ create, history, working, ...office }: Office) => {
  const caller = office.caller()
  const { random } = caller
  const rules = [{ actions: ["agent.create"], principals: ["user"], require: true }]
  await caller.ask("PUT", "/v1/approval-policy", { rules })
  const profileId = await create(
    caller,
    "/v1/profiles",
    { name: "asked", models: ["troupe/scripted"] },
    "profile",
    "id"
  )
  while (working()) {
    const made = await caller.ask(
      "POST",
      "/v1/auth/keys",
      { name: "asker", kind: "user", scopes: ["read", "write"] },
      { key: office.next() }
    )
    const token = field(made?.body, "token")
    if (token === "") continue
    const name = `asked ${office.name} ${office.next()}`
    const asked = await office.caller(token).ask("POST", "/v1/agents", { name, profileId }, { key: office.next() })
    // A node of an earlier version does not park, or refuses to decide.
    if (asked?.status !== 202) continue
    const operationId = field(asked.body, "operation", "id")
    const path = `/v1/operations/${operationId}`
    const dice = random()
    const revoked = dice < 0.25
    if (revoked) {
      const gone = await caller.ask("DELETE", `/v1/auth/keys/${field(made?.body, "key", "id")}`)
      if (gone?.status !== 204) continue
      // Every node knows it by then.
      await sleep(2_500)
    }
    const approve = () => caller.ask("POST", `${path}/approve`, {})
    if (dice < 0.7) await Promise.all([approve(), approve()])
    else if (dice < 0.85) await caller.ask("POST", `${path}/deny`, {})
    history.operations.set(operationId, { name, revoked })
    await sleep(random() * 500 + random() * 2 * office.roundMs)
  }
}

interface OperationRow {
  readonly id: string
  readonly state: string
}

export const wronglyDone = async ({ pool }: Cluster, { operations }: History): Promise<ReadonlyArray<string>> => {
  const { rows } = await pool.query<OperationRow>("select id, state from operations where action = 'agent.create'")
  const states = new Map<string, string>(rows.map(({ id, state }) => [fromUuid("operation", id), state] as const))
  const { rows: made } = await pool.query<{ name: string; times: number }>(
    "select body ->> 'name' as name, count(*)::int as times from agents where body ->> 'name' like 'asked %' group by 1"
  )
  const times = new Map(made.map(({ name, times }) => [name, times]))
  return [...operations].flatMap(([id, { name, revoked }]) => {
    const done = times.get(name) ?? 0
    const state = states.get(id)
    if (state === "approved") return [`O1: ${id} is approved at rest, and not carried out`]
    if (revoked && done > 0) return [`O2: ${id} was carried out for a key that had been revoked`]
    return done === (state === "completed" ? 1 : 0) ? [] : [`O1: ${id} is ${state}, and was carried out ${done} times`]
  })
}
