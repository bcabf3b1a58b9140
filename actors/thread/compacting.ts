/**
 * Rounds of compaction as a thread's jobs see them: whether a prompt is too long, and the summary that makes it
 * shorter.
 */
import { Effect } from "effect"
import type { RoundName } from "../../machines/thread/commands.ts"
import type { Carry, Turn } from "../../machines/thread/context.ts"
import type { Job } from "../../machines/thread/draft.ts"
import type { CompactionSettings } from "../../src/domain/compactionSettings.ts"
import { limits } from "../../src/domain/limits.ts"
import { cutToBytes } from "../../src/domain/text.ts"
import { ModelFailure, type Models, type ModelReply, type Prompt } from "../../src/models/Model.ts"
import { bytesOfMessage, estimatedTokens, tokensOf } from "../../src/models/promptTokens.ts"
import { boundaryOf } from "./memory/boundaries.ts"
import { standingAgain, toSummarise } from "./memory/summaries.ts"
import type { Outcome } from "./requests.ts"

export type Summarise = Extract<Job, { readonly type: "summarise" }>["params"]
type Sample = Extract<Job, { readonly type: "sample" }>["params"]
type Round = Extract<Outcome, { readonly type: "prompt.long" }>

/** A summary has at most this part of its model's window; the conversation goes on behind it. */
const summaryShare = 1 / 8
const summaryBytes = 64 * 1024

export const makeCompacting = (models: Pick<Models["Service"], "list" | "sample">) => {
  const windows = new Map(models.list.map(({ contextWindow, id }) => [id, contextWindow]))

  const beginning = (
    turn: Turn,
    { attempt, modelId, step, turnId }: Sample,
    prompt: Prompt,
    { keepTurns }: CompactionSettings,
    round: RoundName
  ): Round | undefined => {
    const summariser = turn.plan.summariser ?? modelId
    const window = windows.get(summariser) ?? estimatedTokens(prompt)
    const boundary = boundaryOf(prompt.messages, { turnId, keepTurns, room: window / 2 })
    if (boundary === undefined) return undefined
    const { pos, seq: throughSeq } = boundary
    return { type: "prompt.long", turnId, step, attempt, modelId, round, throughSeq, pos, summariser }
  }

  /** The round that comes before the call, if the prompt is too long for the model and can be made shorter. */
  const before = (
    { compactionWanted }: Carry,
    turn: Turn,
    sample: Sample,
    prompt: Prompt,
    settings: CompactionSettings
  ): Round | undefined => {
    const window = windows.get(sample.modelId)
    const builds = turn.rounds?.step === sample.step ? turn.rounds.builds : 0
    if (compactionWanted === true && builds < limits.buildRounds)
      return beginning(turn, sample, prompt, settings, `build:${builds}`)
    if (!settings.enabled || window === undefined || turn.unbuilt === true || builds >= limits.buildRounds)
      return undefined
    const trigger = window * settings.triggerRatio
    if (estimatedTokens(prompt) <= (builds === 0 ? trigger : trigger / 2)) return undefined
    return beginning(turn, sample, prompt, settings, `build:${builds}`)
  }

  /** The one that comes after the provider has found the prompt too long: once a model call. */
  const after = (turn: Turn, sample: Sample, prompt: Prompt, settings: CompactionSettings): Round | undefined =>
    !settings.enabled || (turn.rounds?.step === sample.step && turn.rounds.overflowed)
      ? undefined
      : beginning(turn, sample, prompt, settings, "overflow")

  const promptOf = (
    { modelId, pos, turnId }: Summarise,
    messages: Prompt["messages"],
    { instructions }: CompactionSettings
  ): Prompt => {
    const window = windows.get(modelId) ?? tokensOf(messages.reduce((sum, each) => sum + bytesOfMessage(each), 0))
    return {
      messages: toSummarise(messages, pos, window / 2),
      tools: [],
      turnId,
      purpose: "summary",
      ...(instructions === undefined ? {} : { instructions })
    }
  }

  const outcomeOf = (
    { modelId, pos, round, step, turnId }: Summarise,
    messages: Prompt["messages"],
    { durationMs, firstTextMs, text, usage }: ModelReply
  ): Outcome => {
    const ended = {
      turnId,
      step,
      round,
      modelId,
      usage,
      timing: {
        durationMs: Math.round(durationMs),
        ...(firstTextMs === undefined ? {} : { firstTextMs: Math.round(firstTextMs) })
      }
    }
    // Calls are nobody's to make here.
    if (!/\S/u.test(text))
      return {
        type: "summary.failed",
        ...ended,
        code: "compaction_failed",
        text: "The model answered without a summary."
      }
    const most = Math.min(summaryBytes, (windows.get(modelId) ?? Infinity) * 4 * summaryShare)
    return {
      type: "summary.made",
      ...ended,
      summary: cutToBytes(text.trim(), most),
      messages: standingAgain(messages, turnId, pos)
    }
  }

  const failed = ({ modelId, round, step, turnId }: Summarise, why: ModelFailure): Outcome => ({
    type: "summary.failed",
    turnId,
    step,
    round,
    modelId,
    code: why.code,
    text: why.text,
    ...(why.details === undefined ? {} : { details: why.details }),
    ...(why.usage === undefined ? {} : { usage: why.usage }),
    ...(why.begun === undefined ? {} : { begun: why.begun })
  })

  /** Makes the summary: one call, as `paid` lets it. Nothing of it is streamed. */
  const summarise = (
    job: Summarise,
    messages: Prompt["messages"],
    settings: CompactionSettings,
    paid: <A>(prompt: Prompt, call: Effect.Effect<A, ModelFailure>) => Effect.Effect<A, ModelFailure>
  ): Effect.Effect<Outcome> => {
    const prompt = promptOf(job, messages, settings)
    return paid(prompt, models.sample({ modelId: job.modelId, prompt, onText: () => {} })).pipe(
      Effect.map((reply) => outcomeOf(job, messages, reply)),
      Effect.catchTag("ModelFailure", (why) => Effect.succeed(failed(job, why))),
      Effect.catchDefect((defect) =>
        Effect.map(Effect.logError("a summary broke", defect), () =>
          failed(
            job,
            new ModelFailure({
              code: "internal",
              text: "The summary broke. The server's log says why.",
              transient: false,
              unavailable: false
            })
          )
        )
      )
    )
  }

  return { before, after, summarise }
}
