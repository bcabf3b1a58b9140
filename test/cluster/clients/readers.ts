/** Clients that read logs: page by page, and by streams that break and go on. None is shown a gap (J9). */
import { setTimeout as sleep } from "node:timers/promises"
import { field, listIn } from "../../../src/cli/client.ts"
import { Watcher } from "../../http/sse.ts"
import type { Caller } from "../Caller.ts"
import type { ThreadHistory } from "../History.ts"
import type { Office } from "./office.ts"
import { anyThread } from "./threads.ts"

/** How far the thread says that its log goes. */
const lookAt = async ({ history }: Office, caller: Caller, threadId: string) => {
  const answer = await caller.ask("GET", `/v1/threads/${threadId}`)
  if (answer?.status !== 200) return
  const { began, body, ended } = answer
  history.seen.push({ threadId, seq: Number(field(body, "lastSeq")), whole: true, began, ended })
}

const pageThrough = async ({ history }: Office, caller: Caller, threadId: string) => {
  const events = `/v1/threads/${threadId}/events?limit=40`
  let next = 1
  for (let path = events; path !== ""; ) {
    const answer = await caller.ask("GET", path)
    if (answer?.status !== 200) break
    for (const event of listIn(answer.body, "events")) {
      const seq = Number(field(event, "seq"))
      if (seq !== next) history.problems.push(`J9: a page of ${threadId} goes on with ${seq}, not ${next}`)
      next = seq + 1
    }
    const cursor = field(answer.body, "nextCursor")
    const { began, ended } = answer
    history.seen.push({ threadId, seq: next - 1, whole: cursor === "", began, ended })
    path = cursor === "" || next > 400 ? "" : `${events}&cursor=${encodeURIComponent(cursor)}`
  }
}

/** Pages through logs, and looks how far they go. */
export const readLogs = async (office: Office) => {
  const caller = office.caller()
  while (office.reading()) {
    await sleep(100 + caller.random() * 200)
    const thread = anyThread(office, caller.random)
    if (thread === undefined) continue
    const read = caller.random() < 0.5 ? lookAt : pageThrough
    await read(office, caller, thread.threadId)
  }
}

/** Follows a thread's stream on one node after another, each time from where it was. */
export const followStream = async (office: Office) => {
  const { cluster, history, workspace } = office
  const caller = office.caller()
  const seqs: Array<number> = []
  let thread: ThreadHistory | undefined
  while (office.reading() && thread === undefined) {
    await sleep(100)
    thread = anyThread(office, caller.random)
  }
  if (thread === undefined) return
  const { threadId } = thread
  history.followed.push({ threadId, seqs })
  while (office.reading()) {
    const node = cluster.pick(caller.random)
    const path = `/v1/threads/${threadId}/events/stream?afterSeq=${seqs.at(-1) ?? 0}&types=event`
    const watcher = await Promise.race([
      Watcher.open(node?.base ?? "http://127.0.0.1:1", path, workspace.key).catch(() => undefined),
      sleep(5_000, undefined, { ref: false })
    ])
    if (watcher === undefined || watcher.status !== 200) {
      watcher?.close()
      await sleep(200)
      continue
    }
    const lives = performance.now() + 2_000 + caller.random() * 6_000
    while (office.reading() && !watcher.closed && performance.now() < lives) await sleep(100)
    watcher.close()
    for (const { id } of watcher.events("event")) seqs.push(Number(id))
    for (const { canary, name } of cluster.workspaces) {
      if (name !== workspace.name && watcher.text.includes(canary))
        history.problems.push(`J13: a stream of ${workspace.name} showed text of ${name}`)
    }
  }
}
