/** Streams of events: of a thread, of an agent, of the workspace. */
import { assert, describe, it } from "@effect/vitest"
import { Bus } from "../../src/bus/Bus.ts"
import type { Client } from "../setup/server.ts"
import type { Watcher } from "./sse.ts"
import { ended, logOf, makeAgent, makeThread, submit } from "./threadFixture.ts"
import { isDone, ofThread, streamStand } from "./streamFixture.ts"

const { agentId, server, watch } = await streamStand()

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
