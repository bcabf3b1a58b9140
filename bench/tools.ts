/**
 * `node bench/tools.ts`: what tools cost a turn, and what waiting threads cost a node.
 *
 *   --turns 600     of each kind, one after the other, interleaved     --parked 1000     threads that wait
 *   --write         puts the table into docs/benchmarks.md
 *
 * The tools' own time is that of the same three calls at once by a plain MCP client, without Troupe.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { resolve } from "node:path"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { at, connect, events, pause, text } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import { watch } from "./processes.ts"
import { describeMachine, writeReport } from "./report.ts"
import { summarize } from "./statistics.ts"
import { startPostgres, startTroupe } from "./systems.ts"

const { values } = parseArgs({
  options: {
    turns: { type: "string", default: "600" },
    parked: { type: "string", default: "1000" },
    write: { type: "boolean", default: false }
  }
})
const turns = Number(values.turns)
const parked = Number(values.parked)
const round = (n: number, digits = 2) => n.toFixed(digits)

const postgres = await startPostgres()
const meter = await openMeter(postgres.url)
const system = await startTroupe("bench_tools", await meter.createDatabase("bench_tools"), {
  agents: 1,
  environment: { TROUPE_ALLOW_PRIVATE_NETWORK: "true" }
})
const tools = spawn(process.execPath, [resolve(import.meta.dirname, "toolServer.ts")], {
  stdio: ["ignore", "pipe", "inherit"]
})
const http = connect(system.target)

const lines: Array<readonly [what: string, found: string, bar: string]> = []
const found = (what: string, value: string, bar = "", holds?: boolean) => {
  const verdict = holds === undefined ? bar : `${bar}: ${holds ? "holds" : "**missed**"}`
  lines.push([what, value, verdict])
  console.log(`${what}: ${value}${verdict === "" ? "" : ` (${verdict})`}`)
}

/** An agent with tools of its own; its id. */
const agentWith = async (toolset: unknown) => {
  const made = await http.post("/v1/toolsets", toolset)
  const profile = await http.post("/v1/profiles", {
    name: "bench tools",
    models: ["troupe/scripted"],
    toolsetIds: [text(made, "toolset", "id")]
  })
  return text(
    await http.post("/v1/agents", { name: "bench tools", profileId: text(profile, "profile", "id") }),
    "agent",
    "id"
  )
}

/** One turn in a new thread, observed by one long poll for its last event; milliseconds from the submit. */
const turn = async (agentId: string, message: string, last: { readonly seq: number; readonly type: string }) => {
  const thread = `/v1/threads/${text(await http.post("/v1/threads", { agentId }), "thread", "id")}`
  const began = performance.now()
  await http.post(`${thread}/messages`, { content: [{ type: "text", text: message }] })
  const [event] = events(await http.get(`${thread}/events?afterSeq=${last.seq - 1}&waitSeconds=30`))
  if (at(event, "type") !== last.type) throw new Error(`expected ${last.type}, not ${JSON.stringify(event)}`)
  return performance.now() - began
}

