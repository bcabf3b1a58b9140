/**
 * `node bench/schedules.ts`: how fast schedules fire: many that are due in one second, beside as many threads that are
 * made by requests; and one among many that lie a week ahead, which cost no look anything. `--only nodes`, which takes as
 * long as it says: three nodes, two of which are restarted while schedules come due. That needs nats-server on PATH.
 *
 *   --only due,far   --due 10000   --far 100000   --single 50   --looks 300   --profile   --write
 *   --only nodes   --spread 100000   --spreadSeconds 600
 */
import { Effect, Redacted } from "effect"
import { parseArgs } from "node:util"
import { migrate } from "../src/database/migrate.ts"
import { connect, pause } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import { compareLooks } from "./looker.ts"
import { measure } from "./measure.ts"
import { watch } from "./processes.ts"
import { describeMachine, findings, writeReport } from "./report.ts"
import {
  copySchedules,
  dailyAt,
  type Fired,
  firedBetween,
  isEachOnce,
  makeOriginal,
  minuteAfter,
  restingThreads
} from "./scheduleCopies.ts"
import { summarize } from "./statistics.ts"
import { startNats, startPostgres, startTroupe } from "./systems.ts"
import { makeThreads, message } from "./turns.ts"

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "due,far" },
    due: { type: "string", default: "10000" },
    far: { type: "string", default: "100000" },
    single: { type: "string", default: "50" },
    looks: { type: "string", default: "300" },
    spread: { type: "string", default: "100000" },
    spreadSeconds: { type: "string", default: "600" },
    profile: { type: "boolean", default: false },
    write: { type: "boolean", default: false }
  }
})
const wanted = new Set(values.only.split(","))
const round = (n: number, digits = 2) => n.toFixed(digits)
const { found, table } = findings()
const lagsOf = (fired: ReadonlyArray<Fired>) => summarize(fired.map(({ at, moment }) => at - moment))

