/** Turns a second beside the yardstick: a table and the project's bars. */
import { openMeter } from "./database.ts"
import { measure, type Measured } from "./measure.ts"
import { bars, describeMachine, medians, toMarkdown, writeReport } from "./report.ts"
import { startPostgres, startTroupe, startYardstick, type System } from "./systems.ts"

export interface BesideOptions {
  readonly seconds: number
  readonly warmupSeconds: number
  readonly repeat: number
  readonly levels: ReadonlyArray<number>
  readonly modes: ReadonlyArray<"A" | "B">
  readonly only: string | undefined
  readonly statements: boolean
  readonly profile: boolean
  readonly write: boolean
}

const round = (n: number, digits = 2) => n.toFixed(digits)

export const besideYardstick = async ({
  levels,
  modes,
  only,
  profile,
  repeat,
  seconds,
  statements,
  warmupSeconds,
  write
}: BesideOptions): Promise<void> => {
  const postgres = await startPostgres()
  const stops: Array<() => Promise<void>> = [postgres.stop]
  const stopAll = async () => {
    for (const stop of stops.splice(0).reverse()) await stop().catch(console.error)
  }
  process.once("SIGINT", () => void stopAll().finally(() => process.exit(130)))

  try {
    const meter = await openMeter(postgres.url)
    stops.push(meter.close)
    const systems: Array<System> = []
    if (only !== "yardstick") {
      const url = await meter.createDatabase("bench_troupe")
      systems.push(
        await startTroupe("bench_troupe", url, {
          agents: Math.max(...levels),
          flags: profile ? ["--cpu-prof", "--cpu-prof-dir=.troupe/bench"] : []
        })
      )
      stops.push(systems[0]!.stop)
    }
    if (only !== "troupe") {
      systems.push(await startYardstick("bench_yardstick", await meter.createDatabase("bench_yardstick")))
      stops.push(systems.at(-1)!.stop)
    }

    // Once: after every checkpoint the first change of a page logs the page whole.
    await meter.checkpoint()
    const runs: Array<Measured> = []
    for (const mode of modes) {
      for (const clients of levels) {
        if (statements) await meter.forget()
        // Ours, the yardstick, ours, the yardstick: what the machine does to one it does to the other.
        for (let i = 0; i < repeat; i++) {
          for (const system of systems) {
            if (mode === "B" && system.name === "yardstick") continue
            const run = await measure(system, mode, {
              seconds,
              warmupSeconds,
              clients,
              meter,
              postgresPid: postgres.pid
            })
            runs.push(run)
            console.log(
              `${mode} ${String(clients).padStart(3)} clients  ${system.name.padEnd(9)} ` +
                `${round(run.turnsPerSecond, 0).padStart(5)} turns/s` +
                `  p50 ${round(run.p50)} p99 ${round(run.p99)} ms  CPU ${round(run.serverCpuMs)} + ` +
                `${round(run.databaseCpuMs)} ms` +
                `  ${round(run.statements)} statements ${round(run.commits)} commits ${round(run.walBytes, 0)} B ` +
                `WAL + ${round(run.pageBytes, 0)} of whole pages  ${round(run.rssMiB, 0)} ` +
                `MiB${run.errors > 0 ? `  ${run.errors} ERRORS` : ""}`
            )
          }
        }
        if (statements) {
          for (const system of systems) {
            console.log(`\n${system.database}`)
            for (const { calls, ms, walBytes, walPages, walRecords, text } of await meter.costs(system.database)) {
              console.log(
                `  ${String(calls).padStart(7)} calls ${round(ms / calls, 3).padStart(7)} ms each` +
                  `  WAL in all ${String(walRecords).padStart(7)} records ` +
                  `${String(Math.round(walBytes / 1_000)).padStart(6)} kB, ${String(walPages).padStart(4)} whole ` +
                  `pages  ${text.slice(0, 400)}`
              )
            }
          }
          console.log()
        }
      }
    }
    const rows = medians(runs)
    const table = toMarkdown(rows)
    const verdicts = bars(rows)
    console.log(`\n${table}\n`)
    for (const bar of verdicts) console.log(`${bar.holds ? "holds " : "MISSED"}  ${bar.text}`)
    const start = systems.find((s) => s.name === "troupe")?.startMs
    if (start !== undefined) console.log(`\nStart to ready: ${round(start, 0)} ms`)
    if (write)
      await writeReport(
        "turns",
        [
          describeMachine(
            `Median of ${repeat} runs of ${seconds} s after ${warmupSeconds} s of warm-up, interleaved with the ` +
              "yardstick."
          ),
          table,
          verdicts.map((b) => `- ${b.holds ? "holds" : "**missed**"}: ${b.text}`).join("\n")
        ].join("\n\n")
      )
  } finally {
    await stopAll()
  }
}
