/**
 * `node bench/nodes.ts`: three nodes against one on the same machine, whose cores they share. Every request goes to a
 * node at random, so that two thirds of the commands are forwarded; interleaved. Needs nats-server on PATH.
 *
 *   --seconds 8   --repeat 3   --clients 64   --threads 3000   --write
 */
import { parseArgs } from "node:util"
import pg from "pg"
import { connect, text } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import { measure, type Measured } from "./measure.ts"
import { describeMachine, writeReport } from "./report.ts"
import { median } from "./statistics.ts"
import { startNats, startPostgres, startTroupe, type System } from "./systems.ts"

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "8" },
    repeat: { type: "string", default: "3" },
    clients: { type: "string", default: "64" },
    threads: { type: "string", default: "3000" },
    write: { type: "boolean", default: false }
  }
})
const [seconds, repeat, clients, threads] = [values.seconds, values.repeat, values.clients, values.threads].map(
  Number
) as [number, number, number, number]
const round = (n: number, digits = 2) => n.toFixed(digits)

const lines: Array<readonly [what: string, found: string, bar: string]> = []
const found = (what: string, value: string, bar = "", holds?: boolean) => {
  lines.push([what, value, holds === undefined ? bar : `${bar}: ${holds ? "holds" : "**missed**"}`])
  console.log(`${what}: ${value}${bar === "" ? "" : ` (${lines.at(-1)?.[2]})`}`)
}

const stops: Array<() => Promise<void>> = []
try {
  const postgres = await startPostgres()
  stops.push(postgres.stop)
  const nats = await startNats()
  stops.push(nats.stop)
  const meter = await openMeter(postgres.url)
  stops.push(meter.close)
  const start = async (url: string, name: string) => {
    const system = await startTroupe(name, url, {
      agents: clients,
      environment: { TROUPE_NODE_ID: name, TROUPE_NATS_URL: nats.url }
    })
    stops.push(system.stop)
    return system
  }
  const one = await start(await meter.createDatabase("bench_one"), "bench_one")
  const shared = await meter.createDatabase("bench_three")
  const [first, ...others] = [
    await start(shared, "bench_n1"),
    await start(shared, "bench_n2"),
    await start(shared, "bench_n3")
  ] as const
  const three: System = {
    ...first,
    database: "bench_three",
    target: { ...first.target, others: others.map(({ target }) => target.origin) }
  }

  // Who owns what, of threads that were made all over.
  const nodes = [first, ...others].map(({ target }) => connect({ ...first.target, origin: target.origin }))
  let left = threads
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (left-- > 0)
        text(
          await nodes[Math.floor(Math.random() * nodes.length)]?.post("/v1/threads", {
            agentId: first.target.agents[0]
          }),
          "thread",
          "id"
        )
    })
  )
  await Promise.all(nodes.map((node) => node.close()))
  const client = new pg.Client({ connectionString: shared })
  await client.connect()
  const { rows } = await client.query<{ n: number }>(
    "select count(*)::int as n from heads where kind = 'thread' group by owner order by 1 desc"
  )
  await client.end()
  const largest = (rows[0]?.n ?? threads) / threads
  found(`the largest share of ${threads} threads among three nodes`, round(largest), "at most 0.42", largest <= 0.42)

  const runs = new Map<System, Array<Measured>>([
    [one, []],
    [three, []]
  ])
  for (let i = 0; i < repeat; i++) {
    for (const [system, measured] of runs)
      measured.push(
        await measure(system, "A", { seconds, warmupSeconds: 8, clients, meter, postgresPid: postgres.pid })
      )
  }
  const of = (system: System) => median((runs.get(system) ?? []).map(({ turnsPerSecond }) => turnsPerSecond))
  const p50 = (system: System) => median((runs.get(system) ?? []).map((run) => run.p50))
  found(`one node at ${clients} clients`, `${round(of(one), 0)} turns/s, p50 ${round(p50(one), 1)} ms`)
  found("three nodes, each request to any of them", `${round(of(three), 0)} turns/s, p50 ${round(p50(three), 1)} ms`)
  const ratio = of(three) / of(one)
  found("three over one, on the same two cores", round(ratio), "at least 0.5", ratio >= 0.5)
  const answered = /^troupe_forwarded_commands_total\{outcome="answered"\} (\d+)/m.exec(
    await (await fetch(`${first.target.origin}/metrics`)).text()
  )?.[1]
  found("commands that the first of the three had others answer", answered ?? "none")
  if (values.write) {
    const table = ["| what | found | bar |", "|-|-|-|", ...lines.map((line) => `| ${line.join(" | ")} |`)].join("\n")
    await writeReport(
      "nodes",
      [describeMachine(`Median of ${repeat} runs of ${seconds} s after 8 s of warm-up, interleaved.`), table].join(
        "\n\n"
      )
    )
  }
} finally {
  for (const stop of stops.reverse()) await stop().catch(console.error)
}
