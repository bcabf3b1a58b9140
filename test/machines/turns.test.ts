/**
 * What happens within a turn: responses, failures and attempts, calls, waits, limits; and what a stale outcome does
 * not.
 */
import { assert, describe, it } from "@effect/vitest"
import type { RepliedCall } from "../../machines/thread/commands.ts"
import { addUsage, noUsage } from "../../src/domain/usage.ts"
import { factOf, factRow } from "../../actors/thread/replies/rows.ts"
import { deadlineOf, ranFor, waitOf } from "../../machines/thread/context.ts"
import { statusOf } from "../../machines/thread/decide.ts"
import { fold } from "../../machines/thread/fold.ts"
import { resume } from "../../machines/thread/resume.ts"
import { ann, call, clientCall, inputOf, plan, refusedCall, turnOf, usage, Walk } from "./Walk.ts"

const running = () => new Walk().queue("A")

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

describe("an outcome that is stale", () => {
  it.each([
    ["another turn", { turnId: turnOf("gone") }],
    ["another step", { step: 2 }],
    ["another attempt", { attempt: 2 }]
  ] as const)("changes nothing when it is of %s", (_, stale) => {
    const walk = running()
    const before = walk.snapshot
    walk.do(walk.response("late", [call()], stale)).do(walk.failure(stale))
    assert.strictEqual(walk.snapshot, before)
  })

  it("changes nothing when the call has its result, or never was", () => {
    const walk = running().reply("", call("a"), call("b"))
    const { toolCallId } = walk.call()
    const before = walk.returns().snapshot
    walk.do(walk.returned(toolCallId)).do(walk.returned("call_x"))
    assert.strictEqual(walk.snapshot, before)
  })

  it("changes nothing when the call waits for room, or for a client", () => {
    const walk = new Walk({ ...plan, maxParallelTools: 1 }).queue("A").reply("", call("a"), call("b"), clientCall())
    const before = walk.snapshot
    walk.do(walk.returned(walk.call(1).toolCallId)).do(walk.returned(walk.call(2).toolCallId))
    assert.strictEqual(walk.snapshot, before)
  })
})

describe("a turn ends", () => {
  it("after its last response, with its usage", () => {
    const walk = running().reply("", call()).returns().reply()
    assert.deepStrictEqual(walk.log.at(-1)?.event, { usage: addUsage(usage, usage), principal: ann })
    assert.deepStrictEqual(walk.context.carry.usage, addUsage(usage, usage))
  })

  it("by step_limit when the calls of the last response have returned", () => {
    const walk = new Walk({ ...plan, maxSteps: 2 }).queue("A").reply("", call()).returns().reply("", call()).returns()
    assert.strictEqual(walk.text, "user(A) intent(A) result(A) intent(A) result(A) turn_failed(A: step_limit)")
    assert.deepStrictEqual(walk.jobs, ["abandon A"])
  })

  it("by turn_timeout at its deadline, never before, whatever it does", () => {
    const sampling = running()
    const pausing = running().fail({ transient: true, retryAfterMs: 60_000 })
    const acting = running().reply("", call())
    for (const walk of [sampling, pausing, acting]) {
      assert.strictEqual(walk.due(plan.maxTurnMs - 1).status, "running")
      assert.strictEqual(walk.due(1).status, "failed")
      assert.match(walk.text, /turn_failed\(A: turn_timeout\)$/)
    }
    assert.match(acting.text, /result\(A: turn_interrupted\) turn_failed/)
  })

  it("by turn_poisoned, also while it awaits", () => {
    assert.strictEqual(running().poison().text, "user(A) turn_failed(A: turn_poisoned)")
    assert.strictEqual(
      running().reply("", clientCall()).poison().text,
      "user(A) intent(A) wait_created(A) wait_resolved(A: cancelled) result(A: turn_interrupted) turn_failed(A: turn_poisoned)"
    )
  })
})

describe("calls", () => {
  it("are written in order after the text, and those run at once that have room", () => {
    const walk = running().reply("I look.", call("a"), call("b"), call("c"))
    assert.strictEqual(walk.text, "user(A) assistant(A) intent(A) intent(A) intent(A)")
    assert.deepStrictEqual(walk.jobs, ["runTool a", "runTool b"])
    assert.deepStrictEqual(walk.returns(1).jobs, ["runTool c"])
    assert.deepStrictEqual(walk.log.at(-1)?.type, "call_started")
    assert.deepStrictEqual(walk.returns().returns().jobs, ["sample 2.1 m/one"])
  })

  it("never run more at a time than the profile allows", () => {
    const walk = new Walk({ ...plan, maxParallelTools: 3 })
      .queue("A")
      .reply("", ...Array.from({ length: 10 }, (_, i) => call(`t${i}`)))
    let started = walk.jobs.length
    for (let i = 0; i < 10; i++) started += walk.returns().jobs.filter((job) => job.startsWith("runTool")).length
    assert.strictEqual(started, 10)
    assert.deepStrictEqual(walk.jobs, ["sample 2.1 m/one"])
  })

  it("that fail are the model's to read: the turn goes on", () => {
    const walk = running()
      .reply("", call())
      .returns(0, { code: "tool_not_found", text: "There is no tool of that name." })
      .reply()
    assert.strictEqual(walk.text, "user(A) intent(A) result(A: tool_not_found) assistant(A) turn_completed(A)")
  })

  it("need no text: a blank one is not a message", () => {
    assert.strictEqual(running().reply(" \n", call()).text, "user(A) intent(A)")
  })

  it("of a queue's next turn do not mix with those of the last", () => {
    const walk = running().queue("B").reply("", call("a")).returns().reply().reply("", call("b"))
    assert.lengthOf(walk.turn.calls, 1)
    assert.strictEqual(walk.call().name, "b")
  })
})

