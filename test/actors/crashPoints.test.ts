/**
 * Crash points of turns that nobody judges: queue, steer, interrupt, retries, tools, waits of clients. How: crashes.ts.
 */
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { crashMs, crashPoints, named, type Scenario } from "./crashes.ts"
import { plan, type World } from "./World.ts"

const fallback = (world: World) => {
  world.plan = { ...plan, models: ["troupe/scripted", "troupe/scripted-paid"] }
}

const scenarios: ReadonlyArray<Scenario> = [
  {
    name: "a thread that is created with its first message",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A")
    }),
    log: "user(A) assistant(A) turn_completed(A)"
  },
  {
    name: "queue",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create()
      yield* client.send("A", "queue", "/wait 3s")
      yield* client.send("Q")
      yield* client.send("R")
    }),
    log: "user(A) assistant(A) turn_completed(A) user(Q) assistant(Q) turn_completed(Q) user(R) assistant(R) turn_completed(R)"
  },
  {
    name: "steer during the last sample",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/wait 3s")
      yield* client.send("S", "steer")
    }),
    log: "user(A) assistant(A) user(S, in A) assistant(A) turn_completed(A)"
  },
  {
    name: "interrupt, with an input queued",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/wait 3s")
      yield* client.send("Q")
      yield* client.send("I", "interrupt")
    }),
    log: "user(A) turn_cancelled(A) user(I) assistant(I) turn_completed(I) user(Q) assistant(Q) turn_completed(Q)"
  },
  {
    name: "steer, then interrupt",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/wait 3s")
      yield* client.send("S", "steer")
      yield* client.send("I", "interrupt", "/wait 1s")
    }),
    log: "user(A) turn_cancelled(A) user(I) assistant(I) turn_completed(I) user(S) assistant(S) turn_completed(S)"
  },
  {
    name: "steer, then cancel",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/wait 3s")
      yield* client.send("S", "steer")
      yield* client.cancel()
    }),
    log: "user(A) turn_cancelled(A) user(S) assistant(S) turn_completed(S)"
  },
  {
    name: "cancel that clears the queue",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/wait 3s")
      yield* client.send("Q")
      yield* client.send("S", "steer")
      yield* client.cancel(true)
      yield* client.send("B")
    }),
    log: "user(A) turn_cancelled(A) user(B) assistant(B) turn_completed(B)"
  },
  {
    name: "retry of a failed turn",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/fail model_error no")
      yield* client.rest()
      yield* client.retry()
    }),
    log: "user(A) turn_failed(A: model_error) user(A) turn_failed(A: model_error)"
  },
  {
    name: "a model that is overloaded, three times",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/fail model_overloaded busy")
    }),
    log: "user(A) turn_failed(A: model_overloaded)"
  },
  {
    name: "a model that cannot serve, and the next that can",
    given: fallback,
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/fail@troupe/scripted model_unavailable gone")
    }),
    log: "user(A) assistant(A) turn_completed(A)"
  },
  {
    name: "a model that stays overloaded, and the next that can serve",
    given: fallback,
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/fail@troupe/scripted model_rate_limited later")
      yield* client.send("S", "steer")
    }),
    log: "user(A) user(S, in A) assistant(A) turn_completed(A)"
  },
  {
    name: "two inputs at once",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create()
      yield* client.sendTogether("A", "B")
    }),
    log: "user(A) assistant(A) turn_completed(A) user(B) assistant(B) turn_completed(B)",
    chance: ["user(B) assistant(B) turn_completed(B) user(A) assistant(A) turn_completed(A)"]
  },
  {
    name: "a steer that comes too late: no response is left",
    given: (world) => {
      world.plan = { ...plan, maxSteps: 1 }
    },
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/wait 3s")
      yield* client.send("Q")
      yield* client.send("S", "steer")
    }),
    log: "user(A) assistant(A) turn_completed(A) user(S) assistant(S) turn_completed(S) user(Q) assistant(Q) turn_completed(Q)"
  },
  {
    name: "interrupt during the pause of a failing turn",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/fail model_overloaded busy")
      yield* client.send("I", "interrupt")
    }),
    log: "user(A) turn_cancelled(A) user(I) assistant(I) turn_completed(I)"
  },
  {
    name: "calls of tools that do not exist",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", '/call nope {}\n/call neither {"x":1}\n/call nor\n/then\n/call again {}')
    }),
    log:
      "user(A) intent(A) intent(A) intent(A) result(A: tool_not_found) result(A: tool_not_found) result(A: tool_not_found) " +
      "intent(A) result(A: tool_not_found) assistant(A) turn_completed(A)"
  },
  {
    name: "tools that take their time, two at once, one of which must not run twice",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/call often {}\n/call once {}\n/call often {}")
      yield* client.pass(1_000)
      yield* client.send("S", "steer")
    }),
    log: "user(A) intent(A) intent(A) intent(A) result(A) result(A) result(A) user(S, in A) assistant(A) turn_completed(A)"
  },
  {
    name: "interrupt while tools run",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/call often {}\n/call once {}\n/call often {}")
      yield* client.pass(1_000)
      yield* client.send("I", "interrupt")
    }),
    log:
      "user(A) intent(A) intent(A) intent(A) result(A: turn_interrupted) result(A: turn_interrupted) result(A: turn_interrupted) " +
      "turn_cancelled(A) user(I) assistant(I) turn_completed(I)"
  },
  {
    name: "a call that the client answers",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/call ask {}")
      yield* client.send("Q")
      yield* client.pass(1_000)
      yield* client.answer()
    }),
    log: "user(A) intent(A) wait_created(A) wait_resolved(A: result) result(A) assistant(A) turn_completed(A) user(Q) assistant(Q) turn_completed(Q)"
  },
  {
    name: "calls that the client leaves unanswered",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/call ask {}\n/call often {}\n/call ask {}")
      yield* client.pass(3_000)
      yield* client.answer()
    }),
    log:
      "user(A) intent(A) intent(A) intent(A) wait_created(A) wait_created(A) result(A) wait_resolved(A: result) result(A) " +
      "wait_resolved(A: expired) result(A: tool_timeout) assistant(A) turn_completed(A)"
  },
  {
    name: "interrupt while the client is awaited",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/call ask {}")
      yield* client.untilWaiting()
      yield* client.send("I", "interrupt")
    }),
    log: "user(A) intent(A) wait_created(A) wait_resolved(A: cancelled) result(A: turn_interrupted) turn_cancelled(A) user(I) assistant(I) turn_completed(I)"
  },
  {
    name: "edit, remove and promote",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/wait 3s")
      yield* client.send("B")
      yield* client.send("C")
      yield* client.send("D")
      yield* client.edit("B", "E")
      yield* client.remove("C")
      yield* client.promote("D", "steer")
    }),
    log: "user(A) assistant(A) user(D, in A) assistant(A) turn_completed(A) user(E) assistant(E) turn_completed(E)"
  },
  {
    name: "promote to interrupt",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/wait 3s")
      yield* client.send("B")
      yield* client.send("C")
      yield* client.promote("C", "interrupt")
    }),
    log: "user(A) turn_cancelled(A) user(C) assistant(C) turn_completed(C) user(B) assistant(B) turn_completed(B)"
  },
  {
    name: "an identity that is disabled while its inputs wait",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/wait 3s")
      yield* client.send("B", "queue", "", { identity: "bob" })
      yield* client.send("C", "steer", "", { identity: "bob" })
      yield* client.send("D")
      client.world.disabled.add("bob")
      yield* client.cancel()
    }),
    log: "user(A) turn_cancelled(A) user(C) turn_failed(C: identity_disabled) user(B) turn_failed(B: identity_disabled) user(D) assistant(D) turn_completed(D)"
  },
  {
    name: "inputs that were stored while no owner could be reached",
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/wait 3s")
      yield* client.post("P")
      yield* client.pass(1_000)
      yield* client.post("R")
      yield* client.pass(5_000)
    }),
    log: "user(A) assistant(A) turn_completed(A) user(P) assistant(P) turn_completed(P) user(R) assistant(R) turn_completed(R)"
  },
  {
    name: "a turn that runs longer than it may",
    given: (world) => {
      world.plan = { ...plan, maxTurnMs: 5_000 }
    },
    does: Effect.fnUntraced(function* (client) {
      yield* client.create("A", "/wait 20s")
      yield* client.send("Q")
    }),
    log: "user(A) turn_failed(A: turn_timeout) user(Q) assistant(Q) turn_completed(Q)"
  }
]

describe.each(crashPoints(scenarios))("%s", (_, holds) => {
  it.effect.each(named(scenarios))("%s", ([, scenario]) => holds(scenario), crashMs)
})
