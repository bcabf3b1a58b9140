/** Births with the message that they begin with. A thread that nobody has been told of is nobody's. */
import { setTimeout as sleep } from "node:timers/promises"
import { field } from "../../../src/cli/client.ts"
import type { Office } from "./office.ts"
import { scripts } from "./scripts.ts"
import type { Stage } from "./stage.ts"
import { labelOf, noteThread, textOf } from "./threads.ts"

export const openThreads = async (office: Office, { agentId }: Stage, who: string) => {
  const caller = office.caller()
  while (office.working()) {
    await sleep(caller.random() * office.thinkMs)
    const label = labelOf(office, who)
    const began = performance.now()
    const text = textOf(office, label, scripts[Math.floor(caller.random() * scripts.length)] ?? "")
    const body = { agentId, title: office.workspace.canary, message: { content: [{ type: "text", text }] } }
    const keyed = caller.random() < office.keyed
    const answer = await caller.ask("POST", "/v1/threads", body, {
      submit: true,
      ...(keyed ? { key: office.next() } : { once: true })
    })
    if (answer?.status !== 201) continue
    const inputId = field(answer.body, "input", "id")
    const thread = noteThread(office, field(answer.body, "thread", "id"))
    const state = field(answer.body, "input", "state")
    thread.sent.push({ label, mode: "queue", began, ended: answer.ended, outcome: "acknowledged", inputId, state })
    thread.texts.set(inputId, new Set([label]))
  }
}
