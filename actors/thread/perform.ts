/**
 * Performs a thread's jobs: one model call, one tool call. Each outcome comes back as a request.
 */
import { Duration, Effect } from "effect"
import type { Bus } from "../../src/bus/Bus.ts"
import { derive } from "../../src/domain/ids.ts"
import { ModelFailure, type Models } from "../../src/models/Model.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import { messageNumber } from "../../machines/thread/facts.ts"
import type { Being } from "../Kind.ts"
import type { ThreadJob } from "./again.ts"
import type { Prompts } from "./prompts.ts"
import type { Outcome } from "./requests.ts"
import type { Tools } from "./tools.ts"

export interface Performing {
  readonly models: Models["Service"]
  readonly prompts: Prompts
  readonly tools: Tools
  readonly bus: Bus["Service"]
  readonly systemPrompt: (being: Being<Snapshot>) => Effect.Effect<string | undefined, ModelFailure>
  /** In [0, 1). */
  readonly random: () => number
}

/** Calls of one response: more is not a plan, it is a runaway. */
const mostCalls = 128

type Failed = Extract<Outcome, { readonly type: "model.failed" }>
type Sample = Extract<ThreadJob, { readonly type: "sample" }>["params"]

const unreadable = () =>
  new ModelFailure({ code: "internal", text: "The conversation could not be read.", transient: true, unavailable: false })

export const makePerform = ({ bus, models, prompts, random, systemPrompt, tools }: Performing) => {
  const sample = (being: Being<Snapshot>, { attempt, modelId, step, turnId }: Sample): Effect.Effect<Outcome> => {
    const { parent, ref } = being
    const about = { workspace: ref.workspace, agentId: parent ?? "", threadId: ref.id }
    const eventId = derive("event", turnId, messageNumber(step))
    let index = 0
    let shown = false
    const onText = (text: string) => {
      if (!bus.watched(about)) return
      shown = true
      bus.publish({ ...about, type: "delta", turnId, eventId, index: index++, text })
    }
    const discard = () => {
      if (shown) bus.publish({ ...about, type: "discard", eventId })
    }
    const failed = (why: Pick<Failed, "code" | "text"> & Partial<Failed>): Outcome => {
      discard()
      return { type: "model.failed", turnId, step, attempt, modelId, transient: false, unavailable: false, shown, jitter: random(), ...why }
    }
    const { pos } = being.snapshot.context
    return Effect.gen(function*() {
      const messages = yield* Effect.mapError(prompts.upTo(ref, pos), unreadable)
      const system = yield* systemPrompt(being)
      const { calls, parts, text, usage } = yield* models.sample({
        modelId, onText,
        prompt: { messages, tools: [], turnId, purpose: "turn", ...(system === undefined ? {} : { system }) }
      })
      if (calls.length === 0 && !/\S/u.test(text)) {
        return failed({ code: "model_error", text: "The model answered with neither text nor calls.", empty: true, shown: false })
      }
      if (calls.length > mostCalls) {
        return failed({ code: "model_error", text: `The model asked for ${calls.length} calls at once; at most ${mostCalls} are run.` })
      }
      const replied: Outcome = {
        type: "model.replied", turnId, step, attempt, modelId, text, usage,
        // What was not JSON is kept as the text it was: no tool takes it for valid input.
        calls: calls.map(({ input, invalidInput, name, providerToolCallId }) => ({ name, providerToolCallId, input: invalidInput ?? input })),
        ...(parts === undefined ? {} : { parts })
      }
      return replied
    }).pipe(
      Effect.catchTag("ModelFailure", ({ code, details, retryAfterMs, text, transient, unavailable }) =>
        Effect.sync(() => failed({
          code, text, transient, unavailable,
          ...(details === undefined ? {} : { details }),
          ...(retryAfterMs === undefined ? {} : { retryAfterMs })
        }))),
      Effect.catchDefect((defect) =>
        Effect.map(Effect.logError("a model call broke", defect), () =>
          failed({ code: "internal", text: "The model call broke. The server's log says why." }))),
      Effect.onInterrupt(() => Effect.sync(discard))
    )
  }

  return (being: Being<Snapshot>, job: ThreadJob): Effect.Effect<Outcome | undefined> => {
    switch (job.type) {
      case "sample":
        return sample(being, job.params)
      case "runTool": {
        const { input, name, toolCallId, turnId } = job.params
        return Effect.map(Effect.timed(tools.run(name, input, toolCallId)), ([duration, outcome]) => ({
          type: "tool.returned", turnId, toolCallId, durationMs: Math.round(Duration.toMillis(duration)), ...outcome
        }))
      }
      case "reportLost":
        return Effect.succeed({
          type: "tool.returned", durationMs: 0, ...job.params,
          failure: { code: "tool_outcome_unknown", text: "The node that ran the call was lost; the call may or may not have taken effect." }
        })
      case "abandon":
        return Effect.succeed(undefined)
    }
  }
}
export type Perform = ReturnType<typeof makePerform>
