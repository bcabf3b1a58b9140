/**
 * Model calls of a thread: a response of its turn, and a summary of its conversation. The highest cost of a call is set
 * aside first; pieces of a response are published as they come, unless hooks have to judge it before anybody sees it.
 */
import { Effect } from "effect"
import type { Bus } from "../../src/bus/Bus.ts"
import type { FinishReason } from "../../src/domain/event.ts"
import { derive } from "../../src/domain/ids.ts"
import { messageNumber, mostCalls } from "../../src/domain/turnNumbers.ts"
import type { Images } from "../../src/images/Images.ts"
import { reservationOf, summaryReservationOf } from "../../src/agents/Budgets.ts"
import type { ModelReply, Models, Prompt } from "../../src/models/Model.ts"
import { imagesIn } from "../../src/models/images.ts"
import { pricesOf } from "../../src/models/prices.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Turn } from "../../machines/thread/context.ts"
import type { Job } from "../../machines/thread/draft.ts"
import type { ActorView, Start } from "../Kind.ts"
import { makeCompacting, type Summarise } from "./compacting.ts"
import { type Prompts, stretchOf } from "./memory/prompts.ts"
import type { Outcome } from "./requests.ts"
import { makePaying, type Paying, type PricedCall } from "./paying.ts"
import { callBy, settingsOf } from "./settings.ts"
import { emptyToolkit, judgesResponses, type Toolkit } from "./tools/toolkit.ts"

/** What asks a model. */
export interface SamplingServices extends Omit<Paying, "needed" | "prices"> {
  readonly models: Models["Service"]
  readonly prompts: Prompts
  readonly images: Pick<Images["Service"], "bytesOf" | "load">
  readonly bus: Bus["Service"]
  /** In [0, 1). */
  readonly random: () => number
}

interface Sampling extends SamplingServices {
  /** Waits for what this node cannot give yet (perform.ts). */
  readonly needed: <A, E>(what: Effect.Effect<A, E>) => Effect.Effect<A>
  /** The line before the slots; undefined where there is none. */
  readonly enter: (being: ActorView<Snapshot>, start: Start) => ReturnType<Start["enter"]>
  readonly toolkitOf: (being: ActorView<Snapshot>, turn: Turn) => Effect.Effect<Toolkit>
}

const asJson = (value: unknown): unknown => (value === undefined ? null : JSON.parse(JSON.stringify(value)))

type Failed = Extract<Outcome, { readonly type: "model.failed" }>
type FailedWhy = Pick<Failed, "code" | "text"> & Partial<Failed>
type Sample = Extract<Job, { readonly type: "sample" }>["params"]

const saidNothing = (finishReason: FinishReason | undefined) =>
  finishReason === "length"
    ? "The model answered with neither text nor calls: it reached its limit of tokens first."
    : "The model answered with neither text nor calls."

/** A response that can be taken, or why it fails its attempt. */
const outcomeOf = (
  { attempt, modelId, step, turnId }: Sample,
  { calls, finishReason, parts, text, usage }: ModelReply,
  failed: (why: FailedWhy) => Outcome
): Outcome => {
  const cut = finishReason === undefined ? {} : { finishReason }
  if (calls.length === 0 && !/\S/u.test(text))
    return failed({ code: "model_error", text: saidNothing(finishReason), empty: true, usage, ...cut })
  if (calls.length > mostCalls)
    return failed({
      code: "model_error",
      text: `The model asked for ${calls.length} calls at once; at most ${mostCalls} are run.`,
      usage
    })
  return {
    type: "model.replied",
    turnId,
    step,
    attempt,
    modelId,
    text,
    usage,
    ...cut,
    // As it will be read and sent: JSON has no word for 1e400. What was not JSON is kept as the text it was.
    calls: calls.map(({ input, invalidInput, name, providerToolCallId }) => ({
      name,
      providerToolCallId,
      input: asJson(invalidInput ?? input)
    })),
    ...(parts === undefined ? {} : { parts })
  }
}

