/** Watchers that read slowly, stop reading, or go away. */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Bus } from "../../src/bus/Bus.ts"
import { streamDefaults, Streams } from "../../http/streams/Streams.ts"
import { ended, logOf, makeThread, submit } from "./threadFixture.ts"
import { ofThread, streamStand } from "./streamFixture.ts"

const { agentId, server, watch } = await streamStand()

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

  /** One that has heard that its stream is ready, and reads no further. */
  const pausing = async (path: string) => {
    const watcher = await watch(path)
    await watcher.until(({ frames }) => frames[0]?.event === "ready")
    watcher.pause()
    return watcher
  }

  it("get a gap for what did not fit, and go on with what comes", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const watcher = await pausing(ofThread(threadId, "?types=event"))
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

  it("that close, ten of ninety, hold the event loop for less than 300 ms", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const watchers = await Promise.all(Array.from({ length: 90 }, () => pausing(ofThread(threadId, "?types=status"))))
    const loop = monitorEventLoopDelay({ resolution: 5 })
    loop.enable()
    for (const watcher of watchers.splice(0, 10)) {
      watcher.close()
      await submit(server.alpha, threadId, "still here")
    }
    loop.disable()
    for (const watcher of watchers) watcher.close()
    assert.isBelow(loop.max / 1e6, 300)
  })

  it("of one workspace share its writes: the more they are, the more comes at once", async () => {
    const bus = await server.runtime.runPromise(Bus)
    const many = 60
    const path = `/v1/agents/${agentId}/events/stream?types=event`
    const watchers = await Promise.all(Array.from({ length: many }, () => watch(path)))
    await Promise.all(watchers.map((watcher) => watcher.until(({ frames }) => frames[0]?.event === "ready")))
    let pieces = 0
    for (const { response } of watchers) response.on("data", () => pieces++)
    const about = { workspace: server.workspaces.alpha, agentId, threadId: "thr_x" }
    const began = performance.now()
    for (let seq = 1; seq <= 50; seq++) {
      bus.publish({ ...about, type: "events", events: [{ seq, turnId: "trn_x", type: "user_message", text: "{}" }] })
      await new Promise(setImmediate)
    }
    await Promise.all(watchers.map((watcher) => watcher.until(({ frames }) => frames.at(-1)?.data.seq === 50)))
    // The first leaves at once, and each piece counts once, however it was parted on its way.
    const seconds = (performance.now() - began) / 1_000
    assert.isAtMost(pieces, 2 * many + streamDefaults.writesPerSecond * seconds)
    for (const watcher of watchers) watcher.close()
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
    const watcher = await pausing(`/v1/agents/${agentId}/events/stream`)
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
    const watcher = await pausing(ofThread(threadId, "?types=event"))
    assert.strictEqual(streams.count(), before + 1)
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