const postgres = await startPostgres()
const meter = await openMeter(postgres.url)
try {
  if (wanted.has("due")) {
    const due = Number(values.due)
    const url = await meter.createDatabase("schedules_due")
    const flags = values.profile ? ["--cpu-prof", "--cpu-prof-dir=.troupe/bench"] : []
    const system = await startTroupe("schedules_due", url, { agents: 16, flags })
    await measure(system, "A", { clients: 16, seconds: 3, warmupSeconds: 2, meter, postgresPid: postgres.pid })
    const before = await makeThreads(system, due)
    const minute = minuteAfter(15_000 + due / 2)
    const original = await makeOriginal(url, system.target, dailyAt(minute))
    await copySchedules(url, original, system.target.agents, due - 1)
    if (Date.now() > minute.getTime()) throw new Error("making the schedules took too long")
    await pause(minute.getTime() - Date.now())
    await meter.forget()
    const [server, database] = [watch(system.pid), watch(postgres.pid)]
    await restingThreads(url, minute.getTime(), due, 600_000)
    const [serverMs, databaseMs] = [server, database].map((watched) => watched.stop().cpuMs / due)
    const costs = await meter.costs("schedules_due")
    const after = await makeThreads(system, due)
    await system.stop()
    const fired = await firedBetween(url, minute.getTime(), minute.getTime())
    const tookMs = Math.max(...fired.map(({ endedAt = Number.NaN }) => endedAt)) - minute.getTime()
    const madeMs = (before.tookMs + after.tookMs) / 2
    found(
      `${due} threads made and run, before and after`,
      `${round(before.tookMs / 1_000, 1)} s, ${round(after.tookMs / 1_000, 1)} s`
    )
    found(
      `of ${due} schedules due in one second, those that fired once and whose turn is over`,
      `${fired.length}`,
      "all",
      isEachOnce(fired, due)
    )
    found(
      "which took",
      `${round(tookMs / 1_000, 1)} s, CPU ${round(serverMs ?? Number.NaN)} + ${round(databaseMs ?? Number.NaN)} ms each`
    )
    found("the one over the other", round(tookMs / madeMs), "at most 1.5 times", tookMs / madeMs <= 1.5)
    for (const { calls, ms, text } of costs)
      console.log(
        `        ${String(calls).padStart(7)} calls ${round(ms / due, 3)} ms each schedule: ${text.slice(0, 110)}`
      )
  }

  if (wanted.has("far")) {
    const [far, single] = [Number(values.far), Number(values.single)]
    const empty = await meter.createDatabase("schedules_none")
    await Effect.runPromise(migrate(Redacted.make(empty)))
    const url = await meter.createDatabase("schedules_far")
    const system = await startTroupe("schedules_far", url, { agents: 2 })
    const nextWeek = new Date(Date.now() + 7 * 86_400_000)
    const trigger = { type: "cron", expression: `0 9 ${nextWeek.getUTCDate()} * *`, timezone: "UTC" }
    const original = await makeOriginal(url, system.target, trigger)
    await copySchedules(url, original, system.target.agents.slice(0, 1), far - 1)
    // Further ahead than the agenda's own minute, and each in a tenth of a second of its own.
    const first = Date.now() + 65_000
    const http = connect(system.target)
    for (let i = 0; i < single; i++)
      await http.post(`/v1/agents/${system.target.agents[1]}/schedules`, {
        name: "Single",
        trigger: { type: "once", at: new Date(first + i * 100).toISOString() },
        target: { mode: "spawn" },
        message
      })
    await http.close()
    await pause(first - Date.now())
    const last = first + (single - 1) * 100
    await restingThreads(url, first, single, 60_000)
    await system.stop()
    const fired = await firedBetween(url, first, last)
    const { p50, p99 } = lagsOf(fired)
    found(
      `one due among ${far} that lie a week ahead, ${single} times: pickup`,
      `${fired.length} fired, p50 ${round(p50, 0)} ms, p99 ${round(p99, 0)} ms`,
      "p99 at most 1500 ms",
      isEachOnce(fired, single) && p99 <= 1_500
    )
    const [none, many] = await compareLooks([empty, url], [], Number(values.looks))
    found(
      `a look without them, and with them`,
      `p50 ${round(none.look.p50)} ms and ${round(many.look.p50)} ms; the agenda's upkeep ${round(none.upkeep.p50)} ms and ${round(many.upkeep.p50)} ms`
    )
    found(
      "the one over the other",
      round(many.look.p50 / none.look.p50),
      "at most 1.2",
      many.look.p50 / none.look.p50 <= 1.2
    )
  }

  if (wanted.has("nodes")) {
    const [count, seconds] = [Number(values.spread), Number(values.spreadSeconds)]
    const url = await meter.createDatabase("schedules_nodes")
    const nats = await startNats()
    const start = (name: string, agents = 0) =>
      startTroupe("schedules_nodes", url, {
        agents,
        environment: { TROUPE_NODE_ID: name, TROUPE_NATS_URL: nats.url }
      })
    const nodes = new Map([["n1", await start("n1", 16)]])
    for (const name of ["n2", "n3"]) nodes.set(name, await start(name))
    const { target } = nodes.get("n1") ?? { target: undefined }
    if (target === undefined) throw new Error("the first node is not there")
    const first = minuteAfter(20_000 + count / 2)
    const original = await makeOriginal(url, target, dailyAt(first), seconds)
    await copySchedules(url, original, target.agents, count - 1)
    if (Date.now() > first.getTime()) throw new Error("making the schedules took too long")
    /** From when a node is told to stop until ten seconds after it is there again. */
    const restarts: Array<readonly [from: number, to: number]> = []
    for (const [i, name] of ["n2", "n3"].entries()) {
      await pause(first.getTime() + ((i + 1) * seconds * 1_000) / 3 - Date.now())
      const from = Date.now()
      await nodes.get(name)?.stop()
      nodes.set(name, await start(name))
      restarts.push([from, Date.now() + 10_000])
      console.log(`        ${name} restarted in ${round((Date.now() - from) / 1_000, 1)} s`)
    }
    await pause(first.getTime() + seconds * 1_000 - Date.now())
    await restingThreads(url, first.getTime(), count, 120_000)
    const fired = await firedBetween(url, first.getTime(), first.getTime(), seconds)
    for (const node of nodes.values()) await node.stop()
    await nats.stop()
    const isBeside = ({ moment }: Fired) => restarts.some(([from, to]) => moment >= from && moment <= to)
    const [all, quiet] = [lagsOf(fired), lagsOf(fired.filter((one) => !isBeside(one)))]
    found(
      `of ${count} schedules due within ${seconds} s on three nodes, two restarted meanwhile, those that fired once`,
      `${fired.length}`,
      "all",
      isEachOnce(fired, count)
    )
    found(
      "how late: p50, p99; outside of ten seconds after a restart p99",
      `${round(all.p50, 0)} ms, ${round(all.p99, 0)} ms; ${round(quiet.p99, 0)} ms`,
      "at most 5 s",
      quiet.p99 <= 5_000
    )
  }

  if (values.write) await writeReport("schedules", [describeMachine("One run."), "", table()].join("\n"))
} finally {
  await meter.close()
  await postgres.stop()
}
