/**
 * Streams of a node that has missed hints: once the bus says "look", watchers of a thread have lost nothing, and others
 * are told of a gap.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Bus } from "../../src/bus/Bus.ts"
import { type InProcess, makeInProcess } from "../../src/bus/inProcess.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { Watcher } from "./sse.ts"
import { ended, logOf, makeAgent, makeThread, submit } from "./threadFixture.ts"

/** A bus whose hints get lost while `lossy`. */
let inner: InProcess
let lossy = false
const bus = Layer.effect(
  Bus,
  Effect.map(makeInProcess(), (made) => {
    inner = made
    return Bus.of({
      ...made,
      publish: (hint) => {
        if (!lossy) made.publish(hint)
      },
      state: () => "in-process"
    })
  })
)

const server = await during(startServer({ bus }))
const agentId = await makeAgent(server.alpha)

const watch = (path: string) => Watcher.open(server.base, path, server.alpha.token!)

/** What happens where no watcher hears of it. */
const unheard = async (work: () => Promise<unknown>) => {
  lossy = true
  await work().finally(() => {
    lossy = false
  })
}

describe("after hints were lost", () => {
  it("a thread's watcher gets what was committed meanwhile, in order, with no gap, and the status", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    for (const [query, before] of [
      ["", 0],
      ["?afterSeq=0", 6]
    ] as const) {
      const watcher = await watch(`/v1/threads/${threadId}/events/stream${query}`)
      await watcher.until(({ frames }) => frames.some(({ event }) => event === "ready"))
      const turns = before / 3 + 1
      await unheard(async () => {
        await submit(server.alpha, threadId, "unheard")
        await logOf(server.alpha, threadId, ended(turns))
      })
      inner.lookAll()
      const first = query === "" ? before : 0
      await watcher.until((watcher) => watcher.events("event").length === before + 3 - first)
      assert.deepStrictEqual(
        watcher.events("event").map(({ id }) => Number(id)),
        Array.from({ length: before + 3 - first }, (_, i) => first + 1 + i)
      )
      assert.deepStrictEqual(watcher.events("gap"), [])
      await submit(server.alpha, threadId, "heard")
      await watcher.until((watcher) => watcher.events("event").length === before + 6 - first)
      watcher.close()
    }
  })

  it("a thread's watcher is told a status that it missed, after the events that led to it", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const watcher = await watch(`/v1/threads/${threadId}/events/stream`)
    await watcher.until(({ frames }) => frames.length === 1)
    await unheard(async () => {
      await submit(server.alpha, threadId, "/wait 60s\n/say hello")
      await logOf(server.alpha, threadId, (events) => events.length === 1)
    })
    inner.lookAll()
    await watcher.until((watcher) => watcher.events("status").length === 1)
    assert.deepStrictEqual(watcher.events("status")[0]!.data, { threadId, status: "running", lastSeq: 1 })
    assert.deepStrictEqual(
      watcher.frames.map(({ event }) => event),
      ["ready", "event", "status"]
    )
    // Nothing changed since: nothing is said.
    inner.lookAll()
    inner.lookAll()
    await server.alpha.post(`/v1/threads/${threadId}/cancel`)
    await watcher.until((watcher) => watcher.events("status").length === 2)
    watcher.close()
  })

  it("watchers of an agent and of the workspace are told of a gap", async () => {
    const watchers = await Promise.all([
      watch(`/v1/agents/${agentId}/events/stream`),
      watch("/v1/events/stream?types=event,gap")
    ])
    for (const watcher of watchers) await watcher.until(({ frames }) => frames.length === 1)
    inner.lookAll()
    for (const watcher of watchers) {
      await watcher.until((watcher) => watcher.events("gap").length === 1)
      assert.deepStrictEqual(watcher.events("gap")[0]!.data, {})
    }
    const threadId = await makeThread(server.alpha, agentId)
    await submit(server.alpha, threadId, "heard")
    for (const watcher of watchers) {
      await watcher.until((watcher) => watcher.events("event").some(({ data }) => data.type === "turn_completed"))
      watcher.close()
    }
  })

  it("a request that waits for events answers at once", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const waiting = server.alpha.get(`/v1/threads/${threadId}/events?afterSeq=0&waitSeconds=20`)
    await unheard(async () => {
      await submit(server.alpha, threadId, "unheard")
      await logOf(server.alpha, threadId, ended(1))
    })
    inner.lookAll()
    const answer = await waiting
    assert.strictEqual(answer.body.events[0].type, "user_message")
  })

  it("events that were too long to travel are read from the log", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const watcher = await watch(`/v1/threads/${threadId}/events/stream?types=event`)
    await watcher.until(({ frames }) => frames.length === 1)
    await unheard(async () => {
      await submit(server.alpha, threadId, "long")
      await logOf(server.alpha, threadId, ended(1))
    })
    inner.publish({
      workspace: server.workspaces.alpha,
      agentId,
      threadId,
      type: "events",
      events: [{ seq: 1, turnId: "trn_x", type: "user_message" }]
    })
    await watcher.until((watcher) => watcher.events("event").length === 3)
    assert.deepStrictEqual(
      watcher.events("event").map(({ data }) => data.seq),
      [1, 2, 3]
    )
    watcher.close()
  })
})
