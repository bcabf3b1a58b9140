/**
 * Random histories: clients that do what they like to a few threads at once, with watchers that come
 * and go. What they were told is held against the journal, the queue and what the watchers saw.
 */
import { assert, describe, it } from "@effect/vitest"
import { openTurns, recorded, violations } from "../invariants.ts"
import { during } from "../setup/during.ts"
import { type Client, startServer } from "../setup/server.ts"
import { Watcher } from "./sse.ts"
import { type Event, makeAgent, makeThread, text } from "./threadFixture.ts"
import { factsOf } from "./toolFixture.ts"

const server = await during(startServer({ idleMs: 50 }))
const agentId = await makeAgent(server.alpha)

const seed = Number(process.env.TROUPE_TEST_SEED ?? Date.now() % 1_000_000_000)

/** mulberry32 */
const randomOf = (seed: number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const scripts = [
  "hello",
  "/wait 5ms\nhello",
  "/wait 30ms\nhello",
  "/fail model_error broken",
  "/call nothing.here {}\nhello",
  "/call a.b {}\n/call c.d {}\n/then\n/call e.f {}\nhello",
  "/chunks 5 2ms\n/say one two three"
]

interface History {
  readonly threadId: string
  /** Acknowledged inputs, by id. */
  readonly accepted: Map<string, { readonly text: string; readonly removed: boolean }>
}

const act = async (client: Client, { accepted, threadId }: History, random: () => number) => {
  const pick = <A>(from: ReadonlyArray<A>) => from[Math.floor(random() * from.length)]!
  const path = `/v1/threads/${threadId}`
  const inputId = [...accepted.keys()].at(-1 - Math.floor(random() * 3))
  const what = random()
  const answer = await (what < 0.55 || inputId === undefined
    ? client.post(`${path}/messages`, {
        content: text(pick(scripts)),
        mode: pick(["queue", "queue", "steer", "interrupt"])
      })
    : what < 0.65
      ? client.post(`${path}/queue/${inputId}/promote`, { mode: pick(["steer", "interrupt"]) })
      : what < 0.72
        ? client.patch(`${path}/queue/${inputId}`, { content: text("edited") })
        : what < 0.79
          ? client.delete(`${path}/queue/${inputId}`)
          : what < 0.85
            ? client.post(`${path}/cancel`, {})
            : what < 0.9
              ? client.post(`${path}/retry`)
              : what < 0.95
                ? client.get(`${path}/queue`)
                : client.get(path))
  assert.isBelow(answer.status, 500, answer.text)
  if (answer.status === 201) accepted.set(answer.body.id, { text: answer.body.content[0].text, removed: false })
  if (answer.status === 204 && inputId !== undefined) accepted.set(inputId, { text: "", removed: true })
  // Another client may have removed it meanwhile, and been told so first.
  const edited = answer.status === 200 && what >= 0.65 && what < 0.72
  if (edited && inputId !== undefined && accepted.get(inputId)?.removed === false)
    accepted.set(inputId, { text: "edited", removed: false })
}

/** Watches the whole log by streams that are cut again and again, each going on where the last one ended. */
const watch = async (threadId: string, random: () => number, done: () => boolean) => {
  const seen: Array<number> = []
  while (!done()) {
    const watcher = await Watcher.open(
      server.base,
      `/v1/threads/${threadId}/events/stream?afterSeq=${seen.at(-1) ?? 0}&types=event`,
      server.alpha.token!
    )
    const lives = 20 + random() * 150
    await new Promise((resolve) => setTimeout(resolve, lives))
    watcher.close()
    for (const { id } of watcher.events("event")) seen.push(Number(id))
  }
  return seen
}

const settled = async (threadId: string) => {
  for (;;) {
    const { body } = await server.alpha.get(`/v1/threads/${threadId}`)
    if (body.status !== "running" && body.queued.length === 0) return body
    await server.alpha.get(`/v1/threads/${threadId}/events?waitSeconds=1&afterSeq=${body.lastSeq}`)
  }
}

const logOf = async (threadId: string) => {
  const log: Array<Event> = []
  for (;;) {
    const page = await server.alpha.get(`/v1/threads/${threadId}/events?limit=200&afterSeq=${log.at(-1)?.seq ?? 0}`)
    if (page.body.events.length === 0) return log
    log.push(...page.body.events)
  }
}

describe(`random histories (TROUPE_TEST_SEED=${seed})`, () => {
  it("leave every acknowledged input in its one place, and a journal in order", { timeout: 60_000 }, async () => {
    const random = randomOf(seed)
    const histories: Array<History> = []
    for (let i = 0; i < 3; i++)
      histories.push({ threadId: await makeThread(server.alpha, agentId), accepted: new Map() })
    const clients = [
      server.alpha,
      await server.client(server.workspaces.alpha),
      await server.client(server.workspaces.alpha),
      server.alpha
    ]
    let over = false
    const watchers = histories.map(({ threadId }) => watch(threadId, randomOf(Math.floor(random() * 1e9)), () => over))
    await Promise.all(
      clients.map(async (client) => {
        const own = randomOf(Math.floor(random() * 1e9))
        for (let i = 0; i < 60; i++) await act(client, histories[Math.floor(own() * histories.length)]!, own)
      })
    )
    const details = await Promise.all(histories.map(({ threadId }) => settled(threadId)))
    over = true
    const seen = await Promise.all(watchers)

    for (const [i, { accepted, threadId }] of histories.entries()) {
      const facts = (await factsOf(server, threadId)).map(recorded)
      assert.deepStrictEqual(violations(facts), [])
      assert.deepStrictEqual(openTurns(facts), [])

      const log = await logOf(threadId)
      assert.deepStrictEqual(
        log.map(({ seq }) => seq),
        log.map((_, i) => i + 1)
      )
      assert.strictEqual(details[i].lastSeq, log.length)
      assert.deepStrictEqual(
        seen[i],
        log.map(({ seq }) => seq).slice(0, seen[i]!.length),
        "a watcher sees every event once, in order"
      )

      const admitted = new Map(log.filter(({ type }) => type === "user_message").map((event) => [event.inputId, event]))
      for (const [inputId, { removed, text: words }] of accepted) {
        const record = (await server.alpha.get(`/v1/threads/${threadId}/queue/${inputId}`)).body
        const event = admitted.get(inputId)
        assert.strictEqual(record.state, removed ? "cancelled" : "admitted", inputId)
        assert.strictEqual(event !== undefined, !removed, inputId)
        if (event === undefined) continue
        assert.deepStrictEqual([record.seq, record.turnId, record.content], [event.seq, event.turnId, event.content])
        assert.deepStrictEqual(record.content, text(words))
      }
      for (const inputId of admitted.keys())
        assert.isTrue(typeof inputId === "string" && accepted.has(inputId), `${inputId} was never acknowledged`)
    }
  })
})
