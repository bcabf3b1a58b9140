/** A client that tries ids of other workspaces: nothing is there under them (J13). */
import { setTimeout as sleep } from "node:timers/promises"
import type { Office } from "./office.ts"
import { anyThread } from "./threads.ts"

export const tryOthers = async (office: Office) => {
  const caller = office.caller()
  while (office.reading()) {
    await sleep(300 + caller.random() * 400)
    const thread = anyThread(office, caller.random, false)
    if (thread === undefined) continue
    const path = `/v1/threads/${thread.threadId}`
    const inputId = thread.sent.at(-1)?.inputId
    const tries: ReadonlyArray<readonly [string, string, unknown?]> = [
      ["GET", path],
      ["GET", `${path}/events`],
      ["GET", `${path}/queue`],
      ["POST", `${path}/cancel`, {}],
      ["POST", `${path}/messages`, { content: [{ type: "text", text: "not mine" }] }],
      ...(inputId === undefined ? [] : [["DELETE", `${path}/queue/${inputId}`] as const])
    ]
    const [method, to, body] = tries[Math.floor(caller.random() * tries.length)] ?? ["GET", path]
    const answer = await caller.ask(method, to, body)
    if (answer === undefined) continue
    if (answer.status === 404) office.history.foreign++
    else office.history.problems.push(`J13: ${method} ${to} of another workspace was answered ${answer.status}`)
  }
}
