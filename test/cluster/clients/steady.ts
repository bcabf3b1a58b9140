/** One turn after the other in one thread, each with the same script: of a prober on the model that counts its calls. */
import { setTimeout as sleep } from "node:timers/promises"
import { field, listIn } from "../../../src/cli/client.ts"
import type { Office } from "./office.ts"
import { makeThread, submit, type ThreadKind } from "./threads.ts"

interface Steady extends ThreadKind {
  readonly who: string
  readonly agentId: string
  readonly script: string
}

export const keepBusy = async (office: Office, { agentId, script, who, ...kind }: Steady) => {
  const caller = office.caller()
  const thread = await makeThread(office, caller, agentId, kind)
  while (office.working()) {
    await submit(office, caller, thread, { mode: "queue", script, who })
    for (let running = true; running && office.working(); ) {
      await sleep(500)
      const answer = await caller.ask("GET", `/v1/threads/${thread.threadId}`)
      running =
        answer !== undefined && (field(answer.body, "status") === "running" || listIn(answer.body, "queued").length > 0)
    }
  }
  // The last one of a sleeper need not run to its end. The others' do: any command would bring back what has been
  // forgotten (L1).
  if (thread.sleeper) await caller.ask("POST", `/v1/threads/${thread.threadId}/cancel`, {}, { key: office.next() })
}
