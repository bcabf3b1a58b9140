import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll, beforeAll } from "vitest"
import { Bus } from "../../src/bus/Bus.ts"
import { Streams } from "../../http/streams/Streams.ts"
import { Client, startServer, type TestServer } from "../setup/server.ts"
import { Watcher } from "./sse.ts"
import { ended, logOf, makeAgent, makeThread, submit } from "./threadFixture.ts"

let server: TestServer
let agentId: string
beforeAll(async () => {
  server = await startServer({ streams: { perKey: 100, pingMs: 200, tickMs: 50, stallMs: 1_500 } })
  agentId = await makeAgent(server.alpha)
})
afterAll(() => server.stop())

const watch = (
  path: string,
  options: { readonly client?: Client; readonly headers?: Record<string, string>; readonly paused?: boolean } = {}
) => Watcher.open(server.base, path, (options.client ?? server.alpha).token!, options.headers, options.paused)

const ofThread = (threadId: string, query = "") => `/v1/threads/${threadId}/events/stream${query}`
const isDone = (watcher: Watcher) => watcher.events("event").some(({ data }) => data.type === "turn_completed")

describe("a thread's stream", () => {
  it("opens with a retry time and ready, then tells every event whole with its seq as id", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const watcher = await watch(ofThread(threadId))
    assert.strictEqual(watcher.status, 200)
    assert.strictEqual(watcher.response.headers["content-type"], "text/event-stream")
    assert.strictEqual(watcher.response.headers["cache-control"], "no-cache")
    assert.strictEqual(watcher.response.headers["x-accel-buffering"], "no")
    await watcher.until(({ frames }) => frames.length === 1)
    assert.isTrue(watcher.text.startsWith("retry: 2000\n\nevent: ready\n"))
    assert.strictEqual(watcher.frames[0]!.event, "ready")
    assert.strictEqual(watcher.frames[0]!.data.lastSeq, 0)
    assert.isString(watcher.frames[0]!.data.streamId)
    await submit(server.alpha, threadId, "hello")
    await watcher.until(isDone)
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(
      watcher.events("event").map(({ data }) => data),
      log.map((event) => ({ ...event }))
    )
    assert.deepStrictEqual(
      watcher.events("event").map(({ id }) => id),
      ["1", "2", "3"]
    )
    assert.deepStrictEqual(watcher.events("delta"), [])
    const statuses = watcher.events("status").map(({ data }) => data)
    assert.deepStrictEqual(statuses.at(-1), { threadId, status: "idle", lastSeq: 3 })
    watcher.close()
  })

  it("replays the log from afterSeq, and follows without a gap", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    for (let turn = 1; turn <= 3; turn++) {
      await submit(server.alpha, threadId, `turn ${turn}`)
      await logOf(server.alpha, threadId, ended(turn))
    }
    const all = await watch(ofThread(threadId, "?afterSeq=0&types=event"))
    const some = await watch(ofThread(threadId, "?afterSeq=4&types=event"))
    const none = await watch(ofThread(threadId, "?types=event"))
    await submit(server.alpha, threadId, "turn 4")
    await all.until((watcher) => watcher.events("event").length === 12)
    await some.until((watcher) => watcher.events("event").length === 8)
    await none.until(isDone)
    assert.deepStrictEqual(
      all.events("event").map(({ id }) => Number(id)),
      Array.from({ length: 12 }, (_, i) => i + 1)
    )
    assert.deepStrictEqual(
      some.events("event").map(({ id }) => Number(id)),
      Array.from({ length: 8 }, (_, i) => i + 5)
    )
    assert.deepStrictEqual(
      none.events("event").map(({ id }) => Number(id)),
      [10, 11, 12]
    )
    assert.strictEqual(none.frames[0]!.data.lastSeq, 9)
    for (const watcher of [all, some, none]) watcher.close()
  })

  it("takes up where Last-Event-ID left, whatever its URL says", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    await submit(server.alpha, threadId, "hello")
    await logOf(server.alpha, threadId, ended(1))
    const watcher = await watch(ofThread(threadId, "?afterSeq=0"), { headers: { "last-event-id": "2" } })
    await watcher.until(isDone)
    assert.deepStrictEqual(
      watcher.events("event").map(({ id }) => id),
      ["3"]
    )
    watcher.close()
  })

  it("has no gap and nothing twice, however many watchers come and go while turns run", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const seen: Array<Promise<ReadonlyArray<number>>> = []
    const turns = 20
    const last = 3 * turns
    for (let turn = 1; turn <= turns; turn++) {
      await submit(server.alpha, threadId, `turn ${turn}`)
      seen.push(
        watch(ofThread(threadId, "?afterSeq=0&types=event")).then(async (watcher) => {
          await watcher.until(({ frames }) => frames.at(-1)?.id === String(last))
          watcher.close()
          return watcher.events("event").map(({ id }) => Number(id))
        })
      )
    }
    for (const ids of await Promise.all(seen))
      assert.deepStrictEqual(
        ids,
        Array.from({ length: last }, (_, i) => i + 1)
      )
  })

  it("reads the log where a hint is missing, in the wrong order, or told twice", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    await submit(server.alpha, threadId, "hello")
    const log = await logOf(server.alpha, threadId, ended(1))
    const watcher = await watch(ofThread(threadId, "?afterSeq=3&types=event"))
    await watcher.until(({ frames }) => frames.length === 1)
    const bus = await server.runtime.runPromise(Bus)
    const about = { workspace: server.workspaces.alpha, agentId, threadId }
    // Events that the log does not have: a hint alone may not make a watcher believe in a gap.
    bus.publish({
      ...about,
      type: "events",
      events: [{ seq: 9, turnId: log[0]!.turnId, type: "user_message", text: `{"seq":9}` }]
    })
    bus.publish({
      ...about,
      type: "events",
      events: [{ seq: 2, turnId: log[0]!.turnId, type: "assistant_message", text: `{"seq":2}` }]
    })
    await submit(server.alpha, threadId, "again")
    await watcher.until(isDone)
    assert.deepStrictEqual(
      watcher.events("event").map(({ id }) => id),
      ["4", "5", "6"]
    )
    assert.deepStrictEqual(
      watcher.events("event").map(({ data }) => data.seq),
      [4, 5, 6]
    )
    watcher.close()
  })

  it("streams the text with deltas=text, under the id that the message will have", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const watcher = await watch(ofThread(threadId, "?deltas=text"))
    await watcher.until(({ frames }) => frames.length === 1)
    await submit(server.alpha, threadId, "/chunks 5 5ms\n/say one two three four five")
    await watcher.until(isDone)
    const message = watcher.events("event").find(({ data }) => data.type === "assistant_message")!
    const deltas = watcher.events("delta")
    assert.isAbove(deltas.length, 1)
    assert.deepStrictEqual(new Set(deltas.map(({ data }) => data.eventId)), new Set([message.data.eventId]))
    assert.deepStrictEqual(
      deltas.map(({ data }) => data.index),
      deltas.map((_, i) => i)
    )
    assert.strictEqual(deltas.map(({ data }) => data.text).join(""), "one two three four five")
    const at = (wanted: (typeof watcher.frames)[number]) => watcher.frames.indexOf(wanted)
    assert.isBelow(at(deltas.at(-1)!), at(message))
    watcher.close()
  })

  it("tells a call's progress to who watches its thread, and to others only where they name it", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const paths = [
      ofThread(threadId),
      "/v1/events/stream?types=progress",
      "/v1/events/stream",
      `/v1/agents/${agentId}/events/stream`,
      ofThread(threadId, "?types=queue")
    ]
    const watchers = await Promise.all(paths.map((path) => watch(path)))
    await Promise.all(watchers.map((watcher) => watcher.until(({ frames }) => frames.length === 1)))
    const about = { workspace: server.workspaces.alpha, agentId, threadId }
    await server.runtime.runPromise(
      Bus.useSync((bus) => {
        bus.publish({ ...about, type: "progress", toolCallId: "call_1", progress: 1, total: 2, message: "half" })
        bus.publish({ ...about, type: "queue", pending: 7 })
      })
    )
    const told = { threadId, toolCallId: "call_1", progress: 1, total: 2, message: "half" }
    for (const [i, watcher] of watchers.entries()) {
      await watcher.until(() => watcher.events(i === 1 ? "progress" : "queue").length > 0)
      assert.deepStrictEqual(
        watcher.events("progress").map(({ data }) => data),
        i < 2 ? [told] : [],
        paths[i]
      )
      watcher.close()
    }
  })

  it("takes a streamed answer back with discard when it will not be recorded", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const watcher = await watch(ofThread(threadId, "?deltas=text"))
    await watcher.until(({ frames }) => frames.length === 1)
    await submit(
      server.alpha,
      threadId,
      "/chunks 100 20ms\n/say a text that takes its time to come, piece by piece by piece"
    )
    await watcher.until((watcher) => watcher.events("delta").length > 2)
    await server.alpha.post(`/v1/threads/${threadId}/cancel`)
    await watcher.until((watcher) => watcher.events("discard").length === 1)
    assert.strictEqual(watcher.events("discard")[0]!.data.eventId, watcher.events("delta")[0]!.data.eventId)
    watcher.close()
  })

  it("tells only the types that were asked for; ready always comes", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const watcher = await watch(ofThread(threadId, "?types=status,queue"))
    await watcher.until(({ frames }) => frames.length === 1)
    await submit(server.alpha, threadId, "/wait 100ms\nfirst")
    await submit(server.alpha, threadId, "second")
    await logOf(server.alpha, threadId, ended(2))
    await watcher.until((watcher) => watcher.events("status").some(({ data }) => data.status === "idle"))
    assert.deepStrictEqual(new Set(watcher.frames.map(({ event }) => event)), new Set(["ready", "status", "queue"]))
    assert.include(
      watcher.events("queue").map(({ data }) => data.pending),
      1
    )
    watcher.close()
  })

  it("pings a quiet line with comments", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const watcher = await watch(ofThread(threadId))
    await watcher.until(({ comments }) => comments.length >= 3)
    assert.deepStrictEqual(new Set(watcher.comments), new Set([": ping"]))
    watcher.close()
  })

  it("is 404 for an unknown thread and for another workspace's, 400 for what it does not know", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const at = async (client: Client, path: string, headers?: Record<string, string>) => {
      const { body, status } = await client.get(path, headers)
      return [status, body.error, body.code]
    }
    assert.deepStrictEqual(await at(server.beta, ofThread(threadId)), [404, "not_found", undefined])
    assert.deepStrictEqual(await at(server.alpha, ofThread("thr_" + "0".repeat(26))), [404, "not_found", undefined])
    assert.deepStrictEqual(await at(server.alpha, ofThread("thr_nothing")), [404, "not_found", undefined])
    assert.deepStrictEqual(await at(server.alpha, ofThread(threadId, "?types=event,nonsense")), [
      400,
      "invalid_request",
      "invalid_parameter"
    ])
    assert.deepStrictEqual(await at(server.alpha, ofThread(threadId, "?types=")), [
      400,
      "invalid_request",
      "invalid_parameter"
    ])
    assert.deepStrictEqual(await at(server.alpha, ofThread(threadId, "?deltas=audio")), [
      400,
      "invalid_request",
      "invalid_parameter"
    ])
    assert.deepStrictEqual(await at(server.alpha, ofThread(threadId, "?afterSeq=-1")), [
      400,
      "invalid_request",
      "invalid_parameter"
    ])
    assert.deepStrictEqual(await at(server.alpha, ofThread(threadId, "?after_seq=1")), [
      400,
      "invalid_request",
      "unknown_parameter"
    ])
    assert.deepStrictEqual(await at(server.alpha, ofThread(threadId, "?afterSeq=1&afterSeq=2")), [
      400,
      "invalid_request",
      "repeated_parameter"
    ])
    assert.deepStrictEqual(await at(server.alpha, ofThread(threadId), { "last-event-id": "x" }), [
      400,
      "invalid_request",
      "invalid_header"
    ])
    assert.deepStrictEqual(await at(server.anonymous, ofThread(threadId)), [
      401,
      "unauthenticated",
      "missing_credential"
    ])
    const writer = await server.client(server.workspaces.alpha, { scopes: ["write"] })
    assert.deepStrictEqual(await at(writer, ofThread(threadId)), [403, "permission_denied", "missing_scope"])
  })
})

