/**
 * `node bench/feeds.ts`: what appends to feeds cost beside bare inserts of the same rows: clients with a feed each, and
 * with one feed for all of them, which lines them up.
 *
 *   --seconds 5     of each measurement     --clients 8     --messages 100     in an append, of 300 bytes each
 *   --write
 */
import { randomUUID } from "node:crypto"
import pg from "pg"
import { parseArgs } from "node:util"
import { at, connect, text } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import { describeMachine, findings, writeReport } from "./report.ts"
import { median } from "./statistics.ts"
import { startPostgres, startTroupe } from "./systems.ts"

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    clients: { type: "string", default: "8" },
    messages: { type: "string", default: "100" },
    write: { type: "boolean", default: false }
  }
})
const ms = Number(values.seconds) * 1_000
const clients = Array.from({ length: Number(values.clients) }, (_, i) => i)
const some = Array.from({ length: Number(values.messages) }, (_, i) => i)
const spaces = clients.map(() => randomUUID())
const words = "x".repeat(300)
const rounds = 3

const postgres = await startPostgres()
const meter = await openMeter(postgres.url)
const url = await meter.createDatabase("bench_feeds")
const system = await startTroupe("bench_feeds", url, { agents: 1 })
const sessions = clients.map(() => connect(system.target))
const connections = await Promise.all(
  clients.map(async () => {
    const connection = new pg.Client({ connectionString: url })
    await connection.connect()
    return connection
  })
)

/** Rows a second of clients that each write such a batch after the other. */
const rate = async (write: (client: number, batch: number) => Promise<unknown>) => {
  let batches = 0
  const began = performance.now()
  await Promise.all(
    clients.map(async (client) => {
      for (let batch = 0; performance.now() - began < ms; batch++) {
        await write(client, batch)
        batches++
      }
    })
  )
  return (batches * some.length * 1_000) / (performance.now() - began)
}

const bodies = some.map(() => JSON.stringify({ text: words, tags: [] }))

/** The columns and the primary key of messages; one statement a batch, which commits by itself. */
const insert = (client: number, batch: number) =>
  connections[client]?.query(
    `insert into bare (workspace, feed, seq, body, principal, hops, appended_at)
      select $1::uuid, $1::uuid, m.seq, m.body::json, $4::json, 0, clock_timestamp()
      from unnest($2::bigint[], $3::text[]) m (seq, body)`,
    [spaces[client], some.map((i) => batch * some.length + i), bodies, `{"type":"api_key","id":"key_of_a_bench"}`]
  ) ?? Promise.reject(new Error("no connection"))

/** Made once: what it costs to make a body is no cost of the server. */
const body = JSON.stringify({ messages: some.map(() => ({ text: words })) })
const append = async (client: number, feed: string) => {
  const session = sessions[client]
  if (session === undefined) throw new Error("no session")
  const answer = await session.client.request({
    method: "POST",
    path: `/v1/feeds/${feed}/messages`,
    headers: { ...session.authorization, "content-type": "application/json" },
    body
  })
  const text = await answer.body.text()
  if (answer.statusCode !== 201) throw new Error(text)
}

try {
  const [http] = sessions
  const [connection] = connections
  if (http === undefined || connection === undefined) throw new Error("no client")
  const makeFeed = async (name: string) => text(await http.post("/v1/feeds", { name }), "feed", "id")
  const own = await Promise.all(clients.map((client) => makeFeed(`of-one/${client}`)))
  const shared = await makeFeed("of-all")
  const rates = { bare: [0], apart: [0], together: [0] }
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    await connection.query("drop table if exists bare")
    await connection.query("create table bare (like feed_messages, primary key (workspace, feed, seq))")
    const bare = await rate(insert)
    const apart = await rate((client) => append(client, own[client] ?? ""))
    const together = await rate((client) => append(client, shared))
    if (round === 0) continue
    rates.bare[round - 1] = bare
    rates.apart[round - 1] = apart
    rates.together[round - 1] = together
  }
  // What was counted is there.
  const lastSeq = at(await http.get(`/v1/feeds/${shared}`), "feed", "lastSeq")
  if (typeof lastSeq !== "number" || lastSeq % some.length !== 0) throw new Error("appends are missing")
  const [bare, apart, together] = [median(rates.bare), median(rates.apart), median(rates.together)]
  const { found, table } = findings()
  found(
    "rows/s of bare inserts, of a feed each, of one feed",
    [bare, apart, together].map((n) => n.toFixed(0)).join(", ")
  )
  for (const [what, value] of [
    [`rows/s on ${clients.length} feeds, of bare inserts`, apart / bare],
    ["rows/s on one feed, of those on one each", together / apart]
  ] as const)
    found(what, value.toFixed(2), "at least 0.4", value >= 0.4)
  const how = `Medians of ${rounds} rounds of ${values.seconds} s, ${clients.length} clients, ${some.length} messages an append.`
  if (values.write) await writeReport("feeds", [describeMachine(how), table()].join("\n\n"))
} finally {
  for (const session of sessions) await session.close()
  for (const connection of connections) await connection.end()
  await system.stop()
  await meter.close()
  await postgres.stop()
}
