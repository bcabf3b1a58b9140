/**
 * `node bench/reserve.ts`: what it takes to set a model call aside for an agent that has spent for a year, beside one
 * that is new; and what a read costs under an agent's lease, beside one under a key. Each pair alternates.
 *
 *   --times 2000     of each     --nodes 1     that the agent's spend came from     --write     docs/benchmarks.md
 */
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { parseArgs } from "node:util"
import pg from "pg"
import { Budgets, reservationOf } from "../src/agents/Budgets.ts"
import { rollUpSpend, totalSpend } from "../src/agents/budgetChores.ts"
import { Database } from "../src/database/Database.ts"
import { toUuid } from "../src/domain/ids.ts"
import { layerPostgresLease } from "../src/journal/PostgresLease.ts"
import { makeAgentLeases as makeLeases } from "../src/keys/AgentLeases.ts"
import { at, connect, text } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import { describeMachine, writeReport } from "./report.ts"
import { summarize } from "./statistics.ts"
import { startPostgres, startTroupe } from "./systems.ts"

const { values } = parseArgs({
  options: {
    times: { type: "string", default: "2000" },
    nodes: { type: "string", default: "1" },
    write: { type: "boolean", default: false }
  }
})
const times = Number(values.times)
const nodes = Number(values.nodes)
/** Pairs that nobody counts: what is read first is read from disk. */
const warming = 200

const secret = new Uint8Array(32).fill(7)
const postgres = await startPostgres()
const meter = await openMeter(postgres.url)
const url = await meter.createDatabase("bench_reserve")
const system = await startTroupe("bench_reserve", url, {
  agents: 0,
  environment: { TROUPE_ENCRYPTION_KEYS: `bench:${Buffer.from(secret).toString("base64")}` }
})
const http = connect(system.target)
const client = new pg.Client({ connectionString: url })
await client.connect()
const scope = Effect.runSync(Scope.make())

/** Milliseconds of each way, one after the other, in an order that changes. */
const alternated = async <Way extends string>(
  ways: ReadonlyArray<Way>,
  once: (way: Way, round: number) => Promise<number>
) => {
  const found = new Map<Way, Array<number>>(ways.map((way) => [way, []]))
  for (let round = -warming; round < times; round++) {
    for (const way of round % 2 === 0 ? ways : ways.toReversed()) {
      const took = await once(way, round)
      if (round >= 0) found.get(way)?.push(took)
    }
  }
  return (way: Way) => summarize(found.get(way) ?? []).p50
}

const timed = async (work: () => Promise<unknown>) => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

const layer = Budgets.layer.pipe(
  Layer.provideMerge(layerPostgresLease({ name: "bench-reserve", ttl: 10_000 })),
  Layer.provideMerge(Database.layer({ url: Redacted.make(url) }))
)

try {
  const services = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  const run = <A, E>(work: Effect.Effect<A, E, Layer.Success<typeof layer>>) =>
    Effect.runPromise(Effect.provideContext(work, services))
  const workspace = text(await http.get("/v1/auth"), "workspaceId")
  const profile = text(
    await http.post("/v1/profiles", { name: "p", models: ["troupe/scripted-paid"] }),
    "profile",
    "id"
  )
  const spender = async () => {
    const budget = { limit: 1_000_000, window: "total" }
    const agentId = text(await http.post("/v1/agents", { name: "spender", profileId: profile, budget }), "agent", "id")
    return { agentId, threadId: text(await http.post("/v1/threads", { agentId }), "thread", "id") }
  }
  const spenders = { old: await spender(), fresh: await spender() }

  // A year of calls, one a minute on each node, as the chores leave them.
  await client.query(
    `insert into spend_by_node (workspace, subject, minute, node, amount)
      select $1, $2, floor(extract(epoch from now()) / 60)::int - m, ('00000000-0000-4000-8000-00000000000' || n)::uuid,
        0.001
      from generate_series(0, 365 * 1440) m, generate_series(1, $3::int) n`,
    [toUuid(workspace), toUuid(spenders.old.agentId), nodes]
  )
  await run(rollUpSpend())
  await run(totalSpend())
  await client.query("vacuum analyze spend_by_node")

  const reserved = await alternated(["fresh", "old"], async (way, round) => {
    const { agentId, threadId } = spenders[way]
    const id = reservationOf({ turnId: `${way} ${round}`, step: 0, target: 0, attempt: 0 })
    const took = await timed(() =>
      run(
        Effect.flatMap(Budgets, ({ reserve }) =>
          reserve({ workspace, id, agentId, threadIds: [threadId], amount: 0.01, prompt: 0.001, known: 0 })
        )
      )
    )
    await client.query("delete from reservations where id = $1", [toUuid(id)])
    return took
  })

  const { agentId, threadId } = spenders.fresh
  const sent = await http.post(`/v1/threads/${threadId}/messages`, { content: [{ type: "text", text: "/wait 3600s" }] })
  const holder = { workspace, agentId, threadId, turnId: text(sent, "turnId"), hops: 0 }
  const { token } = makeLeases({ secrets: [secret], publicUrl: undefined, now: Date.now }).give(holder)
  const lease = connect({ ...system.target, key: token })
  if (at(await lease.get("/v1/auth"), "scheme") !== "AgentLeaseBearer") throw new Error("that is no lease")
  const asked = await alternated(["key", "lease"], (way) =>
    timed(() => (way === "key" ? http : lease).get(`/v1/threads/${threadId}`))
  )
  await lease.close()

  const rows: ReadonlyArray<readonly [what: string, mine: number, other: number, bar: number]> = [
    ["to set a call aside: an agent with a year of spend, beside a new one", reserved("old"), reserved("fresh"), 1.5],
    ["GET of a thread: under a lease, beside under a key", asked("lease"), asked("key"), 1.3]
  ]
  const lines = rows.map(([what, mine, other, bar]) => {
    const ratio = mine / other
    const found = [`${mine.toFixed(2)} ms`, `${other.toFixed(2)} ms`, ratio.toFixed(2)]
    console.log(`${what}: ${found.join(", ")} (at most ${bar}: ${ratio <= bar ? "holds" : "missed"})`)
    return `| ${[what, ...found, `at most ${bar}: ${ratio <= bar ? "holds" : "**missed**"}`].join(" | ")} |`
  })
  if (values.write)
    await writeReport(
      "reserve",
      [
        describeMachine(`${times} of each, medians; spend of ${nodes} node${nodes === 1 ? "" : "s"}.`),
        ["| what | p50 | beside | ratio | bar |", "|-|-|-|-|-|", ...lines].join("\n")
      ].join("\n\n")
    )
} finally {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await client.end()
  await http.close()
  await system.stop()
  await meter.close()
  await postgres.stop()
}
