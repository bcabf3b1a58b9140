/**
 * `node bench/webhooks.ts`: what it costs to tell an endpoint of everything, and whether one that hangs delays another.
 *
 *   --only turns,hanging   --clients 16   --seconds 5   --rounds 5   --hanging 1000   --told 200   --write
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { createInterface } from "node:readline"
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { at, connect, pause, text } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import { measure } from "./measure.ts"
import { describeMachine, findings, writeReport } from "./report.ts"
import { median, summarize } from "./statistics.ts"
import { startPostgres, startTroupe } from "./systems.ts"

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "turns,hanging" },
    clients: { type: "string", default: "16" },
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "5" },
    hanging: { type: "string", default: "1000" },
    told: { type: "string", default: "200" },
    write: { type: "boolean", default: false }
  }
})
const wanted = new Set(values.only.split(","))
const { found, table } = findings()
const everything = [
  "thread.status",
  "turn.completed",
  "turn.failed",
  "wait.created",
  "operation.created",
  "budget.reached",
  "schedule.failed",
  "schedule.disabled",
  "subscription.disabled"
]

type Http = ReturnType<typeof connect>

const make = async (http: Http, url: string, events: ReadonlyArray<string>) =>
  text(await http.post("/v1/webhooks", { url, events }), "webhook", "id")
const remove = async ({ authorization, client }: Http, id: string) => {
  const answer = await client.request({ method: "DELETE", path: `/v1/webhooks/${id}`, headers: authorization })
  await answer.body.text()
}
const ended = async (http: Http, id: string, state: string, count: number) => {
  for (;;) {
    const page = await http.get(`/v1/webhooks/${id}/deliveries?state=${state}&limit=200`)
    const { deliveries } = page as { readonly deliveries: ReadonlyArray<unknown> }
    if (deliveries.length >= count) return
    await pause(50)
  }
}

/** A listener in this process that says of each event when it came, or one that takes it and says nothing. */
const listen = async (heard: (eventId: string) => void, answers: boolean) => {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      heard(String(request.headers["webhook-id"]))
      if (answers) response.writeHead(204).end()
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

const postgres = await startPostgres()
const meter = await openMeter(postgres.url)
const environment = { TROUPE_ALLOW_PRIVATE_NETWORK: "true" }
try {
  if (wanted.has("turns")) {
    const url = await meter.createDatabase("webhooks_turns")
    const system = await startTroupe("webhooks_turns", url, { agents: 16, environment })
    const receiver = spawn(process.execPath, [resolve(import.meta.dirname, "webhookReceiver.ts")], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    const [endpoint = ""] = await once(createInterface({ input: receiver.stdout }), "line")
    const http = connect(system.target)
    const options = { clients: Number(values.clients), seconds: Number(values.seconds), warmupSeconds: 1 }
    const rate = async () =>
      (await measure(system, "A", { ...options, meter, postgresPid: postgres.pid })).turnsPerSecond
    const ratios: Array<number> = []
    await rate()
    for (let round = 0; round < Number(values.rounds); round++) {
      const without = await rate()
      const id = await make(http, String(endpoint), everything)
      const told = await rate()
      await remove(http, id)
      ratios.push(told / without)
      console.log(`turns/s: ${without.toFixed(0)} without, ${told.toFixed(0)} told of everything`)
    }
    const ratio = median(ratios)
    found(
      "turns/s with one endpoint for all events, of those without",
      ratio.toFixed(2),
      "at least 0.75",
      ratio >= 0.75
    )
    await http.close()
    receiver.kill()
    await system.stop()
  }
  if (wanted.has("hanging")) {
    const url = await meter.createDatabase("webhooks_hanging")
    const system = await startTroupe("webhooks_hanging", url, { agents: 1, environment })
    const http = connect(system.target)
    const heard = new Map<string, number>()
    const silent = await listen(() => {}, false)
    const good = await listen((eventId) => heard.set(eventId, performance.now()), true)
    const stuck = await make(http, silent.url, ["webhook.test"])
    const other = await make(http, good.url, ["webhook.test"])
    for (let i = 0; i < Number(values.hanging); i++) await http.post(`/v1/webhooks/${stuck}/test`, {})
    const sent: Array<{ readonly eventId: string; readonly at: number }> = []
    for (let i = 0; i < Number(values.told); i++) {
      const began = performance.now()
      const answer = await http.post(`/v1/webhooks/${other}/test`, {})
      sent.push({ eventId: String(at(answer, "delivery", "eventId")), at: began })
      await pause(20)
    }
    await ended(http, other, "delivered", Math.min(200, sent.length))
    const lags = summarize(sent.map(({ at, eventId }) => (heard.get(eventId) ?? Number.NaN) - at))
    found(
      `from an event to its endpoint beside ${values.hanging} deliveries to one that hangs, p50, p99`,
      `${lags.p50.toFixed(0)} ms, ${lags.p99.toFixed(0)} ms`,
      "p99 at most 2 s",
      lags.p99 <= 2_000
    )
    await http.close()
    silent.stop()
    good.stop()
    await system.stop()
  }
  console.log(table())
  const how = `${values.rounds} pairs of stretches of ${values.seconds} s with ${values.clients} clients.`
  if (values.write) await writeReport("webhooks", [describeMachine(how), table()].join("\n\n"))
} finally {
  await meter.close()
  await postgres.stop()
}
