/**
 * `npm run bench -- --against C`: this checkout beside commit C, both servers up at once on the same PostgreSQL, with a
 * second server of C as control. At each number of clients a round measures each of them in short windows, in which they
 * take turns: the machine's speed may change by half within seconds. Each has a load generator of its own, which stays
 * for these windows. What is compared are the ratios within rounds. Every round starts all of them anew: two processes
 * of one program may differ by several per cent for as long as they live. What the control is off 1 is the machine's
 * doing: a bar is missed by more than that.
 *
 * `--against C,D` measures beside several commits in one run; the control is a second server of the first.
 */
import { type Checkout, checkOut } from "./checkout.ts"
import { openMeter } from "./database.ts"
import { type Load, type Measured, openLoad, type Used } from "./measure.ts"
import { describeMachine, writeReport } from "./report.ts"
import { median } from "./statistics.ts"
import { makeStops, starting } from "./stops.ts"
import { startPostgres, type System } from "./systems.ts"

export interface AgainstOptions {
  readonly commits: readonly [string, ...ReadonlyArray<string>]
  readonly clients: ReadonlyArray<number>
  readonly rounds: number
  /** Of each server in a round at each number of clients, all its windows together. */
  readonly seconds: number
  /**
   * Under load before each window. Two at least: a server looks once a second how busy it is, and its actors rest for
   * one before they leave memory.
   */
  readonly warmupSeconds: number
  /** Flags of Node for this checkout's server. */
  readonly flags: ReadonlyArray<string>
  readonly write: boolean
}

/** How often each system has its turn in a round. */
const windowsInRound = 4

/** In the order of the nth turn. Over some rounds each comes first as often as any other, in both directions. */
const inTurn = <A>(all: ReadonlyArray<A>, turn: number): ReadonlyArray<A> => {
  const first = Math.floor(turn / 2) % all.length
  const forth = [...all.slice(first), ...all.slice(0, first)]
  return turn % 2 === 0 ? forth : forth.reverse()
}

/** A control that is farther off 1 says nothing of the rest. */
const noisy = 0.1

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
  { name: "statements a turn", of: (run) => run.statements, digits: 2, bar: { limit: 1.02 } },
  { name: "of its CPU the server", of: (run) => run.serverCpuMs, digits: 3 },
  { name: "requests a turn", of: (run) => run.requests, digits: 2 },
  { name: "p50 ms", of: (run) => run.p50, digits: 2 },
  { name: "p99 ms", of: (run) => run.p99, digits: 2 },
  { name: "B of WAL a turn, without whole pages", of: (run) => run.walBytes, digits: 0 },
  { name: "resident MiB", of: (run) => run.rssMiB, digits: 0 }
]

/** The median, over rounds, of what one system has over what another has in the same round. */
const ratioOf = (of: Quantity["of"], runs: ReadonlyArray<Measured>, others: ReadonlyArray<Measured>) =>
  median(
    runs.map((run, round) => {
      const other = others[round]
      if (other === undefined) throw new Error(`round ${round + 1} was not measured on both`)
      return of(run) / of(other)
    })
  )

/** Missed by no more than the control is off 1, a bar holds. */
const holds = ({ least, limit }: Bar, ratio: number, control: number) =>
  least === true ? ratio >= limit - Math.abs(control - 1) : ratio <= limit + Math.abs(control - 1)

/** One line of the table: a quantity at a number of clients, beside one commit. */
const rowOf = (
  { bar, digits, name, of }: Quantity,
  {
    control,
    first,
    level,
    ours,
    short,
    theirs
  }: {
    readonly level: number
    readonly short: string
    readonly ours: ReadonlyArray<Measured>
    readonly theirs: ReadonlyArray<Measured>
    /** The first commit, and its second server. */
    readonly first: ReadonlyArray<Measured>
    readonly control: ReadonlyArray<Measured>
  }
) => {
  const [ratio, off] = [ratioOf(of, ours, theirs), ratioOf(of, control, first)]
  const isHeld = bar === undefined ? undefined : holds(bar, ratio, off)
  console.log(
    `${isHeld === undefined ? "      " : isHeld ? "holds " : "MISSED"}  ${name} at ${level}, beside ${short}: ` +
      `${ratio.toFixed(2)} (control ${off.toFixed(2)})`
  )
  const verdict =
    bar === undefined
      ? ""
      : `${bar.least === true ? "at least" : "at most"} ${bar.limit}: ${isHeld === true ? "holds" : "**missed**"}`
  return [
    String(level),
    name,
    short,
    median(ours.map(of)).toFixed(digits),
    median(theirs.map(of)).toFixed(digits),
    ratio.toFixed(3),
    off.toFixed(3),
    verdict
  ]
}

