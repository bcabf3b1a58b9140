/** A client of one workspace: each request goes to a node at random, and is tried until it is answered. */
import { setTimeout as sleep } from "node:timers/promises"
import { field } from "../../src/cli/client.ts"
import type { Cluster, Workspace } from "./Cluster.ts"
import type { History } from "./History.ts"
import type { Node } from "./Node.ts"

export interface Answered {
  readonly status: number
  readonly body: unknown
  readonly text: string
  readonly began: number
  readonly ended: number
  /** With more than one, an earlier one may have been taken without an answer. */
  readonly tries: number
}

export interface AskOptions {
  /** Idempotency-Key: the same for all tries. */
  readonly key?: string
  readonly node?: Node
  /** What may have happened is not tried again. */
  readonly once?: boolean
  readonly submit?: boolean
  /** Milliseconds; after them the outcome is unknown. */
  readonly patience?: number
}

/** As long as a client waits for one try. */
const tryMs = 5_000

export class Caller {
  readonly cluster: Cluster
  readonly workspace: Workspace
  readonly history: History
  readonly random: () => number
  readonly key: string

  constructor(cluster: Cluster, workspace: Workspace, history: History, random: () => number, key = workspace.key) {
    this.cluster = cluster
    this.workspace = workspace
    this.history = history
    this.random = random
    this.key = key
  }

  /** Undefined when no answer came in all that time. */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    { key, node, once = false, patience = 60_000, submit = false }: AskOptions = {}
  ): Promise<Answered | undefined> {
    const began = performance.now()
    let failed: string | undefined
    let tries = 0
    for (;;) {
      const target = node ?? this.cluster.pick(this.random)
      if (target === undefined) {
        await sleep(50)
        continue
      }
      tries++
      let why: string
      let doubtful = false
      /** A client waits for as long as it is told. */
      let pause = 50 + this.random() * 150
      try {
        const response = await fetch(target.base + path, {
          method,
          signal: AbortSignal.timeout(tryMs),
          headers: {
            authorization: `Bearer ${this.key}`,
            ...(body === undefined ? {} : { "content-type": "application/json" }),
            ...(key === undefined ? {} : { "idempotency-key": key })
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
        const text = await response.text()
        this.#inspect(`${method} ${path}`, response.status, text)
        // The try before, whose answer did not come in time, is under way still: what becomes of it is told to a later
        // one.
        const isUnderWay = response.status === 409 && field(JSON.parse(text), "error") === "idempotency_in_progress"
        if (response.status !== 503 && response.status !== 429 && !isUnderWay) {
          const ended = performance.now()
          this.history.requests.push({
            began,
            ended,
            tries,
            submit,
            lost: false,
            ...(failed === undefined ? {} : { failed })
          })
          return { status: response.status, text, body: text === "" ? {} : JSON.parse(text), began, ended, tries }
        }
        why = `${target.name} ${response.status} ${field(JSON.parse(text), "error")}`
        pause += Math.min(2, Number(field(JSON.parse(text), "retryAfterSeconds")) || 0) * 1_000
        // A journal that does not answer may have written it all the same.
        doubtful = once && response.status === 503
      } catch (cause) {
        why = `${target.name} ${cause instanceof Error ? cause.name : "failed"}`
        doubtful = once
      }
      failed = failed === undefined ? why : `${failed}, ${why}`.slice(0, 300)
      if (doubtful || performance.now() - began > patience) {
        this.history.requests.push({ began, ended: performance.now(), tries, submit, lost: !doubtful, failed })
        return undefined
      }
      await sleep(pause)
    }
  }

  /** What must not be in any answer: another workspace's words, an error of ours. */
  #inspect(what: string, status: number, text: string) {
    if (status >= 500 && status !== 503)
      this.history.problems.push(`5xx: ${what} was answered ${status} ${text.slice(0, 200)}`)
    for (const { canary, name } of this.cluster.workspaces) {
      if (name !== this.workspace.name && text.includes(canary))
        this.history.problems.push(`J13: ${what} by ${this.workspace.name} showed text of ${name}`)
    }
  }
}
