import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Metric } from "effect"
import { TestClock } from "effect/testing"
import { layerScripted } from "../../src/models/layer.ts"
import { failed, promptOf, sampled, user } from "./prompts.ts"

const countsOf = Effect.map(
  Metric.snapshot,
  (all) =>
    new Map(
      all.flatMap((metric) =>
        metric.id === "troupe_model_samples_total" && metric.type === "Counter"
          ? [[metric.attributes?.outcome ?? "", Number(metric.state.count)]]
          : []
      )
    )
)

describe("samples", () => {
  it.effect("are counted by how they ended", () =>
    Effect.gen(function* () {
      const before = yield* countsOf
      yield* sampled("troupe/scripted", promptOf([user("hi")]))
      yield* failed("troupe/scripted", promptOf([user("/fail model_overloaded")]))
      const fiber = yield* Effect.forkChild(sampled("troupe/scripted", promptOf([user("/wait 5s")])))
      yield* TestClock.adjust("1 seconds")
      yield* Fiber.interrupt(fiber)
      const after = yield* countsOf
      const grown = (outcome: string) => (after.get(outcome) ?? 0) - (before.get(outcome) ?? 0)
      expect(["answered", "model_overloaded", "interrupted"].map(grown)).toEqual([1, 1, 1])
    }).pipe(Effect.provide(layerScripted))
  )
})
