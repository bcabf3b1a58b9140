/**
 * `node bench/subscriptions.ts`: how soon messages wake the agents whose subscriptions they match, among many that they do
 * not match.
 *
 *   --subscriptions 1000   of one feed, at once     --matching 10     --messages 50
 */
import pg from "pg"
import { parseArgs } from "node:util"
import { at, connect, pause, text } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import { findings } from "./report.ts"
import { summarize } from "./statistics.ts"
import { startPostgres, startTroupe } from "./systems.ts"

const { values } = parseArgs({
  options: {
    subscriptions: { type: "string", default: "1000" },
    matching: { type: "string", default: "10" },
    messages: { type: "string", default: "50" }
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
const system = await startTroupe(database, url, { agents: Math.ceil(count / each) })
const http = connect(system.target)
const client = new pg.Client({ connectionString: url })
await client.connect()

/** Messages that have been handed over: each has a thread of its own, whose first public event it is. */
const handedOver = async () => {
  const { rows } = await client.query<{ readonly n: number }>(
    "select count(*)::int as n from heads where kind = 'thread' and seq > 0"
  )
  return rows[0]?.n ?? 0
}

try {
  const feed = text(await http.post("/v1/feeds", { name: "news" }), "feed", "id")
  for (let i = 0; i < count; i++)
    await http.post(`/v1/agents/${system.target.agents[Math.floor(i / each)]}/subscriptions`, {
      feedId: feed,
      condition: `"k${i % (count / matching)}" in tags`
    })
  const append = (tag: number) =>
    http.post(`/v1/feeds/${feed}/messages`, { messages: [{ text: "news", tags: [`k${tag}`] }] })
  const lags: Array<number> = []
  let before = await handedOver()
  for (let i = -3; i < messages; i++) {
    const began = performance.now()
    await append(Math.abs(i) % (count / matching))
    before += matching
    while ((await handedOver()) < before) await pause(5)
    // The first ones warm up.
    if (i >= 0) lags.push(performance.now() - began)
    await pause(200)
  }
  const { p50, p99 } = summarize(lags)
  found(
    `from an append to the ${matching} of ${count} subscriptions that match it: their user_messages are there, p50, p99`,
    `${p50.toFixed(0)} ms, ${p99.toFixed(0)} ms`,
    "p99 at most 1 s",
    p99 <= 1_000
  )
  // Nobody wants to hear of it: what is counted is the append alone.
  const statements = async () => (await meter.read(database)).statements
  const idle = await statements()
  await pause(2_000)
  const perSecond = ((await statements()) - idle) / 2
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
} finally {
  await client.end()
  await http.close()
  await system.stop()
  await meter.close()
  await postgres.stop()
}