describe("the streams of an agent and of the workspace", () => {
  it("tell hints of their threads, and of no others", async () => {
    const other = await makeAgent(server.alpha)
    const [mine, others] = [await makeThread(server.alpha, agentId), await makeThread(server.alpha, other)]
    const ofAgent = await watch(`/v1/agents/${agentId}/events/stream`)
    const ofWorkspace = await watch("/v1/events/stream")
    const ofOther = await watch(`/v1/events/stream?agentId=${other}`)
    const ofBeta = await watch("/v1/events/stream", { client: server.beta })
    for (const watcher of [ofAgent, ofWorkspace, ofOther, ofBeta])
      await watcher.until(({ frames }) => frames[0]?.event === "ready")
    await submit(server.alpha, mine, "hello")
    await submit(server.alpha, others, "hello")
    await ofAgent.until(isDone)
    await ofOther.until(isDone)
    await ofWorkspace.until((watcher) => watcher.events("event").length === 6)
    const threads = (watcher: Watcher) => new Set(watcher.frames.slice(1).map(({ data }) => data.threadId))
    assert.deepStrictEqual(threads(ofAgent), new Set([mine]))
    assert.deepStrictEqual(threads(ofOther), new Set([others]))
    assert.deepStrictEqual(threads(ofWorkspace), new Set([mine, others]))
    assert.deepStrictEqual(ofBeta.frames.length, 1)
    const log = await logOf(server.alpha, mine, ended(1))
    assert.deepStrictEqual(
      ofAgent.events("event").map(({ data, id }) => ({ data, id })),
      log.map(({ seq, threadId, turnId, type }) => ({ data: { threadId, agentId, turnId, seq, type }, id: undefined }))
    )
    for (const watcher of [ofAgent, ofWorkspace, ofOther, ofBeta]) watcher.close()
  })

  it("are 404 for an unknown agent and for another workspace's", async () => {
    const unknown = await server.alpha.get(`/v1/agents/agt_${"0".repeat(26)}/events/stream`)
    const foreign = await server.beta.get(`/v1/agents/${agentId}/events/stream`)
    assert.deepStrictEqual([unknown.status, foreign.status], [404, 404])
    assert.deepStrictEqual([unknown.body.error, foreign.body.error], ["not_found", "not_found"])
  })
})

