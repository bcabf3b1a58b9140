/** E1 and E2 of actors/schedule/lastTurn.ts: the wait for a turn's end, over a real bus and virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makeUntilOver } from "../../actors/schedule/lastTurn.ts"
import type { News } from "../../src/bus/hints.ts"
import { makeInProcess } from "../../src/bus/inProcess.ts"

const workspace = "wsp_00000000000000000000000000"
const threadId = "thr_00000000000000000000000000"
const turn = { threadId, turnId: "trn_00000000000000000000000000" }
const other = "trn_00000000000000000000000001"

const event = (type: string, turnId = turn.turnId): News => ({ type: "events", events: [{ seq: 1, turnId, type }] })

/** Somebody waits; `log` says whether the turn is over, and counts the looks. */
const waiting = Effect.gen(function* () {
  const bus = yield* makeInProcess()
  const log = { over: false, looks: 0 }
  const untilOver = makeUntilOver(bus, () =>
    Effect.sync(() => {
      log.looks++
      return log.over
    })
  )
  const fiber = yield* Effect.forkChild(untilOver(workspace, turn))
  yield* TestClock.adjust(0)
  const hear = (news: News) =>
    Effect.andThen(
      Effect.sync(() => bus.publish({ workspace, agentId: "", threadId, ...news })),
      TestClock.adjust(0)
    )
  return { fiber, hear, log }
})

describe("whoever waits for the end of a turn", () => {
  it.effect("is told by the hint of its end, before any time has passed", () =>
    Effect.gen(function* () {
      for (const news of [event("turn_completed"), event("turn_failed"), event("turn_cancelled")]) {
        const { fiber, hear, log } = yield* waiting
        log.over = true
        yield* hear(news)
        yield* Fiber.join(fiber)
        assert.strictEqual(log.looks, 2)
      }
    })
  )

  it.effect("looks again where its message may have left the queue, or hints may have been lost", () =>
    Effect.gen(function* () {
      const { fiber, hear, log } = yield* waiting
      yield* hear({ type: "look" })
      assert.strictEqual(log.looks, 2)
      log.over = true
      yield* hear({ type: "queue", pending: 0 })
      yield* Fiber.join(fiber)
    })
  )

  it.effect("does not look for what says nothing of an end, nor believe a hint that the log does not bear out", () =>
    Effect.gen(function* () {
      const { fiber, hear, log } = yield* waiting
      yield* hear(event("assistant_message"))
      yield* hear(event("turn_completed", other))
      assert.strictEqual(log.looks, 1)
      yield* hear(event("turn_completed"))
      assert.strictEqual(log.looks, 2)
      assert.isUndefined(fiber.pollUnsafe())
      yield* Fiber.interrupt(fiber)
    })
  )

  it.effect("finds an end of which no hint has come within two seconds", () =>
    Effect.gen(function* () {
      const { fiber, log } = yield* waiting
      log.over = true
      yield* TestClock.adjust(1_999)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* Fiber.join(fiber)
    })
  )
})
