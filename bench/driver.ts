/**
 * The load generator, in a process of its own: N closed-loop clients, each with one connection.
 *
 * Started with a job as JSON, it says `{"ready":true}`. Each line that it is sent is a window: it says
 * `{"measuring":true}` after the window's warm-up, what came of the window at its end, and its errors when the turns that
 * were under way then have ended. It ends with its input.
 */
import { createInterface } from "node:readline"
import { type Adapter, pause, sent, type Session, type Target } from "./adapters/Adapter.ts"
import { polled, streamed } from "./adapters/troupe.ts"
import { yardstick } from "./adapters/yardstick.ts"
import { summarize } from "./statistics.ts"

export interface Job {
  readonly adapter: "polled" | "streamed" | "yardstick"
  readonly target: Target
  readonly clients: number
}

/** A stretch of load that is measured, behind a warm-up that is not. */
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
  readonly driverCpuMs: number
}

/** Of a window, its warm-up and the turns that were under way at its end. */
export interface Errors {
  readonly errors: number
  readonly lastError?: string
}

const adapters: { readonly [A in Job["adapter"]]: Adapter } = { polled, streamed, yardstick }
const message = "Summarise the latest deployment and tell me whether it is safe to continue. ".repeat(4).slice(0, 300)

const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)

/** Clients do not stop between a window's warm-up and what is measured: turns count by the moment they end. */
const carryOut = async (sessions: ReadonlyArray<Session>, { seconds, warmupSeconds }: Window): Promise<void> => {
  const latencies: Array<number> = []
  let errors = 0
  let lastError: string | undefined
  let stage: "warm-up" | "measured" | "over" = "warm-up"
  const load = Promise.all(
    sessions.map(async (session) => {
      for (let before = performance.now(); stage !== "over"; ) {
        try {
          await session.turn(message)
          const after = performance.now()
          if (stage === "measured") latencies.push(after - before)
          before = after
        } catch (cause) {
          lastError = cause instanceof Error ? cause.message : String(cause)
          if (++errors > 50) throw cause
          before = performance.now()
        }
      }
    })
  )
  await Promise.race([load, pause(warmupSeconds * 1_000)])
  say({ measuring: true })
  const [start, cpu, before] = [performance.now(), process.cpuUsage(), sent.requests]
  stage = "measured"
  await Promise.race([load, pause(seconds * 1_000)])
  stage = "over"
  const used = process.cpuUsage(cpu)
  const took = (performance.now() - start) / 1_000
  const { count, max, p50, p99 } = summarize(latencies)
  const result: Result = {
    turns: count,
    requests: sent.requests - before,
    seconds: took,
    p50,
    p99,
    max,
    driverCpuMs: (used.user + used.system) / 1_000
  }
  say(result)
  await load
  const found: Errors = { errors, ...(lastError === undefined ? {} : { lastError }) }
  say(found)
}

if (import.meta.main) {
  const { adapter, clients, target }: Job = JSON.parse(process.argv[2] ?? "")
  const sessions = await Promise.all(Array.from({ length: clients }, (_, i) => adapters[adapter](target, i)))
  say({ ready: true })
  for await (const line of createInterface({ input: process.stdin })) await carryOut(sessions, JSON.parse(line))
  await Promise.all(sessions.map((session) => session.close()))
  process.exit(0)
}
