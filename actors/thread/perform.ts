/**
 * Performs a thread's jobs: one model call, one tool call, one question to a hook. Each outcome comes back
 * as a request.
 */
import { Duration, Effect } from "effect"
import type { Bus } from "../../src/bus/Bus.ts"
import { derive } from "../../src/domain/ids.ts"
import { messageNumber, mostCalls } from "../../src/domain/turnNumbers.ts"
import type { Hooks } from "../../src/hooks/Hooks.ts"
import { ModelFailure, type Models } from "../../src/models/Model.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Job } from "../../machines/thread/draft.ts"
import { failing } from "../../src/now.ts"
import type { Being } from "../Kind.ts"
import { deliveryIdOf } from "./deliveries.ts"
import type { Prompts } from "./prompts.ts"
import type { Outcome } from "./requests.ts"
import { callBy, settingsOf } from "./settings.ts"
import { emptyKit, judgesResponses, type ToolOutcome, type ToolRun, type Tools } from "./tools.ts"

export interface Performing {
  readonly models: Models["Service"]
  readonly prompts: Prompts
  readonly tools: Tools
  readonly hooks: Pick<Hooks["Service"], "evaluate">
  readonly bus: Bus["Service"]
  /** In [0, 1). */
  readonly random: () => number
}

const asJson = (value: unknown): unknown => value === undefined ? null : JSON.parse(JSON.stringify(value))

type Failed = Extract<Outcome, { readonly type: "model.failed" }>
type Sample = Extract<Job, { readonly type: "sample" }>["params"]
type HookAsked = Extract<Job, { readonly type: "askHook" }>["params"]

const unreadable = () =>
  new ModelFailure({ code: "internal", text: "The conversation could not be read.", transient: true, unavailable: false })

const noKit = () =>
  new ModelFailure({ code: "internal", text: "The turn's profile or tools could not be read.", transient: true, unavailable: false })

export const makePerform = ({ bus, hooks, models, prompts, random, tools }: Performing) => {
  const sample = (being: Being<Snapshot>, { attempt, modelId, step, turnId }: Sample): Effect.Effect<Outcome> => {
    const { parent, ref } = being
    const about = { workspace: ref.workspace, agentId: parent ?? "", threadId: ref.id }
    const eventId = derive("event", turnId, messageNumber(step))
    /** Pieces that were published. */
    let index = 0
    const onText = (hidden: boolean) => (text: string) => {
      if (!hidden && bus.wantsDeltas(about)) bus.publish({ ...about, type: "delta", turnId, eventId, index: index++, text })
    }
    const discard = () => {
      if (index > 0) bus.publish({ ...about, type: "discard", eventId })
    }
    const failed = (why: Pick<Failed, "code" | "text"> & Partial<Failed>): Outcome => {
      discard()
      return { type: "model.failed", turnId, step, attempt, modelId, transient: false, unavailable: false, jitter: random(), ...why }
    }
    const { pos, turn } = being.snapshot.context
    return Effect.gen(function*() {
      const messages = yield* failing(prompts.upTo(ref, pos), unreadable)
      const kit = turn === null ? emptyKit : yield* failing(tools.kit(ref.workspace, turn.plan), noKit)
      const definitions = yield* failing(kit.definitions(callBy(being)), noKit)
      const { systemPrompt: system } = kit
      const { calls, parts, text, usage } = yield* models.sample({
        modelId,
        // What hooks have to judge first is shown to nobody.
        onText: onText(judgesResponses(kit.hooks, settingsOf(being))),
        prompt: { messages, tools: definitions, turnId, purpose: "turn", ...(system === undefined ? {} : { system }) }
      })
      if (calls.length === 0 && !/\S/u.test(text)) {
        return failed({ code: "model_error", text: "The model answered with neither text nor calls.", empty: true })
      }
      if (calls.length > mostCalls) {
        return failed({ code: "model_error", text: `The model asked for ${calls.length} calls at once; at most ${mostCalls} are run.` })
      }
      const replied: Outcome = {
        type: "model.replied", turnId, step, attempt, modelId, text, usage,
        // As it will be read and sent: JSON has no word for 1e400. What was not JSON is kept as the text it was.
        calls: calls.map(({ input, invalidInput, name, providerToolCallId }) => ({ name, providerToolCallId, input: asJson(invalidInput ?? input) })),
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

  const runTool = Effect.fnUntraced(function*(being: Being<Snapshot>, run: ToolRun) {
    const { toolCallId, turnId } = run
    const { turn } = being.snapshot.context
    const [duration, outcome] = yield* Effect.timed(Effect.suspend(() => turn === null ? emptyKit.run(callBy(being), run) : tools.kit(being.ref.workspace, turn.plan).pipe(
      Effect.flatMap((kit) => kit.run(callBy(being), run)),
      Effect.catch(() => Effect.succeed<ToolOutcome>({ failure: { code: "internal", text: "The turn's tools could not be read." } })),
      Effect.catchDefect((defect) =>
        Effect.map(Effect.logError("a tool call broke", defect), (): ToolOutcome =>
          ({ failure: { code: "internal", text: "The tool call broke. The server's log says why." } })))
    )))
    const returned: Outcome = { type: "tool.returned", turnId, toolCallId, durationMs: Math.round(Duration.toMillis(duration)), ...outcome }
    return returned
  })

  const askHook = Effect.fnUntraced(function*(being: Being<Snapshot>, { data, index, message, step, turnId }: HookAsked) {
    const { parent, ref, snapshot: { context: { turn } } } = being
    if (turn === null) return undefined
    const toolCallId = "toolCallId" in data ? { toolCallId: data.toolCallId } : {}
    const deliveryId = deliveryIdOf({ turnId, step, point: data.point, index, ...toolCallId, ...(message === undefined ? {} : { message }) })
    const asked = { type: "hook.decided" as const, turnId, step, index, point: data.point, ...toolCallId, ...(message === undefined ? {} : { message }), deliveryId }
    // Without its profile nobody knows what the hook is: it fails closed.
    const unknown: Outcome = {
      ...asked, hookId: "", processor: "client", decision: "deny", latencyMs: 0, failed: true, reason: "The turn's profile could not be read."
    }
    const hook = yield* tools.kit(ref.workspace, turn.plan).pipe(Effect.map((kit) => kit.hooks[index]), Effect.catch(() => Effect.succeed(undefined)))
    if (hook === undefined) return unknown
    const known = { hookId: hook.id, processor: hook.processor.type }
    return yield* hooks.evaluate({
      workspace: ref.workspace, agentId: parent ?? "", threadId: ref.id, turnId, principal: turn.principal,
      hook, index, deliveryId, data, reviewer: settingsOf(being).reviews !== undefined
    }).pipe(
      Effect.map((outcome): Outcome => ({ ...asked, ...known, ...outcome })),
      Effect.catchDefect((defect) =>
        Effect.map(Effect.logError("a hook's evaluation broke", defect), (): Outcome => ({ ...unknown, ...known, reason: "The evaluation broke. The server's log says why." })))
    )
  })

  return (being: Being<Snapshot>, job: Job): Effect.Effect<Outcome | undefined> => {
    switch (job.type) {
      case "sample":
        return sample(being, job.params)
      case "runTool":
        return runTool(being, job.params)
      case "askHook":
        return askHook(being, job.params)
      case "abandon":
        return Effect.succeed(undefined)
    }
  }
}
export type Perform = ReturnType<typeof makePerform>
