/**
 * The load generator, in a process of its own: N closed-loop clients, each with one connection.
 *
 * Started with a job as JSON. Each line that it is sent is a window: it says `{"measuring":true}` after the window's
 * warm-up, then what came of the window. It ends with its input.
 */
import { createInterface } from "node:readline"
import { type Adapter, sent, type Session, type Target } from "./adapters/Adapter.ts"
import { polled, streamed } from "./adapters/troupe.ts"
import { yardstick } from "./adapters/yardstick.ts"
import { summarize } from "./statistics.ts"

export interface Job {
  readonly adapter: "polled" | "streamed" | "yardstick"
  readonly target: Target
  readonly clients: number
}

export interface Window {
  readonly warmupSeconds: number
  readonly seconds: number
}

export interface Result {
  readonly turns: number
  /** Of all turns together. Mode A asks every two milliseconds whether a turn has ended: a slow one may make more. */
  readonly requests: number
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly errors: number
  readonly lastError?: string
  readonly driverCpuMs: number
}

const adapters: { readonly [A in Job["adapter"]]: Adapter } = { polled, streamed, yardstick }
const message = "Summarise the latest deployment and tell me whether it is safe to continue. ".repeat(4).slice(0, 300)

const load = async (sessions: ReadonlyArray<Session>, seconds: number) => {
  const start = performance.now()
  const end = start + seconds * 1_000
  const latencies: Array<number> = []
  let errors = 0
  let lastError: string | undefined
  await Promise.all(
    sessions.map(async (session) => {
      for (let before = performance.now(); before < end; ) {
        try {
          await session.turn(message)
          const after = performance.now()
          latencies.push(after - before)
          before = after
        } catch (cause) {
          lastError = cause instanceof Error ? cause.message : String(cause)
          if (++errors > 50) throw cause
          before = performance.now()
        }
      }
    })
  )
  return { latencies, errors, lastError, seconds: (performance.now() - start) / 1_000 }
}

/** A window under load: what came of it after its warm-up. */
const look = async (sessions: ReadonlyArray<Session>, window: Window): Promise<Result> => {
  await load(sessions, window.warmupSeconds)
  process.stdout.write(`${JSON.stringify({ measuring: true })}\n`)
  const [cpu, before] = [process.cpuUsage(), sent.requests]
  const { latencies, errors, lastError, seconds } = await load(sessions, window.seconds)
  const used = process.cpuUsage(cpu)
  const { count, p50, p99, max } = summarize(latencies)
  return {
    turns: count,
    requests: sent.requests - before,
    seconds,
    p50,
    p99,
    max,
    errors,
    driverCpuMs: (used.user + used.system) / 1_000,
    ...(lastError === undefined ? {} : { lastError })
  }
}

if (import.meta.main) {
  const { adapter, clients, target }: Job = JSON.parse(process.argv[2] ?? "")
  const sessions = await Promise.all(Array.from({ length: clients }, (_, i) => adapters[adapter](target, i)))
  for await (const line of createInterface({ input: process.stdin }))
    process.stdout.write(`${JSON.stringify(await look(sessions, JSON.parse(line)))}\n`)
  await Promise.all(sessions.map((session) => session.close()))
  process.exit(0)
}