try {
  const [url] = await once(createInterface({ input: tools.stdout }), "line")
  if (typeof url !== "string") throw new Error("the tool server gave no URL")
  const direct = new Client({ name: "bench", version: "1" })
  await direct.connect(new StreamableHTTPClientTransport(new URL(url)))
  const three = async () => {
    const began = performance.now()
    await Promise.all([1, 2, 3].map((n) => direct.callTool({ name: "echo", arguments: { text: `${n}` } })))
    return performance.now() - began
  }

  const plainAgent = system.target.agents[0] ?? ""
  const toolAgent = await agentWith({ namespace: "bench", kind: "mcp", url })
  const calls = [1, 2, 3].map((n) => `/call bench.echo {"text":"${n}"}`).join("\n")
  const took = { plain: [] as number[], tools: [] as number[], own: [] as number[] }
  const tookUnder = { bare: [] as number[], typed: [] as number[], patterned: [] as number[] }
  /** A turn of one call of a tool, whose schema costs more or less to check. */
  const under = (tool: string) =>
    turn(toolAgent, `/call bench.${tool} {"text":"echo1"}`, { seq: 5, type: "turn_completed" })
  for (let i = -30; i < turns; i++) {
    const plain = await turn(plainAgent, "Is it safe to continue?", { seq: 3, type: "turn_completed" })
    const withTools = await turn(toolAgent, calls, { seq: 9, type: "turn_completed" })
    const own = await three()
    const [bare, typed, patterned] = [await under("bare"), await under("typed"), await under("patterned")]
    if (i < 0) continue
    took.plain.push(plain)
    took.tools.push(withTools)
    took.own.push(own)
    tookUnder.bare.push(bare)
    tookUnder.typed.push(typed)
    tookUnder.patterned.push(patterned)
  }
  await direct.close()
  const plain = summarize(took.plain)
  const withTools = summarize(took.tools)
  const own = summarize(took.own)
  found("a turn without tools", `p50 ${round(plain.p50)} ms, p99 ${round(plain.p99)} ms`)
  found("three MCP calls at once, without Troupe", `p50 ${round(own.p50)} ms, p99 ${round(own.p99)} ms`)
  const ratio = (withTools.p50 - own.p50) / plain.p50
  found(
    "a turn with three parallel calls",
    `p50 ${round(withTools.p50)} ms, p99 ${round(withTools.p99)} ms: ${round(ratio)} times a turn without, ` +
      "beside the tools' own time",
    "at most 2.5",
    ratio <= 2.5
  )

  const bare = summarize(tookUnder.bare)
  found("a turn with one call, whose tool takes any object", `p50 ${round(bare.p50)} ms, p99 ${round(bare.p99)} ms`)
  for (const [what, times] of [
    ["typed fields", tookUnder.typed],
    ["a pattern", tookUnder.patterned]
  ] as const) {
    const { p50, p99 } = summarize(times)
    const more = p50 - bare.p50
    found(
      `the same under a schema with ${what}`,
      `p50 ${round(p50)} ms, p99 ${round(p99)} ms: ${round(more)} ms more`,
      "at most 0.3 ms more",
      more <= 0.3
    )
  }

  const clientAgent = await agentWith({
    namespace: "people",
    kind: "client",
    tools: [{ name: "ask", description: "Asks a person", inputSchema: { type: "object" }, timeoutMs: 86_400_000 }]
  })
  /** Once nothing lives there any more, and the garbage of those who did is gone. */
  const cpuAtRest = async () => {
    for (;;) {
      const { body } = await http.client.request({ method: "GET", path: "/metrics" })
      if (/^troupe_actors_live(?:\{[^}]*\})? 0$/m.test(await body.text())) break
      await pause(250)
    }
    await pause(15_000)
    const meter = watch(system.pid)
    await pause(10_000)
    return meter.stop().cpuMs / 10
  }
  const before = await cpuAtRest()
  for (let i = 0; i < parked; i += 50) {
    for (let j = i; j < Math.min(parked, i + 50); j++)
      await turn(clientAgent, "/call people.ask {}", { seq: 3, type: "wait_created" })
  }
  const after = await cpuAtRest()
  found(
    `${parked} threads that wait`,
    `no actor in memory; ${round(after, 1)} ms of CPU a second, ${round(before, 1)} without them`,
    "no CPU: within 5 ms a second",
    after - before <= 5
  )
  if (values.write) {
    const table = ["| what | found | bar |", "|-|-|-|", ...lines.map((line) => `| ${line.join(" | ")} |`)].join("\n")
    await writeReport("tools", [describeMachine(`${turns} turns of each kind, interleaved.`), table].join("\n\n"))
  }
} finally {
  await http.close()
  tools.kill()
  await system.stop()
  await meter.close()
  await postgres.stop()
}
