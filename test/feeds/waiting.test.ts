/** Waits for a feed's messages, on a clock that the test moves. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Bus } from "../../src/bus/Bus.ts"
import { layerInProcess } from "../../src/bus/inProcess.ts"
import type { MessagePage } from "../../src/feeds/reading.ts"
import { awaitMessages } from "../../src/feeds/waiting.ts"
import { freshId } from "../../src/seed.ts"

const workspace = freshId("workspace")
const feedId = freshId("feed")
const nothing: MessagePage = { messages: [], from: 1, lastSeq: 0, archived: false }

/** Somebody waits for `waitMs`; `reads` counts how often the feed was read, and `page` is what it has. */
const waiting = Effect.fnUntraced(function* (waitMs: number) {
  const bus = yield* Bus
  const feed = { page: nothing, reads: 0 }
  const read = Effect.sync(() => {
    feed.reads++
    return feed.page
  })
  const fiber = yield* Effect.forkChild(awaitMessages(bus, { workspace, feedId, waitMs, read }))
  yield* TestClock.adjust(0)
  return { bus, feed, fiber, isOver: () => fiber.pollUnsafe() !== undefined }
})

describe("whoever waits for a feed's messages", () => {
  it.effect("is answered without any when the time is over, and not before", () =>
    Effect.gen(function* () {
      const { fiber, isOver } = yield* waiting(5_000)
      yield* TestClock.adjust(4_999)
      assert.isFalse(isOver())
      yield* TestClock.adjust(1)
      assert.isTrue(isOver())
      assert.strictEqual(yield* Fiber.join(fiber), nothing)
    }).pipe(Effect.provide(layerInProcess))
  )

  it.effect("looks every two seconds though nothing rings (W6)", () =>
    Effect.gen(function* () {
      const { feed, fiber, isOver } = yield* waiting(30_000)
      assert.strictEqual(feed.reads, 1)
      yield* TestClock.adjust(1_999)
      assert.strictEqual(feed.reads, 1)
      yield* TestClock.adjust(1)
      assert.strictEqual(feed.reads, 2)
      feed.page = { ...nothing, lastSeq: 1 }
      yield* TestClock.adjust(2_000)
      assert.isTrue(isOver())
      assert.strictEqual(yield* Fiber.join(fiber), feed.page)
    }).pipe(Effect.provide(layerInProcess))
  )

  it.effect("is answered at once when it rings", () =>
    Effect.gen(function* () {
      const { bus, feed, fiber } = yield* waiting(30_000)
      feed.page = { ...nothing, lastSeq: 1 }
      bus.publish({ workspace, agentId: "", threadId: "", type: "feed", feedId, lastSeq: 1 })
      assert.strictEqual(yield* Fiber.join(fiber), feed.page)
    }).pipe(Effect.provide(layerInProcess))
  )
})
