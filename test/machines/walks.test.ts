/**
 * Random walks over the thread's chart. `Walk` holds T1 to T5, F1, F2 and the journal's invariants after every command;
 * here are only the ways.
 */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { runs } from "../../machines/thread/callState.ts"
import { knownInput, openWaits } from "../../machines/thread/context.ts"
import { Walk } from "./Walk.ts"
import { call, plan } from "./WalkCommands.ts"
import { move, moves, plans } from "./moves.ts"

/** Random ways; more by environment for a long night. */
const many = Number(process.env.TROUPE_WALKS ?? 250)
/** Milliseconds that so many may take. */
const patience = 60_000 + 240 * many

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
