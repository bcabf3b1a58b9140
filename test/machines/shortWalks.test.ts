/** Walks over the thread's chart: the shortest to every state, and one step on. `Walk` holds the invariants on the way. */
import { assert, describe, it } from "@effect/vitest"
import { getNextTransitions } from "xstate"
import { getShortestPaths } from "xstate/graph"
import { chart, type Snapshot } from "../../machines/thread/chart.ts"
import { decide } from "../../machines/thread/decide.ts"
import { guards } from "../../machines/thread/guards.ts"
import { possible as possibleOf } from "../../machines/thread/inspect.ts"
import { refuse } from "../../machines/thread/refuse.ts"
import type { Command } from "../../machines/thread/commands.ts"
import { deadlineOf, openWaits } from "../../machines/thread/context.ts"
import { Walk } from "./Walk.ts"
import { call, clientCall, plan, refusedCall } from "./WalkCommands.ts"
import { decisions, modes } from "./moves.ts"

/** Each run goes every third step beyond the states, from a place that is printed; 1 is all of them. */
const stride = Number(process.env.TROUPE_WALK_STRIDE ?? 3)
const from = Number(process.env.TROUPE_WALK_FROM ?? Math.floor(Math.random() * stride))

describe("every short walk", { timeout: 60_000 + 180_000 / stride }, () => {
  // States of one shape offer the same commands at the same places. The ids in them differ by the way
  // that led there, so a path is walked by places.
  const places = new WeakMap<Command, number>()

  /** Of the inputs that commands bring: no two have one name. */
  let count = 0

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
