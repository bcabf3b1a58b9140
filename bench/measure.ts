/**
 * Load on one system, and what its server and the database use meanwhile. A load generator that stays measures many
 * windows: one that has just begun is not compiled yet, and takes half of the machine from the server.
 */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { resolve } from "node:path"
import type { Meter } from "./database.ts"
import type { Job, Result, Window } from "./driver.ts"
import { watch } from "./processes.ts"
import { median } from "./statistics.ts"
import type { System } from "./systems.ts"

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

interface LoadOptions {
  readonly clients: number
  readonly meter: Meter
  readonly postgresPid: number
}

/** A load generator that is connected and waits. */
export interface Load {
  readonly window: (window: Window) => Promise<Measured>
  readonly close: () => Promise<void>
}

export const openLoad = (system: System, mode: "A" | "B", options: LoadOptions): Load => {
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
  // What is written to one that has died: its lines have ended, which the window says.
  child.stdin.on("error", () => {})
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const said = async (): Promise<string> => {
    const { done, value } = await lines.next()
    if (done === true) throw new Error("the load generator ended without a result")
    return value
  }
  return {
    window: async (window) => {
      child.stdin.write(`${JSON.stringify(window)}\n`)
      await said()
      const before = await meter.read(system.database)
      const [server, database] = [watch(system.pid), watch(postgresPid)]
      const result: Result = JSON.parse(await said())
      const after = await meter.read(system.database)
      const [served, stored] = [server.stop(), database.stop()]
      const pageBytes = await meter.wholePages(before, after)
      if (result.turns === 0) throw new Error(`not one turn completed: ${result.lastError ?? "no reason given"}`)
      if (result.lastError !== undefined)
        process.stderr.write(`${system.name} ${mode} ${clients}: ${result.errors} errors, last: ${result.lastError}\n`)
      const per = (value: number) => value / result.turns
      return {
        system: system.name,
        mode,
        clients,
        turnsPerSecond: result.turns / result.seconds,
        p50: result.p50,
        p99: result.p99,
        errors: result.errors,
        rssMiB: served.peakBytes / 2 ** 20,
        serverCpuMs: per(served.cpuMs),
        databaseCpuMs: per(stored.cpuMs),
        driverCpuMs: per(result.driverCpuMs),
        requests: per(result.requests),
        statements: per(after.statements - before.statements),
        commits: per(after.commits - before.commits),
        walBytes: per(after.walBytes - before.walBytes - pageBytes),
        pageBytes: per(pageBytes)
      }
    },
    close: async () => {
      child.stdin.end()
      await exited
    }
  }
}

/** One window of a load generator of its own. Everything per turn, except memory and rates. */
export const measure = async (
  system: System,
  mode: "A" | "B",
  { seconds, warmupSeconds, ...options }: LoadOptions & Window
): Promise<Measured> => {
  const load = openLoad(system, mode, options)
  try {
    return await load.window({ seconds, warmupSeconds })
  } finally {
    await load.close()
  }
}

/** Windows of one length as one: of percentiles the medians, of memory the most. */
export const joined = (windows: ReadonlyArray<Measured>): Measured => {
  const [first] = windows
  if (first === undefined) throw new Error("nothing was measured")
  const sum = (of: (window: Measured) => number) => windows.reduce((total, window) => total + of(window), 0)
  const rates = sum((window) => window.turnsPerSecond)
  const perTurn = (of: (window: Measured) => number) => sum((window) => of(window) * window.turnsPerSecond) / rates
  return {
    system: first.system,
    mode: first.mode,
    clients: first.clients,
    turnsPerSecond: rates / windows.length,
    p50: median(windows.map((window) => window.p50)),
    p99: median(windows.map((window) => window.p99)),
    errors: sum((window) => window.errors),
    rssMiB: Math.max(...windows.map((window) => window.rssMiB)),
    serverCpuMs: perTurn((window) => window.serverCpuMs),
    databaseCpuMs: perTurn((window) => window.databaseCpuMs),
    driverCpuMs: perTurn((window) => window.driverCpuMs),
    requests: perTurn((window) => window.requests),
    statements: perTurn((window) => window.statements),
    commits: perTurn((window) => window.commits),
    walBytes: perTurn((window) => window.walBytes),
    pageBytes: perTurn((window) => window.pageBytes)
  }
}
