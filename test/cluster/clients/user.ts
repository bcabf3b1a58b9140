/** A user of one thread, who queues, steers, interrupts, edits, removes, promotes and cancels. */
import { setTimeout as sleep } from "node:timers/promises"
import { field } from "../../../src/cli/client.ts"
import type { Caller } from "../Caller.ts"
import type { Sent, ThreadHistory } from "../History.ts"
import type { Office } from "./office.ts"
import { scripts } from "./scripts.ts"
import type { Stage } from "./stage.ts"
import { labelOf, makeThread, submit } from "./threads.ts"

/** What the user does with what was sent before. */
class Hand {
  readonly office: Office
  readonly caller: Caller
  readonly thread: ThreadHistory
  readonly who: string
  readonly #path: string

  constructor(office: Office, caller: Caller, thread: ThreadHistory, who: string) {
    this.office = office
    this.caller = caller
    this.thread = thread
    this.who = who
    this.#path = `/v1/threads/${thread.threadId}`
  }

  pick<A>(from: ReadonlyArray<A>) {
    return from[Math.floor(this.caller.random() * from.length)]
  }

  send(mode: Sent["mode"]) {
    return submit(this.office, this.caller, this.thread, { mode, script: this.pick(scripts) ?? "", who: this.who })
  }

  /** Two at once: none is promised to come first. */
  async sendTwo() {
    for (const { inputId } of await Promise.all([this.send("queue"), this.send("queue")])) {
      if (inputId !== undefined) this.thread.unordered.add(inputId)
    }
  }

  async edit(inputId: string) {
    const label = labelOf(this.office, this.who)
    const texts = this.thread.texts.get(inputId)
    const before = [...(texts ?? [])]
    texts?.add(label)
    const content = [{ type: "text", text: label }]
    const answer = await this.caller.ask("PATCH", `${this.#path}/queue/${inputId}`, { content })
    if (answer?.status === 200) for (const text of before) texts?.delete(text)
    else if (answer?.tries === 1) texts?.delete(label)
  }

  async remove(inputId: string) {
    this.thread.mayBeGone.add(inputId)
    await this.caller.ask("DELETE", `${this.#path}/queue/${inputId}`)
  }

  async promote(inputId: string) {
    this.thread.unordered.add(inputId)
    const key = this.office.next()
    const mode = this.caller.random() < 0.5 ? "steer" : "interrupt"
    const answer = await this.caller.ask("POST", `${this.#path}/queue/${inputId}/promote`, { mode }, { key })
    if (answer?.status === 200 && field(answer.body, "state") === "steered")
      this.thread.joins.set(inputId, field(answer.body, "turnId"))
  }

  async cancel() {
    const clearQueue = this.caller.random() < 0.3
    if (clearQueue) {
      this.thread.cleared = true
      for (const { inputId } of this.thread.sent) if (inputId !== undefined) this.thread.mayBeGone.add(inputId)
    }
    await this.caller.ask("POST", `${this.#path}/cancel`, { clearQueue }, { key: this.office.next() })
  }
}

export const useThread = async (office: Office, { agentId }: Stage, who: string) => {
  const caller = office.caller()
  const { random } = caller
  await sleep(random() * office.thinkMs)
  if (!office.working()) return
  const thread = await makeThread(office, caller, agentId)
  const hand = new Hand(office, caller, thread, who)
  while (office.working()) {
    const dice = random()
    const inputId = hand.pick(thread.sent.slice(-4).flatMap(({ inputId }) => inputId ?? []))
    if (dice < 0.62 || inputId === undefined) await hand.send("queue")
    else if (dice < 0.72) await hand.send("steer")
    else if (dice < 0.77) await hand.send("interrupt")
    else if (dice < 0.82) await hand.sendTwo()
    else if (dice < 0.87) await hand.edit(inputId)
    else if (dice < 0.91) await hand.remove(inputId)
    else if (dice < 0.95) await hand.promote(inputId)
    else await hand.cancel()
    await sleep(random() * 2 * office.thinkMs)
  }
}