describe("a call that a client executes", () => {
  it("parks the turn: the thread awaits", () => {
    const walk = running().reply("", clientCall())
    assert.strictEqual(walk.text, "user(A) intent(A) wait_created(A)")
    assert.strictEqual(walk.status, "awaiting")
    assert.deepStrictEqual(walk.jobs, [])
  })

  it("goes on with the client's answer, or with its error", () => {
    assert.strictEqual(
      running().reply("", clientCall()).answer().text,
      "user(A) intent(A) wait_created(A) wait_resolved(A: result) result(A)"
    )
    const walk = running()
      .reply("", clientCall())
      .answer(0, { type: "tool_result", error: { code: "no_disk", message: "full" } })
    assert.strictEqual(walk.text, "user(A) intent(A) wait_created(A) wait_resolved(A: error) result(A: tool_error)")
    assert.deepStrictEqual(walk.jobs, ["sample 2.1 m/one"])
  })

  it.each([
    [0, 0, 0],
    [2, 1, 0],
    [1, 0, 0],
    [0, 1, 0],
    [1, 1, 0],
    [2, 0, 0]
  ])("goes on when all are answered, in any order (%i %i %i)", (...order) => {
    const walk = running().reply("", clientCall("x"), clientCall("y"), clientCall("z"))
    for (const [i, place] of order.entries()) {
      assert.strictEqual(walk.status, "awaiting", `after ${i} answers`)
      walk.answer(place)
    }
    assert.deepStrictEqual(walk.jobs, ["sample 2.1 m/one"])
  })

  it("does not make the thread await while another call runs", () => {
    const walk = running().reply("", call(), clientCall())
    assert.strictEqual(walk.status, "running")
    assert.strictEqual(walk.returns().status, "awaiting")
    const other = running().reply("", call(), clientCall()).answer()
    assert.strictEqual(other.status, "running")
    assert.deepStrictEqual(other.returns().jobs, ["sample 2.1 m/one"])
  })

  it("takes no place from the calls that run", () => {
    const walk = new Walk({ ...plan, maxParallelTools: 1 }).queue("A").reply("", clientCall(), call("a"), call("b"))
    assert.deepStrictEqual(walk.jobs, ["runTool a"])
    assert.deepStrictEqual(walk.returns(1).jobs, ["runTool b"])
  })

  it("expires as tool_timeout, not before its time, and the turn goes on", () => {
    const walk = running().reply("", clientCall("x", 1_000), clientCall("y", 5_000))
    assert.strictEqual(walk.due(999).text, "user(A) intent(A) intent(A) wait_created(A) wait_created(A)")
    assert.match(walk.due(1).text, /wait_resolved\(A: expired\) result\(A: tool_timeout\)$/)
    assert.strictEqual(walk.status, "awaiting")
    assert.deepStrictEqual(walk.due(4_000).jobs, ["sample 2.1 m/one"])
  })

  it("expires also while another call runs", () => {
    const walk = running().reply("", clientCall("x", 1_000), call()).due(1_000)
    assert.match(walk.text, /wait_resolved\(A: expired\) result\(A: tool_timeout\)$/)
    assert.strictEqual(walk.status, "running")
  })

  it("may be answered late, as long as nobody has said that it expired", () => {
    const walk = running().reply("", clientCall("x", 1_000))
    walk.at += 10_000
    assert.match(walk.answer().text, /wait_resolved\(A: result\) result\(A\)$/)
  })

  it("may be answered once", () => {
    const walk = running().reply("", clientCall("x"), clientCall("y"))
    const waitId = waitOf(walk.call())?.waitId ?? ""
    walk.answer()
    assert.deepStrictEqual(walk.tell(walk.answering(waitId)), { error: "wait_not_open", waitId })
  })

  it("stops no clock of a turn that runs, and restarts it when the turn goes on", () => {
    const walk = running()
      .reply("", clientCall("x", 3_600_000))
      .due(plan.maxTurnMs * 2)
    assert.strictEqual(walk.status, "awaiting")
    assert.strictEqual(deadlineOf(walk.answer().turn), walk.at + plan.maxTurnMs)
  })

  it("ends with the turn that is cancelled", () => {
    assert.strictEqual(
      running().reply("", clientCall()).cancel().text,
      "user(A) intent(A) wait_created(A) wait_resolved(A: cancelled) result(A: turn_interrupted) turn_cancelled(A)"
    )
  })

  it("leaves the queue alone while the thread awaits", () => {
    const walk = running().reply("", clientCall()).queue("B")
    assert.deepStrictEqual([walk.status, ...walk.waiting], ["awaiting", "B"])
    assert.strictEqual(walk.answer().reply().turn.turnId, turnOf("B"))
  })

  it("fails the turn by step_limit when its answer leaves no response", () => {
    const walk = new Walk({ ...plan, maxSteps: 1 }).queue("A").reply("", clientCall()).answer()
    assert.strictEqual(walk.status, "failed")
    assert.match(walk.text, /result\(A\) turn_failed\(A: step_limit\)$/)
  })
})

