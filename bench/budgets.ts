/**
 * `node bench/budgets.ts`: what budgets cost a turn. The same turns of a model that costs nothing, of one with a price
 * whose agents have budgets of their own, and of that with one budgeted agent for all clients; interleaved on one server.
 *
 *   --rounds 3     of each     --seconds 5     measured in each     --write     puts the table into docs/benchmarks.md
 */
import { parseArgs } from "node:util"
import { connect, text } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import { measure, type Measured } from "./measure.ts"
import { describeMachine, writeReport } from "./report.ts"
import { median } from "./statistics.ts"
import { startPostgres, startTroupe } from "./systems.ts"

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "5" },
    write: { type: "boolean", default: false }
  }
})
const most = 64
const postgres = await startPostgres()
const meter = await openMeter(postgres.url)
const system = await startTroupe("bench_budgets", await meter.createDatabase("bench_budgets"), { agents: most })

try {
  const http = connect(system.target)
  const profile = await http.post("/v1/profiles", { name: "paid", models: ["troupe/scripted-paid"] })
  const paid = async () =>
    text(
      await http.post("/v1/agents", {
        name: "paid",
        profileId: text(profile, "profile", "id"),
        budget: { limit: 1_000_000, window: "total" }
      }),
      "agent",
      "id"
    )
  const own: Array<string> = []
  for (let i = 0; i < most; i++) own.push(await paid())
  const one = await paid()
  await http.close()

  const ways = { free: system.target.agents, own, one: Array.from({ length: most }, () => one) }
  type Way = keyof typeof ways
  const names = Object.keys(ways) as ReadonlyArray<Way>
  const run = (way: Way, clients: number, seconds: number, warmupSeconds: number) =>
    // One client hears of the end on a stream: one that polls each 2 ms would find a turn that takes 1 ms more two
    // pauses later. Sixty-four streams of one agent would tell each client of all the others' turns.
    measure({ ...system, target: { ...system.target, agents: ways[way] } }, clients === 1 ? "B" : "A", {
      clients,
      seconds,
      warmupSeconds,
      meter,
      postgresPid: postgres.pid
    })

  for (const way of names) await run(way, most, 4, 4)
  const found = new Map<string, Array<Measured>>()
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const clients of [1, most]) {
      for (const way of round % 2 === 0 ? names : names.toReversed()) {
        const key = `${way} ${clients}`
        found.set(key, [...(found.get(key) ?? []), await run(way, clients, Number(values.seconds), 1)])
      }
    }
  }
  const of = (way: Way, clients: number, pick: (run: Measured) => number) =>
    median((found.get(`${way} ${clients}`) ?? []).map(pick))
  const ratio = (way: Way, clients: number, pick: (run: Measured) => number) =>
    of(way, clients, pick) / of("free", clients, pick)
  const more = (clients: number) =>
    of("own", clients, (run) => run.statements) - of("free", clients, (run) => run.statements)
  const rate = (run: Measured) => run.turnsPerSecond
  const lines: ReadonlyArray<readonly [what: string, value: number, bar: string, holds: boolean]> = [
    ["statements more a turn, 1 client", more(1), "at most 1", more(1) <= 1.05],
    ["statements more a turn, 64 clients", more(most), "at most 0.3", more(most) <= 0.3],
    [
      "p50 of the free model's, 1 client",
      ratio("own", 1, (run) => run.p50),
      "at most 1.4",
      ratio("own", 1, (run) => run.p50) <= 1.4
    ],
    [
      "turns/s of the free model's, 64 clients",
      ratio("own", most, rate),
      "at least 0.8",
      ratio("own", most, rate) >= 0.8
    ],
    ["the same, all on one agent", ratio("one", most, rate), "at least 0.5", ratio("one", most, rate) >= 0.5]
  ]
  for (const [what, value, bar, holds] of lines)
    console.log(`${what}: ${value.toFixed(2)} (${bar}: ${holds ? "holds" : "missed"})`)
  if (values.write) {
    const rows = lines.map(
      ([what, value, bar, holds]) => `| ${what} | ${value.toFixed(2)} | ${bar}: ${holds ? "holds" : "**missed**"} |`
    )
    await writeReport(
      "budgets",
      [
        describeMachine(`${values.rounds} rounds, medians.`),
        ["| what | found | bar |", "|-|-|-|", ...rows].join("\n")
      ].join("\n\n")
    )
  }
} finally {
  await system.stop()
  await meter.close()
  await postgres.stop()
}