describe("slow and stalled watchers", () => {
  const flood = async (threadId: string, seqs: number, from: number) => {
    const bus = await server.runtime.runPromise(Bus)
    const about = { workspace: server.workspaces.alpha, agentId, threadId }
    for (let i = 0; i < seqs; i++) {
      bus.publish({
        ...about,
        type: "events",
        events: [
          {
            seq: from + i,
            turnId: "trn_x",
            type: "user_message",
            text: JSON.stringify({ seq: from + i, pad: "x".repeat(100_000) })
          }
        ]
      })
    }
  }

  it("get a gap for what did not fit, and go on with what comes", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const watcher = await watch(ofThread(threadId, "?types=event"), { paused: true })
    await server.runtime.runPromise(Effect.sleep(50))
    await flood(threadId, 150, 1)
    watcher.resume()
    await watcher.until((watcher) => watcher.events("gap").length === 1)
    const told = watcher.events("event").map(({ id }) => Number(id))
    assert.deepStrictEqual(
      told,
      told.map((_, i) => i + 1),
      "what came before the gap came in order"
    )
    assert.deepStrictEqual(watcher.events("gap")[0]!.data, { fromSeq: told.length + 1, toSeq: 150 })
    await flood(threadId, 1, 151)
    await watcher.until(({ frames }) => frames.at(-1)?.id === "151")
    watcher.close()
  })

  it("get everything from the log when they replay, however slowly they read", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const words = "word ".repeat(1_600)
    const turns = 120
    for (let turn = 1; turn <= turns; turn++) {
      await submit(server.alpha, threadId, words)
      if (turn % 20 === 0) await logOf(server.alpha, threadId, ended(turn))
    }
    const watcher = await watch(ofThread(threadId, "?afterSeq=0&types=event"), { paused: true })
    for (let turn = turns + 1; turn <= turns + 20; turn++) await submit(server.alpha, threadId, words)
    watcher.resume()
    const last = 3 * (turns + 20)
    await watcher.until(({ frames }) => frames.at(-1)?.id === String(last))
    assert.deepStrictEqual(
      watcher.events("event").map(({ id }) => Number(id)),
      Array.from({ length: last }, (_, i) => i + 1)
    )
    assert.deepStrictEqual(watcher.events("gap"), [])
    watcher.close()
  })

  it("of hints get a gap too", async () => {
    const bus = await server.runtime.runPromise(Bus)
    const watcher = await watch(`/v1/agents/${agentId}/events/stream`, { paused: true })
    await server.runtime.runPromise(Effect.sleep(50))
    const about = { workspace: server.workspaces.alpha, agentId, threadId: "thr_x" }
    const events = Array.from({ length: 80_000 }, (_, i) => ({
      seq: i + 1,
      turnId: "trn_x",
      type: "user_message",
      text: "{}"
    }))
    bus.publish({ ...about, type: "events", events })
    watcher.resume()
    await watcher.until((watcher) => watcher.events("gap").length === 1)
    assert.deepStrictEqual(watcher.events("gap")[0]!.data, {})
    bus.publish({
      ...about,
      type: "events",
      events: [{ seq: 100_000, turnId: "trn_x", type: "user_message", text: "{}" }]
    })
    await watcher.until(({ frames }) => frames.at(-1)?.data.seq === 100_000)
    watcher.close()
  })

  it("are dropped when they take nothing for long while something waits", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const streams = await server.runtime.runPromise(Streams)
    const before = streams.count()
    const watcher = await watch(ofThread(threadId, "?types=event"), { paused: true })
    assert.strictEqual(streams.count(), before + 1)
    await server.runtime.runPromise(Effect.sleep(50))
    // The system's own buffers take some megabytes before anything waits here.
    for (let round = 0; round < 200 && streams.count() > before; round++) {
      await flood(threadId, 10, 1 + round * 10)
      await server.runtime.runPromise(Effect.sleep(50))
    }
    assert.strictEqual(streams.count(), before)
    watcher.close()
  })

  it("that only ask for the head leave nothing open", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const streams = await server.runtime.runPromise(Streams)
    const before = streams.count()
    const head = await server.alpha.send("HEAD", ofThread(threadId))
    assert.strictEqual(head.status, 200)
    assert.strictEqual(head.headers.get("content-type"), "text/event-stream")
    await server.runtime.runPromise(
      Effect.sleep(20).pipe(Effect.repeat({ while: () => streams.count() > before, times: 200 }))
    )
    assert.strictEqual(streams.count(), before)
  })

  it("leave nothing behind when they go away", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const [streams, bus] = [await server.runtime.runPromise(Streams), await server.runtime.runPromise(Bus)]
    const before = streams.count()
    const watchers = await Promise.all(Array.from({ length: 20 }, () => watch(ofThread(threadId))))
    assert.strictEqual(streams.count(), before + 20)
    for (const watcher of watchers) watcher.close()
    await server.runtime.runPromise(
      Effect.sleep(20).pipe(Effect.repeat({ while: () => streams.count() > before, times: 200 }))
    )
    assert.strictEqual(streams.count(), before)
    assert.isFalse(bus.watched({ workspace: server.workspaces.alpha, agentId: "agt_x", threadId }))
  })
})

