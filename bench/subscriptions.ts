/**
 * `node bench/subscriptions.ts`: how soon messages wake the agents whose subscriptions they match, among many that they do
 * not match.
 *
 *   --subscriptions 1000   of one feed, at once     --matching 10     --messages 50     --write
 */
import pg from "pg"
import { parseArgs } from "node:util"
import { at, connect, pause, text } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import { describeMachine, findings, writeReport } from "./report.ts"
import { median, summarize } from "./statistics.ts"
import { startPostgres, startTroupe } from "./systems.ts"

const { values } = parseArgs({
  options: {
    subscriptions: { type: "string", default: "1000" },
    matching: { type: "string", default: "10" },
    messages: { type: "string", default: "50" },
    write: { type: "boolean", default: false }
  }
})
const [count, matching, messages] = [values.subscriptions, values.matching, values.messages].map(Number) as [
  number,
  number,
  number
]
/** An agent has so many at most. */
const each = 100
const { found, table } = findings()

const postgres = await startPostgres()
const meter = await openMeter(postgres.url)
const database = "subscriptions"
const url = await meter.createDatabase(database)
const system = await startTroupe(database, url, { agents: Math.ceil(count / each) + matching })
const http = connect(system.target)
const client = new pg.Client({ connectionString: url })
await client.connect()

let polls = 0
/** Messages that have been handed over: each has a thread of its own, whose first public event it is. */
const handedOver = async () => {
  polls++
  const { rows } = await client.query<{ readonly n: number }>(
    "select count(*)::int as n from heads where kind = 'thread' and seq > 0"
  )
  return rows[0]?.n ?? 0
}

try {
  const [feed, alone] = [
    text(await http.post("/v1/feeds", { name: "news" }), "feed", "id"),
    text(await http.post("/v1/feeds", { name: "alone" }), "feed", "id")
  ]
  const subscribe = (agent: number, feedId: string, tag: number) =>
    http.post(`/v1/agents/${system.target.agents[agent]}/subscriptions`, { feedId, condition: `"k${tag}" in tags` })
  for (let i = 0; i < count; i++) await subscribe(Math.floor(i / each), feed, i % (count / matching))
  for (let i = 0; i < matching; i++) await subscribe(Math.ceil(count / each) + i, alone, 0)
  const append = (tag: number, feedId = feed) =>
    http.post(`/v1/feeds/${feedId}/messages`, { messages: [{ text: "news", tags: [`k${tag}`] }] })
  // What nobody asks for goes on all the time.
  const statements = async () => (await meter.read(database)).statements
  const idle = await statements()
  await pause(2_000)
  const perSecond = ((await statements()) - idle) / 2
  let before = await handedOver()
  const settle = async () => {
    before += matching
    while ((await handedOver()) < before) await pause(5)
  }
  const lags: Array<number> = []
  /**
   * Statements from the append to the end of the turns that it has begun, beside those of this program. Who is woken is
   * another one each time, whom nobody has in memory; or always the same, of as many agents among others and without.
   */
  const costs = { others: [0], among: [0], alone: [0] }
  for (let i = -3; i < messages; i++) {
    for (const [which, feedId, tag] of [
      ["others", feed, 1 + (Math.abs(i) % (count / matching - 1))],
      ["among", feed, 0],
      ["alone", alone, 0]
    ] as const) {
      const [start, asked, began] = [await statements(), polls, performance.now()]
      await append(tag, feedId)
      await settle()
      const lag = performance.now() - began
      await pause(200)
      const spent = (await statements()) - start - (polls - asked) - (perSecond * (performance.now() - began)) / 1_000
      // The first ones warm up.
      if (i < 0) continue
      if (which === "others") lags.push(lag)
      costs[which][i] = spent
    }
  }
  const { p50, p99 } = summarize(lags)
  found(
    `from an append to the ${matching} of ${count} subscriptions that match it: their user_messages are there, p50, p99`,
    `${p50.toFixed(0)} ms, ${p99.toFixed(0)} ms`,
    "p99 at most 1 s",
    p99 <= 1_000
  )
  const [among, apart] = [median(costs.among), median(costs.alone)]
  found(
    `statements of an append with all that ${matching} matches lead to, beside ${count - matching} others and without`,
    `${among.toFixed(1)}, ${apart.toFixed(1)}`,
    "none of the others': at most 1.1 times",
    among / apart <= 1.1
  )
  // Nobody wants to hear of it: what is counted is the append alone.
  const start = await statements()
  const began = performance.now()
  for (let i = 0; i < messages; i++) at(await append(count), "endSeq")
  const spent = (await statements()) - start - (perSecond * (performance.now() - began)) / 1_000
  found(
    `statements of an append that none of ${count} matches`,
    (spent / messages).toFixed(1),
    "at most 2: none of theirs",
    spent / messages <= 2
  )
  if ((await handedOver()) !== before) throw new Error("somebody was woken by what does not match")
  console.log(table())
  if (values.write)
    await writeReport("subscriptions", [describeMachine(`${messages} appends of each.`), table()].join("\n\n"))
} finally {
  await client.end()
  await http.close()
  await system.stop()
  await meter.close()
  await postgres.stop()
}
