/**
 * `node bench/growth.ts`: what does not grow. The cost of a turn with a longer log and with more
 * threads at rest, a cold prompt, the memory of live actors, the time to start.
 *
 *   --only log,threads,memory,start   --threads 1000000   --events 10000   --actors 10000   --seconds 6   --write
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"
import { toUuid } from "../src/domain/ids.ts"
import { connect, pause } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import { lengthen, multiply } from "./generate.ts"
import { openInspector } from "./inspector.ts"
import { measure, type Measured } from "./measure.ts"
import { watch } from "./processes.ts"
import { findings, writeReport } from "./report.ts"
import { median, summarize } from "./statistics.ts"
import { scratch, startPostgres, startTroupe, type System } from "./systems.ts"
import { create, lastSeq, makeThreads, turn } from "./turns.ts"

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "log,threads,memory,start" },
    threads: { type: "string", default: "1000000" },
    events: { type: "string", default: "10000" },
    actors: { type: "string", default: "10000" },
    seconds: { type: "string", default: "6" },
    write: { type: "boolean", default: false }
  }
})
const wanted = new Set(values.only.split(","))
const round = (n: number, digits = 2) => n.toFixed(digits)
const { found, table } = findings()

/** Threads at rest soon leave memory: these work for as long as they are looked at. */
const lasting = { content: [{ type: "text", text: "What the model thinks about for long.\n/wait 120s" }] }

