/**
 * `node bench/memory.ts`: the resident memory of a node at work, every thread a new one, and at rest after it. A node
 * that was started and stopped before has compiled it, as an image's build does (`npm run compile`).
 *
 *   --minutes 10   --clients 64   --rest 60    seconds after it   --node="--max-semi-space-size=8"    flags of the
 *   server's Node --snapshot     what the heap holds in the end, by constructor     --write
 */
import { spawn } from "node:child_process"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"
import { pause } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import type { Job, Window } from "./driver.ts"
import { byConstructor } from "./heap.ts"
import { openInspector } from "./inspector.ts"
import { residentBytes } from "./processes.ts"
import { describeMachine, writeReport } from "./report.ts"
import { scratch, startPostgres, startTroupe } from "./systems.ts"

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    clients: { type: "string", default: "64" },
    node: { type: "string", default: "" },
    rest: { type: "string", default: "60" },
    snapshot: { type: "boolean", default: false },
    write: { type: "boolean", default: false }
  }
})
const clients = Number(values.clients)
const seconds = Number(values.minutes) * 60
const everySeconds = 30
const barMiB = 450
const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(0)

interface Line {
  readonly when: string
  readonly resident: number
  readonly cells: ReadonlyArray<string>
}

const postgres = await startPostgres()
const stops: Array<() => Promise<void>> = [postgres.stop]
try {
  const meter = await openMeter(postgres.url)
  stops.push(meter.close)
  const database = await meter.createDatabase("bench_memory")
  const start = () =>
    startTroupe("bench_memory", database, {
      agents: clients,
      flags: ["--inspect=127.0.0.1:0", ...values.node.split(" ").filter((flag) => flag !== "")]
    })
  // A start writes what it has compiled before it serves. It keeps the compiler of TypeScript in memory to its end.
  const first = await start()
  await first.stop()
  const system = await start()
  stops.push(system.stop)
  const inspector = await openInspector(system.log, system.pid)

  let turnsBefore = 0
  let before = performance.now()
  const look = async (when: string): Promise<Line> => {
    const text = await (await fetch(`${system.target.origin}/metrics`)).text()
    const metric = (name: string) =>
      [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, "gm"))].reduce(
        (sum, [, value]) => sum + Number(value),
        0
      )
    const { external, heapTotal, heapUsed, spaces } = await inspector.memory()
    const resident = residentBytes(system.pid)
    const turns = metric("troupe_turns_total")
    const rate = ((turns - turnsBefore) / (performance.now() - before)) * 1_000
    turnsBefore = turns
    before = performance.now()
    const young = spaces.filter(({ name }) => name.startsWith("new_")).reduce((sum, { size }) => sum + size, 0)
    const cells = [
      mib(resident),
      mib(heapUsed),
      mib(heapTotal),
      mib(young),
      mib(external),
      metric("troupe_actors_live").toFixed(0),
      rate.toFixed(0)
    ]
    console.log([when.padStart(12), ...cells.map((cell) => cell.padStart(9))].join(" "))
    return { when, resident, cells }
  }
  const columns = ["resident", "heap used", "heap", "young", "external", "actors", "turns/s"]
  console.log(["".padStart(12), ...columns.map((name) => name.padStart(9))].join(" "))

  const job: Job = { adapter: "polled", target: system.target, clients }
  const window: Window = { warmupSeconds: 0, seconds }
  const driver = spawn(process.execPath, [resolve(import.meta.dirname, "driver.ts"), JSON.stringify(job)], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  driver.stdin.end(`${JSON.stringify(window)}\n`)
  const ended = new Promise((resolve) => {
    driver.once("exit", resolve)
  })
  stops.push(async () => void driver.kill())
  createInterface({ input: driver.stdout }).on("line", (line) => {
    if (line.includes("turns")) console.log(line)
  })
  const lines: Array<Line> = []
  let peak = 0
  for (let at = everySeconds; at <= seconds; at += everySeconds) {
    for (const until = performance.now() + everySeconds * 1_000; performance.now() < until; await pause(500))
      peak = Math.max(peak, residentBytes(system.pid))
    lines.push(await look(`${at} s`))
  }
  await ended
  await pause(Number(values.rest) * 1_000)
  const rest = await look("at rest")
  const collected = await inspector.collected()
  console.log(`after a full collection: heap ${mib(collected.heap)} MiB, resident ${mib(collected.resident)} MiB`)
  if (values.snapshot) {
    const path = join(scratch, "memory.heapsnapshot")
    await inspector.snapshot(path)
    for (const { bytes, count, name } of (await byConstructor(path)).slice(0, 30))
      console.log(`${mib(bytes).padStart(6)} MiB ${String(count).padStart(9)}  ${name}`)
    console.log(`whole: ${path}`)
  }
  inspector.close()
  const holds = peak <= barMiB * 2 ** 20
  console.log(
    `${holds ? "holds " : "MISSED"}  resident memory at ${clients} clients for ${values.minutes} minutes: ` +
      `${mib(peak)} MiB, at most ${barMiB}`
  )
  if (values.write) {
    const rows = [...lines.filter((_, i) => lines.length <= 10 || i % 2 === 1), rest].map(
      ({ cells, when }) => `| ${when} | ${cells.join(" | ")} |`
    )
    await writeReport(
      "memory",
      [
        describeMachine(
          `${clients} clients for ${values.minutes} minutes, every thread a new one. MiB but for the last two.`
        ),
        [`| | ${columns.join(" | ")} |`, `|-${"|-".repeat(columns.length)}|`, ...rows].join("\n"),
        `- ${holds ? "holds" : "**missed**"}: the most resident memory: ${mib(peak)} MiB, at most ${barMiB}`
      ].join("\n\n")
    )
  }
} finally {
  for (const stop of stops.reverse()) await stop().catch(console.error)
}