export const makeSampling = (sampling: Sampling) => {
  const { budgets, bus, enter, images, isCapped, models, needed, prompts, random, toolkitOf } = sampling
  const paid = makePaying({ budgets, isCapped, needed, prices: pricesOf(models.list) })
  const compacting = makeCompacting(models)

  /** What a call holds of the images that its conversation names: their bytes, and the base64 that goes out. */
  const imageBytes = (workspace: string, messages: Prompt["messages"]) => {
    const ids = imagesIn(messages)
    return ids.length === 0
      ? Effect.succeed(0)
      : Effect.map(needed(images.bytesOf(workspace, ids)), (bytes) => Math.ceil((bytes * 7) / 3))
  }

  /** The call of the model, once it is paid for; or the round of compaction that has to come first. */
  const answerTo = (
    being: ActorView<Snapshot>,
    job: Sample,
    start: Start,
    { compaction, sampling: settings }: Toolkit,
    prompt: Prompt,
    onText: (text: string) => void
  ) => {
    const { carry, turn } = being.snapshot.context
    const { modelId } = job
    const round = turn === null ? undefined : compacting.before(carry, turn, job, prompt, compaction)
    if (round !== undefined) return Effect.succeed(round)
    const call = (prompt: Prompt) =>
      models.sample({ modelId, onText, prompt, ...(settings === undefined ? {} : { settings }) })
    const ids = imagesIn(prompt.messages)
    const called =
      ids.length === 0
        ? call(prompt)
        : Effect.flatMap(needed(images.load(being.ref.workspace, ids)), (images) => call({ ...prompt, images }))
    if (turn === null) return called
    const priced: PricedCall = {
      id: () => reservationOf(job),
      modelId,
      prompt,
      maxOutputTokens: settings?.maxOutputTokens,
      start
    }
    return Effect.catchTag(paid(being, turn, priced, called), "ModelFailure", (failure) => {
      const round = failure.code === "context_overflow" ? compacting.after(turn, job, prompt, compaction) : undefined
      return round === undefined ? Effect.fail(failure) : Effect.succeed(round)
    })
  }

  const sample = (being: ActorView<Snapshot>, job: Sample, start: Start): Effect.Effect<Outcome> => {
    const { attempt, modelId, step, turnId } = job
    const { parent, ref } = being
    const about = { workspace: ref.workspace, agentId: parent ?? "", threadId: ref.id }
    const eventId = derive("event", turnId, messageNumber(step))
    /** Pieces that were published. */
    let index = 0
    const onText = (hidden: boolean) => (text: string) => {
      if (!hidden && bus.wantsDeltas(about))
        bus.publish({ ...about, type: "delta", turnId, eventId, index: index++, text })
    }
    const discard = () => {
      if (index > 0) bus.publish({ ...about, type: "discard", eventId })
    }
    const failed = (why: FailedWhy): Outcome => {
      discard()
      return {
        type: "model.failed",
        turnId,
        step,
        attempt,
        modelId,
        transient: false,
        unavailable: false,
        jitter: random(),
        ...why
      }
    }
    const { turn } = being.snapshot.context
    return Effect.gen(function* () {
      const line = enter(being, start)
      if (line !== undefined) yield* line
      const toolkit = turn === null ? emptyToolkit : yield* toolkitOf(being, turn)
      const definitions = yield* needed(toolkit.definitions(callBy(being)))
      const { systemPrompt: system } = toolkit
      // What hooks have to judge first is shown to nobody.
      const hidden = judgesResponses(toolkit.hooks, settingsOf(being))
      const answer = (messages: Prompt["messages"]) => {
        const prompt: Prompt = {
          messages,
          tools: definitions,
          turnId,
          purpose: "turn",
          ...(system === undefined ? {} : { system })
        }
        return answerTo(being, job, start, toolkit, prompt, onText(hidden))
      }
      const answered = yield* prompts.lend(ref, stretchOf(being.snapshot.context), needed, answer, (messages) =>
        imageBytes(ref.workspace, messages)
      )
      if ("type" in answered) {
        discard()
        return answered
      }
      return outcomeOf(job, answered, failed)
    }).pipe(
      Effect.catchTag("ModelFailure", ({ begun, code, details, retryAfterMs, text, transient, unavailable, usage }) =>
        Effect.sync(() =>
          failed({
            code,
            text,
            transient,
            unavailable,
            ...(details === undefined ? {} : { details }),
            ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
            ...(usage === undefined ? {} : { usage }),
            ...(begun === undefined ? {} : { begun })
          })
        )
      ),
      Effect.catchDefect((defect) =>
        Effect.map(Effect.logError("a model call broke", defect), () =>
          failed({ code: "internal", text: "The model call broke. The server's log says why." })
        )
      ),
      Effect.onInterrupt(() => Effect.sync(discard))
    )
  }

  const summarise = Effect.fnUntraced(function* (being: ActorView<Snapshot>, job: Summarise, start: Start) {
    const { ref, snapshot } = being
    const { turn } = snapshot.context
    if (turn === null) return undefined
    const line = enter(being, start)
    if (line !== undefined) yield* line
    const { compaction } = yield* toolkitOf(being, turn)
    return yield* prompts.lend(ref, stretchOf(being.snapshot.context), needed, (messages) =>
      compacting.summarise(job, messages, compaction, (prompt, call) =>
        paid(being, turn, { id: () => summaryReservationOf(job), modelId: job.modelId, prompt, start }, call)
      )
    )
  })

  return { sample, summarise }
}
