/**
 * `npm run bench -- --against C --together`: this checkout beside commit C, both under load at the same time. What the
 * machine does meanwhile it does to both. It cannot say how fast either is alone: they share the cores, and what one
 * wins the other loses.
 *
 * Every round starts both anew, with one database each, and shows what one takes over what the other takes. Which of
 * them starts first, and is asked first, changes with each round.
 */
import { checkOut } from "./checkout.ts"
import { openMeter } from "./database.ts"
import { measure, type Measured } from "./measure.ts"
import { median } from "./statistics.ts"
import { makeStops, starting } from "./stops.ts"
import { startPostgres, type System } from "./systems.ts"

export interface TogetherOptions {
  readonly commit: string
  /** Of each server. */
  readonly clients: ReadonlyArray<number>
  readonly rounds: number
  readonly seconds: number
  readonly warmupSeconds: number
  /** Flags of Node for this checkout's server. */
  readonly flags: ReadonlyArray<string>
}

const quantities: ReadonlyArray<readonly [name: string, of: (run: Measured) => number]> = [
  ["turns/s", (run) => run.turnsPerSecond],
  ["ms of CPU a turn, the server", (run) => run.serverCpuMs],
  ["requests a turn", (run) => run.requests],
  ["statements a turn", (run) => run.statements],
  ["p50 ms", (run) => run.p50],
  ["p99 ms", (run) => run.p99]
]

export const together = async (options: TogetherOptions): Promise<void> => {
  const { clients, flags, rounds, seconds, warmupSeconds } = options
  const { all: stopAll, stops } = makeStops()
  try {
    const that = await checkOut(options.commit)
    stops.push(that.remove)
    const postgres = await startPostgres()
    stops.push(postgres.stop)
    const meter = await openMeter(postgres.url)
    stops.push(meter.close)
    const programs = [{ flags }, { checkout: that.folder }]
    const start = starting({ meter, programs, agents: Math.max(...clients), stops })
    const run = (systems: ReadonlyArray<System>, level: number, warmup: number, length: number) =>
      Promise.all(
        systems.map((system) =>
          measure(system, "A", {
            clients: level,
            seconds: length,
            warmupSeconds: warmup,
            meter,
            postgresPid: postgres.pid
          })
        )
      )

    const levels = clients.map((level) => ({ level, pairs: [] as Array<readonly [ours: Measured, theirs: Measured]> }))
    for (let round = 0; round < rounds; round++) {
      const isReversed = round % 2 === 1
      const inOrder = <A>(pair: ReadonlyArray<A>) => (isReversed ? pair.toReversed() : pair)
      const systems: Array<System> = []
      for (const place of inOrder([...programs.keys()])) systems.push(await start(place))
      // Code is compiled and caches are full by the first window.
      await run(systems, Math.max(...clients), 10, 2)
      await meter.checkpoint()
      for (const { level, pairs } of levels) {
        const [ours, theirs] = inOrder(await run(systems, level, warmupSeconds, seconds))
        if (ours === undefined || theirs === undefined) throw new Error("two servers were to be measured")
        pairs.push([ours, theirs])
        console.log(
          `${level} clients, round ${round + 1}: ` +
            quantities.map(([name, of]) => `${name} ${(of(ours) / of(theirs)).toFixed(3)}`).join(", ")
        )
      }
      // One by one: whatever a stop that fails leaves running is stopped at the end.
      for (const _ of systems) await stops.pop()?.()
    }
    for (const { level, pairs } of levels)
      for (const [name, of] of quantities) {
        const ratio = median(pairs.map(([ours, theirs]) => of(ours) / of(theirs)))
        console.log(`${name} at ${level}, beside ${that.commit}: ${ratio.toFixed(3)}`)
      }
  } finally {
    await stopAll()
  }
}
