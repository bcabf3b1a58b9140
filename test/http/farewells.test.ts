/** How streams end whose clients read nothing, on a clock that the test moves. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import type { Caller } from "../../http/Caller.ts"
import { Credentials } from "../../http/Credentials.ts"
import { Leases } from "../../http/Leases.ts"
import { capacity } from "../../http/streams/Outbox.ts"
import { streamDefaults, Streams } from "../../http/streams/Streams.ts"
import { layerInProcess } from "../../src/bus/inProcess.ts"
import { layerMemoryLease } from "../../src/journal/memory.ts"
import { MemoryStore } from "../../src/journal/MemoryStore.ts"
import { freshId } from "../../src/seed.ts"

const streamsWith = (leases: typeof Leases.layerNone) => {
  const ground = Layer.mergeAll(
    layerInProcess,
    layerMemoryLease(new MemoryStore(), { name: "node" }),
    leases,
    Layer.mock(Credentials, {
      remembered: () => undefined,
      familiar: () => false,
      find: () => Effect.succeed(undefined)
    })
  )
  return Layer.fresh(Streams.layer.pipe(Layer.provide(ground)))
}
const layer = streamsWith(Leases.layerNone)

const caller: Caller["Service"] = {
  workspace: freshId("workspace"),
  principal: { type: "api_key", id: "key_a" },
  scheme: "APIKeyBearer",
  scopes: new Set(["read"]),
  keyId: "key_a"
}

const requestWith = (headers: Readonly<Record<string, string>>) => {
  const request = HttpServerRequest.fromWeb(new Request("http://x/v1/events/stream"))
  // Headers are read where Node has them.
  Object.defineProperty(request.source, "headers", { value: headers })
  return request
}

/** A stream whose socket asks for nothing, though something waits for it. */
const unread = Effect.gen(function* () {
  const streams = yield* Streams
  const request = requestWith({})
  yield* streams.open(request, caller, ({ outbox }) =>
    Effect.sync(() => {
      outbox.offer({ text: "#".repeat(capacity) })
    })
  )
  return streams
})

describe("a stream whose client reads nothing", () => {
  it.effect("is cut off two seconds after its last words", () =>
    Effect.gen(function* () {
      const streams = yield* unread
      const drained = yield* Effect.forkChild(streams.drain)
      yield* TestClock.adjust(1_999)
      assert.strictEqual(streams.count(), 1)
      assert.isUndefined(drained.pollUnsafe())
      yield* TestClock.adjust(21)
      assert.strictEqual(streams.count(), 0)
      yield* Fiber.join(drained)
    }).pipe(Effect.provide(layer))
  )

  it.effect("is dropped when something has waited for more than thirty seconds (S2)", () =>
    Effect.gen(function* () {
      const streams = yield* unread
      yield* TestClock.adjust(streamDefaults.stallMs)
      assert.strictEqual(streams.count(), 1)
      yield* TestClock.adjust(streamDefaults.tickMs)
      assert.strictEqual(streams.count(), 0)
    }).pipe(Effect.provide(layer))
  )

  it.effect("is dropped at the same time where a lease takes long to be looked up", () =>
    Effect.gen(function* () {
      const streams = yield* unread
      const poll = streams.wait(requestWith({ authorization: "Bearer trl_x" }), caller, () => undefined)
      assert.property(poll, "release")
      yield* TestClock.adjust(streamDefaults.stallMs + streamDefaults.tickMs)
      assert.strictEqual(streams.count(), 0)
    }).pipe(
      Effect.provide(
        streamsWith(
          Layer.succeed(
            Leases,
            Leases.of({ familiar: () => false, remembered: () => undefined, find: () => Effect.never })
          )
        )
      )
    )
  )
})
