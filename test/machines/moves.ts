/** Moves of random walks over the chart of a thread: what may be done, valid or not, and how often. */
import fc from "fast-check"
import type { Command, HookDecided, ModelFailed, Rewrite } from "../../machines/thread/commands.ts"
import { openWaits } from "../../machines/thread/context.ts"
import type { Walk } from "./Walk.ts"
import { ann, call, clientCall, inputOf, refusedCall, turnOf, usage } from "./WalkCommands.ts"

/** One move: what is done, and numbers that choose its object among what there is. */
interface Move {
  readonly what: keyof typeof moves
  readonly a: number
  readonly b: number
  readonly late: number
  /** It is loaded cold before the next move. */
  readonly cold: boolean
}

const pick = <T>(list: ReadonlyArray<T>, n: number): T | undefined => list[n % list.length]
export const modes = ["queue", "steer", "interrupt"] as const

const failures: ReadonlyArray<Partial<ModelFailed>> = [
  { transient: true },
  { unavailable: true },
  { empty: true },
  { code: "content_refused" },
  { empty: true, usage, finishReason: "length" },
  { transient: true, usage },
  { usage },
  { transient: true, retryAfterMs: 3_000 },
  { transient: true, unavailable: true }
]

const callsOf = (n: number) =>
  [
    [],
    [call("a")],
    [call("a"), call("b"), call("c")],
    [clientCall("x", 500)],
    [clientCall("x"), call("a"), clientCall("y", 20_000)],
    [call("a"), clientCall("x")],
    [call("a", { hooks: [0] }), refusedCall(), call("b", { hooks: [1, 2] })],
    [call("a", { approval: "role_1/0" }), call("b")],
    [clientCall("x", 2_000, { hooks: [2], approval: "role_1/0" }), refusedCall()],
    [refusedCall()],
    [call("a", { hooks: [0, 1, 2], approval: "role_2/1" }), call("c"), call("d")]
  ][n % 11] ?? []

const onTimeouts = ["deny", "allow", "fail"] as const
export const decisions = ["allow", "deny", "ask", "defer"] as const
const rewrites: ReadonlyArray<Rewrite | undefined> = [
  undefined,
  undefined,
  { toolInput: { of: "rewritten" } },
  { toolOutput: "redacted" },
  { content: [{ type: "text", text: "rewritten" }] },
  { content: [{ type: "text", text: " " }] }
]
const fits = (rewrite: Rewrite | undefined, point: HookDecided["point"]) =>
  rewrite !== undefined &&
  ("toolInput" in rewrite
    ? point === "before_tool_call"
    : "toolOutput" in rewrite
      ? point === "after_tool_result"
      : point === "before_turn_start" || point === "after_model_response")
/** A rewrite is judged by hooks behind the one that was asked; where a role's approval brings it, by all. */
const behind = (hook: number, asked: number) => (asked < hook ? [hook] : [])
const after = (n: number) => [undefined, undefined, undefined, [3], [4, 5]][n % 5]

/** A turn of this thread, or of none: mostly stale. */
const someTurn = (walk: Walk, n: number) =>
  pick([...walk.log.flatMap(({ turnId }) => turnId ?? []), turnOf("none")], n) ?? turnOf("none")
const someInput = (walk: Walk, n: number) =>
  pick(
    [...walk.context.pending.map(({ inputId }) => inputId), ...walk.accepted.slice(-2).map(({ inputId }) => inputId)],
    n
  ) ?? inputOf("never")

