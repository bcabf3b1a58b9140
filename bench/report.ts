/** What measured runs amount to: medians, the bars of the project, a table for docs/benchmarks.md. */
import { readFile, writeFile } from "node:fs/promises"
import os from "node:os"
import { resolve } from "node:path"
import type { Measured } from "./measure.ts"
import { median } from "./statistics.ts"

const round = (n: number, digits = 2) => (Number.isFinite(n) ? n.toFixed(digits) : "–")

/** One row per system, mode and number of clients. */
export const medians = (runs: ReadonlyArray<Measured>): ReadonlyArray<Measured> =>
  [...Map.groupBy(runs, (run) => `${run.mode} ${run.clients} ${run.system}`).values()].map((group) => {
    const of = (pick: (run: Measured) => number) => median(group.map(pick))
    const { system, mode, clients } = group[0]!
    return {
      system,
      mode,
      clients,
      turnsPerSecond: of((r) => r.turnsPerSecond),
      p50: of((r) => r.p50),
      p99: of((r) => r.p99),
      errors: of((r) => r.errors),
      rssMiB: of((r) => r.rssMiB),
      serverCpuMs: of((r) => r.serverCpuMs),
      databaseCpuMs: of((r) => r.databaseCpuMs),
      driverCpuMs: of((r) => r.driverCpuMs),
      requests: of((r) => r.requests),
      statements: of((r) => r.statements),
      commits: of((r) => r.commits),
      walBytes: of((r) => r.walBytes),
      pageBytes: of((r) => r.pageBytes)
    }
  })

/** The same work by the yardstick; mode B has none of its own, so it is held against mode A's. */
const yardstickOf = (rows: ReadonlyArray<Measured>, row: Measured) =>
  rows.find((other) => other.system === "yardstick" && other.clients === row.clients)

export const toMarkdown = (rows: ReadonlyArray<Measured>) => {
  const columns = [
    "mode",
    "clients",
    "system",
    "turns/s",
    "of the yardstick",
    "p50 ms",
    "p99 ms",
    "CPU ms a turn: server",
    "database",
    "statements",
    "commits",
    "WAL B",
    "whole pages B",
    "RSS MiB"
  ]
  const lines = rows.map((row) => {
    const base = yardstickOf(rows, row)
    const ratio =
      base === undefined || row.system === "yardstick" ? "" : round(row.turnsPerSecond / base.turnsPerSecond)
    return [
      row.mode,
      String(row.clients),
      row.system,
      round(row.turnsPerSecond, 0),
      ratio,
      round(row.p50, 1),
      round(row.p99, 1),
      round(row.serverCpuMs),
      round(row.databaseCpuMs),
      round(row.statements, 1),
      round(row.commits, 1),
      round(row.walBytes, 0),
      round(row.pageBytes, 0),
      round(row.rssMiB, 0)
    ]
  })
  return [columns, columns.map(() => "-"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n")
}

interface Bar {
  readonly holds: boolean
  readonly text: string
}

/** The bars are for mode A (docs/benchmarks.md). */
export const bars = (rows: ReadonlyArray<Measured>): ReadonlyArray<Bar> => {
  const verdicts: Array<Bar> = []
  const atMost = (text: string, value: number, limit: number) =>
    verdicts.push({ holds: value <= limit, text: `${text}: ${round(value)}, at most ${limit}` })
  for (const row of rows) {
    if (row.system !== "troupe" || row.mode !== "A") continue
    const base = yardstickOf(rows, row)
    if (base !== undefined && row.clients >= 16) {
      const ratio = row.turnsPerSecond / base.turnsPerSecond
      verdicts.push({
        holds: ratio >= 0.65,
        text: `turns/s at ${row.clients} clients, of the yardstick's: ${round(ratio)}, at least 0.65`
      })
    }
    if (base !== undefined && row.clients === 1) atMost("p50 at 1 client, of the yardstick's", row.p50 / base.p50, 1.6)
    atMost(`statements a turn at ${row.clients} clients`, row.statements, 4)
    if (row.clients === 64) {
      atMost("commits a turn at 64 clients", row.commits, 2.5)
      atMost("kB of WAL a turn at 64 clients, without whole pages", row.walBytes / 1_000, 2.5)
      atMost("ms of CPU a turn at 64 clients, server and database", row.serverCpuMs + row.databaseCpuMs, 2)
    }
  }
  return verdicts
}

/** Says what was measured, and whether it is within its bar. */
export type Found = (what: string, value: string, bar?: string, holds?: boolean) => void

/** What single measurements have found, said as they come, and their bars; `table` shows them all. */
export const findings = () => {
  const lines: Array<readonly [what: string, found: string, bar: string, holds: boolean | undefined]> = []
  return {
    found: (what: string, value: string, bar = "", holds?: boolean) => {
      lines.push([what, value, bar, holds])
      console.log(
        `${holds === undefined ? "      " : holds ? "holds " : "MISSED"}  ${what}: ${value}${bar === "" ? "" : `, ${bar}`}`
      )
    },
    table: () =>
      [
        "| what | found | bar | |",
        "| - | - | - | - |",
        ...lines.map(
          ([what, value, bar, holds]) =>
            `| ${what} | ${value} | ${bar} | ${holds === undefined ? "" : holds ? "holds" : "**missed**"} |`
        )
      ].join("\n")
  }
}

/** `how` says what was measured for how long. */
export const describeMachine = (how: string) =>
  `${new Date().toISOString().slice(0, 10)}, ${os.cpus().length} cores ` +
  `(${os.cpus()[0]?.model.trim() ?? "unknown"}) shared by server, database and load generator, ` +
  `${round(os.totalmem() / 2 ** 30, 0)} GiB, Node ${process.versions.node}, PostgreSQL 18 with default settings ` +
  `and fsync on. ${how}`

/** Replaces what stands between the markers of that name in docs/benchmarks.md, or adds it at the end. */
export const writeReport = async (name: string, body: string) => {
  const path = resolve(import.meta.dirname, "..", "docs", "benchmarks.md")
  const found = await readFile(path, "utf8").catch(() => "# Benchmarks\n")
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const section = `${open}\n${body}\n${close}`
  const [from, to] = [found.indexOf(open), found.indexOf(close)]
  await writeFile(
    path,
    from >= 0 && to > from
      ? found.slice(0, from) + section + found.slice(to + close.length)
      : `${found.trimEnd()}\n\n${section}\n`
  )
}
