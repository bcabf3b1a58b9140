/**
 * Walks over the thread's chart. `Walk` holds T1 to T5, F1, F2 and the journal's invariants after
 * every command; here are only the ways: random ones, and the shortest to every state and one step on.
 */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { getNextTransitions } from "xstate"
import { getShortestPaths } from "xstate/graph"
import { chart, type Snapshot } from "../../machines/thread/chart.ts"
import { decide } from "../../machines/thread/decide.ts"
import { guards } from "../../machines/thread/guards.ts"
import { possible as possibleOf } from "../../machines/thread/inspect.ts"
import { refuse } from "../../machines/thread/refuse.ts"
import type { Command, ModelFailed } from "../../machines/thread/commands.ts"
import type { HookDecided, Rewrite } from "../../machines/thread/commands.ts"
import { runs } from "../../machines/thread/callState.ts"
import { deadlineOf, knownInput, openWaits } from "../../machines/thread/context.ts"
import { ann, call, clientCall, inputOf, plan, refusedCall, turnOf, usage, Walk } from "./Walk.ts"

/** Random ways; more by environment for a long night. */
const many = Number(process.env.TROUPE_WALKS ?? 250)
/** Milliseconds that so many may take. */
const patience = 60_000 + 240 * many

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
const modes = ["queue", "steer", "interrupt"] as const

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
const decisions = ["allow", "deny", "ask", "defer"] as const
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
const moves = {
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
const move: fc.Arbitrary<Move> = fc.record({
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
const plans = fc.record({
  maxSteps: fc.integer({ min: 1, max: 5 }),
  maxParallelTools: fc.integer({ min: 1, max: 3 }),
  models: fc.constantFrom(["m/one"], ["m/one", "m/two"], ["m/one", "m/two", "m/three"])
})

describe("any sequence of commands, valid, stale and nonsensical,", { timeout: patience }, () => {
  const seen = new Set<string>()

  it("keeps the invariants, with and without a cold load between, and a cold fold finds the live thread after each", () => {
    fc.assert(
      fc.property(plans, fc.array(move, { minLength: 1, maxLength: 60, size: "max" }), (limits, way) => {
        const walk = new Walk({ ...plan, ...limits })
        for (const { a, b, cold, late, what } of way) {
          walk.at += late
          const before = walk.snapshot
          const command = moves[what](walk, a, b)
          const taken = command.type === "submit" && knownInput(before.context, command.input.inputId) !== undefined
          if (walk.tell(command) !== undefined) assert.strictEqual(walk.snapshot, before)
          // At rest it comes with the plans of what waits, like any other command.
          else if (taken && before.context.turn !== null) assert.strictEqual(walk.snapshot, before)
          seen.add(JSON.stringify(walk.snapshot.value))
          if (cold) walk.reload()
        }
        for (const { type } of walk.log) seen.add(type)
      }),
      { numRuns: many }
    )
  })

  it("reaches every state and every kind of fact", () => {
    assert.includeMembers(
      [...seen],
      [
        '"idle"',
        '"failed"',
        '"cancelled"',
        '{"awaiting":"acting"}',
        '{"running":"sampling"}',
        '{"running":"pausing"}',
        '{"running":"acting"}',
        "user_message",
        "assistant_message",
        "tool_intent",
        "tool_result",
        "wait_created",
        "wait_resolved",
        "turn_completed",
        "turn_cancelled",
        "turn_failed",
        "compaction_wanted",
        "archived",
        "compacting",
        "compacted",
        '{"running":"compacting"}',
        "attempt_failed",
        "attempt_started",
        "call_started",
        "hook_decision",
        "response_received",
        "result_received",
        '{"running":"opening"}',
        '{"running":"reviewing"}'
      ]
    )
  })

  it("always comes to rest when outcomes keep coming", () => {
    fc.assert(
      fc.property(plans, fc.array(move, { minLength: 1, maxLength: 30, size: "max" }), (limits, way) => {
        const walk = new Walk({ ...plan, ...limits })
        for (const { a, b, late, what } of way) {
          walk.at += late
          walk.tell(moves[what](walk, a, b))
        }
        for (let i = 0; i < 500 && (walk.context.turn !== null || walk.context.pending.length > 0); i++) {
          if (walk.context.turn === null) {
            walk.due()
            continue
          }
          const { calls, retryAt } = walk.turn
          const running = calls.findIndex((call) => runs(call))
          if (walk.turn.round !== undefined) walk.summarises()
          else if (walk.asked.length > 0) walk.decides("allow")
          else if (running >= 0) walk.returns(running)
          else if (openWaits(walk.turn).length > 0) walk.answer()
          else if (retryAt !== undefined) walk.due(Math.max(0, retryAt - walk.at))
          else walk.reply()
        }
        assert.isNull(walk.context.turn)
        assert.deepStrictEqual(walk.context.pending, [])
      }),
      { numRuns: Math.ceil(many / 4) }
    )
  })
})

describe("a call that people and hooks rewrite again and again", { timeout: patience }, () => {
  const rewritten = fc.record({
    decision: fc.constantFrom("allow", "ask", "defer"),
    rewrites: fc.boolean(),
    hooks: fc.subarray([0, 1, 2])
  })

  it("keeps the invariants: no question and no wait comes twice, and a cold fold asks what the live thread asks", () => {
    let most = 0
    fc.assert(
      fc.property(fc.array(rewritten, { minLength: 4, maxLength: 60, size: "max" }), (way) => {
        const walk = new Walk({ ...plan, hooked: true })
          .queue("A")
          .reply("", call("a", { approval: "role_1/0", hooks: [0, 1, 2] }))
        for (const [n, { decision, hooks, rewrites }] of way.entries()) {
          const [asked] = walk.asked
          const wait = openWaits(walk.turn)[0]?.wait
          // The hooks that a rewrite concerns: all where a role's approval brings it, else those behind the one that
          // asks.
          const judges = hooks.filter((index) => index > (asked?.index ?? wait?.hook?.index ?? -1))
          const rewrite = { toolInput: n }
          most = Math.max(most, asked?.round ?? 0)
          if (asked !== undefined)
            walk.decides(decision, rewrites && decision !== "defer" ? { rewrite, hooks: judges } : {})
          else if (wait === undefined) return
          else if (rewrites) walk.answer(0, { type: "decision", decision: "allow", rewrite }, judges)
          else walk.answer()
        }
      }),
      { numRuns: many }
    )
    assert.isAbove(most, 1, "hooks were asked a third time")
  })
})

/** Each run goes every third step beyond the states, from a place that is printed; 1 is all of them. */
const stride = Number(process.env.TROUPE_WALK_STRIDE ?? 3)
const from = Number(process.env.TROUPE_WALK_FROM ?? Math.floor(Math.random() * stride))

describe("every short walk", { timeout: 60_000 + 180_000 / stride }, () => {
  // States of one shape offer the same commands at the same places. The ids in them differ by the way
  // that led there, so a path is walked by places.
  const places = new WeakMap<Command, number>()

  /** What might be told next, from a snapshot alone. */
  const possible = (snapshot: Snapshot): Array<Command> => {
    const commands = listed(snapshot)
    for (const [place, command] of commands.entries()) places.set(command, place)
    return commands
  }

  const listed = (snapshot: Snapshot): Array<Command> =>
    told(snapshot).filter(
      (command) => !["submit", "compact", "archive"].includes(command.type) || refuse(snapshot, command) === undefined
    )

  const told = (snapshot: Snapshot): Array<Command> => {
    const walk = new Walk({ ...plan, maxSteps: 2 })
    walk.snapshot = snapshot
    const turn = snapshot.context.turn
    const name = `w${++count}`
    const later = Math.max(
      walk.at,
      ...(turn === null ? [] : [turn.retryAt ?? 0, ...openWaits(turn).map(({ wait }) => wait.expiresAt)])
    )
    const commands: Array<Command> = [
      ...modes.map((mode) => walk.submission(name, mode)),
      {
        type: "cancel",
        at: walk.at,
        admissions: walk.admissions(),
        principal: { type: "user", id: "bob" },
        clearQueue: false
      },
      {
        type: "cancel",
        at: walk.at,
        admissions: walk.admissions(),
        principal: { type: "user", id: "bob" },
        clearQueue: true
      },
      { type: "compact", at: walk.at },
      { type: "archive", at: walk.at }
    ]
    walk.openings = [0]
    commands.push(walk.submission(name), walk.submission(name, "steer"))
    const first = snapshot.context.pending[0]
    if (first !== undefined) {
      commands.push({
        type: "promote",
        at: walk.at,
        admissions: walk.admissions(),
        inputId: first.inputId,
        mode: "steer",
        principal: first.principal
      })
      commands.push({
        type: "promote",
        at: walk.at,
        admissions: walk.admissions(),
        inputId: first.inputId,
        mode: "interrupt",
        principal: first.principal
      })
      commands.push({ type: "remove", at: walk.at, inputId: first.inputId })
      commands.push({ type: "edit", at: walk.at, inputId: first.inputId, content: [{ type: "text", text: "other" }] })
    }
    commands.push({ type: "due", at: later, admissions: walk.admissions() })
    if (turn === null) return commands
    commands.push(
      walk.response("text"),
      walk.response("", [call("a")]),
      walk.response("", [clientCall("x"), call("a")]),
      walk.response("", [clientCall("x")]),
      walk.response("", [call("a", { hooks: [0, 1] })]),
      walk.response("", [call("a", { approval: "role_1/0" }), refusedCall()]),
      walk.response("judged", [call("a")], { hooks: [3] }),
      walk.response("judged", [], { hooks: [3] }),
      walk.failure(),
      walk.failure({ transient: true }),
      walk.failure({ unavailable: true }),
      walk.tooLong(),
      walk.tooLong({ round: "overflow" }),
      walk.summary(),
      walk.noSummary(),
      { type: "poison", at: walk.at },
      { type: "due", at: deadlineOf(turn), admissions: walk.admissions() }
    )
    for (const { toolCallId } of turn.calls)
      commands.push(walk.returned(toolCallId), walk.returned(toolCallId, undefined, [3]))
    for (const {
      wait: { type, waitId }
    } of openWaits(turn)) {
      commands.push(
        ...(type === "client_tool"
          ? [walk.answering(waitId)]
          : (["allow", "deny"] as const).map((decision) => walk.answering(waitId, { type: "decision", decision })))
      )
    }
    for (const [
      place,
      {
        data: { point }
      }
    ] of walk.asked.entries()) {
      commands.push(...decisions.map((decision) => walk.decision(decision, {}, place)))
      if (point === "after_model_response")
        commands.push(walk.decision("allow", { rewrite: { content: [] }, hooks: [] }, place))
    }
    return commands
  }

  /**
   * Which differences count: where the turn stands, what its calls do, who waits for what, what kinds of
   * inputs wait. A model's number counts while it is asked, how the last turn ended counts at rest: all of
   * them times each other would be ten times as many states, and random walks go there.
   */
  const shape = ({ context: { carry, pending, turn }, value }: Snapshot) => {
    const kinds = pending.map(({ forTurnId }) =>
      forTurnId === undefined ? "queued" : forTurnId === turn?.turnId ? "steers" : "late"
    )
    const asked =
      typeof value === "object" && "running" in value && (value.running === "sampling" || value.running === "pausing")
    return JSON.stringify([
      value,
      turn?.step,
      asked ? [turn?.attempt, turn?.target] : [],
      [...new Set(kinds)].sort(),
      turn === null ? [carry.last?.outcome] : [],
      turn?.calls.map(({ grant, hooks, state }) => [state.type, "returned" in state, hooks, grant]),
      carry.archivedAt !== undefined,
      turn?.round?.name,
      turn?.unbuilt,
      turn?.opening?.messages.map(({ hooks }) => hooks),
      turn?.opening?.wait?.type,
      turn?.reviewing?.hooks,
      turn?.reviewing?.reply.calls.length,
      turn?.reviewing?.wait?.type,
      carry.approvals?.length
    ])
  }

  const paths = getShortestPaths(chart, {
    events: possible,
    serializeState: (snapshot) => shape(snapshot),
    stopWhen: ({ context: { pending, pos, turn } }) =>
      pending.length > 1 || pos > 12 || (turn?.attempt ?? 0) > 2 || (turn?.rounds?.builds ?? 0) > 1
  })

  const take = (walk: Walk, place: number) => {
    const command = listed(walk.snapshot)[place] ?? assert.fail("states of one shape offer different commands")
    walk.at = Math.max(walk.at, command.at)
    walk.tell({ ...command, at: walk.at })
    return walk
  }

  /** Paths begin as others do: every step is walked once. */
  const known = new Map<string, Walk>()
  const walked = (way: ReadonlyArray<number>): Walk => {
    const key = way.join()
    const walk =
      known.get(key) ??
      (way.length === 0 ? new Walk({ ...plan, maxSteps: 2 }) : take(walked(way.slice(0, -1)).fork(), way.at(-1) ?? 0))
    known.set(key, walk)
    return walk
  }

  /** The transition that a command takes, by the guards in their order. */
  const wayOf = (snapshot: Snapshot, event: Command) =>
    [...getNextTransitions(snapshot), ...snapshot._nodes.flatMap(({ always = [] }) => always)].find(
      ({ eventType, guard }) =>
        (eventType === event.type || eventType === "") &&
        (typeof guard !== "string" || guards[guard as keyof typeof guards]({ context: snapshot.context, event }))
    )?.description

  it("to every state finds possible exactly what a command can do there", () => {
    for (const { state } of paths) {
      const offered = new Map(possibleOf(state).map(({ event, ways }) => [event, ways.map((way) => way.description)]))
      const taken = new Set<Command["type"]>()
      for (const command of listed(state)) {
        if (refuse(state, command) !== undefined) continue
        const { next } = decide(state, command)
        if (next.context === state.context && next.value === state.value) continue
        taken.add(command.type)
        assert.include(
          offered.get(command.type) ?? [],
          wayOf(state, command),
          `${command.type} in ${JSON.stringify(state.value)}`
        )
      }
      assert.deepStrictEqual(
        [...offered].flatMap(([event, ways]) => (ways.length === 0 ? [] : [event])).sort(),
        [...taken].sort(),
        JSON.stringify(state.value)
      )
    }
  })

  it(`to every state, and commands from there (TROUPE_WALK_STRIDE=${stride} TROUPE_WALK_FROM=${from}), keeps the invariants`, () => {
    const states = new Set(paths.map(({ state }) => JSON.stringify(state.value)))
    assert.strictEqual(states.size, 12)
    let commands = 0
    let walks = 0
    for (const { state, steps } of paths) {
      const there = walked(
        steps.slice(1).map(({ event }) => places.get(event as Command) ?? assert.fail("a step that was not offered"))
      )
      for (let next = 0; next < listed(state).length; next++) {
        if (commands++ % stride !== from) continue
        take(there.fork(), next)
        walks++
      }
    }
    console.log(`short walks: ${paths.length} states, ${walks} of ${commands} commands`)
    assert.isAbove(paths.length, 100)
    assert.isAbove(commands, 1_000)
    assert.isAtLeast(walks, Math.floor(commands / stride))
  })
})
