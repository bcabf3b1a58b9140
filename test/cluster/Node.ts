/** One node of the cluster under test: a real process, behind proxies of its own. */
import { createWriteStream, type WriteStream } from "node:fs"
import { join, resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { assert } from "@effect/vitest"
import { Child } from "../process/Child.ts"
import { forgetProcess, guardProcess } from "./guarded.ts"
import type { Proxy } from "./Proxy.ts"

/** The checkout that this file is in. */
const here = resolve(import.meta.dirname, "../..")
const plant = join(import.meta.dirname, "plant.ts")

export interface NodeOptions {
  readonly name: string
  readonly postgres: Proxy
  readonly nats: Proxy | undefined
  readonly env: Readonly<Record<string, string>>
  /** Its logs, of all its lives. */
  readonly log: string
  /** Names of planted bugs (plants.ts). */
  readonly planted: string | undefined
}

export class Node {
  readonly options: NodeOptions
  #child: Child | undefined
  #log: WriteStream
  /** Where it listens, in this life. */
  base = ""
  /** It is meant to answer. */
  up = false
  /** The checkout whose program its next life runs. */
  checkout = here

  constructor(options: NodeOptions) {
    this.options = options
    this.#log = createWriteStream(options.log, { flags: "a" })
  }

  get name() {
    return this.options.name
  }

  /**
   * Resolves once it accepts requests. `more` adds to its environment in this life. What ends while it starts, for want
   * of a database, is started again as an orchestrator would.
   */
  async start(more: Readonly<Record<string, string>> = {}) {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#launch(more)
      } catch (cause) {
        if (tries === 5) throw cause
        await sleep(500)
      }
    }
  }

  async #launch(more: Readonly<Record<string, string>>) {
    const { env, planted } = this.options
    // As the script `serve` of package.json has it; a node with a small heap is started without (docs/operations.md).
    const young = more.NODE_OPTIONS === undefined ? ["--max-semi-space-size=64"] : []
    const flags = [...young, ...(planted === undefined ? [] : ["--import", plant])]
    const args = [...flags, join(this.checkout, "src/start.mjs"), "serve"]
    const child = (this.#child = new Child(process.execPath, args, {
      env: { ...env, ...(planted === undefined ? {} : { TROUPE_PLANTED: planted }), ...more }
    }))
    guardProcess(child.process.pid)
    child.process.stdout?.pipe(this.#log, { end: false })
    child.process.stderr?.pipe(this.#log, { end: false })
    const [, base] = await child.until(/"url":"(http:[^"]+)"/)
    this.base = base ?? assert.fail("no url")
    this.up = true
  }

  #signal(signal: NodeJS.Signals) {
    const pid = this.#child?.process.pid
    if (pid === undefined) throw new Error(`${this.name} does not run`)
    process.kill(pid, signal)
  }

  /** kill -9; resolves when it is gone. */
  async kill() {
    this.up = false
    forgetProcess(this.#child?.process.pid)
    await this.#child?.end("SIGKILL")
  }

  /** SIGTERM, as a deployment does; its exit code. A load balancer asks ten times a second whether it is ready. */
  async leave() {
    const ended = this.#child?.end("SIGTERM")
    while (this.up && (await this.ready())) await sleep(100)
    this.up = false
    const code = await ended
    forgetProcess(this.#child?.process.pid)
    return code
  }

  pause() {
    this.#signal("SIGSTOP")
  }

  go() {
    this.#signal("SIGCONT")
  }

  get pid() {
    return this.#child?.process.pid
  }

  get running() {
    const child = this.#child?.process
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }

  /** Sum of a metric over its labels; undefined when the node does not answer. */
  async metric(name: string): Promise<number | undefined> {
    try {
      const response = await fetch(`${this.base}/metrics`, { signal: AbortSignal.timeout(2_000) })
      let sum = 0
      for (const line of (await response.text()).split("\n")) {
        if (line.startsWith(name) && /[ {]/.test(line.charAt(name.length)))
          sum += Number(line.slice(line.lastIndexOf(" ") + 1))
      }
      return sum
    } catch {
      return undefined
    }
  }

  async ready(): Promise<boolean> {
    try {
      return (await fetch(`${this.base}/readyz`, { signal: AbortSignal.timeout(1_000) })).ok
    } catch {
      return false
    }
  }
}
