/**
 * Honest clients of one node, in workspaces of their own: each says a few words to its thread at a steady pace, far
 * below every limit, and measures how long it takes until that is acknowledged.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { field } from "../../src/cli/client.ts"
import { randomOf } from "../process/Mixed.ts"
import { Caller } from "./Caller.ts"
import type { Cluster } from "./Cluster.ts"
import type { Clients } from "./experiment.ts"
import { History, type Sent, type ThreadHistory } from "./History.ts"
import type { Node } from "./Node.ts"

const neighboursEach = 4
const paceMs = 500

export interface Submitted {
  /** Monotonic. */
  readonly began: number
  readonly ms: number
}

export class Neighbours implements Clients {
  readonly history = new History()
  readonly cluster: Cluster
  readonly node: Node
  /** What the node is started with, in place of what the cluster gives it. */
  readonly environment: Readonly<Record<string, string>>
  readonly submits: Array<Submitted> = []
  readonly #name: string
  readonly #random: () => number
  #working = true
  #all: Array<Promise<void>> = []
  #count = 0

  constructor(cluster: Cluster, seed: number, node: Node, environment: Readonly<Record<string, string>>) {
    this.cluster = cluster
    this.node = node
    this.environment = environment
    this.#name = `nb${seed}`
    this.#random = randomOf(seed)
  }

  /** The workspaces other than the first, which is the hostile client's. */
  async start() {
    const [hostile, ...others] = this.cluster.workspaces
    if (hostile === undefined) throw new Error("no workspaces")
    await this.node.leave()
    await this.node.start(this.environment)
    for (const workspace of others) {
      const caller = new Caller(this.cluster, workspace, this.history, this.#random)
      const create = async (path: string, body: object, ...at: ReadonlyArray<string>) => {
        const answer = await caller.ask("POST", path, body, { key: `${this.#name}.${this.#count++}`, node: this.node })
        if (answer?.status !== 201) throw new Error(`POST ${path}: ${answer?.status} ${answer?.text}`)
        return field(answer.body, ...at)
      }
      const profileId = await create("/v1/profiles", { name: "neighbour", models: ["ledger/model"] }, "profile", "id")
      const agentId = await create("/v1/agents", { name: "neighbour", profileId }, "agent", "id")
      for (let i = 0; i < neighboursEach; i++) {
        const threadId = await create("/v1/threads", { agentId, title: workspace.canary }, "thread", "id")
        const thread: ThreadHistory = {
          workspace: workspace.id,
          threadId,
          sent: [],
          mayBeGone: new Set(),
          unordered: new Set(),
          joins: new Map(),
          promised: new Map(),
          texts: new Map(),
          prober: true,
          sleeper: false,
          cleared: false
        }
        this.history.threads.set(threadId, thread)
        this.#all.push(this.#talk(caller, thread))
      }
    }
    const [first] = this.history.threads.keys()
    const stranger = await new Caller(this.cluster, hostile, this.history, this.#random).ask(
      "GET",
      `/v1/threads/${first}`
    )
    if (stranger?.status === 404) this.history.foreign++
  }

  async #talk(caller: Caller, thread: ThreadHistory) {
    await sleep(this.#random() * paceMs)
    for (let next = performance.now(); this.#working; next += paceMs) {
      await sleep(Math.max(0, next - performance.now()))
      const label = `${caller.workspace.canary} ${this.#name} ${this.#count++}`
      const sent: Sent = { label, mode: "queue", began: performance.now(), outcome: "unknown" }
      thread.sent.push(sent)
      const answer = await caller.ask(
        "POST",
        `/v1/threads/${thread.threadId}/messages`,
        { content: [{ type: "text", text: label }] },
        { key: `${this.#name}.${label}`, node: this.node, submit: true }
      )
      // Refused for good, or without an answer for a minute: a submit that takes for ever.
      if (answer === undefined) {
        this.submits.push({ began: sent.began, ms: performance.now() - sent.began })
        continue
      }
      this.submits.push({ began: sent.began, ms: answer.ended - answer.began })
      if (answer.status !== 201) {
        sent.outcome = "refused"
        this.history.problems.push(`G: a neighbour was answered ${answer.status} ${answer.text.slice(0, 200)}`)
        continue
      }
      const inputId = field(answer.body, "id")
      Object.assign(sent, { ended: answer.ended, outcome: "acknowledged", inputId, state: field(answer.body, "state") })
      thread.texts.set(inputId, new Set([label]))
    }
  }

  /** Of the submits that began within the time. */
  times(from: number, to: number): ReadonlyArray<number> {
    return this.submits.flatMap(({ began, ms }) => (began >= from && began <= to ? [ms] : []))
  }

  failed() {
    return Promise.race(this.#all.map((one) => one.then(() => new Promise<never>(() => {}))))
  }

  async settle() {
    this.#working = false
    await Promise.all(this.#all)
  }

  async stop() {
    await this.settle()
  }

  async caughtUp() {}
}
