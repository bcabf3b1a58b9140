/**
 * `node bench/console.ts`: what a person waits for who looks at a console, in a real Chromium: first loads, long logs,
 * the slider of a chart, a thread in which much happens, many threads. The console is built first.
 *
 *   --only size,sign-in,log,server,live,threads   --events 10000   --threads 100000   --seconds 30   --write
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { toUuid } from "../src/domain/ids.ts"
import { launchBrowser } from "../test/setup/chromium.ts"
import { sizesOf } from "./consoleSizes.ts"
import { liveThread, longLog, manyThreads, serverSteps, signIn } from "./consolePages.ts"
import { openMeter } from "./database.ts"
import { lengthen, multiply } from "./generate.ts"
import { describeMachine, findings, writeReport } from "./report.ts"
import { root, startPostgres, startTroupe, type System } from "./systems.ts"
import { connect, text } from "./adapters/Adapter.ts"
import { create, lastSeq, turn } from "./turns.ts"

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "size,sign-in,log,server,live,threads" },
    events: { type: "string", default: "10000" },
    threads: { type: "string", default: "100000" },
    seconds: { type: "string", default: "30" },
    write: { type: "boolean", default: false }
  }
})
const wanted = new Set(values.only.split(","))
const found = findings()

const buildConsole = () => {
  const built = spawnSync(process.execPath, [join(root, "console", "build.mjs")], { cwd: root, stdio: "inherit" })
  if (built.status !== 0) throw new Error("the console could not be built")
}

/** A thread of an agent that asks a client's tool, and waits for its result: something that stands in the inbox. */
const makeWaiting = async (system: System) => {
  const http = connect(system.target)
  const toolset = await http.post("/v1/toolsets", {
    namespace: "desk",
    kind: "client",
    tools: [{ name: "ask", inputSchema: { type: "object" } }]
  })
  const profile = await http.post("/v1/profiles", {
    name: "asks",
    models: ["troupe/scripted"],
    toolsetIds: [text(toolset, "toolset", "id")]
  })
  const agent = await http.post("/v1/agents", { name: "asks", profileId: text(profile, "profile", "id") })
  await http.post("/v1/threads", {
    agentId: text(agent, "agent", "id"),
    message: { content: [{ type: "text", text: "/call desk.ask {}" }] }
  })
  await http.close()
}

/** Two turns of different length, repeated until the log is so long. */
const makeLong = async (url: string, start: () => Promise<System>, events: number) => {
  const system = await start()
  const thread = await create(system)
  const http = connect(system.target)
  await turn(http, thread, await lastSeq(http, thread))
  await http.close()
  await system.stop()
  await lengthen(url, toUuid(thread), events)
  return thread
}

buildConsole()
if (wanted.has("size")) sizesOf(join(root, "console", "dist"), found.found)

const postgres = await startPostgres()
const meter = await openMeter(postgres.url)
const browser = await launchBrowser()
try {
  const url = await meter.createDatabase("console")
  const start = () => startTroupe("console", url, { agents: 1 })
  const long = await makeLong(url, start, Number(values.events))
  const system = await start()
  try {
    await makeWaiting(system)
    if (wanted.has("server")) await serverSteps(system, long, found.found)
    if (wanted.has("sign-in")) await signIn(browser, system, found.found)
    if (wanted.has("log")) await longLog(browser, system, long, found.found)
    if (wanted.has("live")) await liveThread(browser, system, Number(values.seconds), found.found)
  } finally {
    await system.stop()
  }
  if (wanted.has("threads")) {
    const crowded = await meter.createDatabase("console_threads")
    const first = await startTroupe("console_threads", crowded, { agents: 1 })
    const original = await create(first)
    await first.stop()
    await multiply(crowded, toUuid(original), Number(values.threads) - 1)
    const many = await startTroupe("console_threads", crowded, { agents: 1 })
    try {
      await manyThreads(browser, many, found.found)
    } finally {
      await many.stop()
    }
  }
} finally {
  await browser.close()
  await meter.close()
  await postgres.stop()
}
if (values.write) {
  const how = `A console in Chromium; a log of ${values.events} events, ${values.threads} threads.`
  await writeReport("console", [describeMachine(how), found.table()].join("\n\n"))
}
