/**
 * A tool server that uses the lease that comes with a call: it is good while the turn runs, and no node takes it five
 * seconds after the turn's end (R2).
 */
import { setTimeout as sleep } from "node:timers/promises"
import { field } from "../../../src/cli/client.ts"
import type { Office } from "./office.ts"

export const useLeases = async ({ cluster, create, history, working, ...office }: Office) => {
  const caller = office.caller()
  const namespace = office.namespace("keys")
  const toolset = { kind: "mcp", namespace, url: cluster.toolsUrl, lease: "call", trusted: true }
  const toolsetId = await create(caller, "/v1/toolsets", toolset, "toolset", "id")
  const profile = { name: "leases", models: ["troupe/scripted"], toolsetIds: [toolsetId] }
  const profileId = await create(caller, "/v1/profiles", profile, "profile", "id")
  const agentId = await create(caller, "/v1/agents", { name: "lessee", profileId }, "agent", "id")
  while (working()) {
    const mark = office.next()
    const text = `/call ${namespace}.look {"mark":"${mark}"}\n/then\n/wait 1s`
    const answer = await caller.ask(
      "POST",
      "/v1/threads",
      { agentId, message: { content: [{ type: "text", text }] } },
      { key: office.next() }
    )
    if (answer?.status !== 201) continue
    const path = `/v1/threads/${field(answer.body, "thread", "id")}`
    const token = await leaseOf(cluster.tools.calls, mark)
    if (token === undefined) continue
    const lessee = office.caller(token)
    const during = await lessee.ask("GET", "/v1/auth")
    if (during?.status === 200) history.leases++
    for (let running = true; running; await sleep(300)) {
      const seen = await caller.ask("GET", path)
      running = seen === undefined || field(seen.body, "status") === "running"
    }
    await sleep(5_000)
    for (const node of cluster.nodes) {
      if (!node.up) continue
      const late = await lessee.ask("GET", "/v1/auth", undefined, { node, patience: 2_000 })
      if (late !== undefined && late.status !== 401 && late.status !== 403)
        history.problems.push(`R2: ${node.name} answers ${late.status} to a lease five seconds after its turn`)
    }
  }
}

/** What came with the call of that mark, once it has come. */
const leaseOf = async (
  calls: ReadonlyArray<{ readonly input: unknown; readonly lease?: unknown }>,
  mark: string
): Promise<string | undefined> => {
  for (const until = performance.now() + 10_000; performance.now() < until; await sleep(20)) {
    const call = calls.find(({ input }) => field(input, "mark") === mark)
    if (call !== undefined) return field(call.lease, "token") || undefined
  }
  return undefined
}
