/**
 * `node bench/sweep.ts`: what a look of the sweep costs beside much that is none of its business, and how fast one node
 * takes up what a dead one left.
 *
 *   --only look,takeover   --ahead 1000000   --running 1000000   --nodes 20   --looks 1000   --due 100000   --write
 */
import { Effect, Redacted } from "effect"
import pg from "pg"
import { parseArgs } from "node:util"
import { body, toUuid } from "../src/domain/ids.ts"
import { freshId } from "../src/seed.ts"
import { migrate } from "../src/database/migrate.ts"
import { at, connect, pause, text } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import { copies, generateWork } from "./generate.ts"
import { compareLooks } from "./looker.ts"
import { watch } from "./processes.ts"
import { describeMachine, findings, writeReport } from "./report.ts"
import { startPostgres, startTroupe } from "./systems.ts"

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "look,takeover" },
    ahead: { type: "string", default: "1000000" },
    running: { type: "string", default: "1000000" },
    nodes: { type: "string", default: "20" },
    looks: { type: "string", default: "1000" },
    due: { type: "string", default: "100000" },
    write: { type: "boolean", default: false }
  }
})
const wanted = new Set(values.only.split(","))
const { found, table } = findings()
const round = (n: number, digits = 2) => n.toFixed(digits)

const postgres = await startPostgres({ max_wal_size: "8GB" })
const meter = await openMeter(postgres.url)

try {
  if (wanted.has("look")) {
    const [ahead, running] = [Number(values.ahead), Number(values.running)]
    const nodes = Array.from({ length: Number(values.nodes) }, () => freshId("node"))
    const urls: Array<string> = []
    for (const [name, work] of [
      ["none", { ahead: 0, running: 0 }],
      ["many", { ahead, running }]
    ] as const) {
      const url = await meter.createDatabase(`sweep_${name}`)
      await Effect.runPromise(migrate(Redacted.make(url)))
      await generateWork(url, nodes.map(toUuid), work)
      urls.push(url)
    }
    const [none, many] = await compareLooks([urls[0]!, urls[1]!], nodes, Number(values.looks))
    const [few, much] = [none.look, many.look]
    found("a look with nothing ahead and nothing running", `p50 ${round(few.p50)} ms, p99 ${round(few.p99)} ms`)
    found(
      `a look with ${ahead} moments ahead and ${running} running turns of ${nodes.length} living nodes`,
      `p50 ${round(much.p50)} ms, p99 ${round(much.p99)} ms`
    )
    found("the one over the other", round(much.p50 / few.p50), "at most 1.2", much.p50 / few.p50 <= 1.2)
    found(
      "the agenda's upkeep in between, without and with them",
      `p50 ${round(none.upkeep.p50)} ms and ${round(many.upkeep.p50)} ms`
    )
  }

  if (wanted.has("takeover")) {
    const due = Number(values.due)
    const url = await meter.createDatabase("sweep_takeover")
    const dying = await startTroupe("sweep_takeover", url, { agents: 1 })
    const http = connect(dying.target)
    const thread = text(await http.post("/v1/threads", { agentId: dying.target.agents[0] }), "thread", "id")
    const message = at(
      await http.post(`/v1/threads/${thread}/messages`, { content: [{ type: "text", text: "Go on.\n/wait 600s" }] }),
      "input"
    )
    await http.close()
    process.kill(dying.pid, "SIGKILL")
    await dying.stop()
    // The copies' answers come at once.
    await copies(
      url,
      {
        thread: toUuid(thread),
        turn: body(String(at(message, "id"))),
        wait: "\\n/wait 600s",
        owner: toUuid(freshId("node"))
      },
      due
    )
    const system = await startTroupe("sweep_takeover", url, { agents: 1, environment: { TROUPE_NODE_ID: "heir" } })
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const left = async () =>
      Number(
        (
          await client.query<{ n: string }>(
            "select count(*) as n from heads where runnable_at is not null and id <> $1",
            [toUuid(thread)]
          )
        ).rows[0]?.n
      )
    const start = performance.now()
    const [server, database] = [watch(system.pid), watch(postgres.pid)]
    const before = await left()
    for (let now = before; now > 0; now = await left()) {
      if (performance.now() - start > 20 * 60_000) throw new Error(`${now} are left after twenty minutes`)
      await pause(1_000)
    }
    const seconds = (performance.now() - start) / 1_000
    const [serverCpu, databaseCpu] = [server, database].map((watched) => watched.stop().cpuMs / before)
    const {
      rows: [ended]
    } = await client.query<{ completed: string; failed: string }>(
      "select count(*) filter (where readable(event) ->> 'type' = 'turn_completed') as completed, count(*) " +
        "filter (where readable(event) ->> 'type' = 'turn_failed') as failed from facts where seq is not null"
    )
    await client.end()
    await system.stop()
    const rate = before / seconds
    found(
      `of ${due} due actors of a dead node, turns that were taken up and completed by one node`,
      `${ended?.completed}, ${ended?.failed} failed`,
      "all",
      Number(ended?.completed) === due && ended?.failed === "0"
    )
    found(
      "which took",
      `${round(seconds, 1)} s: ${round(rate, 0)} a second, CPU ${round(serverCpu ?? Number.NaN)} + ` +
        `${round(databaseCpu ?? Number.NaN)} ms each`,
      "at least 500 a second",
      rate >= 500
    )
  }

  if (values.write) {
    await writeReport(
      "sweep",
      [describeMachine(`${values.looks} looks of each kind, in turns.`), "", table()].join("\n")
    )
  }
} finally {
  await meter.close()
  await postgres.stop()
}
