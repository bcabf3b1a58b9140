/** What comes while a turn runs: steers, which join it, and interrupts, which end it. */
import { assert, describe, it } from "@effect/vitest"
import { Walk } from "./Walk.ts"
import { call, clientCall, key, plan, turnOf } from "./WalkCommands.ts"
import { running } from "./waiting.ts"

describe("a steer", () => {
  it("waits for the running sample, and the turn goes on with it", () => {
    const walk = running().steer("S")
    assert.deepStrictEqual(walk.jobs, [])
    walk.reply()
    assert.strictEqual(walk.text, "user(A) assistant(A) user(S, in A)")
    assert.deepStrictEqual(walk.jobs, ["sample 2.1 m/one"])
  })

  it("joins after the calls of a response have returned", () => {
    const walk = running().reply("", call("a"), call("b")).steer("S").returns().returns()
    assert.strictEqual(walk.text, "user(A) intent(A) intent(A) result(A) result(A) user(S, in A)")
  })

  it("joins together with the others, in order", () => {
    assert.strictEqual(running().steer("S").steer("T").reply().text, "user(A) assistant(A) user(S, in A) user(T, in A)")
  })

  it("joins before another attempt of a failed model call", () => {
    const walk = running().steer("S").fail({ transient: true }).due(500)
    assert.strictEqual(walk.text, "user(A) user(S, in A)")
    assert.deepStrictEqual(walk.jobs, ["sample 1.2 m/one"])
  })

  it("is held while the turn awaits, and joins when it goes on", () => {
    const walk = running().reply("", clientCall()).steer("S")
    assert.strictEqual(walk.status, "awaiting")
    assert.strictEqual(
      walk.answer().text,
      "user(A) intent(A) wait_created(A) wait_resolved(A: result) result(A) user(S, in A)"
    )
  })

  it.each([
    ["is cancelled", (walk: Walk) => walk.cancel(), "turn_cancelled(A)"],
    ["fails", (walk: Walk) => walk.fail(), "turn_failed(A: model_error)"],
    ["runs too long", (walk: Walk) => walk.due(plan.maxTurnMs), "turn_failed(A: turn_timeout)"],
    ["is poisoned", (walk: Walk) => walk.poison().due(), "turn_failed(A: turn_poisoned)"]
  ] as const)("becomes the head of the queue when its turn %s", (_, end, terminal) => {
    const walk = end(running("B").steer("S").steer("T"))
    assert.strictEqual(walk.text, `user(A) ${terminal} user(S)`)
    assert.strictEqual(
      walk.reply().reply().text,
      `user(A) ${terminal} user(S) assistant(S) turn_completed(S) user(T) assistant(T) turn_completed(T) user(B)`
    )
  })

  it("becomes the head of the queue when its turn has no response left", () => {
    const walk = new Walk({ ...plan, maxSteps: 1 }).queue("A").queue("B").steer("S").reply()
    assert.strictEqual(walk.text, "user(A) assistant(A) turn_completed(A) user(S)")
  })

  it("is not applied by the interrupter's turn", () => {
    const walk = running("B").steer("S").interrupt("I").reply()
    assert.strictEqual(walk.text, "user(A) turn_cancelled(A) user(I) assistant(I) turn_completed(I) user(S)")
  })

  it("that came too late goes before the steer of a later turn", () => {
    const walk = running().steer("S").interrupt("I").steer("T").reply()
    assert.strictEqual(walk.text, "user(A) turn_cancelled(A) user(I) assistant(I) user(T, in I)")
    assert.strictEqual(walk.reply().turn.turnId, turnOf("S"))
  })
})

describe("an interrupt", () => {
  it("ends the turn and runs at once, before the queue", () => {
    const walk = running("B").interrupt("I")
    assert.strictEqual(walk.text, "user(A) turn_cancelled(A) user(I)")
    assert.deepStrictEqual(walk.jobs, ["abandon A", "sample 1.1 m/one"])
  })

  it("gives every open call its result first", () => {
    const walk = running().reply("", call("a"), call("b"), call("c")).returns(1).interrupt("I")
    assert.strictEqual(
      walk.text,
      "user(A) intent(A) intent(A) intent(A) result(A) result(A: turn_interrupted) result(A: turn_interrupted) turn_cancelled(A) user(I)"
    )
  })

  it("resolves every open wait before that", () => {
    const walk = running().reply("", clientCall("x"), clientCall("y")).interrupt("I")
    assert.strictEqual(
      walk.text,
      "user(A) intent(A) intent(A) wait_created(A) wait_created(A) wait_resolved(A: cancelled) wait_resolved(A: cancelled) " +
        "result(A: turn_interrupted) result(A: turn_interrupted) turn_cancelled(A) user(I)"
    )
  })

  it("names who interrupted", () => {
    const walk = running().cancel()
    assert.deepStrictEqual(walk.log.at(-1)?.event, {
      usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
      principal: key
    })
  })

  it("stops a turn that pauses between attempts", () => {
    const walk = running()
      .fail({ transient: true })
      .interrupt("I")
      .due(60_000 - 1)
    assert.strictEqual(walk.text, "user(A) turn_cancelled(A) user(I)")
    assert.strictEqual(walk.turn.attempt, 1)
  })
})
