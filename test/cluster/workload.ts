/**
 * Clients of all kinds (clients/) at work on many threads in three workspaces, all from one seed: who there is of each,
 * and when they stop.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { field } from "../../src/cli/client.ts"
import { randomOf } from "../process/Mixed.ts"
import { Caller } from "./Caller.ts"
import type { Cluster, Workspace } from "./Cluster.ts"
import { decideAsks, executeCalls } from "./clients/answerers.ts"
import { askApproval } from "./clients/asker.ts"
import { keepMemory } from "./clients/keeper.ts"
import { leave } from "./clients/leaver.ts"
import { useLeases } from "./clients/lessee.ts"
import { reportNews } from "./clients/newsroom.ts"
import type { Office } from "./clients/office.ts"
import { openThreads } from "./clients/opener.ts"
import { followStream, readLogs } from "./clients/readers.ts"
import { chargingScript, longScript, sleepyScript, wordyScript } from "./clients/scripts.ts"
import { spend } from "./clients/spender.ts"
import { furnish, type Stage } from "./clients/stage.ts"
import { keepBusy } from "./clients/steady.ts"
import { tryOthers } from "./clients/stranger.ts"
import { useThread } from "./clients/user.ts"
import { History } from "./History.ts"

export interface WorkloadOptions {
  readonly seed: number
  readonly users?: number
  readonly probers?: number
  readonly sleepers?: number
  /** Whose turns call the tool that must not run twice, one step after the other. */
  readonly chargers?: number
  /** Who make a thread with every message. */
  readonly openers?: number
  /** The share of submits under an idempotency key. */
  readonly keyed?: number
  readonly followers?: number
  /** Whether agents have budgets, requests wait for approval, tool servers have leases, clients write memory, and there are newsrooms. */
  readonly governed?: boolean
  /** Mean pause of a user between steps. */
  readonly thinkMs?: number
  /** Mean pause of who writes memory, spends, asks for approval or appends to feeds, beside pauses of their own. */
  readonly roundMs?: number
}

/**
 * Some twenty submits a second, which is what two cores are to carry with ease: how long a deployment may be noticed is
 * said of this load. The load that a fault has otherwise leaves neither core a moment, with or without the fault.
 */
export const nominalLoad: Partial<WorkloadOptions> = { thinkMs: 4_000, roundMs: 5_000, chargers: 3 }

export class Workload {
  readonly history = new History()
  readonly cluster: Cluster
  readonly seed: number
  readonly name: string
  readonly #options: Required<WorkloadOptions>
  readonly #random: () => number
  #working = true
  #reading = true
  #users: Array<Promise<void>> = []
  #helpers: Array<Promise<void>> = []
  #count = 0

  constructor(cluster: Cluster, options: WorkloadOptions) {
    this.cluster = cluster
    this.seed = options.seed
    this.name = `r${options.seed}`
    this.#options = {
      users: 60,
      probers: 12,
      sleepers: 6,
      chargers: 9,
      openers: 6,
      keyed: 0.85,
      followers: 6,
      governed: true,
      thinkMs: 1_500,
      roundMs: 0,
      ...options
    }
    this.#random = randomOf(options.seed)
  }

  async start() {
    const rooms = await Promise.all(
      this.cluster.workspaces.map(async (workspace) => {
        const office = this.#office(workspace)
        return { office, stage: await furnish(office) }
      })
    )
    const { chargers, followers, governed, openers, probers, sleepers, users } = this.#options
    const spread = (count: number, work: (office: Office, stage: Stage, i: number) => Promise<void>) =>
      Array.from({ length: count }, (_, i) => {
        const room = rooms[i % rooms.length]
        return room === undefined ? Promise.resolve() : work(room.office, room.stage, i)
      })
    this.#users.push(
      ...spread(users, (office, stage, i) => useThread(office, stage, `u${i}`)),
      ...spread(openers, (office, stage, i) => openThreads(office, stage, `o${i}`)),
      ...spread(probers, (office, { proberId }, i) =>
        keepBusy(office, { who: `p${i}`, agentId: proberId, script: longScript, prober: true })
      ),
      ...spread(sleepers, (office, { proberId }, i) =>
        keepBusy(office, { who: `s${i}`, agentId: proberId, script: sleepyScript, prober: true, sleeper: true })
      ),
      ...spread(chargers, (office, { agentId }, i) =>
        keepBusy(office, { who: `c${i}`, agentId, script: chargingScript })
      )
    )
    for (const { office, stage } of rooms) {
      for (const who of ["w1", "w2"]) this.#helpers.push(executeCalls(office, stage, who))
      this.#helpers.push(decideAsks(office), readLogs(office), tryOthers(office))
    }
    this.#helpers.push(...spread(followers, (office) => followStream(office)))
    for (const { office } of rooms) this.#helpers.push(leave(office))
    if (governed)
      for (const { office, stage } of rooms) {
        this.#users.push(
          keepBusy(office, { who: "t0", agentId: stage.talkerId, script: wordyScript }),
          spend(office),
          askApproval(office),
          useLeases(office),
          keepMemory(office),
          keepMemory(office),
          reportNews(office)
        )
      }
  }

  /** What a client complains of, as soon as it does. */
  failed(): Promise<never> {
    return Promise.race([...this.#users, ...this.#helpers].map((work) => work.then(() => new Promise<never>(() => {}))))
  }

  /** No new inputs; workers and readers go on. */
  async settle() {
    this.#working = false
    await Promise.all(this.#users)
  }

  async stop() {
    this.#working = false
    this.#reading = false
    await Promise.all([...this.#users, ...this.#helpers])
  }

  /** Whether all followers have seen their threads' whole logs, for a while at most. */
  async caughtUp(lastSeqOf: (threadId: string) => number) {
    for (const until = performance.now() + 15_000; performance.now() < until; await sleep(200)) {
      if (this.history.followed.every(({ seqs, threadId }) => (seqs.at(-1) ?? 0) >= lastSeqOf(threadId))) return
    }
  }

  #office(workspace: Workspace): Office {
    const { cluster, history, name } = this
    const { keyed, roundMs, thinkMs } = this.#options
    const randomly = () => randomOf(Math.floor(this.#random() * 2 ** 31))
    const next = () => `${name}.${this.#count++}`
    return {
      cluster,
      history,
      workspace,
      name,
      keyed,
      thinkMs,
      roundMs,
      next,
      namespace: (word) => `${word}${name.slice(0, 20)}`,
      caller: (key = workspace.key) => new Caller(cluster, workspace, history, randomly(), key),
      create: async (caller, path, body, ...at) => {
        const answer = await caller.ask("POST", path, body, { key: next() })
        if (answer?.status !== 201) throw new Error(`POST ${path}: ${answer?.status} ${answer?.text}`)
        return field(answer.body, ...at)
      },
      working: () => this.#working,
      reading: () => this.#reading
    }
  }
}
