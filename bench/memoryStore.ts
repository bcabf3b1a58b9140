/**
 * `node bench/memoryStore.ts`: what agents' memory costs, beside reads of threads: an entry that is read, a search among
 * as many as a store may have, and clients that compare and set at once.
 *
 *   --seconds 5     of each measurement     --entries 10000     to search in, of 2 KiB each
 */
import { parseArgs } from "node:util"
import { at, connect, text } from "./adapters/Adapter.ts"
import { openMeter } from "./database.ts"
import { median } from "./statistics.ts"
import { startPostgres, startTroupe } from "./systems.ts"

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "5" }, entries: { type: "string", default: "10000" } }
})
const ms = Number(values.seconds) * 1_000
const entries = Number(values.entries)
const writers = 16
const postgres = await startPostgres()
const meter = await openMeter(postgres.url)
const system = await startTroupe("bench_memory", await meter.createDatabase("bench_memory"), { agents: 1 })

const sessions = Array.from({ length: writers }, () => connect(system.target))
const [http] = sessions
if (http === undefined) throw new Error("no client")
const json = { ...http.authorization, "content-type": "application/json" }

const put = async (session: typeof http, key: string, value: string, expectedVersion?: string) => {
  const response = await session.client.request({
    method: "PUT",
    path: `/v1/memory/entry?key=${key}`,
    headers: json,
    body: JSON.stringify(expectedVersion === undefined ? { value } : { value, expectedVersion })
  })
  return { status: response.statusCode, body: await response.body.json() }
}
/** Of the answers one after the other, in milliseconds. */
const latency = async (...paths: ReadonlyArray<string>) => {
  const found = paths.map((): Array<number> => [])
  for (const end = performance.now() + ms; performance.now() < end; ) {
    for (const [i, path] of paths.entries()) {
      const began = performance.now()
      await http.get(path)
      found[i]?.push(performance.now() - began)
    }
  }
  return found.map(median)
}
/** A write that was carried out: what it made of what it had compared with. */
interface Carried {
  readonly key: string
  readonly before: string
  readonly version: string
}

let runs = 0
/**
 * Of clients that compare with what they have seen last: requests a second, those that were carried out, and whether
 * each of these is one version of its entry's chain, which ends with what is there.
 */
const writes = async (keyOf: (client: number) => string) => {
  const run = runs++
  let answered = 0
  const carried: Array<Carried> = []
  const keys = [...new Set(sessions.map((_, client) => keyOf(client)))]
  const versionOf = async (key: string) => String(at(await http.get(`/v1/memory/entry?key=${key}`), "entry", "version"))
  const first = new Map<string, string>()
  for (const key of keys) first.set(key, await versionOf(key))
  const end = performance.now() + ms
  await Promise.all(
    sessions.map(async (session, client) => {
      const key = keyOf(client)
      let version = at(await session.get(`/v1/memory/entry?key=${key}`), "entry", "version")
      for (let i = 0; performance.now() < end; i++) {
        const before = String(version)
        const answer = await put(session, key, `${run} ${client} ${i}`, before)
        answered++
        if (answer.status === 200) carried.push({ key, before, version: String(at(answer.body, "entry", "version")) })
        version = answer.status === 200 ? at(answer.body, "entry", "version") : at(answer.body, "currentVersion")
      }
    })
  )
  const next = new Map(carried.map(({ before, key, version }) => [`${key} ${before}`, version]))
  let chained = next.size === carried.length
  let links = 0
  for (const key of keys) {
    let last = first.get(key) ?? ""
    while (links < carried.length) {
      const version = next.get(`${key} ${last}`)
      if (version === undefined) break
      last = version
      links++
    }
    chained &&= last === (await versionOf(key))
  }
  const seconds = Number(values.seconds)
  return {
    answered: answered / seconds,
    carried: carried.length / seconds,
    chained: chained && links === carried.length
  }
}

try {
  const words = Array.from({ length: 5_000 }, (_, i) => `word${i.toString(36)}`)
  const note = (i: number) =>
    Array.from({ length: 256 }, (_, at) => words[(i * 31 + at * at * 17) % words.length])
      .join(" ")
      .slice(0, 2_048)
  const left = Array.from({ length: entries - writers - 1 }, (_, i) => i)
  await Promise.all(
    sessions.map(async (session) => {
      for (let i = left.pop(); i !== undefined; i = left.pop()) await put(session, `notes/${i}`, note(i))
    })
  )
  for (let i = 0; i <= writers; i++) await put(http, `cas${i}`, "0")
  const agent = system.target.agents[0] ?? ""
  const thread = text(await http.post("/v1/threads", { agentId: agent }), "thread", "id")
  const [ofThread = 0, ofEntry = 0, ofSearch = 0] = await latency(
    `/v1/threads/${thread}`,
    "/v1/memory/entry?key=notes/7",
    "/v1/memory/search?q=word7+word9"
  )
  await writes((client) => `cas${client}`)
  const apart = await writes((client) => `cas${client}`)
  const together = await writes(() => `cas${writers}`)
  const lines: ReadonlyArray<readonly [what: string, value: number, bar: string, holds: boolean]> = [
    ["GET of an entry, of GET of a thread at rest", ofEntry / ofThread, "at most 1.2", ofEntry <= 1.2 * ofThread],
    [`search in ${entries} entries, of GET of one`, ofSearch / ofEntry, "at most 10", ofSearch <= 10 * ofEntry],
    [
      `requests/s on one entry, of those on ${writers}`,
      together.answered / apart.answered,
      "at least 0.3",
      together.answered >= 0.3 * apart.answered
    ],
    [
      "writes/s that were carried out, each one version of a chain",
      apart.carried + together.carried,
      "every one",
      apart.chained && together.chained
    ]
  ]
  console.log(`p50 in ms: thread ${ofThread.toFixed(2)}, entry ${ofEntry.toFixed(2)}, search ${ofSearch.toFixed(2)}`)
  for (const [where, { answered, carried }] of [
    [`${writers} entries`, apart],
    ["one", together]
  ] as const)
    console.log(`on ${where}: ${answered.toFixed(0)} requests/s, ${carried.toFixed(0)} of them carried out`)
  for (const [what, value, bar, holds] of lines)
    console.log(`${what}: ${value.toFixed(2)} (${bar}: ${holds ? "holds" : "missed"})`)
} finally {
  for (const session of sessions) await session.close()
  await system.stop()
  await meter.close()
  await postgres.stop()
}
