/**
 * So many threads at once in the midst of a turn, each with a hundred events behind it, and nobody who does anything
 * else: what is left of a node's work when it dies under load.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { field } from "../../src/cli/client.ts"
import { randomOf } from "../process/Mixed.ts"
import { Caller } from "./Caller.ts"
import type { Cluster } from "./Cluster.ts"
import type { Clients } from "./experiment.ts"
import { History, type Sent } from "./History.ts"

export const herdSize = 2_000
/** Each is an intent and a result. */
const callsFirst = 50
/** How long the model takes for the second step: the herd is made within it, and its takeover too. */
export const secondStepMs = 90_000
const clientsAtOnce = 16

const script = `${"/call nope {}\n".repeat(callsFirst)}/then\n/wait ${secondStepMs}ms`

export class Herd implements Clients {
  readonly history = new History()
  readonly cluster: Cluster
  readonly name: string
  readonly #random: () => number

  constructor(cluster: Cluster, seed: number) {
    this.cluster = cluster
    this.name = `herd${seed}`
    this.#random = randomOf(seed)
  }

  /** Resolves when the second step of every thread is under way. */
  async start() {
    const [workspace, other] = this.cluster.workspaces
    if (workspace === undefined || other === undefined) throw new Error("no workspaces")
    const caller = new Caller(this.cluster, workspace, this.history, this.#random)
    const create = async (path: string, body: object) => {
      const answer = await caller.ask("POST", path, body, {
        key: `${this.name}.${path}.${JSON.stringify(body).length}.${caller.random()}`
      })
      if (answer?.status !== 201) throw new Error(`POST ${path}: ${answer?.status} ${answer?.text}`)
      return answer
    }
    const profileId = field(
      (await create("/v1/profiles", { name: "herd", models: ["ledger/model"] })).body,
      "profile",
      "id"
    )
    const agentId = field((await create("/v1/agents", { name: "herd", profileId })).body, "agent", "id")
    let made = 0
    await Promise.all(
      Array.from({ length: clientsAtOnce }, async () => {
        while (made < herdSize) {
          const label = `${workspace.canary} ${this.name} ${made++}`
          const sent: Sent = { label, mode: "queue", began: performance.now(), outcome: "unknown" }
          const { body, ended } = await create("/v1/threads", {
            agentId,
            title: label,
            message: { content: [{ type: "text", text: `${label}\n${script}` }] }
          })
          const threadId = field(body, "thread", "id")
          const inputId = field(body, "input", "id")
          Object.assign(sent, { ended, outcome: "acknowledged", inputId, state: field(body, "input", "state") })
          this.history.threads.set(threadId, {
            workspace: workspace.id,
            threadId,
            sent: [sent],
            mayBeGone: new Set(),
            unordered: new Set(),
            joins: new Map(),
            promised: new Map(),
            texts: new Map([[inputId, new Set([label])]]),
            prober: true,
            sleeper: true,
            cleared: false
          })
        }
      })
    )
    const [first] = this.history.threads.keys()
    const stranger = await new Caller(this.cluster, other, this.history, this.#random).ask(
      "GET",
      `/v1/threads/${first}`
    )
    if (stranger?.status === 404) this.history.foreign++
    for (const until = performance.now() + 60_000; this.underWay.size < herdSize; await sleep(100)) {
      if (performance.now() > until)
        throw new Error(`${this.underWay.size} of ${herdSize} threads are in their second step`)
    }
  }

  /** Labels of the threads whose second step a model was asked for and has not answered. */
  get underWay(): ReadonlySet<string> {
    return new Set(
      this.cluster.models.calls
        .filter(({ label, over, step }) => step === 1 && over === undefined && label.includes(this.name))
        .map(({ label }) => label)
    )
  }

  failed() {
    return new Promise<never>(() => {})
  }

  async settle() {
    // The turns end by themselves.
    for (const until = performance.now() + secondStepMs + 30_000; this.underWay.size > 0 && performance.now() < until; )
      await sleep(500)
  }

  async stop() {}

  async caughtUp() {}
}