describe("a response", () => {
  it("of more than 64 KiB is cut at a code point, and says so", () => {
    const walk = running().reply("é".repeat(40_000))
    const event = walk.log[1]?.event
    assert.deepStrictEqual(event, {
      content: [{ type: "text", text: "é".repeat(32_768) }],
      modelId: "m/one",
      inReplyToSeq: 1,
      truncated: true
    })
  })

  it("is of a turn that has come as far by feeds as the input of it that came farthest", () => {
    const walk = new Walk()
    walk.do(walk.submission("A", "queue", { hops: 3 }))
    assert.strictEqual(walk.turn.hops, 3)
    walk.do(walk.submission("S", "steer", { hops: 5 })).reply()
    assert.strictEqual(walk.turn.hops, 5)
    walk.do(walk.submission("T", "steer", { hops: 2 })).reply()
    assert.strictEqual(walk.turn.hops, 5)
    walk.reply().queue("B")
    assert.isUndefined(walk.turn.hops)
  })

  it("names the newest message that it could see", () => {
    const walk = running().steer("S").reply().reply()
    assert.deepStrictEqual(
      walk.log.flatMap((fact) => (fact.type === "assistant_message" ? [fact.event.inReplyToSeq] : [])),
      [1, 3]
    )
  })

  it("keeps what must go back to the provider with its first fact", () => {
    const walk = running()
    walk.do({ ...walk.response("", [call("a"), call("b")]), parts: [{ signature: "s" }] })
    assert.deepStrictEqual(
      walk.log.slice(1).map((fact) => ("detail" in fact ? fact.detail : undefined)),
      [
        { rerunnable: false, started: true, response: { step: 1, usage, parts: [{ signature: "s" }] } },
        { rerunnable: false, started: true }
      ]
    )
  })
})

it("keeps the model of the last admitted turn", () => {
  const walk = new Walk({ ...plan, models: ["m/three"] }).queue("A").reply()
  assert.strictEqual(walk.context.carry.model, "m/three")
  walk.plan = plan
  walk.queue("B")
  assert.strictEqual(walk.context.carry.model, "m/one")
  walk
    .do(walk.submission("C", "queue"))
    .refusals.set(inputOf("C"), { code: "agent_archived", text: "The agent is archived." })
  assert.strictEqual(walk.reply().context.carry.model, "m/one")
})

describe("the time that a turn has run", () => {
  it("is all of it, without what it awaited", () => {
    const walk = new Walk().queue("A")
    walk.at += 1_000
    walk.reply("", clientCall("x", 60_000), clientCall("y", 60_000))
    assert.strictEqual(ranFor(walk.turn, walk.at), 1_000)
    walk.at += 30_000
    assert.strictEqual(ranFor(walk.turn, walk.at), 1_000, "it awaits")
    walk.answer()
    assert.strictEqual(walk.status, "awaiting", "one of two")
    walk.at += 5_000
    walk.answer()
    walk.at += 700
    assert.strictEqual(ranFor(walk.turn, walk.at), 1_700)
    assert.strictEqual(deadlineOf(walk.turn), walk.at - 700 + plan.maxTurnMs, "what it may take starts anew")
  })
})

describe("a fact of a version that this one does not know", () => {
  const stored = (walk: Walk) => walk.log.map((fact, i) => ({ ...factRow(fact), pos: i + 1, seq: i + 1 }))

  it("does not end the turn, whose next events are numbered behind it", () => {
    const walk = new Walk().queue("A").reply("", call())
    const unknown = {
      ...stored(walk)[0]!,
      type: "reconsidered",
      n: walk.turn.events,
      pos: 3,
      seq: 3,
      once: null,
      event: "{}",
      detail: null
    }
    const snapshot = fold({
      carry: walk.context.carry,
      pos: 0,
      seq: 0,
      pending: [],
      facts: [...stored(walk), unknown].map(factOf)
    })
    assert.strictEqual(statusOf(snapshot), "running")
    assert.strictEqual(snapshot.context.turn?.turnId, walk.turn.turnId)
    assert.strictEqual(snapshot.context.turn?.events, walk.turn.events + 1)
    assert.deepStrictEqual(resume(snapshot), resume(walk.snapshot))
  })
})
