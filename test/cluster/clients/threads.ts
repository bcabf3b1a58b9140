/**
 * Threads of the workload: how clients make, find and write to them. The history knows of each thread, and of each input
 * before it is sent.
 */
import { field } from "../../../src/cli/client.ts"
import type { Caller } from "../Caller.ts"
import type { Sent, ThreadHistory } from "../History.ts"
import type { Office } from "./office.ts"

/** Whether the model of the thread's turns counts its calls, and whether they are long silences. */
export interface ThreadKind {
  readonly prober?: boolean
  readonly sleeper?: boolean
}

/** From now on the history knows of the thread. */
export const noteThread = (
  { history, workspace }: Office,
  threadId: string,
  { prober = false, sleeper = false }: ThreadKind = {}
): ThreadHistory => {
  const thread: ThreadHistory = {
    workspace: workspace.id,
    threadId,
    sent: [],
    mayBeGone: new Set(),
    unordered: new Set(),
    joins: new Map(),
    promised: new Map(),
    texts: new Map(),
    prober,
    sleeper,
    cleared: false
  }
  history.threads.set(threadId, thread)
  return thread
}

export const makeThread = async (office: Office, caller: Caller, agentId: string, kind: ThreadKind = {}) => {
  const body = { agentId, title: office.workspace.canary }
  return noteThread(office, await office.create(caller, "/v1/threads", body, "thread", "id"), kind)
}

/** Any thread of the workspace, or of all others. */
export const anyThread = ({ history, workspace }: Office, random: () => number, own = true) => {
  const all = [...history.threads.values()].filter((thread) => (thread.workspace === workspace.id) === own)
  return all[Math.floor(random() * all.length)]
}

/** The first line of an input, which no other has. */
export const labelOf = ({ name, next, workspace }: Office, who: string) =>
  `${workspace.canary} ${name} ${who} ${next()}`

/** An input's text: its label, and what the model is told to do, by names that the run's toolsets have. */
export const textOf = ({ namespace }: Office, label: string, script: string) =>
  `${label}\n${script.replaceAll(/\/call (desk|bank)\./g, (_, word: string) => `/call ${namespace(word)}.`)}`

export const submit = async (
  office: Office,
  caller: Caller,
  thread: ThreadHistory,
  { mode, script, who }: { readonly mode: Sent["mode"]; readonly script: string; readonly who: string }
) => {
  const label = labelOf(office, who)
  const sent: Sent = { label, mode, began: performance.now(), outcome: "unknown" }
  thread.sent.push(sent)
  const body = { content: [{ type: "text", text: textOf(office, label, script) }], mode }
  const path = `/v1/threads/${thread.threadId}/messages`
  const key = office.next()
  // Without a key a client must not try again what may have happened.
  const keyed = caller.random() < office.keyed
  const answer = await caller.ask("POST", path, body, { submit: true, ...(keyed ? { key } : { once: true }) })
  sent.ended = performance.now()
  if (answer === undefined) return sent
  sent.outcome = answer.status === 201 ? "acknowledged" : "refused"
  if (answer.status !== 201) return sent
  const inputId = (sent.inputId = field(answer.body, "id"))
  sent.state = field(answer.body, "state")
  thread.texts.set(inputId, new Set([label]))
  if (sent.state === "steered") thread.joins.set(inputId, field(answer.body, "turnId"))
  if (sent.state === "admitted") thread.promised.set(inputId, Number(field(answer.body, "seq")))
  if (keyed && caller.random() < 0.1) {
    // A client that has not heard the answer asks again, perhaps at another node.
    const again = await caller.ask("POST", path, body, { key })
    if (again !== undefined && (again.status !== 201 || field(again.body, "id") !== inputId)) {
      office.history.problems.push(
        `J2: an input that was answered as ${inputId} is answered again as ${again.status} ${field(again.body, "id")}`
      )
    }
  }
  return sent
}
