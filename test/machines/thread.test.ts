/** The rules of a thread: who runs, who waits, what ends a turn. */
import { assert, describe, it } from "@effect/vitest"
import { nextDue, runnableAt } from "../../actors/thread/replies/rows.ts"
import type { Refusal } from "../../machines/thread/refuse.ts"
import { limits } from "../../src/domain/limits.ts"
import { Walk } from "./Walk.ts"
import { ann, call, inputOf, plan, turnOf } from "./WalkCommands.ts"
import { running } from "./waiting.ts"

describe("a thread at rest", () => {
  it.each(["queue", "steer", "interrupt"] as const)("starts a turn with an input of mode %s", (mode) => {
    const walk = new Walk()
    walk.do(walk.submission("A", mode))
    assert.strictEqual(walk.text, "user(A)")
    assert.strictEqual(walk.status, "running")
    assert.deepStrictEqual(walk.jobs, ["sample 1.1 m/one"])
  })

  it("changes nothing on cancel, on a due moment and on poison", () => {
    const walk = running().reply()
    const before = walk.snapshot
    walk.cancel(true).due(1).poison()
    assert.strictEqual(walk.snapshot, before)
  })

  it("takes the next input after a completed, a failed and a cancelled turn", () => {
    const walk = running().reply().queue("B").fail().queue("C").cancel().queue("D")
    assert.strictEqual(
      walk.text,
      "user(A) assistant(A) turn_completed(A) user(B) turn_failed(B: model_error) user(C) turn_cancelled(C) user(D)"
    )
  })

  it("is named for how its last turn ended", () => {
    const walk = new Walk()
    const statuses = [
      walk.status,
      walk.queue("A").reply().status,
      walk.queue("B").fail().status,
      walk.queue("C").cancel().status
    ]
    assert.deepStrictEqual(statuses, ["idle", "idle", "failed", "cancelled"])
  })
})

describe("an input that waits", () => {
  it("keeps its place while a turn runs, and runs when it ends", () => {
    const walk = running("B", "C")
    assert.deepStrictEqual(walk.waiting, ["B", "C"])
    walk.reply()
    assert.strictEqual(walk.text, "user(A) assistant(A) turn_completed(A) user(B)")
    assert.deepStrictEqual(walk.waiting, ["C"])
  })

  it.each(["fail", "cancel"] as const)("runs also when the turn ends by %s", (how) => {
    const walk = running("B")[how]()
    assert.strictEqual(walk.turn.turnId, turnOf("B"))
  })

  it("can be edited, and runs with the new text", () => {
    const walk = running("B").edit("B", "better").reply()
    assert.deepStrictEqual(walk.log.at(-1)?.event, {
      content: [{ type: "text", text: "better" }],
      principal: ann,
      submitMode: "queue",
      inputId: inputOf("B")
    })
  })

  it("is its editor's, and says who sent it first where that is somebody else", () => {
    const [bob, eve] = [
      { type: "api_key", id: "key_bob", identity: "bob" },
      { type: "api_key", id: "key_eve" }
    ] as const
    const whose = (walk: Walk) => {
      const { principal, submittedBy } = walk.context.pending[0]!
      return [principal, submittedBy]
    }
    const walk = running("B")
    assert.deepStrictEqual(whose(walk.edit("B", "bob's", bob)), [bob, ann])
    assert.deepStrictEqual(whose(walk.edit("B", "eve's", eve)), [eve, ann])
    assert.deepStrictEqual(whose(walk.edit("B", "ann's again", { ...ann })), [ann, undefined])
    assert.deepStrictEqual(whose(walk.edit("B", "bob's", bob)), [bob, ann])
    assert.deepStrictEqual(walk.reply().log.at(-1)?.event, {
      content: [{ type: "text", text: "bob's" }],
      principal: bob,
      submittedBy: ann,
      submitMode: "queue",
      inputId: inputOf("B")
    })
    assert.deepStrictEqual(walk.turn.principal, bob)
  })

  it("can be removed, and never runs", () => {
    const walk = running("B", "C").remove("B").reply().reply()
    assert.strictEqual(walk.text, "user(A) assistant(A) turn_completed(A) user(C) assistant(C) turn_completed(C)")
  })

  it("goes with a cancel that clears the queue", () => {
    const walk = running("B").steer("S").cancel(true)
    assert.strictEqual(walk.text, "user(A) turn_cancelled(A)")
    assert.deepStrictEqual([walk.status, ...walk.waiting], ["cancelled"])
  })

  it("stays with a cancel that does not", () => {
    assert.strictEqual(running("B").cancel().text, "user(A) turn_cancelled(A) user(B)")
  })

  it("joins the turn when it is promoted to steer", () => {
    const walk = running("B", "C").promote("C", "steer").reply()
    assert.strictEqual(walk.text, "user(A) assistant(A) user(C, in A)")
    assert.deepStrictEqual(walk.waiting, ["B"])
  })

  it("stops the turn when it is promoted to interrupt", () => {
    const walk = running("B", "C").promote("C", "interrupt")
    assert.strictEqual(walk.text, "user(A) turn_cancelled(A) user(C)")
    assert.deepStrictEqual(walk.waiting, ["B"])
    assert.deepStrictEqual(walk.jobs, ["abandon A", "sample 1.1 m/one"])
  })

  it("may be a steer that is promoted to interrupt", () => {
    assert.strictEqual(running("B").steer("S").promote("S", "interrupt").text, "user(A) turn_cancelled(A) user(S)")
  })
})

