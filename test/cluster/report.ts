/** Results in words: a line a run on the terminal, a row a fault in docs/reliability.md. */
import { readFile, writeFile } from "node:fs/promises"
import { resolve } from "node:path"
import { type Figure, missedBars, type Result } from "./experiment.ts"
import { faults } from "./faults.ts"
import { versionsName } from "./faults/upgrade.ts"
import type { Caught } from "./hunt.ts"
import { quantile } from "./measures.ts"
import { plants } from "./plants.ts"

const document = resolve(import.meta.dirname, "../../docs/reliability.md")

const number = (value: number | undefined, unit: Figure["unit"]) =>
  value === undefined ? "not measured" : unit === "ms" ? `${(value / 1_000).toFixed(1)} s` : String(value)

const most = 12

export const describe = (result: Result) => {
  const { fault, figures, gaps, load, lost, observed, seconds, seed, verdict, violations } = result
  return [
    `${violations.length === 0 && missedBars(result).length === 0 ? "ok  " : "FAIL"} ${fault} (seed ${seed}, ${seconds.toFixed(0)} s, load ${load.toFixed(1)}): ${observed ?? "not observed"}`,
    `     ${verdict.acknowledged} inputs, ${verdict.events} facts, ${verdict.takeovers} takeovers, ${verdict.extraCalls} extra model calls, ${lost.length} lost requests, gaps ${gaps.length}, waits late p99 ${number(quantile(verdict.waitLatenessMs, 0.99), "ms")}`,
    ...figures.map(
      (figure) =>
        `     ${missedBars({ figures: [figure] }).length > 0 ? "MISSED " : ""}${figure.name}: ${number(figure.value, figure.unit)}${figure.bar === undefined ? "" : ` (bar ${number(figure.bar, figure.unit)})`}`
    ),
    ...violations.slice(0, most).map((violation) => `     VIOLATION ${violation}`),
    ...lost.slice(0, 3).map((why) => `     lost: ${why}`),
    ...(violations.length > most ? [`     and ${violations.length - most} more`] : [])
  ].join("\n")
}

/** One row of the table, of all runs of a fault. */
export const row = (results: ReadonlyArray<Result>) => {
  const [first] = results
  if (first === undefined) return ""
  const gaps = results.flatMap(({ gaps }) => gaps)
  const violations = results.reduce((sum, { violations }) => sum + violations.length, 0)
  const inputs = results.reduce((sum, { verdict }) => sum + verdict.acknowledged, 0)
  const others = first.figures
    .filter(({ name }) => !/^next event/.test(name))
    .map(({ least, name, unit }) => {
      const values = results.flatMap(({ figures }) =>
        figures.filter((figure) => figure.name === name).flatMap(({ value }) => value ?? [])
      )
      return `${name} ${number(quantile(values, least === true ? 0 : 1), unit)}`
    })
  const loads = results.map(({ load }) => Math.round(load))
  const load = [...new Set([Math.min(...loads), Math.max(...loads)])].join(" to ")
  const times = gaps.length === 0 ? "–" : `${number(quantile(gaps, 0.5), "ms")} / ${number(quantile(gaps, 1), "ms")}`
  return `| ${first.fault} | ${results.length} | ${inputs.toLocaleString("en")} | ${violations} | ${times} | ${load} | ${[...others, first.bar].join("; bar: ").replace(/; bar: (?=.*; bar: )/g, ", ")} |`
}

/** The rows between two marks, by their first cell. */
const rowsOf = (name: string, text: string) => {
  const [, inner = ""] = text.split(`<!-- ${name} -->`)
  const rows = (inner.split(`<!-- /${name} -->`)[0] ?? "")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(1)
  return new Map(rows.map((line) => [cells(line)[0] ?? "", line]))
}

const cells = (line: string) =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim())

const section = (name: string, lines: ReadonlyArray<string>, text: string) => {
  const from = `<!-- ${name} -->`
  const to = `<!-- /${name} -->`
  const begin = text.indexOf(from)
  const end = text.indexOf(to)
  if (begin === -1 || end === -1) throw new Error(`docs/reliability.md has no place for ${name}`)
  return `${text.slice(0, begin + from.length)}\n\n${lines.join("\n")}\n\n${text.slice(end)}`
}

/** New rows take the place of old ones of the same name; in the order of `names`, and no others. */
const merged = (name: string, fresh: ReadonlyMap<string, string>, names: ReadonlyArray<string>, text: string) => {
  const old = rowsOf(name, text)
  return names.flatMap((each) => fresh.get(each) ?? old.get(each) ?? [])
}

export const tellCaught = ({ plant, run, violation }: Caught) =>
  run === undefined
    ? `FAIL planted: ${plant.name} was not caught`
    : `ok   planted: ${plant.name}, caught in run ${run}: ${violation}`

const plantRow = ({ plant, run, violation }: Caught) => {
  const shown = (violation ?? "–").replace(/[a-z]+_[0-9a-z]{26}|[0-9a-f-]{36}|canary-\S+/g, "…").replaceAll("|", "/")
  return `| ${plant.name} | ${plant.fault} | ${run ?? "not caught"} | ${shown.length > 120 ? `${shown.slice(0, 120)}…` : shown} |`
}

const writeFaults = (results: ReadonlyArray<Result>, text: string) => {
  const fresh = new Map([...Map.groupBy(results, ({ fault }) => fault)].map(([fault, all]) => [fault, row(all)]))
  const rows = merged("faults", fresh, [...faults.map(({ name }) => name), versionsName], text)
  const sum = (column: number) =>
    rows.reduce((total, line) => total + Number(cells(line)[column]?.replaceAll(",", "")), 0).toLocaleString("en")
  return section(
    "faults",
    [
      `${sum(1)} runs, ${sum(2)} acknowledged inputs, ${sum(3)} violations.`,
      "",
      "| Fault | Runs | Inputs | Violations | Takeover or silence, p50 / max | Load | Figures and bar |",
      "|-|-|-|-|-|-|-|",
      ...rows
    ],
    text
  )
}

const writePlants = (caught: ReadonlyArray<Caught>, text: string) => {
  const fresh = new Map(caught.map((one) => [one.plant.name, plantRow(one)]))
  const rows = merged(
    "plants",
    fresh,
    plants.map(({ name }) => name),
    text
  )
  return section(
    "plants",
    [
      `${rows.filter((line) => cells(line)[2] !== "not caught").length} of ${rows.length} that were run are caught; ` +
        `${plants.length} are planted.`,
      "",
      "| Planted | Under | Caught in run | As |",
      "|-|-|-|-|",
      ...rows
    ],
    text
  )
}

/** Into the document: rows of what was not run stay as they are. */
export const writeReport = async (results: ReadonlyArray<Result>, caught: ReadonlyArray<Caught>) => {
  const text = await readFile(document, "utf8")
  const withFaults = results.length === 0 ? text : writeFaults(results, text)
  await writeFile(document, caught.length === 0 ? withFaults : writePlants(caught, withFaults))
}
