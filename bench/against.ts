/**
 * `npm run bench -- --against C`: this checkout beside commit C, both servers up at once on the same PostgreSQL, with a
 * second server of C as control. Each round measures all three one after the other, each round in another order; what
 * is compared are the ratios within rounds. After every three rounds all three are started anew: two processes of one
 * program differ by several per cent for as long as they live, by what was compiled when. What the control is off 1 is
 * the machine's doing: a bar is missed by more than that.
 */
import { checkOut, git } from "./checkout.ts"
import { openMeter } from "./database.ts"
import { measure, type Measured } from "./measure.ts"
import { describeMachine, writeReport } from "./report.ts"
import { median } from "./statistics.ts"
import { startPostgres, startTroupe, type System } from "./systems.ts"

export interface AgainstOptions {
  readonly commit: string
  readonly clients: ReadonlyArray<number>
  readonly rounds: number
  readonly seconds: number
  readonly warmupSeconds: number
  /** Flags of Node for this checkout's server. */
  readonly flags: ReadonlyArray<string>
  readonly write: boolean
}

/** Places of this checkout, the commit and the control in a round: each order as often as any other. */
const orders = [
  [0, 1, 2],
  [2, 1, 0],
  [1, 2, 0],
  [0, 2, 1],
  [2, 0, 1],
  [1, 0, 2]
] as const

/** A control that is farther off 1 says nothing of the rest. */
const noisy = 0.1

/** Rounds between two starts of the servers. */
const roundsOfAStart = 3

interface Bar {
  readonly limit: number
  readonly least?: true
}

interface Quantity {
  readonly name: string
  readonly of: (run: Measured) => number
  readonly digits: number
  readonly bar?: Bar
}

const quantities: ReadonlyArray<Quantity> = [
  { name: "turns/s", of: (run) => run.turnsPerSecond, digits: 0, bar: { limit: 0.97, least: true } },
  {
    name: "ms of CPU a turn, server and database",
    of: (run) => run.serverCpuMs + run.databaseCpuMs,
    digits: 3,
    bar: { limit: 1.03 }
  },
  { name: "of it the server", of: (run) => run.serverCpuMs, digits: 3 },
  { name: "p50 ms", of: (run) => run.p50, digits: 2 },
  { name: "p99 ms", of: (run) => run.p99, digits: 2 },
  { name: "B of WAL a turn, without whole pages", of: (run) => run.walBytes, digits: 0 },
  { name: "resident MiB", of: (run) => run.rssMiB, digits: 0 }
]

/** Missed by no more than the control is off 1, a bar holds. */
const holds = ({ least, limit }: Bar, ratio: number, control: number) =>
  least === true ? ratio >= limit - Math.abs(control - 1) : ratio <= limit + Math.abs(control - 1)

export const against = async ({
  clients,
  commit,
  flags,
  rounds,
  seconds,
  warmupSeconds,
  write
}: AgainstOptions): Promise<void> => {
  const short = git("rev-parse", "--short", commit)
  const stops: Array<() => Promise<void> | void> = []
  const stopAll = async () => {
    for (const stop of stops.splice(0).reverse()) await Promise.resolve(stop()).catch(console.error)
  }
  process.once("SIGINT", () => void stopAll().finally(() => process.exit(130)))
  try {
    const { folder, remove } = checkOut(commit)
    stops.push(remove)
    const postgres = await startPostgres()
    stops.push(postgres.stop)
    const meter = await openMeter(postgres.url)
    stops.push(meter.close)
    const start = async (
      name: string,
      how: { readonly checkout: string } | { readonly flags: ReadonlyArray<string> }
    ): Promise<System> => {
      const system = await startTroupe(name, await meter.createDatabase(name), { agents: Math.max(...clients), ...how })
      stops.push(system.stop)
      return system
    }
    const run = (system: System, level: number, warmup: number, length: number) =>
      measure(system, "A", { clients: level, seconds: length, warmupSeconds: warmup, meter, postgresPid: postgres.pid })

    const levels = clients.map(
      (level): { readonly level: number; readonly measured: ReadonlyArray<Array<Measured>> } => ({
        level,
        measured: [[], [], []]
      })
    )
    for (let first = 0; first < rounds; first += roundsOfAStart) {
      const systems = [
        await start("bench_this", { flags }),
        await start("bench_that", { checkout: folder }),
        await start("bench_control", { checkout: folder })
      ] as const
      // Code is compiled and caches are full by the first round.
      for (const system of systems) await run(system, Math.max(...clients), 8, 2)
      await meter.checkpoint()
      for (const { level, measured } of levels) {
        for (let round = first; round < Math.min(rounds, first + roundsOfAStart); round++) {
          for (const place of orders[round % orders.length] ?? orders[0]) {
            measured[place]?.push(await run(systems[place], level, warmupSeconds, seconds))
          }
          const last = measured.map((runs) => runs.at(-1)?.turnsPerSecond ?? Number.NaN)
          console.log(
            `${String(level).padStart(3)} clients, round ${round + 1}: ` +
              `${last.map((rate) => rate.toFixed(0)).join(", ")} turns/s (this, ${short}, control)`
          )
        }
      }
      for (const stop of stops.splice(-systems.length)) await stop()
    }

    const rows: Array<ReadonlyArray<string>> = []
    for (const { level, measured } of levels) {
      const [ours = [], theirs = [], control = []] = measured
      const errors = measured.flat().reduce((sum, each) => sum + each.errors, 0)
      if (errors > 0) console.log(`${errors} ERRORS`)
      const rates = median(control.map((one, i) => one.turnsPerSecond / (theirs[i] ?? one).turnsPerSecond))
      if (Math.abs(rates - 1) > noisy)
        console.log(
          `the machine is not quiet: ${short} is ${rates.toFixed(2)} times as fast as itself at ${level} clients`
        )
      for (const { bar, digits, name, of } of quantities) {
        const over = (runs: ReadonlyArray<Measured>) => median(runs.map((one, i) => of(one) / of(theirs[i] ?? one)))
        const [ratio, off] = [over(ours), over(control)]
        const verdict = bar === undefined ? undefined : holds(bar, ratio, off)
        console.log(
          `${verdict === undefined ? "      " : verdict ? "holds " : "MISSED"}  ${name} at ${level}: ` +
            `${ratio.toFixed(2)} (control ${off.toFixed(2)})`
        )
        rows.push([
          String(level),
          name,
          median(ours.map(of)).toFixed(digits),
          median(theirs.map(of)).toFixed(digits),
          ratio.toFixed(3),
          off.toFixed(3),
          bar === undefined
            ? ""
            : `${bar.least === true ? "at least" : "at most"} ${bar.limit}: ` +
              `${verdict === true ? "holds" : "**missed**"}`
        ])
      }
    }
    const columns = ["clients", "what", "this", short, "ratio", `control, ${short} over itself`, "bar"]
    const table = [columns, columns.map(() => "-"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")
    console.log(`\n${table}`)
    if (write) {
      const how =
        `This checkout${flags.length === 0 ? "" : ` with ${flags.join(" ")}`} beside ${short}: medians of ` +
        `${rounds} rounds of ${seconds} s after ${warmupSeconds} s of warm-up, and of the ratios within rounds.`
      await writeReport("against", [describeMachine(how), table].join("\n\n"))
    }
  } finally {
    await stopAll()
  }
}