describe("what is refused", () => {
  it("is a turn that is not the active one", () => {
    const walk = running("B")
    const turn_conflict: Refusal = { error: "turn_conflict", active: turnOf("A") }
    assert.deepStrictEqual(walk.tell(walk.submission("C", "queue", { expectedTurnId: turnOf("X") })), turn_conflict)
    assert.deepStrictEqual(walk.tell(walk.promotion("B", "steer", turnOf("X"))), turn_conflict)
    assert.deepStrictEqual(
      walk.tell({
        type: "cancel",
        at: walk.at,
        admissions: {},
        principal: ann,
        clearQueue: false,
        turnId: turnOf("X")
      }),
      turn_conflict
    )
    assert.isUndefined(walk.tell(walk.submission("C", "steer", { expectedTurnId: turnOf("A") })))
  })

  it("is any turn that is named at rest", () => {
    const walk = running().reply()
    assert.deepStrictEqual(walk.tell(walk.submission("B", "queue", { expectedTurnId: turnOf("A") })), {
      error: "turn_conflict"
    })
    assert.deepStrictEqual(
      walk.tell({
        type: "cancel",
        at: walk.at,
        admissions: {},
        principal: ann,
        clearQueue: false,
        turnId: turnOf("A")
      }),
      { error: "turn_conflict" }
    )
  })

  it("is a model together with steer, also by promotion", () => {
    const walk = running()
    const refusal: Refusal = { error: "model_not_allowed_with_steer" }
    assert.deepStrictEqual(walk.tell(walk.submission("S", "steer", { model: "m/two" })), refusal)
    walk.do(walk.submission("B", "queue", { model: "m/two" }))
    assert.deepStrictEqual(walk.tell(walk.promotion("B", "steer")), refusal)
    assert.isUndefined(walk.tell(walk.promotion("B", "interrupt")))
  })

  it("is an input that does not wait", () => {
    const walk = running()
    for (const name of ["A", "never"]) {
      const refusal: Refusal = { error: "input_not_pending", inputId: inputOf(name) }
      assert.deepStrictEqual(walk.tell(walk.promotion(name, "steer")), refusal)
      assert.deepStrictEqual(walk.tell({ type: "remove", at: walk.at, inputId: inputOf(name) }), refusal)
      assert.deepStrictEqual(walk.tell({ type: "edit", at: walk.at, inputId: inputOf(name), content: [] }), refusal)
    }
  })

  it("is the 101st input that waits, unless it interrupts", () => {
    const walk = running()
    for (let i = 1; i <= limits.pendingInputs; i++) walk.queue(`q${i}`)
    for (const mode of ["queue", "steer"] as const)
      assert.strictEqual(walk.tell(walk.submission("B", mode))?.error, "queue_full")
    walk.remove("q1").queue("B")
    assert.strictEqual(walk.tell(walk.submission("C"))?.error, "queue_full")
    walk.interrupt("I")
    assert.strictEqual(walk.turn.turnId, turnOf("I"))
    assert.lengthOf(walk.waiting, limits.pendingInputs)
  })

  it("is a retry while a turn runs, of a turn that completed, and of one that is not the last", () => {
    const walk = new Walk()
    const nothing: Refusal = { error: "nothing_to_retry" }
    const retry = (of: string) => walk.submission("R", "queue", { retryOf: turnOf(of) })
    assert.deepStrictEqual(walk.tell(retry("A")), nothing)
    walk.queue("A")
    assert.deepStrictEqual(walk.tell(retry("A")), nothing)
    walk.reply()
    assert.deepStrictEqual(walk.tell(retry("A")), nothing)
    walk.queue("B").fail()
    assert.deepStrictEqual(walk.tell(retry("A")), nothing)
    assert.isUndefined(walk.tell(retry("B")))
  })

  it("is an answer to a wait that is not open", () => {
    const walk = running()
    assert.deepStrictEqual(walk.tell(walk.answering("wait_x")), { error: "wait_not_open", waitId: "wait_x" })
  })
})

describe("a retry", () => {
  it("is an input and a turn of its own that names what it retries", () => {
    const walk = running().fail()
    walk.do(walk.submission("R", "queue", { retryOf: turnOf("A") })).reply()
    assert.strictEqual(walk.text, "user(A) turn_failed(A: model_error) user(R) assistant(R) turn_completed(R)")
    assert.deepStrictEqual(walk.log[2], {
      type: "user_message",
      turnId: turnOf("R"),
      n: 0,
      at: walk.at,
      event: { content: [{ type: "text", text: "R" }], principal: ann, submitMode: "queue", inputId: inputOf("R") },
      detail: { plan, retryOf: turnOf("A") }
    })
  })
})

