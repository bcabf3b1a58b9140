/** Results in words: a line a run on the terminal, a row a fault in docs/reliability.md. */
import { readFile, writeFile } from "node:fs/promises"
import { loadavg } from "node:os"
import { resolve } from "node:path"
import { type Figure, missedBars, type Result } from "./experiment.ts"
import type { Caught } from "./hunt.ts"
import { quantile } from "./measures.ts"

const document = resolve(import.meta.dirname, "../../docs/reliability.md")

const number = (value: number | undefined, unit: Figure["unit"]) =>
  value === undefined ? "not measured" : unit === "ms" ? `${(value / 1_000).toFixed(1)} s` : String(value)

const most = 12

export const describe = (result: Result) => {
  const { fault, figures, gaps, load, lostRequests, observed, seconds, seed, verdict, violations } = result
  return [
    `${violations.length === 0 && missedBars(result).length === 0 ? "ok  " : "FAIL"} ${fault} (seed ${seed}, ${seconds.toFixed(0)} s, load ${load.toFixed(1)}): ${observed ?? "not observed"}`,
    `     ${verdict.acknowledged} inputs, ${verdict.events} facts, ${verdict.takeovers} takeovers, ${verdict.extraCalls} extra model calls, ${lostRequests} lost requests, gaps ${gaps.length}`,
    ...figures.map((figure) => `     ${missedBars({ figures: [figure] }).length > 0 ? "MISSED " : ""}${figure.name}: ${number(figure.value, figure.unit)} (bar ${number(figure.bar, figure.unit)})`),
    ...violations.slice(0, most).map((violation) => `     VIOLATION ${violation}`),
    ...violations.length > most ? [`     and ${violations.length - most} more`] : []
  ].join("\n")
}

/** One row of the table, of all runs of a fault. */
export const row = (results: ReadonlyArray<Result>) => {
  const [first] = results
  if (first === undefined) return ""
  const gaps = results.flatMap(({ gaps }) => gaps)
  const violations = results.reduce((sum, { violations }) => sum + violations.length, 0)
  const inputs = results.reduce((sum, { verdict }) => sum + verdict.acknowledged, 0)
  const others = first.figures.filter(({ name }) => !/^next event/.test(name)).map(({ name, unit }) => {
    const values = results.flatMap(({ figures }) => figures.filter((figure) => figure.name === name).flatMap(({ value }) => value ?? []))
    return `${name} ${number(quantile(values, 1), unit)}`
  })
  const times = gaps.length === 0 ? "–" : `${number(quantile(gaps, 0.5), "ms")} / ${number(quantile(gaps, 1), "ms")}`
  return `| ${first.fault} | ${results.length} | ${inputs.toLocaleString("en")} | ${violations} | ${times} | ${[...others, first.bar].join("; bar: ").replace(/; bar: (?=.*; bar: )/g, ", ")} |`
}

export const section = (name: string, lines: ReadonlyArray<string>, text: string) => {
  const from = `<!-- ${name} -->`
  const to = `<!-- /${name} -->`
  const begin = text.indexOf(from)
  const end = text.indexOf(to)
  if (begin === -1 || end === -1) throw new Error(`docs/reliability.md has no place for ${name}`)
  return `${text.slice(0, begin + from.length)}\n\n${lines.join("\n")}\n\n${text.slice(end)}`
}

export const tellCaught = ({ plant, run, violation }: Caught) =>
  run === undefined ? `FAIL planted: ${plant.name} was not caught` : `ok   planted: ${plant.name}, caught in run ${run}: ${violation}`

export const writeReport = async (results: ReadonlyArray<Result>, caught: ReadonlyArray<Caught>) => {
  const faults = [...new Set(results.map(({ fault }) => fault))]
  const inputs = results.reduce((sum, { verdict }) => sum + verdict.acknowledged, 0)
  const violations = results.reduce((sum, { violations }) => sum + violations.length, 0)
  const loads = results.map(({ load }) => load)
  const lines = [
    `${results.length} runs, ${inputs.toLocaleString("en")} acknowledged inputs, ${violations} violations; seeds from ${Math.min(...results.map(({ seed }) => seed))}. ` +
    `Load of the machine (2 cores) at the begin of a run ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}, now ${(loadavg()[0] ?? 0).toFixed(1)}.`,
    "",
    "| Fault | Runs | Inputs | Violations | Takeover or silence, p50 / max | Figures and bar |", "|-|-|-|-|-|-|",
    ...faults.map((fault) => row(results.filter((result) => result.fault === fault)))
  ]
  if (results.length > 0) await writeFile(document, section("faults", lines, await readFile(document, "utf8")))
  if (caught.length === 0) return
  await writeFile(document, section("plants", [
    `${caught.filter(({ run }) => run !== undefined).length} of ${caught.length} caught.`, "",
    "| Planted | Under | Caught in run | As |", "|-|-|-|-|",
    ...caught.map(({ plant, run, violation }) => `| ${plant.name} | ${plant.fault} | ${run ?? "not caught"} | ${(violation ?? "–").replace(/[a-z]+_[0-9a-z]{26}|[0-9a-f-]{36}|canary-\S+/g, "…").replaceAll("|", "/")} |`)
  ], await readFile(document, "utf8")))
}
