/**
 * `node bench/boundaries.ts`: what a long conversation costs where it is summarised, and what is left of its length
 * afterwards.
 *
 *   --events 10000     --threads 8     of each kind
 */
import { parseArgs } from "node:util"
import { boundaryOf } from "../actors/thread/memory/boundaries.ts"
import { toSummarise } from "../actors/thread/memory/summaries.ts"
import { toUuid } from "../src/domain/ids.ts"
import type { PromptMessage } from "../src/models/Model.ts"
import { estimatedTokens } from "../src/models/promptTokens.ts"
import { connect } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import { lengthen } from "./generate.ts"
import { median } from "./statistics.ts"
import { startPostgres, startTroupe } from "./systems.ts"
import { create, lastSeq, turn } from "./turns.ts"

const { values } = parseArgs({
  options: { events: { type: "string", default: "10000" }, threads: { type: "string", default: "8" } }
})
const length = Number(values.events)
const threads = Number(values.threads)
const keepTurns = 2

/** Turns of five events: a message, a call, its result, an answer, the end. New objects: nothing of them is counted yet. */
const conversation = (): ReadonlyArray<PromptMessage> =>
  Array.from({ length: length / 5 }, (_, i): ReadonlyArray<PromptMessage> => {
    const turnId = `trn_${i}`
    const at = (n: number) => ({ pos: i * 5 + n, seq: i * 5 + n })
    const call = {
      toolCallId: `call_${i}`,
      providerToolCallId: `c${i}`,
      name: "crm.find",
      input: { query: `customer ${i}`, limit: 20 }
    }
    return [
      {
        role: "user",
        turnId,
        at: at(1),
        n: 0,
        content: [{ type: "text", text: `${i} ${"What is new? ".repeat(20)}` }]
      },
      { role: "assistant", turnId, at: at(2), modelId: "m", text: "", calls: [call] },
      {
        role: "tool",
        turnId,
        at: at(3),
        toolCallId: call.toolCallId,
        providerToolCallId: call.providerToolCallId,
        name: call.name,
        output: "found ".repeat(100)
      },
      { role: "assistant", turnId, at: at(4), modelId: "m", text: `${i} ${"Not much. ".repeat(40)}`, calls: [] }
    ]
  }).flat()

/** CPU of the decision that a prompt is too long, of finding the boundary, and of the request for the summary. */
const cpuOfRound = () => {
  const messages = conversation()
  const turnId = messages.at(-1)?.turnId ?? ""
  const room = 10_000_000
  const before = process.cpuUsage()
  estimatedTokens({ messages, tools: [], turnId, purpose: "turn" })
  const boundary = boundaryOf(messages, { turnId, keepTurns, room })
  const request = toSummarise(messages, boundary?.pos ?? 0, room)
  const { system, user } = process.cpuUsage(before)
  if (request.length !== messages.length - keepTurns * 4) throw new Error(`a request of ${request.length} messages`)
  return (system + user) / 1_000
}

const say = (what: string, value: string, bar: string, holds: boolean) =>
  console.log(`${what}: ${value} (${bar}: ${holds ? "holds" : "missed"})`)

const rounds = Array.from({ length: 20 }, cpuOfRound)
const [first = 0] = rounds
say(
  `boundary and request of a prompt of ${length} events, CPU`,
  `${first.toFixed(1)} ms in a process that has just begun, ${median(rounds).toFixed(1)} ms at the median of ${rounds.length}`,
  "at most 50 ms",
  median(rounds) <= 50
)

const postgres = await startPostgres()
const meter = await openMeter(postgres.url)
try {
  const url = await meter.createDatabase("bench_boundaries")
  let system = await startTroupe("bench_boundaries", url, { agents: 1 })
  const made: Array<{ readonly long: string; readonly short: string }> = []
  for (let i = 0; i < threads; i++) made.push({ long: await create(system), short: await create(system) })
  await system.stop()
  for (const { long } of made) await lengthen(url, toUuid(long), length)
  system = await startTroupe("bench_boundaries", url, { agents: 1 })
  let http = connect(system.target)
  for (const { long, short } of made) {
    const before = await lastSeq(http, long)
    await http.post(`/v1/threads/${long}/compact`, {})
    // The message, the round's two events, the answer and the end.
    const after = await turn(http, long, before)
    if (after !== before + 5) throw new Error(`a round and its turn took ${after - before} events`)
    // As many turns as the long ones keep.
    for (let i = 1; i < keepTurns; i++) await turn(http, short, await lastSeq(http, short))
  }
  await http.close()
  await system.stop()
  system = await startTroupe("bench_boundaries", url, { agents: 1 })
  http = connect(system.target)
  const cold = async (thread: string) => {
    const after = await lastSeq(http, thread)
    const began = performance.now()
    await turn(http, thread, after)
    return performance.now() - began
  }
  const long: Array<number> = []
  const short: Array<number> = []
  for (const [i, pair] of made.entries()) {
    const times = { long: await cold(pair.long), short: await cold(pair.short) }
    // The first two are of a program that is cold itself.
    if (i < 2) continue
    long.push(times.long)
    short.push(times.short)
  }
  const ratio = median(long) / median(short)
  say(
    `a cold turn behind a summary of ${length} events, of one in a thread as short as what it keeps`,
    `${ratio.toFixed(2)} (${median(long).toFixed(1)} ms, ${median(short).toFixed(1)} ms)`,
    "at most 1.3",
    ratio <= 1.3
  )
  await http.close()
  await system.stop()
} finally {
  await meter.close()
  await postgres.stop()
}
