/** Calls of models within a turn that fail, say nothing, or are cut. */
import { assert, describe, it } from "@effect/vitest"
import type { RepliedCall } from "../../machines/thread/commands.ts"
import { addUsage, noUsage } from "../../src/domain/usage.ts"
import { running, type Walk } from "./Walk.ts"
import { ann, call, inputOf, refusedCall, turnOf, usage } from "./WalkCommands.ts"

describe("a failed model call", () => {
  it("is tried again after a pause, at most twice, then the next model serves", () => {
    const walk = running()
    const jobs = [walk.fail({ transient: true }).jobs]
    assert.strictEqual(walk.turn.retryAt, walk.at + 375, "half of the pause is jitter")
    jobs.push(walk.due(374).jobs, walk.due(1).jobs)
    jobs.push(walk.fail({ transient: true }).jobs)
    assert.strictEqual(walk.turn.retryAt, walk.at + 750)
    jobs.push(walk.due(750).jobs)
    jobs.push(walk.fail({ transient: true }).jobs)
    assert.deepStrictEqual(jobs, [[], [], ["sample 1.2 m/one"], [], ["sample 1.3 m/one"], ["sample 1.1 m/two"]])
    walk.fail({ transient: true }).due(500).fail({ transient: true }).due(1_000)
    assert.deepStrictEqual(walk.jobs, ["sample 1.3 m/two"])
    walk.fail({ transient: true, code: "model_overloaded" })
    assert.strictEqual(walk.text, "user(A) turn_failed(A: model_overloaded)")
  })

  it("waits as long as the provider asks, up to a minute", () => {
    const walk = running().fail({ transient: true, retryAfterMs: 7_000 })
    assert.strictEqual(walk.turn.retryAt, walk.at + 7_000)
    const other = running().fail({ transient: true, retryAfterMs: 3_600_000 })
    assert.strictEqual(other.turn.retryAt, other.at + 60_000)
  })

  it("goes to the next model at once when the target cannot serve", () => {
    const walk = running().fail({ unavailable: true })
    assert.deepStrictEqual(walk.jobs, ["sample 1.1 m/two"])
    assert.strictEqual(
      walk.fail({ unavailable: true, code: "model_unavailable" }).text,
      "user(A) turn_failed(A: model_unavailable)"
    )
  })

  it("stays on the model that served for the rest of the turn, and starts anew in the next", () => {
    const walk = running().fail({ unavailable: true }).reply("", call()).returns()
    assert.deepStrictEqual(walk.jobs, ["sample 2.1 m/two"])
    assert.deepStrictEqual(walk.reply().queue("B").jobs, ["sample 1.1 m/one"])
  })

  it("fails the turn when it is final", () => {
    const walk = running().fail({ code: "content_refused" })
    assert.strictEqual(walk.status, "failed")
  })

  it("keeps its details in the turn's failure", () => {
    const details = { targetId: "m/one", formats: ["gif" as const] }
    const walk = running().fail({ code: "model_image_format_unsupported", text: "No gif.", details })
    assert.deepStrictEqual(walk.log.at(-1)?.event, {
      failureCode: "model_image_format_unsupported",
      failureText: "No gif.",
      failureDetails: details,
      usage: noUsage
    })
  })

  it("that was empty is tried once more, at once", () => {
    const walk = running().fail({ empty: true })
    assert.deepStrictEqual(walk.jobs, ["sample 1.2 m/one"])
    assert.strictEqual(walk.fail({ empty: true }).text, "user(A) turn_failed(A: model_error)")
  })

  it("that was empty is tried once more also after one that failed otherwise", () => {
    const walk = running().fail({ transient: true }).due(500).fail({ empty: true })
    assert.deepStrictEqual(walk.jobs, ["sample 1.3 m/one"])
    assert.strictEqual(walk.fail({ empty: true }).text, "user(A) turn_failed(A: model_error)")
  })

  it("counts what the provider reported of each attempt, also of the last", () => {
    const walk = running()
      .fail({ transient: true, usage })
      .due(500)
      .fail({ transient: true })
      .due(1_000)
      .reply("", call())
      .returns()
      .fail({ usage })
    assert.deepStrictEqual(walk.log.at(-1)?.event, {
      failureCode: "model_error",
      failureText: "no",
      usage: addUsage(addUsage(usage, usage), usage)
    })
    assert.deepStrictEqual(walk.context.carry.usage, addUsage(addUsage(usage, usage), usage))
  })

  it("counts an empty attempt as well", () => {
    const walk = running().fail({ empty: true, usage }).reply()
    assert.deepStrictEqual(walk.log.at(-1)?.event, { usage: addUsage(usage, usage), principal: ann })
  })

  it("does not count against the next response", () => {
    const walk = running()
      .fail({ transient: true })
      .due(500)
      .reply("", call())
      .returns()
      .fail({ transient: true })
      .due(500)
    assert.deepStrictEqual(walk.jobs, ["sample 2.2 m/one"])
  })
})