describe("an input that may not run any more", () => {
  const identity_disabled = { code: "identity_disabled", text: "The identity is disabled." } as const

  it("begins and fails in one step, and the next one runs", () => {
    const walk = running("B", "C", "D")
    walk.refusals.set(inputOf("B"), identity_disabled).set(inputOf("C"), identity_disabled)
    walk.reply()
    assert.deepStrictEqual(
      walk.steps.at(-1)?.facts.map(({ type }) => type),
      [
        "assistant_message",
        "turn_completed",
        "user_message",
        "turn_failed",
        "user_message",
        "turn_failed",
        "user_message"
      ]
    )
    assert.strictEqual(
      walk.text,
      "user(A) assistant(A) turn_completed(A) user(B) turn_failed(B: identity_disabled) user(C) turn_failed(C: identity_disabled) user(D)"
    )
  })

  it("leaves the thread failed when it was the last", () => {
    const walk = running("B")
    walk.refusals.set(inputOf("B"), identity_disabled)
    assert.strictEqual(walk.reply().status, "failed")
    assert.deepStrictEqual(walk.jobs, ["abandon A"])
    assert.strictEqual(walk.queue("C").status, "running")
  })
})

describe("an input that is sent again", () => {
  const modes = ["queue", "steer", "interrupt"] as const

  it.each(modes)("is not taken twice while it waits, or is of the running turn, with mode %s", (mode) => {
    const walk = running("B").steer("S").reply("", call()).steer("T").returns()
    const { snapshot } = walk
    assert.strictEqual(walk.text, "user(A) intent(A) result(A) user(S, in A) user(T, in A)")
    for (const name of ["A", "S", "T", "B"]) walk.do(walk.submission(name, mode))
    assert.strictEqual(walk.snapshot, snapshot)
  })

  it("is answered, not refused, also where a first one would be", () => {
    const walk = running("B")
    const { snapshot } = walk
    for (const name of ["A", "B"]) {
      walk
        .do(walk.submission(name, "queue", { expectedTurnId: turnOf("gone") }))
        .do(walk.submission(name, "steer", { model: "m/two" }))
      walk.do(walk.submission(name, "queue", { retryOf: turnOf("gone") }))
    }
    assert.strictEqual(walk.snapshot, snapshot)
  })
})

describe("what waits when its turn is poisoned", () => {
  const poisoned = () => running("B", "C").poison()
  const before = "user(A) turn_failed(A: turn_poisoned)"

  it("stays where it is, and is due at once", () => {
    const walk = poisoned()
    assert.strictEqual(walk.text, before)
    assert.deepStrictEqual(walk.jobs, ["abandon A"])
    assert.deepStrictEqual(walk.waiting, ["B", "C"])
    assert.strictEqual(runnableAt(walk.snapshot), walk.at)
    assert.strictEqual(nextDue(walk.snapshot, { queuedMs: () => 0 }), walk.at)
  })

  it.each([
    ["the time", (walk: Walk) => walk.due(), ["C"]],
    ["the next input", (walk: Walk) => walk.queue("D"), ["C", "D"]],
    ["a cancel of nothing", (walk: Walk) => walk.cancel(), ["C"]],
    ["an outcome that comes too late", (walk: Walk) => walk.do(walk.response("late")), ["C"]]
  ] as const)("is admitted with %s", (_, comes, waiting) => {
    const walk = comes(poisoned())
    assert.strictEqual(walk.text, `${before} user(B)`)
    assert.deepStrictEqual(walk.waiting, [...waiting])
  })

  it("is admitted by promotion, the promoted one first", () => {
    assert.strictEqual(poisoned().promote("C", "interrupt").text, `${before} user(C)`)
    assert.strictEqual(poisoned().promote("C", "steer").text, `${before} user(B)`)
  })

  it("is edited and removed without being admitted, and poisoned again without effect", () => {
    const walk = poisoned().edit("B", "other").remove("C").poison()
    assert.strictEqual(walk.text, before)
    assert.deepStrictEqual(walk.waiting, ["B"])
    assert.deepStrictEqual(walk.due().context.pending, [])
  })

  it("goes with a cancel that clears the queue", () => {
    const walk = poisoned().cancel(true)
    assert.deepStrictEqual(walk.waiting, [])
    assert.strictEqual(walk.status, "failed")
    assert.isNull(runnableAt(walk.snapshot))
  })

  it("runs before the turn is retried", () => {
    const walk = poisoned()
    assert.deepStrictEqual(walk.tell(walk.submission("R", "queue", { retryOf: turnOf("A") })), {
      error: "nothing_to_retry"
    })
  })
})
