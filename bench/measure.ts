/** One run of the load generator against one system, with what server and database used meanwhile. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { resolve } from "node:path"
import type { Meter } from "./database.ts"
import type { Job, Result } from "./driver.ts"
import { watch } from "./processes.ts"
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

/** Everything per turn, except memory and rates. */
export const measure = async (
  system: System,
  mode: "A" | "B",
  options: {
    readonly clients: number
    readonly seconds: number
    readonly warmupSeconds: number
    readonly meter: Meter
    readonly postgresPid: number
  }
): Promise<Measured> => {
  const job: Job = {
    adapter: system.name === "yardstick" ? "yardstick" : mode === "A" ? "polled" : "streamed",
    target: system.target,
    clients: options.clients,
    seconds: options.seconds,
    warmupSeconds: options.warmupSeconds
  }
  const child = spawn(process.execPath, [driver, JSON.stringify(job)], { stdio: ["ignore", "pipe", "inherit"] })
  const begin = async () => {
    const before = await options.meter.read(system.database)
    return { before, server: watch(system.pid), database: watch(options.postgresPid) }
  }
  let started: ReturnType<typeof begin> | undefined
  let result: Result | undefined
  for await (const line of createInterface({ input: child.stdout })) {
    if (started === undefined) started = begin()
    else result = JSON.parse(line)
  }
  if (started === undefined || result === undefined) throw new Error("the load generator ended without a result")
  const { before, server, database } = await started
  const after = await options.meter.read(system.database)
  const served = server.stop()
  const stored = database.stop()
  const pageBytes = await options.meter.wholePages(before, after)
  if (result.turns === 0) throw new Error(`not one turn completed: ${result.lastError ?? "no reason given"}`)
  if (result.lastError !== undefined)
    process.stderr.write(
      `${system.name} ${mode} ${options.clients}: ${result.errors} errors, last: ${result.lastError}\n`
    )
  const per = (value: number) => value / result.turns
  return {
    system: system.name,
    mode,
    clients: options.clients,
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
}