describe("who may watch", () => {
  const goodbye = (watcher: Watcher) => watcher.until(({ closed }) => closed, 6_000)

  it("ends with bye auth_expired within five seconds when the key is revoked", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const made = await server.alpha.post("/v1/auth/keys", { name: "short lived", scopes: ["read"] })
    assert.strictEqual(made.status, 201, made.text)
    const watcher = await Watcher.open(server.base, ofThread(threadId), made.body.token)
    await watcher.until(({ frames }) => frames.length === 1)
    const revoked = await server.alpha.delete(`/v1/auth/keys/${made.body.key.id}`)
    assert.oneOf(revoked.status, [200, 204])
    await goodbye(watcher)
    assert.deepStrictEqual(watcher.frames.at(-1), { event: "bye", id: undefined, data: { reason: "auth_expired" } })
  })

  it("ends when the key's identity is disabled", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const client = await server.client(server.workspaces.alpha, { identity: "mallory" })
    const watcher = await watch(ofThread(threadId), { client })
    await watcher.until(({ frames }) => frames.length === 1)
    const disabled = await server.alpha.post("/v1/identities/disable", { identity: "mallory" })
    assert.strictEqual(disabled.status, 200, disabled.text)
    await goodbye(watcher)
    assert.deepStrictEqual(watcher.frames.at(-1)!.data, { reason: "auth_expired" })
  })

  it("ends when the key expires", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const client = await server.client(server.workspaces.alpha, { expiresAt: Date.now() + 1_500 })
    const watcher = await watch(ofThread(threadId), { client })
    await watcher.until(({ frames }) => frames.length === 1)
    await goodbye(watcher)
    assert.deepStrictEqual(watcher.frames.at(-1)!.data, { reason: "auth_expired" })
  })

  it("does not disturb other keys", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const watcher = await watch(ofThread(threadId))
    await watcher.until(({ frames }) => frames.length === 1)
    const client = await server.client(server.workspaces.alpha, { identity: "eve" })
    await client.get("/v1/auth")
    await server.alpha.post("/v1/identities/disable", { identity: "eve" })
    await watcher.until(({ comments }) => comments.length >= 8)
    assert.deepStrictEqual(watcher.events("bye"), [])
    watcher.close()
  })
})

