/**
 * Completes what reaches a thread's mailbox with what the chart needs and does not hold: the time, how
 * waiting inputs would run, what stands behind calls, and which hooks are asked about what. Mostly from
 * memory: a turn without tools and hooks asks for nothing.
 */
import { Effect } from "effect"
import { flatMapNow } from "../../src/now.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Turn } from "../../machines/thread/context.ts"
import { responseSubject, resultSubject, subjectOf } from "../../machines/thread/subject.ts"
import { Declined, type Unreachable } from "../Actor.ts"
import type { ActorView } from "../Kind.ts"
import { unreachable } from "../live.ts"
import { makeAdmissions } from "./admissions.ts"
import type { Prepared, Preparing } from "./prepared.ts"
import type { Of, ThreadRequest } from "./requests.ts"
import { settingsOf } from "./settings.ts"
import { makeSubmits } from "./submits.ts"
import { hooksAbout, toolkitIn, withHooks } from "./tools/toolkit.ts"
import { makeVerdicts } from "./tools/verdicts.ts"
import { makeWaitAnswers, queued } from "./waitAnswers.ts"

/** The tool, or whatever stood in its place, has been reached: hooks see what it said. */
const reachedCodes: ReadonlySet<string> = new Set([
  "tool_error",
  "tool_timeout",
  "toolset_unreachable",
  "toolset_unauthorized"
])

export const makePrepare = (preparing: Preparing) => {
  const { admissionOf, journal, spendOf, tools } = preparing
  const spend = (being: ActorView<Snapshot>) => spendOf(being.ref.workspace, being.parent ?? "")
  const toolkitOf = toolkitIn(tools)
  const admissionsOf = makeAdmissions(admissionOf, toolkitOf)
  const verdicts = makeVerdicts(toolkitOf)
  const { releasing, standing } = verdicts
  const { answering, expiring } = makeWaitAnswers(admissionsOf, toolkitOf, verdicts)
  const { editing, retrying, submitting } = makeSubmits(preparing, admissionsOf)

  /** What a Thread detail tells beside the thread itself. */
  const shown = Effect.fnUntraced(function* (being: ActorView<Snapshot>) {
    // Edited past the actor, perhaps on another node.
    const attributes = yield* Effect.mapError(journal.attributes(being.ref), unreachable)
    return { spend: yield* spend(being), ...(attributes === undefined ? {} : { attributes }) }
  })

  const cancelling = Effect.fnUntraced(function* (being: ActorView<Snapshot>, request: Of<"cancel">, at: number) {
    const admissions = yield* admissionsOf(being)
    return { at, command: { ...request, at, admissions }, ...(yield* shown(being)) }
  })

  const compactingNext = Effect.fnUntraced(function* (being: ActorView<Snapshot>, request: Of<"compact">, at: number) {
    // Of an archived thread the chart says so, however many turns it has.
    const { archivedAt } = being.snapshot.context.carry
    if (archivedAt === undefined && !(yield* preparing.compactable(being)))
      return yield* new Declined({
        reason: "nothing_to_compact",
        message: "There is no turn before the turns that stay as they are."
      })
    return { at, command: { ...request, at }, ...(yield* shown(being)) }
  })

  /** Plain: no calls to look up, and nobody to ask. */
  const isPlain = (turn: Turn, calls: ReadonlyArray<unknown>) => calls.length === 0 && turn.plan.hooked !== true

  const replied = Effect.fnUntraced(function* (
    being: ActorView<Snapshot>,
    turn: Turn,
    request: Of<"model.replied">,
    at: number
  ) {
    const admissions = yield* admissionsOf(being)
    const toolkit = yield* toolkitOf(being, turn)
    const calls = yield* standing(being, toolkit, request.calls)
    const data = responseSubject(request)
    return {
      at,
      command: { ...request, calls, at, admissions, ...withHooks(hooksAbout(toolkit.hooks, data, settingsOf(being))) }
    }
  })

  const decided = Effect.fnUntraced(function* (
    being: ActorView<Snapshot>,
    turn: Turn,
    request: Of<"hook.decided">,
    at: number
  ) {
    const admissions = yield* admissionsOf(being)
    const data =
      request.rewrite === undefined || (request.decision !== "allow" && request.decision !== "ask")
        ? undefined
        : subjectOf(turn, request.toolCallId, request.rewrite)
    const input = data?.point === "before_tool_call" ? { input: data.toolInput } : {}
    const call = turn.calls.find(({ toolCallId }) => toolCallId === request.toolCallId)
    const late =
      request.decision === "deny"
        ? {}
        : yield* releasing(being, turn, call === undefined ? [] : [{ ...call, ...input }])
    if (data === undefined) return { at, command: { ...request, ...late, at, admissions } }
    const { hooks } = yield* toolkitOf(being, turn)
    return {
      at,
      command: {
        ...request,
        ...late,
        at,
        admissions,
        hooks: hooksAbout(hooks, data, settingsOf(being), request.index + 1)
      }
    }
  })

  const returned = Effect.fnUntraced(function* (
    being: ActorView<Snapshot>,
    turn: Turn,
    request: Of<"tool.returned">,
    at: number
  ) {
    const admissions = yield* admissionsOf(being)
    const { failure, toolCallId } = request
    const call = turn.calls.find((other) => other.toolCallId === toolCallId)
    if (call === undefined || (failure !== undefined && !reachedCodes.has(failure.code)))
      return { at, command: { ...request, at, admissions } }
    const { hooks } = yield* toolkitOf(being, turn)
    return {
      at,
      command: {
        ...request,
        at,
        admissions,
        ...withHooks(hooksAbout(hooks, resultSubject(call, request), settingsOf(being)))
      }
    }
  })

  return (
    being: ActorView<Snapshot>,
    request: ThreadRequest,
    at: number
  ): Effect.Effect<Prepared, Declined | Unreachable> => {
    const { turn } = being.snapshot.context
    switch (request.type) {
      case "create":
        return flatMapNow(spend(being), (spend) => Effect.succeed({ at, creating: true, spend }))
      case "submit":
        return submitting(being, request, at)
      case "retry":
        return retrying(being, request, at)
      case "edit":
        return editing(being, request, at)
      case "remove":
      case "poison":
        return Effect.succeed({ at, command: { ...request, at } })
      case "cancel":
        return cancelling(being, request, at)
      case "compact":
        return compactingNext(being, request, at)
      case "archive":
        return Effect.map(shown(being), (shown) => ({ at, command: { ...request, at }, ...shown }))
      case "answer":
        return answering(being, request, at)
      case "model.replied": {
        if (turn !== null && !isPlain(turn, request.calls)) return replied(being, turn, request, at)
        const calls = request.calls.map((call) => ({
          ...call,
          verdict: { refused: { code: "turn_interrupted" as const, text: "The turn is over." } }
        }))
        return flatMapNow(admissionsOf(being), (admissions) =>
          Effect.succeed({ at, command: { ...request, calls, at, admissions } })
        )
      }
      case "hook.decided":
        if (turn !== null) return decided(being, turn, request, at)
        break
      case "due":
        if (turn?.plan.hooked === true) return expiring(being, turn, request, at)
        return flatMapNow(admissionsOf(being), (admissions) =>
          Effect.succeed({ at, command: { ...request, at, admissions, ...(turn === null ? {} : queued(being, turn)) } })
        )
      case "tool.returned":
        if (turn?.plan.hooked === true) return returned(being, turn, request, at)
        break
    }
    return flatMapNow(admissionsOf(being), (admissions) =>
      Effect.succeed({ at, command: { ...request, at, admissions } })
    )
  }
}
