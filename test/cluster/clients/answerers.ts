/** Clients that turns wait for: workers, who execute calls, and approvers, who decide what hooks ask. */
import { setTimeout as sleep } from "node:timers/promises"
import { field, listIn } from "../../../src/cli/client.ts"
import type { Office } from "./office.ts"
import type { Stage } from "./stage.ts"

/** Executes calls of the client toolset; two of them race for each. */
export const executeCalls = async (office: Office, { toolsetId }: Stage, who: string) => {
  const caller = office.caller()
  while (office.reading()) {
    const answer = await caller.ask("GET", `/v1/tools/calls?toolsetId=${toolsetId}&limit=50`)
    for (const call of listIn(answer?.body, "calls")) {
      if (field(call, "toolName").endsWith(".forgotten")) continue
      const mark = `${office.workspace.canary} ${who} ${office.next()}`
      const path = `/v1/tools/calls/${field(call, "toolCallId")}/result`
      const given = await caller.ask("POST", path, { output: { mark } })
      if (given?.status === 200)
        office.history.answers.push({ threadId: field(call, "threadId"), waitId: field(call, "waitId"), mark })
    }
    await sleep(200 + caller.random() * 200)
  }
}

export const decideAsks = async (office: Office) => {
  const caller = office.caller()
  const decided = new Set<string>()
  while (office.reading()) {
    const answer = await caller.ask("GET", "/v1/threads?state=waiting&limit=50")
    for (const row of listIn(answer?.body, "threads")) {
      for (const wait of listIn(row, "pendingWaits")) {
        // The same decision again would be accepted as the first one was.
        if (field(wait, "type") !== "hook_ask" || decided.has(field(wait, "id"))) continue
        decided.add(field(wait, "id"))
        const threadId = field(row, "thread", "id")
        const mark = `${office.workspace.canary} approver ${office.next()}`
        const body = { type: "decision", decision: caller.random() < 0.7 ? "allow" : "deny", reason: mark }
        const given = await caller.ask("POST", `/v1/threads/${threadId}/waits/${field(wait, "id")}/resolve`, body)
        if (given?.status === 200) office.history.answers.push({ threadId, waitId: field(wait, "id"), mark })
      }
    }
    await sleep(400 + caller.random() * 400)
  }
}