describe("who may wait for news", () => {
  const poll = (client: Client, threadId: string) => client.get(`/v1/threads/${threadId}/events?waitSeconds=30`)
  const isWaiting = async (count: number) => {
    const streams = await server.runtime.runPromise(Streams)
    await server.runtime.runPromise(
      Effect.sleep(5).pipe(Effect.repeat({ while: () => streams.waiting() < count, times: 1_000 }))
    )
    assert.strictEqual(streams.waiting(), count)
  }
  const refusedSoon = async (answer: ReturnType<typeof poll>, began: number) => {
    const { body, status } = await answer
    assert.isBelow(performance.now() - began, 5_000)
    return [status, body.error]
  }

  it("is refused within five seconds when the key is revoked, and learns nothing more", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const made = await server.alpha.post("/v1/auth/keys", { name: "short lived", scopes: ["read"] })
    const answer = poll(new Client(server.base, made.body.token), threadId)
    await isWaiting(1)
    const began = performance.now()
    await server.alpha.delete(`/v1/auth/keys/${made.body.key.id}`)
    assert.deepStrictEqual(await refusedSoon(answer, began), [401, "unauthenticated"])
    await isWaiting(0)
  })

  it("of a feed is refused within five seconds when the key is revoked", async () => {
    const { feed } = (await server.alpha.post("/v1/feeds", { name: "watched" })).body
    const made = await server.alpha.post("/v1/auth/keys", { name: "short lived", scopes: ["read"] })
    const client = new Client(server.base, made.body.token)
    const answer = client.get(`/v1/feeds/${feed.id}/messages?startSeq=1&waitSeconds=30`)
    await isWaiting(1)
    const began = performance.now()
    await server.alpha.delete(`/v1/auth/keys/${made.body.key.id}`)
    assert.deepStrictEqual(await refusedSoon(answer, began), [401, "unauthenticated"])
    await isWaiting(0)
  })

  it("is refused when the key's identity is disabled", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const answer = poll(await server.client(server.workspaces.alpha, { identity: "trudy" }), threadId)
    await isWaiting(1)
    const began = performance.now()
    await server.alpha.post("/v1/identities/disable", { identity: "trudy" })
    assert.deepStrictEqual(await refusedSoon(answer, began), [403, "identity_disabled"])
  })

  it("is refused when the key expires", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const client = await server.client(server.workspaces.alpha, { expiresAt: Date.now() + 1_500 })
    assert.deepStrictEqual(await refusedSoon(poll(client, threadId), performance.now()), [401, "unauthenticated"])
  })

  it("is not disturbed by the end of other keys", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const answer = poll(server.alpha, threadId)
    const other = poll(await server.client(server.workspaces.alpha, { identity: "oscar" }), threadId)
    await isWaiting(2)
    await server.alpha.post("/v1/identities/disable", { identity: "oscar" })
    assert.strictEqual((await other).status, 403)
    await isWaiting(1)
    await submit(server.alpha, threadId, "hello")
    assert.strictEqual((await answer).body.events[0].type, "user_message")
  })

  it("counts as a watcher of a stream: with 100 of both, neither is opened", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const client = await server.client(server.workspaces.alpha)
    const watchers = await Promise.all(Array.from({ length: 90 }, () => watch(ofThread(threadId), { client })))
    const polls = Array.from({ length: 10 }, () => poll(client, threadId))
    await isWaiting(10)
    for (const path of [`/v1/threads/${threadId}/events?waitSeconds=1`, ofThread(threadId)]) {
      const refused = await client.get(path)
      assert.deepStrictEqual(
        [refused.status, refused.body.error, refused.body.code],
        [429, "rate_limited", "too_many_streams"]
      )
    }
    assert.strictEqual((await client.get(`/v1/threads/${threadId}/events`)).status, 200)
    await submit(server.alpha, threadId, "hello")
    for (const { status } of await Promise.all(polls)) assert.strictEqual(status, 200)
    await isWaiting(0)
    assert.strictEqual((await client.get(`/v1/threads/${threadId}/events?waitSeconds=1`)).status, 200)
    for (const watcher of watchers) watcher.close()
  })
})

