/**
 * `node bench/pace.ts`: what a message costs that comes at a person's pace, in a long thread and in a short one,
 * interleaved. What is kept for the actors themselves has left memory by the next message.
 *
 *   --messages 20   of each   --events 10000   of the long one   --pause 8     seconds between messages
 *   --minutes       a real minute between messages               --write
 */
import { parseArgs } from "node:util"
import { toUuid } from "../src/domain/ids.ts"
import { connect, pause } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import { lengthen } from "./generate.ts"
import { describeMachine, writeReport } from "./report.ts"
import { summarize } from "./statistics.ts"
import { startPostgres, startTroupe } from "./systems.ts"
import { create, lastSeq, turn } from "./turns.ts"

const { values } = parseArgs({
  options: {
    messages: { type: "string", default: "20" },
    events: { type: "string", default: "10000" },
    pause: { type: "string", default: "8" },
    minutes: { type: "boolean", default: false },
    write: { type: "boolean", default: false }
  }
})
const messages = Number(values.messages)
const seconds = values.minutes ? 60 : Number(values.pause)
const bar = 1.3

const postgres = await startPostgres()
const stops: Array<() => Promise<void>> = [postgres.stop]
try {
  const meter = await openMeter(postgres.url)
  stops.push(meter.close)
  const url = await meter.createDatabase("bench_pace")
  const maker = await startTroupe("bench_pace", url, { agents: 1 })
  const ids = { long: await create(maker), short: await create(maker), warm: await create(maker) }
  await maker.stop()
  await lengthen(url, toUuid(ids.short), 9)
  await lengthen(url, toUuid(ids.long), Number(values.events))

  const system = await startTroupe("bench_pace", url, { agents: 1 })
  stops.push(system.stop)
  const http = connect(system.target)
  stops.push(http.close)
  const claims = async () => {
    const text = await (await fetch(`${system.target.origin}/metrics`)).text()
    return [...text.matchAll(/^troupe_actor_claims_total\{[^}]*\} (\d+)/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0
    )
  }
  // The program is warm, and each of the two has been used once since its start.
  for (let i = 0, after = await lastSeq(http, ids.warm); i < 300; i++) after = await turn(http, ids.warm, after)
  const threads = []
  for (const [name, id] of [
    ["short", ids.short],
    ["long", ids.long]
  ] as const) {
    const length = await lastSeq(http, id)
    const before = performance.now()
    const after = await turn(http, id, length)
    threads.push({ name, id, length, after, first: performance.now() - before, times: [] as number[] })
  }
  const claimsBefore = await claims()
  for (let i = 0; i < messages; i++) {
    await pause(seconds * 1_000)
    for (const thread of i % 2 === 0 ? threads : threads.toReversed()) {
      const before = performance.now()
      thread.after = await turn(http, thread.id, thread.after)
      thread.times.push(performance.now() - before)
    }
    console.log(threads.map(({ name, times }) => `${name} ${times.at(-1)?.toFixed(1)} ms`).join(", "))
  }

  const lines = threads.map(({ first, length, times }) => {
    const { max, p50 } = summarize(times)
    return {
      p50,
      cells: [
        `a message each ${seconds} s in a thread of ${length} events`,
        `p50 ${p50.toFixed(1)} ms, ${max.toFixed(1)} at most; the first after a start ${first.toFixed(1)} ms`,
        ""
      ]
    }
  })
  const [short, long] = lines.map(({ p50 }) => p50)
  const ratio = (long ?? Number.NaN) / (short ?? Number.NaN)
  const rows = [
    ...lines.map(({ cells }) => cells),
    [`messages that found their actor out of memory, of ${2 * messages}`, String((await claims()) - claimsBefore), ""],
    [
      "p50 of the long thread over the short one",
      ratio.toFixed(2),
      `at most ${bar}: ${ratio <= bar ? "holds" : "**missed**"}`
    ]
  ]
  for (const cells of rows) console.log(cells.join("  "))
  if (values.write) {
    const how =
      `${messages} messages to each thread, interleaved, ` +
      `${values.minutes ? "a real minute apart" : `${seconds} s apart, which is as good as a minute: an actor rests for one`}.`
    await writeReport(
      "pace",
      [
        describeMachine(how),
        ["| what | found | bar |", "|-|-|-|", ...rows.map((cells) => `| ${cells.join(" | ")} |`)].join("\n")
      ].join("\n\n")
    )
  }
} finally {
  for (const stop of stops.reverse()) await stop().catch(console.error)
}