let count = 0
/** Nobody, of an edit that a node of an earlier version sends. */
const editors = [{}, { principal: ann }, { principal: { type: "api_key", id: "key_bob", identity: "bob" } }] as const
export const moves = {
  submit: (walk: Walk, a: number, b: number): Command =>
    walk.submission(`w${++count}`, pick(modes, a), b % 7 === 0 ? { expectedTurnId: someTurn(walk, b) } : {}),
  submitRefused: (walk: Walk, a: number): Command => {
    const name = `w${++count}`
    walk.refusals.set(inputOf(name), { code: "identity_disabled", text: "The identity is disabled." })
    return walk.submission(name, pick(modes, a))
  },
  submitAgain: (walk: Walk, a: number, b: number): Command => {
    const known = [...walk.context.pending, ...(walk.context.turn?.inputs ?? [])]
    const { inputId } = pick(known, a) ?? { inputId: inputOf(`w${++count}`) }
    return {
      type: "submit",
      at: walk.at,
      input: { inputId, mode: pick(modes, b) ?? "queue", content: [{ type: "text", text: "again" }], principal: ann },
      admissions: walk.admissions(inputId)
    }
  },
  submitWithModel: (walk: Walk, a: number): Command =>
    walk.submission(`w${++count}`, pick(modes, a), { model: "m/two" }),
  retry: (walk: Walk): Command =>
    walk.submission(`w${++count}`, "queue", { retryOf: walk.context.carry.last?.turnId ?? turnOf("none") }),
  edit: (walk: Walk, a: number, b: number): Command => ({
    type: "edit",
    at: walk.at,
    inputId: someInput(walk, a),
    content: [{ type: "text", text: `edit ${a}` }],
    ...pick(editors, b)
  }),
  remove: (walk: Walk, a: number): Command => ({ type: "remove", at: walk.at, inputId: someInput(walk, a) }),
  promote: (walk: Walk, a: number, b: number): Command =>
    ({
      ...walk.promotion("never", b % 2 === 0 ? "steer" : "interrupt"),
      inputId: someInput(walk, a)
    }) as Command,
  cancel: (walk: Walk, a: number, b: number): Command => ({
    type: "cancel",
    at: walk.at,
    admissions: walk.admissions(),
    principal: { type: "user", id: "bob" },
    clearQueue: a % 3 === 0,
    ...(b % 4 === 0 ? { turnId: someTurn(walk, b) } : {})
  }),
  reply: (walk: Walk, a: number, b: number): Command => {
    const calls = callsOf(a)
    const hooks = b % 4 === 0 ? after(a) : undefined
    return walk.response(calls.length > 0 && b % 2 === 0 ? "" : `text ${b}`, calls, {
      ...(hooks === undefined ? {} : { hooks }),
      ...(b % 5 === 0 ? { finishReason: "length" } : {})
    })
  },
  staleReply: (walk: Walk, a: number, b: number): Command =>
    walk.response(
      "stale",
      callsOf(a),
      pick([{ turnId: someTurn(walk, b), step: 1, attempt: 1 }, { step: b % 5 }, { attempt: b % 4 }], b) ?? {}
    ),
  fail: (walk: Walk, a: number): Command => walk.failure({ ...pick(failures, a) }),
  staleFail: (walk: Walk, a: number, b: number): Command =>
    walk.failure({ ...pick(failures, a), turnId: someTurn(walk, b), attempt: b % 4 }),
  compact: (walk: Walk): Command => ({ type: "compact", at: walk.at }),
  // It ends the walk's turns for good: seldom.
  archive: (walk: Walk, a: number): Command =>
    a % 5 === 0 ? { type: "archive", at: walk.at } : { type: "compact", at: walk.at },
  tooLong: (walk: Walk, a: number, b: number): Command =>
    walk.tooLong({ ...(a % 3 === 0 ? { round: "overflow" } : {}), ...(b % 7 === 0 ? { attempt: b % 4 } : {}) }),
  summary: (walk: Walk, a: number, b: number): Command =>
    a % 3 === 0
      ? walk.noSummary(b % 5 === 0 ? { step: b % 4 } : {})
      : walk.summary(b % 5 === 0 ? { round: "overflow" } : {}),
  toolReturns: (walk: Walk, a: number, b: number): Command => {
    const known = [...(walk.context.turn?.calls ?? [])].map(({ toolCallId }) => toolCallId)
    const old = walk.log.flatMap((fact) => (fact.type === "tool_intent" ? [fact.event.toolCallId] : [])).slice(-1)
    return walk.returned(
      pick([...known, ...known, ...old, "call_never"], a) ?? "call_never",
      b % 3 === 0 ? { code: "tool_error", text: "no" } : undefined,
      after(b)
    )
  },
  hookDecides: (walk: Walk, a: number, b: number): Command => {
    const rewrite = pick(rewrites, b)
    const asked = walk.decision(
      pick(decisions, a) ?? "allow",
      { ask: { target: "person", timeoutMs: 1_000, onTimeout: pick(onTimeouts, b) ?? "deny" } },
      a % 3
    )
    return {
      ...asked,
      ...(fits(rewrite, asked.point) && rewrite !== undefined
        ? { rewrite, ...(b % 2 === 0 ? { hooks: behind(6, asked.index) } : {}) }
        : {}),
      ...(b % 11 === 0 ? { failed: true, reason: "It broke." } : {}),
      ...(b % 13 === 0 ? { turnId: someTurn(walk, b), index: b % 5 } : {})
    }
  },
  hooksOfMessages: (walk: Walk, a: number): Command => {
    walk.openings = [[], [0], [0, 1]][a % 3] ?? []
    return { type: "due", at: walk.at, admissions: walk.admissions() }
  },
  answer: (walk: Walk, a: number, b: number): Command => {
    const open = openWaits(walk.context.turn)
    const found = pick(open, a)
    if (found === undefined) return walk.answering("wait_never")
    const { type, hook } = found.wait
    if (type === "client_tool" && b % 17 !== 0) {
      return walk.answering(
        found.wait.waitId,
        b % 3 === 0
          ? { type: "tool_result", error: { code: "no", message: "no" } }
          : { type: "tool_result", output: b },
        after(b)
      )
    }
    const rewrite = pick(rewrites, b)
    return walk.answering(
      found.wait.waitId,
      {
        type: "decision",
        decision: b % 3 === 0 ? "deny" : "allow",
        scope: b % 5 === 0 ? "thread" : "once",
        ...(b % 2 === 0 ? { reason: "so" } : {}),
        ...(rewrite !== undefined && fits(rewrite, hook?.point ?? "before_tool_call") ? { rewrite } : {})
      },
      fits(rewrite, hook?.point ?? "before_tool_call") && b % 2 === 0
        ? hook === undefined
          ? [0, 7]
          : behind(7, hook.index)
        : undefined
    )
  },
  due: (walk: Walk): Command => ({ type: "due", at: walk.at, admissions: walk.admissions() }),
  poison: (walk: Walk): Command => ({ type: "poison", at: walk.at })
} as const

