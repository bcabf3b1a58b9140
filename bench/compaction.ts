/**
 * `node bench/compaction.ts`: whether a thread runs on at the price of a short one. Turns of a model with a small window,
 * one after the other in one thread.
 *
 *   --turns 2000     --write     puts the table into docs/benchmarks.md
 */
import { parseArgs } from "node:util"
import { at, connect, events, text } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import { openInspector } from "./inspector.ts"
import { describeMachine, writeReport } from "./report.ts"
import { median } from "./statistics.ts"
import { startPostgres, startTroupe } from "./systems.ts"

const { values } = parseArgs({
  options: {
    turns: { type: "string", default: "2000" },
    write: { type: "boolean", default: false }
  }
})
const turns = Number(values.turns)
const window = 2_000
const mib = 1024 * 1024

const postgres = await startPostgres()
const meter = await openMeter(postgres.url)
const system = await startTroupe("bench_compaction", await meter.createDatabase("bench_compaction"), {
  agents: 1,
  flags: ["--inspect=127.0.0.1:0"]
})

const http = connect(system.target)
const agentOf = async (profile: object) => {
  const made = await http.post("/v1/profiles", { name: "long", ...profile })
  const body = { name: "long", profileId: text(made, "profile", "id") }
  return text(await http.post("/v1/agents", body), "agent", "id")
}
const threadOf = async (agentId: string) =>
  `/v1/threads/${text(await http.post("/v1/threads", { agentId }), "thread", "id")}`

const usageOf = (event: unknown, field: string) => Number(at(event, "usage", field) ?? 0)

/** Runs a turn to its end: its events. */
const run = async (thread: string, after: number, message: string) => {
  await http.post(`${thread}/messages`, { content: [{ type: "text", text: message }] })
  const seen: Array<unknown> = []
  for (;;) {
    const last = seen.at(-1)
    const from = last === undefined ? after : Number(at(last, "seq"))
    seen.push(...events(await http.get(`${thread}/events?afterSeq=${from}&waitSeconds=20&limit=200`)))
    if (/^turn_/.test(String(at(seen.at(-1), "type")))) return seen
  }
}

const runOn = async () => {
  const inspector = await openInspector(system.log, system.pid)
  const thread = await threadOf(await agentOf({ models: ["troupe/scripted-small"] }))
  const times: Array<number> = []
  let rounds = 0
  let failed = 0
  let largest = 0
  let largestSummary = 0
  let firstRound: number | undefined
  let early = 0
  let seq = 0
  for (let i = 0; i < turns; i++) {
    const began = performance.now()
    const log = await run(thread, seq, `${i} ${"word ".repeat(20)}`)
    times.push(performance.now() - began)
    seq = Number(at(log.at(-1), "seq"))
    if (at(log.at(-1), "type") !== "turn_completed") failed++
    largest = Math.max(largest, usageOf(log.at(-1), "inputTokens"))
    const summaries = log.filter((event) => at(event, "type") === "compacted")
    for (const summary of summaries) largestSummary = Math.max(largestSummary, usageOf(summary, "inputTokens"))
    if (summaries.length > 0) firstRound ??= i
    rounds += summaries.length
    if (i === 200) early = (await inspector.collected()).heap
  }
  const late = (await inspector.collected()).heap
  const from = firstRound ?? 0
  const slower = median(times.slice(-100)) / median(times.slice(from, from + 100))
  return { rounds, failed, largest, largestSummary, slower, grown: (late - early) / mib }
}

try {
  const long = await runOn()
  const lines: ReadonlyArray<readonly [what: string, value: string, bar: string, holds: boolean]> = [
    [`turns of ${turns} that failed`, String(long.failed), "none", long.failed === 0],
    ["rounds of compaction", String(long.rounds), "some", long.rounds > 0],
    ["largest prompt, tokens", String(long.largest), `at most ${window}`, long.largest <= window],
    [
      "largest prompt of a summary, tokens",
      String(long.largestSummary),
      `at most ${window}`,
      long.largestSummary > 0 && long.largestSummary <= window
    ],
    [
      "p50 of the last hundred turns, of the first hundred after the first round",
      long.slower.toFixed(2),
      "at most 1.3",
      long.slower <= 1.3
    ],
    ["heap after a collection, above that after turn 200, MiB", long.grown.toFixed(1), "at most 20", long.grown <= 20]
  ]
  for (const [what, value, bar, holds] of lines)
    console.log(`${what}: ${value} (${bar}: ${holds ? "holds" : "missed"})`)
  if (values.write) {
    const rows = lines.map(
      ([what, value, bar, holds]) => `| ${what} | ${value} | ${bar}: ${holds ? "holds" : "**missed**"} |`
    )
    await writeReport(
      "compaction",
      [describeMachine(`${turns} turns.`), ["| what | found | bar |", "|-|-|-|", ...rows].join("\n")].join("\n\n")
    )
  }
} finally {
  await http.close()
  await system.stop()
  await meter.close()
  await postgres.stop()
}
