/** Crash points of rounds of compaction. How: crashes.ts. */
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ModelFailure } from "../../src/models/Model.ts"
import { crashMs, crashPoints, named, type Scenario } from "./crashes.ts"
import { plan, type World } from "./World.ts"

const small = (world: World) => {
  world.plan = { ...plan, models: ["troupe/scripted-small"], maxSteps: 50 }
}

/** Bytes of text: the small model's window has 8,000. */
const long = (bytes: number) => "x".repeat(bytes)

const slowly = (world: World) => {
  small(world)
  world.summaries = Effect.sleep("3 seconds")
}

const failing = (world: World) => {
  small(world)
  world.summaries = Effect.fail(
    new ModelFailure({ code: "model_overloaded", text: "busy", transient: true, unavailable: false })
  )
}

const turn = (name: string) => `user(${name}) assistant(${name}) turn_completed(${name})`
const calls = (n: number, input: object = {}) =>
  Array.from({ length: n }, () => `/call often ${JSON.stringify(input)}`).join("\n/then\n")

const scenarios: ReadonlyArray<Scenario> = [
  {
    name: "a conversation that is too long",
    given: small,
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", long(1_800))
      for (const name of ["B", "C"]) {
        yield* client.rest()
        yield* client.send(name, "queue", long(1_800))
      }
    }),
    log: `${turn("A")} ${turn("B")} user(C) compacting(C) compacted(C) assistant(C) turn_completed(C)`
  },
  {
    name: "two rounds before one call",
    given: small,
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", long(1_200))
      for (const name of ["B", "C", "D"]) {
        yield* client.rest()
        yield* client.send(name, "queue", long(900))
      }
    }),
    log: `${turn("A")} ${turn("B")} ${turn("C")} user(D) compacting(D) compacted(D) compacting(D) compacted(D) assistant(D) turn_completed(D)`
  },
  {
    name: "a summary that somebody wants, with a steer on its way",
    given: slowly,
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A")
      for (const name of ["B", "C"]) {
        yield* client.rest()
        yield* client.send(name)
      }
      yield* client.rest()
      yield* client.compact()
      yield* client.send("D")
      yield* client.pass(500)
      yield* client.send("S", "steer")
    }),
    log: `${turn("A")} ${turn("B")} ${turn("C")} user(D) compacting(D) compacted(D) user(S, in D) assistant(D) turn_completed(D)`
  },
  {
    name: "a round that is interrupted",
    given: slowly,
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A")
      for (const name of ["B", "C"]) {
        yield* client.rest()
        yield* client.send(name)
      }
      yield* client.rest()
      yield* client.compact()
      yield* client.send("D")
      yield* client.pass(500)
      yield* client.send("I", "interrupt")
    }),
    log: `${turn("A")} ${turn("B")} ${turn("C")} user(D) compacting(D) compacted(D: turn_interrupted) turn_cancelled(D) ${turn("I")}`
  },
  {
    name: "a round before a call that fails",
    given: failing,
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", long(1_600))
      for (const name of ["B", "C"]) {
        yield* client.rest()
        yield* client.send(name, "queue", name === "C" ? "" : long(1_600))
      }
    }),
    log: `${turn("A")} ${turn("B")} user(C) compacting(C) compacted(C: model_overloaded) assistant(C) turn_completed(C)`
  },
  {
    name: "a round after an overflow",
    given: small,
    does: Effect.fnUntraced(function* (client) {
      // The provider counts less than it takes.
      yield* client.create("A", `/usage 10 10\n${long(2_200)}`)
      for (const name of ["B", "C"]) {
        yield* client.rest()
        yield* client.send(name, "queue", `/usage 10 10\n${long(1_400)}`)
      }
    }),
    log: `${turn("A")} ${turn("B")} user(C) compacting(C) compacted(C) assistant(C) turn_completed(C)`
  },
  {
    name: "a round after an overflow that fails",
    given: failing,
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", `/usage 10 10\n${long(2_200)}`)
      for (const name of ["B", "C"]) {
        yield* client.rest()
        yield* client.send(name, "queue", `/usage 10 10\n${long(1_400)}`)
      }
    }),
    log: `${turn("A")} ${turn("B")} user(C) compacting(C) compacted(C: model_overloaded) turn_failed(C: context_overflow)`
  },
  {
    name: "a cut inside of a turn",
    given: small,
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", calls(6, { of: long(450) }))
    }),
    log: `user(A) ${"intent(A) result(A) ".repeat(4)}${"compacting(A) compacted(A) intent(A) result(A) ".repeat(2)}compacting(A) compacted(A) assistant(A) turn_completed(A)`
  }
]

describe.each(crashPoints(scenarios))("%s", (_, holds) => {
  it.effect.each(named(scenarios))("%s", ([, scenario]) => holds(scenario), crashMs)
})
