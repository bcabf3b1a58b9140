/** A key whose identity is disabled on one node is refused by all within five seconds (R1). */
import { setTimeout as sleep } from "node:timers/promises"
import { field } from "../../../src/cli/client.ts"
import type { Office } from "./office.ts"

export const leave = async ({ cluster, history, name, next, ...office }: Office) => {
  const admin = office.caller()
  const identity = `leaver-${name}`
  const made = await admin.ask("POST", "/v1/auth/keys", { name: "leaver", scopes: ["read"], identity }, { key: next() })
  const key = field(made?.body, "token")
  if (key === "") throw new Error(`no key: ${made?.status} ${made?.text}`)
  const leaver = office.caller(key)
  for (const node of cluster.nodes)
    if (node.up) await leaver.ask("GET", "/v1/agents?limit=1", undefined, { node, patience: 2_000 })
  const disabled = await admin.ask("POST", "/v1/identities/disable", { identity }, { key: next() })
  if (disabled?.status !== 200) return
  await sleep(5_000)
  for (const node of cluster.nodes) {
    if (!node.up) continue
    const answer = await leaver.ask("GET", "/v1/agents?limit=1", undefined, { node, patience: 2_000 })
    if (answer === undefined) continue
    if (answer.status === 403 || answer.status === 401) history.revocations++
    else history.problems.push(`R1: ${node.name} answers ${answer.status} to a disabled identity five seconds later`)
  }
}
