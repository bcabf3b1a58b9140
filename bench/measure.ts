/**
 * Load on one system, and what its server and the database use meanwhile. A load generator that stays measures many
 * windows: one that has just begun is not compiled yet, and takes half of the machine from the server.
 */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { resolve } from "node:path"
import type { Meter } from "./database.ts"
import type { Errors, Job, Result, Window } from "./driver.ts"
import { watch } from "./processes.ts"
import { median } from "./statistics.ts"
import type { System } from "./systems.ts"

/** Of one window or of several: everything per turn but memory, rates and what a client waits. */
export interface Measured {
  readonly system: string
  readonly mode: string
  readonly clients: number
  readonly turnsPerSecond: number
  readonly p50: number
  readonly p99: number
  readonly errors: number
  readonly rssMiB: number
  readonly serverCpuMs: number
  readonly databaseCpuMs: number
  readonly driverCpuMs: number
  readonly requests: number
  readonly statements: number
  readonly commits: number
  /** Without the pages that were logged whole. */
  readonly walBytes: number
  /** Those pages: the first change of each after a checkpoint. */
  readonly pageBytes: number
}

const driver = resolve(import.meta.dirname, "driver.ts")

/** What a window came to and used, in all. */
export interface Used extends Omit<Result, "max"> {
  readonly errors: number
  readonly peakBytes: number
  readonly serverCpuMs: number
  readonly databaseCpuMs: number
  readonly statements: number
  readonly commits: number
  readonly walBytes: number
  readonly pageBytes: number
}

interface LoadOptions {
  readonly clients: number
  readonly meter: Meter
  readonly postgresPid: number
}

/** A load generator that has begun and waits. */
export interface Load {
  readonly window: (window: Window) => Promise<Used>
  /** Windows of the same length as one: of percentiles the medians, of memory the most. */
  readonly measured: (windows: ReadonlyArray<Used>) => Measured
  readonly close: () => Promise<void>
}

export const openLoad = async (system: System, mode: "A" | "B", options: LoadOptions): Promise<Load> => {
  const { clients, meter, postgresPid } = options
  const job: Job = {
    adapter: system.name === "yardstick" ? "yardstick" : mode === "A" ? "polled" : "streamed",
    target: system.target,
    clients
  }
  const child = spawn(process.execPath, [driver, JSON.stringify(job)], { stdio: ["pipe", "pipe", "inherit"] })
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve())
  })
  // One that has died takes no window; `said` tells of it, as no line comes.
  child.stdin.on("error", () => {})
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const said = async (): Promise<string> => {
    const { done, value } = await lines.next()
    if (done === true) throw new Error("the load generator ended; what it said of that is above")
    return value
  }
  await said()
  return {
    window: async (window) => {
      child.stdin.write(`${JSON.stringify(window)}\n`)
      await said()
      const [server, database] = [watch(system.pid), watch(postgresPid)]
      const before = await meter.read(system.database)
      const { max: _, ...result }: Result = JSON.parse(await said())
      const [served, stored] = [server.stop(), database.stop()]
      const after = await meter.read(system.database)
      const { errors, lastError }: Errors = JSON.parse(await said())
      const pageBytes = await meter.wholePages(before, after)
      if (result.turns === 0) throw new Error(`not one turn completed: ${lastError ?? "no reason given"}`)
      if (lastError !== undefined)
        process.stderr.write(`${system.name} ${mode} ${clients}: ${errors} errors, last: ${lastError}\n`)
      return {
        ...result,
        errors,
        peakBytes: served.peakBytes,
        serverCpuMs: served.cpuMs,
        databaseCpuMs: stored.cpuMs,
        statements: after.statements - before.statements,
        commits: after.commits - before.commits,
        walBytes: after.walBytes - before.walBytes - pageBytes,
        pageBytes
      }
    },
    measured: (windows) => {
      const sum = (of: (window: Used) => number) => windows.reduce((total, window) => total + of(window), 0)
      const turns = sum((window) => window.turns)
      const perTurn = (of: (window: Used) => number) => sum(of) / turns
      return {
        system: system.name,
        mode,
        clients,
        turnsPerSecond: turns / sum(({ seconds }) => seconds),
        p50: median(windows.map(({ p50 }) => p50)),
        p99: median(windows.map(({ p99 }) => p99)),
        errors: sum(({ errors }) => errors),
        rssMiB: Math.max(...windows.map(({ peakBytes }) => peakBytes)) / 2 ** 20,
        serverCpuMs: perTurn(({ serverCpuMs }) => serverCpuMs),
        databaseCpuMs: perTurn(({ databaseCpuMs }) => databaseCpuMs),
        driverCpuMs: perTurn(({ driverCpuMs }) => driverCpuMs),
        requests: perTurn(({ requests }) => requests),
        statements: perTurn(({ statements }) => statements),
        commits: perTurn(({ commits }) => commits),
        walBytes: perTurn(({ walBytes }) => walBytes),
        pageBytes: perTurn((window) => window.pageBytes)
      }
    },
    close: async () => {
      child.kill()
      await exited
    }
  }
}

/** One window of a load generator of its own. */
export const measure = async (
  system: System,
  mode: "A" | "B",
  { seconds, warmupSeconds, ...options }: LoadOptions & Window
): Promise<Measured> => {
  const load = await openLoad(system, mode, options)
  try {
    return load.measured([await load.window({ seconds, warmupSeconds })])
  } finally {
    await load.close()
  }
}