describe("an empty answer after results of tools", () => {
  const worked = () => running().reply("", call()).returns()

  it("completes the turn without a message, and is counted", () => {
    const walk = worked().fail({ empty: true, usage })
    assert.strictEqual(walk.text, "user(A) intent(A) result(A) turn_completed(A)")
    assert.strictEqual(walk.status, "idle")
    assert.deepStrictEqual(walk.log.at(-1)?.event, { usage: addUsage(usage, usage), principal: ann })
  })

  it("completes it too where the calls came to nothing, or another attempt failed first", () => {
    assert.strictEqual(
      running().reply("", refusedCall()).fail({ empty: true }).text,
      "user(A) intent(A) result(A: tool_denied) turn_completed(A)"
    )
    assert.strictEqual(
      worked().fail({ transient: true }).due(500).fail({ empty: true }).text,
      "user(A) intent(A) result(A) turn_completed(A)"
    )
  })

  it("lets a steer join that came meanwhile", () => {
    const walk = worked().steer("S").fail({ empty: true, usage })
    assert.strictEqual(walk.text, "user(A) intent(A) result(A) user(S, in A)")
    assert.deepStrictEqual(walk.jobs, ["sample 3.1 m/one"])
    assert.strictEqual(walk.reply().text, "user(A) intent(A) result(A) user(S, in A) assistant(A) turn_completed(A)")
  })

  it("is none of the next turn's", () => {
    assert.strictEqual(
      worked().reply().queue("B").fail({ empty: true }).fail({ empty: true }).text,
      "user(A) intent(A) result(A) assistant(A) turn_completed(A) user(B) turn_failed(B: model_error)"
    )
  })
})

describe("an answer that the model has cut", () => {
  const cutReply = (walk: Walk, text: string, ...calls: ReadonlyArray<RepliedCall>) =>
    walk.do(walk.response(text, calls, { finishReason: "length" }))
  const cut = (walk: Walk) => walk.context.carry.cut

  it("says so on its message, and on the thread until another turn begins", () => {
    const walk = cutReply(running(), "once upon")
    assert.deepInclude(walk.log.at(-2)?.event, {
      content: [{ type: "text", text: "once upon" }],
      finishReason: "length"
    })
    assert.deepStrictEqual(cut(walk), { turnId: turnOf("A"), finishReason: "length" })
    assert.isUndefined(cut(walk.queue("B")))
  })

  it("does not say so of a whole one", () => {
    const walk = running().reply()
    assert.notProperty(walk.log.at(-2)?.event, "finishReason")
    assert.isUndefined(cut(walk))
  })

  it("is the thread's newest answer only", () => {
    const walk = cutReply(running(), "I look", call())
    assert.deepStrictEqual(cut(walk), { turnId: turnOf("A"), finishReason: "length" })
    assert.isUndefined(cut(walk.returns().reply()))
  })

  it("is known where it wrote nothing but calls, or nothing at all", () => {
    assert.deepStrictEqual(cut(cutReply(running(), "", call())), { turnId: turnOf("A"), finishReason: "length" })
    const empty = running().reply("", call()).returns().fail({ empty: true, finishReason: "length" })
    assert.strictEqual(empty.text, "user(A) intent(A) result(A) turn_completed(A)")
    assert.deepStrictEqual(cut(empty), { turnId: turnOf("A"), finishReason: "length" })
  })

  it("is still so after hooks have let it pass", () => {
    const walk = running()
    walk.do(walk.response("once upon", [], { hooks: [0], finishReason: "content_filter" }))
    assert.deepInclude(walk.decides("allow").log.at(-2)?.event, { finishReason: "content_filter" })
  })

  it("is not that of a later turn that was turned away", () => {
    const walk = cutReply(running(), "once upon")
    walk.refusals.set(inputOf("B"), { code: "identity_disabled", text: "The identity is disabled." })
    assert.isUndefined(cut(walk.queue("B")))
  })
})