const postgres = await startPostgres()
const meter = await openMeter(postgres.url)
try {
  if (wanted.has("log")) {
    const length = Number(values.events)
    const url = await meter.createDatabase("growth_log")
    let system = await startTroupe("growth_log", url, { agents: 1 })
    const short = await create(system)
    const long = await create(system)
    // Read once each, by a program that is warm by then.
    const others = [await create(system), await create(system), await create(system), await create(system)]
    await system.stop()
    await lengthen(url, toUuid(short), 9)
    for (const id of [long, ...others]) await lengthen(url, toUuid(id), length)
    system = await startTroupe("growth_log", url, { agents: 1 })
    const http = connect(system.target)
    const costs: Array<{
      readonly events: number
      readonly cold: number
      readonly p50: number
      readonly cpu: number
      readonly database: number
    }> = []
    for (const id of [short, long]) {
      let after = await lastSeq(http, id)
      const before = performance.now()
      const length = after
      after = await turn(http, id, after)
      const cold = performance.now() - before
      for (let i = 0; i < 50; i++) after = await turn(http, id, after)
      const [server, database] = [watch(system.pid), watch(postgres.pid)]
      const times: Array<number> = []
      for (const until = performance.now() + Number(values.seconds) * 1_000; performance.now() < until; ) {
        const start = performance.now()
        after = await turn(http, id, after)
        times.push(performance.now() - start)
      }
      costs.push({
        events: length,
        cold,
        p50: summarize(times).p50,
        cpu: server.stop().cpuMs / times.length,
        database: database.stop().cpuMs / times.length
      })
    }
    const colds: Array<number> = []
    for (const id of others) {
      const after = await lastSeq(http, id)
      const before = performance.now()
      await turn(http, id, after)
      colds.push(performance.now() - before)
    }
    const read = (await meter.costs("growth_log")).find((cost) => /string_agg/i.test(cost.text))
    await http.close()
    await system.stop()
    const [few, many] = costs
    if (few === undefined || many === undefined) throw new Error("nothing was measured")
    for (const { cold, cpu, database, events, p50 } of costs) {
      found(
        `a turn in a thread of ${events} events`,
        `p50 ${round(p50)} ms, CPU ${round(cpu)} + ${round(database)} ms; the first after a start ${round(cold, 1)} ms`
      )
    }
    found(
      `the database's CPU a turn, ${many.events} events over ${few.events}`,
      round(many.database / few.database),
      "at most 1.3 times",
      many.database / few.database <= 1.3
    )
    found(`all CPU a turn, prompt included`, round((many.cpu + many.database) / (few.cpu + few.database)))
    if (read !== undefined) {
      const mean = read.ms / read.calls
      found(
        `a cold prompt of ${many.events} events: its one read`,
        `${round(mean, 1)} ms, ${round(read.longest, 1)} at most`,
        "at most 30 ms",
        mean <= 30
      )
    }
    found("the whole turn of it over a warm one: claim, fold, read, prompt", `${round(median(colds) - many.p50, 1)} ms`)
  }

  if (wanted.has("threads")) {
    const sizes = [1_000, Number(values.threads)] as const
    const nodes: Array<{ readonly threads: number; readonly system: System; readonly runs: Array<Measured> }> = []
    for (const threads of sizes) {
      const database = `growth_${threads}`
      const url = await meter.createDatabase(database)
      const maker = await startTroupe(database, url, { agents: 1 })
      const original = await create(maker)
      await maker.stop()
      const start = performance.now()
      await multiply(url, toUuid(original), threads - 1)
      if (threads > 1_000)
        found(`making ${threads} threads by SQL`, `${round((performance.now() - start) / 1_000, 0)} s`)
      nodes.push({ threads, system: await startTroupe(database, url, { agents: 16 }), runs: [] })
    }
    // In turns, so that what else the machine does harms both alike.
    for (let i = 0; i < 5; i++) {
      for (const { runs, system } of nodes) {
        runs.push(
          await measure(system, "A", {
            clients: 16,
            seconds: Number(values.seconds),
            warmupSeconds: 2,
            meter,
            postgresPid: postgres.pid
          })
        )
      }
    }
    const [few, many] = nodes.map(({ runs, threads }) => {
      const of = (pick: (run: Measured) => number) => median(runs.map(pick))
      const [cpu, p50] = [of((r) => r.serverCpuMs + r.databaseCpuMs), of((r) => r.p50)]
      found(
        `turns at 16 clients with ${threads} threads at rest`,
        `${round(
          of((r) => r.turnsPerSecond),
          0
        )}/s, p50 ${round(p50)} ms, CPU ${round(of((r) => r.serverCpuMs))} + ${round(of((r) => r.databaseCpuMs))} ms, ${round(
          of((r) => r.walBytes),
          0
        )} B of WAL without whole pages`
      )
      return { threads, cpu, p50 }
    })
    for (const { system } of nodes) await system.stop()
    if (few !== undefined && many !== undefined) {
      found(
        `CPU a turn, ${many.threads} threads over ${few.threads}`,
        round(many.cpu / few.cpu),
        "at most 1.3 times",
        many.cpu / few.cpu <= 1.3
      )
      found(
        `p50, ${many.threads} threads over ${few.threads}`,
        round(many.p50 / few.p50),
        "at most 1.3 times",
        many.p50 / few.p50 <= 1.3
      )
    }
  }

  if (wanted.has("memory")) {
    const actors = Number(values.actors)
    const system = await startTroupe("growth_memory", await meter.createDatabase("growth_memory"), {
      agents: 16,
      flags: ["--inspect=127.0.0.1:0"]
    })
    await measure(system, "A", { clients: 16, seconds: 3, warmupSeconds: 2, meter, postgresPid: postgres.pid })
    const live = async () =>
      Number(
        /^troupe_actors_live(?:\{[^}]*\})? (\d+)/m.exec(
          await (await fetch(`${system.target.origin}/metrics`)).text()
        )?.[1] ?? Number.NaN
      )
    // Passivation empties the node: only then is there a base to start from.
    for (const until = performance.now() + 60_000; (await live()) > 0 && performance.now() < until; ) await pause(500)
    const inspector = await openInspector(system.log, system.pid)
    const base = await inspector.collected()
    const { tookMs } = await makeThreads(system, actors, lasting)
    // The metric is a second old at most.
    let alive = 0
    for (const until = performance.now() + 10_000; alive < actors && performance.now() < until; ) {
      await pause(500)
      alive = await live()
    }
    const full = await inspector.collected()
    inspector.close()
    await system.stop()
    const mib = (bytes: number) => bytes / 2 ** 20
    if (alive < actors) throw new Error(`of ${actors} threads with a turn that goes on ${alive} are in memory`)
    found(`${actors} threads made, with a turn that goes on`, `${round(tookMs / 1_000, 1)} s`)
    const heap = mib(full.heap - base.heap)
    found(
      `heap of ${actors} threads in a turn over the base (${round(mib(base.heap), 0)} MiB)`,
      `${round(heap, 0)} MiB`,
      "at most 150 MiB",
      heap <= 150
    )
    found(
      `resident memory with them, and before`,
      `${round(mib(full.resident), 0)} MiB, ${round(mib(base.resident), 0)} MiB`
    )
  }

  if (wanted.has("start")) {
    const folder = join(scratch, "start")
    await rm(folder, { recursive: true, force: true })
    const times: Array<number> = []
    for (let i = 0; i < 4; i++) {
      const begun = performance.now()
      const child = spawn(process.execPath, ["src/start.mjs", "dev"], {
        cwd: resolve(import.meta.dirname, ".."),
        stdio: ["ignore", "pipe", "inherit"],
        env: { ...process.env, TROUPE_DATA: folder, TROUPE_PORT: "0", TROUPE_DATABASE_URL: "" }
      })
      for await (const line of createInterface({ input: child.stdout })) {
        if (!line.startsWith("curl ")) continue
        times.push(performance.now() - begun)
        break
      }
      child.kill("SIGTERM")
      if (child.exitCode === null) await once(child, "exit")
    }
    await rm(folder, { recursive: true, force: true })
    const [cold = Number.NaN, ...warm] = times
    found("first start of all, data folder made", `${round(cold, 0)} ms`)
    found(
      "start to ready on a warm data folder, embedded PostgreSQL included",
      `${round(median(warm), 0)} ms`,
      "at most 4000 ms",
      median(warm) <= 4_000
    )
  }

  if (values.write) {
    await writeReport("growth", table())
  }
} finally {
  await meter.close()
  await postgres.stop()
}