const weights: Readonly<Record<Move["what"], number>> = {
  submit: 10,
  submitRefused: 1,
  submitAgain: 3,
  submitWithModel: 2,
  retry: 2,
  edit: 2,
  remove: 2,
  promote: 4,
  cancel: 2,
  reply: 14,
  staleReply: 3,
  fail: 6,
  staleFail: 2,
  compact: 1,
  archive: 1,
  tooLong: 4,
  summary: 5,
  toolReturns: 10,
  hookDecides: 14,
  hooksOfMessages: 2,
  answer: 8,
  due: 6,
  poison: 1
}

const number = fc.nat({ max: 1_000 })
export const move: fc.Arbitrary<Move> = fc.record({
  what: fc.oneof(
    ...Object.entries(weights).map(([what, weight]) => ({ weight, arbitrary: fc.constant(what as Move["what"]) }))
  ),
  a: number,
  b: number,
  // Mostly no time passes; sometimes a pause or a wait ends, seldom a whole turn's.
  late: fc.oneof(
    { weight: 8, arbitrary: fc.nat({ max: 50 }) },
    { weight: 3, arbitrary: fc.nat({ max: 2_000 }) },
    { weight: 1, arbitrary: fc.nat({ max: 90_000 }) }
  ),
  cold: fc.boolean()
})
export const plans = fc.record({
  maxSteps: fc.integer({ min: 1, max: 5 }),
  maxParallelTools: fc.integer({ min: 1, max: 3 }),
  models: fc.constantFrom(["m/one"], ["m/one", "m/two"], ["m/one", "m/two", "m/three"])
})
