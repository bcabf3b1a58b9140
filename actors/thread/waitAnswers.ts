/** Answers to waits: whether they fit what is asked, and what goes on with them. */
import { Effect } from "effect"
import type { HookData } from "../../src/domain/hook.ts"
import { rewriteProblem } from "../../src/hooks/answer.ts"
import { cutOutput } from "../../src/tools/output.ts"
import { clientFailure } from "../../machines/thread/calls.ts"
import { approved } from "../../machines/thread/callState.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Rewrite, GivenAnswer } from "../../machines/thread/commands.ts"
import { openWaits, type Turn } from "../../machines/thread/context.ts"
import { resultSubject, subjectOf } from "../../machines/thread/subject.ts"
import { Declined } from "../Actor.ts"
import type { ActorView } from "../Kind.ts"
import type { AdmissionsOf } from "./admissions.ts"
import type { Of } from "./requests.ts"
import { settingsOf } from "./settings.ts"
import { hooksAbout, type Toolkit, type ToolkitOf, withHooks } from "./tools/toolkit.ts"
import type { Verdicts } from "./tools/verdicts.ts"

const fields = {
  before_turn_start: "content",
  after_model_response: "content",
  before_tool_call: "toolInput",
  after_tool_result: "toolOutput"
} as const

const invalid = (message: string) => new Declined({ reason: "invalid_request", code: "invalid_body", message })

/** A person may rewrite what is judged, and nothing else. */
const misfit = Effect.fnUntraced(function* (rewrite: Rewrite, data: HookData, toolkit: Toolkit) {
  const field = fields[data.point]
  const other = Object.keys(rewrite).find((key) => key !== field)
  if (other !== undefined || !(field in rewrite))
    return invalid(
      `rewrite${other === undefined ? "" : `.${other}`}: at ${data.point} it holds ${field}, and nothing else.`
    )
  if (data.point === "before_tool_call") {
    const problem = yield* toolkit.problem(data.toolName, "input", rewrite.toolInput)
    return problem === undefined ? undefined : invalid(`rewrite.toolInput: ${problem}`)
  }
  const problem = rewriteProblem(data, rewrite)
  return problem === undefined ? undefined : invalid(problem)
})

export const makeWaitAnswers = (admissionsOf: AdmissionsOf, toolkitOf: ToolkitOf, { releasing }: Verdicts) => {
  const answering = Effect.fnUntraced(function* (
    being: ActorView<Snapshot>,
    { answer, from, principal, waitId }: Of<"answer">,
    at: number
  ) {
    const { turn } = being.snapshot.context
    const found = openWaits(turn).find(({ wait }) => wait.waitId === waitId)
    const command = { type: "answer" as const, at, admissions: yield* admissionsOf(being), waitId, principal }
    // Nothing waits, or for something else: the chart says so.
    if (found === undefined || turn === null || (found.wait.type === "client_tool") !== (answer.type === "tool_result"))
      return { at, command: { ...command, answer } }
    const { asked, reviews } = settingsOf(being)
    if (
      principal.type === "agent" &&
      (from === being.ref.id || [being.parent, asked?.agentId, reviews?.agentId].includes(principal.id))
    ) {
      return yield* new Declined({
        reason: "permission_denied",
        message: "An agent resolves the waits neither of its own threads nor of threads that it has asked for."
      })
    }
    const toolkit = yield* toolkitOf(being, turn)
    const { call, wait } = found
    const settings = settingsOf(being)
    if (answer.type === "tool_result") {
      if (call === undefined) return { at, command: { ...command, answer } }
      if (!("output" in answer)) {
        const data = resultSubject(call, { failure: clientFailure(answer.error) })
        return { at, command: { ...command, answer, ...withHooks(hooksAbout(toolkit.hooks, data, settings)) } }
      }
      const problem = yield* toolkit.problem(call.name, "output", answer.output)
      if (problem !== undefined) return yield* invalid(`output: ${problem}`)
      const output = cutOutput(answer.output)
      const kept: GivenAnswer = { type: "tool_result", output }
      return {
        at,
        command: {
          ...command,
          answer: kept,
          ...withHooks(hooksAbout(toolkit.hooks, resultSubject(call, { output }), settings))
        }
      }
    }
    const before = subjectOf(turn, call?.toolCallId, undefined)
    const data = subjectOf(turn, call?.toolCallId, answer.rewrite)
    if (answer.decision === "deny" || before === undefined || data === undefined)
      return { at, command: { ...command, answer } }
    const wrong = answer.rewrite === undefined ? undefined : yield* misfit(answer.rewrite, before, toolkit)
    if (wrong !== undefined) return yield* wrong
    const input = data.point === "before_tool_call" ? { input: data.toolInput } : {}
    // The answer itself is what the roles have asked for.
    const released = call && { ...(wait.type === "role_approval" ? approved(call) : call), ...input }
    const late = yield* releasing(being, turn, released === undefined ? [] : [released])
    return {
      at,
      command: {
        ...command,
        ...late,
        answer,
        hooks: hooksAbout(toolkit.hooks, data, settings, (wait.hook?.index ?? -1) + 1)
      }
    }
  })

  /** Waits that end now as an allow: what they held goes on. */
  const expiring = Effect.fnUntraced(function* (
    being: ActorView<Snapshot>,
    turn: Turn,
    request: Of<"due">,
    at: number
  ) {
    const admissions = yield* admissionsOf(being)
    const going = openWaits(turn).filter(({ wait }) => wait.expiresAt <= at && wait.onTimeout === "allow")
    const late =
      going.length === 0
        ? {}
        : yield* releasing(
            being,
            turn,
            going.flatMap(({ call }) => call ?? [])
          )
    return { at, command: { ...request, ...late, at, admissions, ...queued(being, turn) } }
  })

  return { answering, expiring }
}

/** Time in line, which is no running time. */
export const queued = ({ desk }: ActorView<Snapshot>, { runningSince }: Turn) => ({
  queuedMs: desk.queuedMs(runningSince)
})
