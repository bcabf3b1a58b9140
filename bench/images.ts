/**
 * `node bench/images.ts`: what uploads of images cost a node: memory that it takes for one of 10 MiB and for eight at
 * once, and turns of others meanwhile.
 *
 *   --pairs 24     of stretches with and without an upload     --clients 4     who take turns
 */
import { randomFillSync } from "node:crypto"
import { parseArgs } from "node:util"
import { limits } from "../src/domain/limits.ts"
import { connect, pause, text } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import { residentBytes } from "./processes.ts"
import { median } from "./statistics.ts"
import { startPostgres, startTroupe } from "./systems.ts"
import { turn } from "./turns.ts"

const { values } = parseArgs({
  options: { pairs: { type: "string", default: "24" }, clients: { type: "string", default: "4" } }
})
const pairs = Number(values.pairs)
const rounds = 5
const mib = 1024 * 1024
const atOnce = limits.uploadsAtOnce

const postgres = await startPostgres()
const meter = await openMeter(postgres.url)
const system = await startTroupe("bench_images", await meter.createDatabase("bench_images"), { agents: 1 })
const http = connect(system.target)
const agent = system.target.agents[0] ?? ""
/** Half of the uploads of a node are of one key at most. */
const other = text(await http.post("/v1/auth/keys", { name: "other", scopes: ["read", "run"] }), "token")
const keys = [system.target.key ?? "", other]

/** A webp image of one pixel by its header. */
const picture = () => {
  const bytes = randomFillSync(Buffer.alloc(limits.imageBytes), 25)
  bytes.write("RIFF", 0, "latin1")
  bytes.writeUInt32LE(bytes.length - 8, 4)
  bytes.write("WEBPVP8L", 8, "latin1")
  bytes.writeUInt32LE(bytes.length - 20, 16)
  bytes.writeUInt8(0x2f, 20)
  return bytes
}
/** Made once: what it costs to make them is no cost of the server. */
const pictures = Array.from({ length: atOnce }, picture)
const senders = pictures.map((_, i) => connect({ ...system.target, key: keys[i % keys.length] ?? "" }))

type Form = "bytes" | "base64"
/** The body of an upload. As base64 it is made anew each time, here and not in the server. */
const formed = (body: Buffer, form: Form) =>
  form === "bytes"
    ? { type: "image/webp", body }
    : { type: "application/json", body: JSON.stringify({ format: "webp", data: body.toString("base64") }) }

/** As no image was before. */
const upload = async (i: number, form: Form = "bytes") => {
  const [sender, body] = [senders[i], pictures[i]]
  if (sender === undefined || body === undefined) throw new Error("more uploads than a node takes at once")
  randomFillSync(body, 25, 16)
  const sent = formed(body, form)
  const answer = await sender.client.request({
    method: "POST",
    path: `/v1/agents/${agent}/images`,
    headers: { ...sender.authorization, "content-type": sent.type },
    body: sent.body
  })
  const told = await answer.body.text()
  if (answer.statusCode !== 201) throw new Error(told)
}
/** MiB that the node takes above what it has had, at most, until some time after so many uploads at once. */
const growth = async (many: number, form: Form = "bytes") => {
  const before = residentBytes(system.pid)
  let peak = before
  let over = false
  const watching = (async () => {
    for (; !over; await pause(5)) peak = Math.max(peak, residentBytes(system.pid))
  })()
  await Promise.all(Array.from({ length: many }, (_, i) => upload(i, form)))
  await pause(500)
  over = true
  await watching
  return (peak - before) / mib
}

/** An upload of 10 MiB counts as 161 requests, of which a credential has 50 a second by default: two keys at that rate. */
const paceMs = (161 / 50 / keys.length) * 1_000

/**
 * Turns that clients take in stretches of time one after the other: in every other one an image is uploaded. What
 * else the machine does falls on both alike.
 */
const turnsBeside = async (stretches: number) => {
  let done = 0
  let over = false
  const clients = Array.from({ length: Number(values.clients) }, async () => {
    const client = connect(system.target)
    const thread = text(await client.post("/v1/threads", { agentId: agent }), "thread", "id")
    for (let after = 0; !over; done++) after = await turn(client, thread, after)
    await client.close()
  })
  const counts: Array<number> = []
  for (let i = 0; i < stretches; i++) {
    const [before, began] = [done, performance.now()]
    const uploading = i % 2 === 1 ? upload((i >> 1) % keys.length) : undefined
    await pause(paceMs)
    await uploading
    counts.push((done - before) / (performance.now() - began))
  }
  over = true
  await Promise.all(clients)
  return counts.map((count) => count * 1_000)
}

const say = (what: string, value: number, bar: string, holds: boolean) =>
  console.log(`${what}: ${value.toFixed(2)} (${bar}: ${holds ? "holds" : "missed"})`)

try {
  // Warm: what the program takes by itself is no upload's.
  await turnsBeside(4)
  const first = await growth(1)
  const ones: Array<number> = []
  for (let i = 0; i < rounds; i++) ones.push(await growth(1))
  const eights: Array<number> = []
  for (let i = 0; i < rounds; i++) eights.push(await growth(atOnce))
  console.log(`MiB of one: first ${first.toFixed(0)}, then ${ones.map((one) => one.toFixed(0)).join(", ")}`)
  console.log(`MiB of ${atOnce}: ${eights.map((one) => one.toFixed(0)).join(", ")}`)
  const [one, eight] = [Math.max(first, ...ones), Math.max(...eights)]
  say("MiB that a node grows by with an upload of 10 MiB, at most", one, "at most 40", one <= 40)
  say(`MiB with ${atOnce} at once, at most`, eight, "at most 320", eight <= 320)

  const texts: Array<number> = []
  for (let i = 0; i < rounds; i++) texts.push(await growth(1, "base64"))
  const textsAtOnce = await growth(atOnce, "base64")
  console.log(
    `MiB of one as base64: ${texts.map((one) => one.toFixed(0)).join(", ")}; of ${atOnce}: ${textsAtOnce.toFixed(0)}`
  )

  const rates = await turnsBeside(2 * pairs)
  const shares = Array.from({ length: pairs }, (_, i) => (rates[2 * i + 1] ?? 0) / (rates[2 * i] ?? 1))
  const share = median(shares)
  const quarter = [...shares].sort((a, b) => a - b)[Math.floor(pairs / 4)] ?? 0
  console.log(`a quarter of ${pairs} pairs of stretches was below ${quarter.toFixed(2)}`)
  say("turns/s of others while two keys upload as fast as they may", share, "at least 0.8", share >= 0.8)
} finally {
  for (const session of [http, ...senders]) await session.close()
  await system.stop()
  await meter.close()
  await postgres.stop()
}
