/** Verdicts on calls are asked for when a response comes, and again when somebody has answered a day later. */
import { Effect } from "effect"
import type { Failure } from "../../../src/domain/failure.ts"
import type { Snapshot } from "../../../machines/thread/chart.ts"
import type { RepliedCall } from "../../../machines/thread/commands.ts"
import { approvedOf } from "../../../machines/thread/callState.ts"
import { type Call, returnedOf, type Turn } from "../../../machines/thread/context.ts"
import { callSubject } from "../../../machines/thread/subject.ts"
import type { ActorView } from "../../Kind.ts"
import { callBy, settingsOf } from "../settings.ts"
import { hooksAbout, type Toolkit, type ToolkitOf, withHooks } from "./toolkit.ts"

export type Verdicts = ReturnType<typeof makeVerdicts>

export const makeVerdicts = (toolkitOf: ToolkitOf) => {
  /** Calls of a response, with what stands behind each now. */
  const standing = Effect.fnUntraced(function* (
    being: ActorView<Snapshot>,
    toolkit: Toolkit,
    calls: ReadonlyArray<Omit<RepliedCall, "verdict">>
  ) {
    const settings = settingsOf(being)
    const verdicts = yield* toolkit.verdicts(callBy(being), calls)
    return calls.map((call, i): RepliedCall => {
      const verdict = verdicts[i]!
      if ("refused" in verdict) return { ...call, verdict }
      const { toolsetId } = verdict
      const { input, name } = call
      const data = callSubject({ toolCallId: "", name, input, ...(toolsetId === undefined ? {} : { toolsetId }) })
      return { ...call, verdict: { ...verdict, ...withHooks(hooksAbout(toolkit.hooks, data, settings)) } }
    })
  })

  /** What goes on once somebody has answered, or once nobody has, may be a day old. */
  const releasing = Effect.fnUntraced(function* (being: ActorView<Snapshot>, turn: Turn, calls: ReadonlyArray<Call>) {
    const clients = calls.filter((call) => call.client !== undefined && returnedOf(call) === undefined)
    const reviewed = turn.reviewing?.reply.calls ?? []
    if (clients.length === 0 && reviewed.length === 0) return {}
    const toolkit = yield* toolkitOf(being, turn)
    const refused: Record<string, Failure> = {}
    for (const call of clients) {
      const approved = approvedOf(call)
      const toolRun = { name: call.name, input: call.input, ...(approved === undefined ? {} : { approved }) }
      const failure = yield* toolkit.refusal(callBy(being), toolRun)
      if (failure !== undefined) refused[call.toolCallId] = failure
    }
    return { refused, ...(reviewed.length === 0 ? {} : { calls: yield* standing(being, toolkit, reviewed) }) }
  })

  return { standing, releasing }
}
