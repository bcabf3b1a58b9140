/** A thousand event streams on one node, and some whose readers have gone to sleep. */
import { type IncomingMessage, request } from "node:http"
import { residentBytes } from "../../../bench/processes.ts"
import { field } from "../../../src/cli/client.ts"
import { Caller } from "../Caller.ts"
import type { Fault, Scene } from "../experiment.ts"
import type { Node } from "../Node.ts"
import { some } from "./bars.ts"

const readers = 950
const sleepers = 50
/** A key may hold so many. */
const perKey = 100
const heapMb = 256
/** How many come at once: one by one a thousand take minutes on a slow machine. */
const together = 10
/** What one watcher is sent before it counts as asleep: the kernel's buffers and the node's. */
const fullBytes = 6_000_000

const open = (node: Node, path: string, key: string) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    request(
      node.base + path,
      { agent: false, headers: { authorization: `Bearer ${key}`, accept: "text/event-stream" } },
      (answer) => {
        if (answer.statusCode === 200) resolve(answer)
        else reject(new Error(`GET ${path}: ${answer.statusCode}`))
      }
    )
      .on("error", reject)
      .end()
  })

/** An agent of its own and a thread of it, and keys enough for the watchers. */
const stage = async ({ cluster, history, random }: Scene, node: Node) => {
  const workspace = some(cluster.workspaces[0])
  const caller = new Caller(cluster, workspace, history, random)
  const create = async (path: string, body: object, ...at: ReadonlyArray<string>) => {
    const answer = await caller.ask("POST", path, body, { node })
    if (answer?.status !== 201) throw new Error(`POST ${path}: ${answer?.status} ${answer?.text}`)
    return field(answer.body, ...at)
  }
  const profileId = await create("/v1/profiles", { name: "watched", models: ["troupe/scripted"] }, "profile", "id")
  const [quiet, loud] = await Promise.all(
    ["quiet", "loud"].map((name) => create("/v1/agents", { name, profileId }, "agent", "id"))
  )
  const keys: Array<string> = []
  for (let i = 0; i < (readers + sleepers) / perKey; i++)
    keys.push(await create("/v1/auth/keys", { name: `watchers ${i}`, scopes: ["read"] }, "token"))
  return { caller, quiet, keys, threadId: await create("/v1/threads", { agentId: loud }, "thread", "id") }
}

/** Milliseconds between two looks at a node's memory. */
const lookMs = 10_000
/** A node that has grown by fewer bytes than this from one look to the third after it has settled. */
const steady = 4 * 1024 * 1024
const looks = 3

/**
 * The node's resident bytes once it has settled. A start alone makes it grow by seventy megabytes, for a minute and
 * more, and streams have no part in that. Its heap grows in steps: one look without growth says nothing. Fails after
 * four minutes.
 */
const settled = async (node: Node, sleep: Scene["sleep"]) => {
  const seen = [residentBytes(node.pid ?? 0)]
  for (const until = performance.now() + 240_000; performance.now() < until; ) {
    await sleep(lookMs)
    const now = residentBytes(node.pid ?? 0)
    const before = seen.at(-looks)
    if (before !== undefined && now - before < steady) return now
    seen.push(now)
  }
  const grew = seen.map((bytes) => Math.round(bytes / 2 ** 20)).join(", ")
  throw new Error(`${node.name} grows still, four minutes after its start: ${grew} MiB`)
}

export const watchers: Fault = {
  name: `1,000 event streams on one node with ${heapMb} MB of heap, 50 of which nobody reads`,
  bar: "its resident memory grows by ≤ 100 MiB; those 50 are gone ≤ 35 s after they are full; no other stream ends",
  inject: async (scene) => {
    const { cluster, random, sleep } = scene
    const node = some(cluster.pick(random))
    // With all the memory that it likes, a process collects its garbage late, and its size says little about what it
    // holds.
    await node.leave()
    await node.start({ NODE_OPTIONS: `--max-old-space-size=${heapMb}` })
    const { caller, keys, quiet, threadId } = await stage(scene, node)
    const before = await settled(node, sleep)
    const droppedBefore = (await node.metric("troupe_streams_dropped_total")) ?? 0
    let ended = 0
    const answers: Array<IncomingMessage> = []
    const watch = async (i: number) => {
      const asleep = i >= readers
      const answer = await open(
        node,
        asleep ? `/v1/threads/${threadId}/events/stream` : `/v1/agents/${quiet}/events/stream`,
        keys[Math.floor(i / perKey)] ?? ""
      )
      answers.push(answer)
      if (!asleep)
        answer
          .on("close", () => {
            ended++
          })
          .resume()
      answer.on("error", () => {})
    }
    for (let i = 0; i < readers + sleepers; i += together)
      await Promise.all(Array.from({ length: together }, (_, k) => watch(i + k)))
    let peak = 0
    const sample = setInterval(() => {
      peak = Math.max(peak, residentBytes(node.pid ?? 0))
    }, 500)
    const dropped = async () => ((await node.metric("troupe_streams_dropped_total")) ?? 0) - droppedBefore
    const text = "A long report. ".repeat(540)
    let sentBytes = 0
    let fullAt: number | undefined
    let goneAt: number | undefined
    for (const until = performance.now() + 120_000; performance.now() < until && goneAt === undefined; ) {
      if (sentBytes < 2 * fullBytes) {
        const answer = await caller.ask(
          "POST",
          `/v1/threads/${threadId}/messages`,
          { content: [{ type: "text", text }] },
          { node }
        )
        // The message, what the model says, and the same in pieces.
        if (answer?.status === 201) sentBytes += 3 * text.length
        if (fullAt === undefined && sentBytes >= fullBytes) fullAt = performance.now()
      } else await sleep(250)
      if (fullAt !== undefined && (await dropped()) >= sleepers) goneAt = performance.now()
    }
    clearInterval(sample)
    const lost = ended
    const gone = await dropped()
    for (const answer of answers) answer.destroy()
    await node.leave()
    await node.start()
    return () => ({
      gaps: [],
      observed: gone > 0 ? `${gone} streams of ${node.name} closed because nobody read them` : undefined,
      figures: [
        { name: "streams closed for their readers", value: gone, bar: sleepers, unit: "", least: true },
        {
          name: "gone after",
          value: fullAt === undefined || goneAt === undefined ? undefined : Math.max(0, goneAt - fullAt),
          bar: 35_000,
          unit: "ms"
        },
        { name: "other streams that ended", value: lost, bar: 0, unit: "" },
        { name: "MiB more", value: Math.round((peak - before) / 2 ** 20), bar: 100, unit: "" }
      ]
    })
  }
}
