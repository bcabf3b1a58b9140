/** What happens within a turn: how it ends, its calls, its time; and what a stale outcome does not. */
import { assert, describe, it } from "@effect/vitest"
import { addUsage } from "../../src/domain/usage.ts"
import { factOf, factRow } from "../../actors/thread/replies/rows.ts"
import { deadlineOf, ranFor } from "../../machines/thread/context.ts"
import { statusOf } from "../../machines/thread/decide.ts"
import { fold } from "../../machines/thread/fold.ts"
import { resume } from "../../machines/thread/resume.ts"
import { running, Walk } from "./Walk.ts"
import { ann, call, clientCall, inputOf, plan, turnOf, usage } from "./WalkCommands.ts"

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
