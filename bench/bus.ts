/**
 * What NATS costs a node that nobody watches: the same turns on a node with the bus in its process, on one
 * that is alone on a nats-server, and on one that hears of another node there and so publishes what it
 * commits; interleaved. `node bench/bus.ts [seconds] [repeats] [clients,…]`
 */
import { connect } from "@nats-io/transport-node"
import { openMeter } from "./database.ts"
import { measure, type Measured } from "./measure.ts"
import { startNats, startPostgres, startTroupe } from "./systems.ts"

const [seconds = "8", repeats = "3", clients = "16,64"] = process.argv.slice(2)
const median = (numbers: ReadonlyArray<number>) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0

const postgres = await startPostgres()
const stops: Array<() => Promise<void> | void> = [postgres.stop]
try {
  const meter = await openMeter(postgres.url)
  stops.push(meter.close)
  const levels = clients.split(",").map(Number)
  const start = async (name: string, environment: Readonly<Record<string, string>>) => {
    const system = await startTroupe(name, await meter.createDatabase(name), {
      agents: Math.max(...levels),
      environment
    })
    stops.push(system.stop)
    return { name, system }
  }
  const servers = [await startNats(), await startNats()] as const
  for (const server of servers) stops.push(server.stop)
  const [alone, accompanied] = [servers[0].url, servers[1].url]
  const nodes = [
    await start("bench_bus_process", {}),
    await start("bench_bus_alone", { TROUPE_NATS_URL: alone }),
    await start("bench_bus_company", { TROUPE_NATS_URL: accompanied })
  ]
  const other = await connect({ servers: [accompanied] })
  const presence = setInterval(() => other.publish("troupe.v1.presence", JSON.stringify({ v: 1, deltas: [] })), 2_000)
  stops.push(() => {
    clearInterval(presence)
    return other.close()
  })
  // Until a node knows that it is alone.
  await new Promise((resolve) => setTimeout(resolve, 20_000))
  await meter.checkpoint()
  for (const level of levels) {
    const found = new Map<string, Array<Measured>>()
    for (let i = 0; i < Number(repeats); i++) {
      for (const { name, system } of i % 2 === 0 ? nodes : nodes.toReversed()) {
        const run = await measure(system, "A", {
          seconds: Number(seconds),
          warmupSeconds: 2,
          clients: level,
          meter,
          postgresPid: postgres.pid
        })
        found.set(name, [...(found.get(name) ?? []), run])
      }
    }
    for (const [name, runs] of found) {
      const of = (pick: (run: Measured) => number) => median(runs.map(pick))
      console.log(
        `${String(level).padStart(3)} clients  ${name.padEnd(18)} ${of((r) => r.turnsPerSecond)
          .toFixed(0)
          .padStart(
            5
          )} turns/s  p50 ${of((r) => r.p50).toFixed(2)} ms  CPU of the node ${of((r) => r.serverCpuMs).toFixed(3)} ms a turn`
      )
    }
  }
} finally {
  for (const stop of stops.reverse()) await stop()
}