describe("how many and how long", () => {
  it("allows a key 100 streams, and one more once one is closed", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const client = await server.client(server.workspaces.alpha)
    const watchers = await Promise.all(Array.from({ length: 100 }, () => watch(ofThread(threadId), { client })))
    assert.isTrue(watchers.every(({ status }) => status === 200))
    const refused = await client.get(ofThread(threadId))
    assert.deepStrictEqual(
      [refused.status, refused.body.error, refused.body.code],
      [429, "rate_limited", "too_many_streams"]
    )
    assert.strictEqual(refused.headers.get("retry-after"), String(refused.body.retryAfterSeconds))
    const other = await watch(ofThread(threadId), { client: server.alpha })
    assert.strictEqual(other.status, 200)
    watchers[0]!.close()
    let again = await watch(ofThread(threadId), { client })
    for (let i = 0; i < 100 && again.status === 429; i++) again = await watch(ofThread(threadId), { client })
    assert.strictEqual(again.status, 200)
    for (const watcher of [...watchers, other, again]) watcher.close()
  })

  it("says bye draining on drain, and takes no new streams", async () => {
    const own = await startServer()
    try {
      const agent = await makeAgent(own.alpha)
      const threadId = await makeThread(own.alpha, agent)
      const watchers = await Promise.all(
        ["/v1/events/stream", ofThread(threadId), `/v1/agents/${agent}/events/stream`].map((path) =>
          Watcher.open(own.base, path, own.alpha.token!)
        )
      )
      for (const watcher of watchers) await watcher.until(({ frames }) => frames.length === 1)
      const streams = await own.runtime.runPromise(Streams)
      await own.runtime.runPromise(streams.drain)
      for (const watcher of watchers) {
        await watcher.until(({ closed }) => closed)
        assert.deepStrictEqual(watcher.frames.at(-1), { event: "bye", id: undefined, data: { reason: "draining" } })
      }
      const refused = await own.alpha.get(ofThread(threadId))
      assert.deepStrictEqual([refused.status, refused.body.error], [503, "node_draining"])
    } finally {
      await own.stop()
    }
  })
})