const columns = ["clients", "what", "beside", "this", "that", "ratio", "control: the first over itself", "bar"]

export const against = async (options: AgainstOptions): Promise<void> => {
  const { clients, flags, rounds, seconds, warmupSeconds, write } = options
  const { all, stops } = makeStops()
  try {
    const checkouts: Array<Checkout> = []
    for (const commit of options.commits) {
      const checkout = await checkOut(commit)
      stops.push(checkout.remove)
      checkouts.push(checkout)
    }
    const folders = checkouts.map(({ folder }) => folder)
    const shorts = checkouts.map(({ commit }) => commit)
    const postgres = await startPostgres()
    stops.push(postgres.stop)
    const meter = await openMeter(postgres.url)
    stops.push(meter.close)
    const programs = [{ flags }, ...[...folders, ...folders.slice(0, 1)].map((checkout) => ({ checkout }))]
    const start = starting({ meter, programs, agents: Math.max(...clients), stops })
    const open = (system: System, level: number) =>
      openLoad(system, "A", { clients: level, meter, postgresPid: postgres.pid })

    const levels = clients.map((level) => ({ level, measured: programs.map((): Array<Measured> => []) }))
    for (let round = 0; round < rounds; round++) {
      const systems: Array<{ readonly place: number; readonly system: System }> = []
      for (const place of inTurn([...programs.keys()], round)) systems.push({ place, system: await start(place) })
      // Code is compiled and caches are full by the first window.
      for (const { system } of systems) {
        const load = await open(system, Math.max(...clients))
        await load.window({ warmupSeconds: 8, seconds: 2 })
        await load.close()
      }
      await meter.checkpoint()
      for (const { level, measured } of levels) {
        const loads: Array<{ readonly place: number; readonly load: Load; readonly windows: Array<Used> }> = []
        for (const { place, system } of systems) loads.push({ place, load: await open(system, level), windows: [] })
        for (let turn = 0; turn < windowsInRound; turn++)
          for (const { load, windows } of inTurn(loads, turn))
            windows.push(await load.window({ warmupSeconds, seconds: seconds / windowsInRound }))
        for (const { load, place, windows } of loads) {
          await load.close()
          measured[place]?.push(load.measured(windows))
        }
        const last = measured.map((runs) => runs.at(-1)?.turnsPerSecond ?? Number.NaN)
        console.log(
          `${String(level).padStart(3)} clients, round ${round + 1}: ` +
            `${last.map((rate) => rate.toFixed(0)).join(", ")} turns/s (this, ${shorts.join(", ")}, control)`
        )
      }
      // One by one: whatever a stop that fails leaves running is stopped at the end.
      for (const _ of systems) await stops.pop()?.()
    }

    const rows: Array<ReadonlyArray<string>> = []
    for (const { level, measured } of levels) {
      const [ours = [], first = []] = measured
      const control = measured.at(-1) ?? []
      const errors = measured.flat().reduce((sum, each) => sum + each.errors, 0)
      if (errors > 0) console.log(`${errors} ERRORS`)
      const rates = ratioOf((run) => run.turnsPerSecond, control, first)
      if (Math.abs(rates - 1) > noisy)
        console.log(
          `the machine is not quiet: ${shorts[0]} is ${rates.toFixed(2)} times as fast as itself at ${level} clients`
        )
      for (const [i, short] of shorts.entries())
        for (const quantity of quantities)
          rows.push(rowOf(quantity, { level, short, ours, theirs: measured[i + 1] ?? [], first, control }))
    }
    const table = [columns, columns.map(() => "-"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")
    console.log(`\n${table}`)
    if (write) {
      const how =
        `This checkout${flags.length === 0 ? "" : ` with ${flags.join(" ")}`} beside ${shorts.join(", ")}: medians ` +
        `of ${rounds} rounds of ${seconds} s in ${windowsInRound} windows, each after ${warmupSeconds} s of load, ` +
        "and of the ratios within rounds."
      await writeReport("against", [describeMachine(how), table].join("\n\n"))
    }
  } finally {
    await all()
  }
}
