/**
 * Performs a thread's jobs: one model call, one tool call, one question to a hook. Each outcome comes back
 * as a request.
 */
import { Duration, Effect, Result } from "effect"
import type { Bus } from "../../src/bus/Bus.ts"
import type { FinishReason } from "../../src/domain/event.ts"
import { derive } from "../../src/domain/ids.ts"
import { messageNumber, mostCalls } from "../../src/domain/turnNumbers.ts"
import type { Hooks } from "../../src/hooks/Hooks.ts"
import type { Images } from "../../src/images/Images.ts"
import { type Budgets, reservationOf, summaryReservationOf } from "../../src/agents/Budgets.ts"
import { ModelFailure, type Models, type Prompt } from "../../src/models/Model.ts"
import { imagesIn } from "../../src/models/images.ts"
import { pricesOf } from "../../src/models/prices.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Turn } from "../../machines/thread/context.ts"
import type { Job } from "../../machines/thread/draft.ts"
import { isDone } from "../../src/now.ts"
import type { Progress } from "../../src/tools/Tool.ts"
import type { ActorView, Start } from "../Kind.ts"
import { makeCompacting, type Summarise } from "./compacting.ts"
import { deliveryIdOf } from "./tools/derivedIds.ts"
import { type Prompts, stretchOf } from "./memory/prompts.ts"
import type { Outcome } from "./requests.ts"
import { callBy, costOfThread, payerOf, settingsOf, spendingThreads } from "./settings.ts"
import {
  emptyToolkit,
  judgesResponses,
  judgesResults,
  type BuiltInOutcome,
  type Toolkit,
  type ToolRun,
  type Tools
} from "./tools/toolkit.ts"

export interface Performing {
  readonly models: Models["Service"]
  readonly budgets: Budgets["Service"]
  readonly prompts: Prompts
  readonly images: Pick<Images["Service"], "bytesOf" | "load">
  readonly tools: Tools
  readonly hooks: Pick<Hooks["Service"], "evaluate">
  readonly bus: Bus["Service"]
  /** In [0, 1). */
  readonly random: () => number
}

const asJson = (value: unknown): unknown => (value === undefined ? null : JSON.parse(JSON.stringify(value)))

type Failed = Extract<Outcome, { readonly type: "model.failed" }>
type Sample = Extract<Job, { readonly type: "sample" }>["params"]
type HookAsked = Extract<Job, { readonly type: "askHook" }>["params"]

const saidNothing = (finishReason: FinishReason | undefined) =>
  finishReason === "length"
    ? "The model answered with neither text nor calls: it reached its limit of tokens first."
    : "The model answered with neither text nor calls."

const overBudget = {
  budget_exceeded: "What is left of the agent's budget does not cover the call of this model.",
  thread_cost_exceeded: "What is left of the thread's maxCost does not cover the call of this model."
}

/** Milliseconds between two attempts to begin. */
const firstPauseMs = 200
const longestPauseMs = 5_000

export const makePerform = ({ budgets, bus, hooks, images, models, prompts, random, tools }: Performing) => {
  const prices = pricesOf(models.list)
  const compacting = makeCompacting(models)

  /**
   * What a job needs of this node before it can begin. What cannot be had is no outcome: the model, the tool and the
   * hook have not been asked. The job waits and tries again, until it begins or its turn ends.
   */
  const needed = <A, E>(what: Effect.Effect<A, E>): Effect.Effect<A> =>
    isDone(what) ? Effect.succeed(what.value) : Effect.catch(what, (failure) => again(what, failure))

  const again = Effect.fnUntraced(function* <A, E>(what: Effect.Effect<A, E>, failure: E) {
    yield* Effect.logWarning("a job cannot begin yet: it is tried again", failure)
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
      yield* Effect.sleep(pauseMs * (0.5 + random() / 2))
      const had = yield* Effect.result(what)
      if (Result.isSuccess(had)) return had.success
    }
  })

  /**
   * The slots of what runs itself. A thread that was asked by another one's turn goes first: that turn waits for it.
   */
  const enter = (being: ActorView<Snapshot>, start: Start) => {
    const { asked, reviews } = settingsOf(being)
    return start.enter(being.snapshot.context.turn?.runningSince ?? 0, asked !== undefined || reviews !== undefined)
  }

  const toolkitOf = (being: ActorView<Snapshot>, { plan }: Turn) => needed(tools.toolkit(being.ref.workspace, plan))

  /** Sets aside what the call may cost; fails where nothing is left for it. */
  const setAside = (
    being: ActorView<Snapshot>,
    turn: Turn,
    { id, modelId }: { readonly id: string; readonly modelId: string },
    prompt: Prompt,
    maxOutputTokens?: number
  ): Effect.Effect<void, ModelFailure> => {
    if (turn.plan.priced !== true || prices.of(modelId) !== "priced") return Effect.void
    const { target } = turn
    return Effect.flatMap(
      needed(
        budgets.reserve({
          workspace: being.ref.workspace,
          id,
          agentId: payerOf(being),
          threadIds: spendingThreads(being),
          known: costOfThread(being),
          ...prices.foreseen(modelId, prompt, maxOutputTokens)
        })
      ),
      (verdict) =>
        verdict === "reserved"
          ? Effect.void
          : Effect.fail(
              new ModelFailure({
                code: verdict,
                text: overBudget[verdict],
                transient: false,
                // One that costs nothing may come later.
                unavailable: turn.plan.models.slice(target + 1).some((id) => prices.of(id) === "free")
              })
            )
    )
  }

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
    const paid =
      turn.plan.priced === true
        ? Effect.andThen(
            setAside(being, turn, { id: reservationOf(job), modelId }, prompt, settings?.maxOutputTokens),
            called
          )
        : called
    return Effect.catchTag(paid, "ModelFailure", (failure) => {
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
    const failed = (why: Pick<Failed, "code" | "text"> & Partial<Failed>): Outcome => {
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
        return answerTo(being, job, toolkit, prompt, onText(hidden))
      }
      const answered = yield* prompts.lend(ref, stretchOf(being.snapshot.context), needed, answer, (messages) =>
        imageBytes(ref.workspace, messages)
      )
      if ("type" in answered) {
        discard()
        return answered
      }
      const { calls, finishReason, parts, text, usage } = answered
      const cut = finishReason === undefined ? {} : { finishReason }
      if (calls.length === 0 && !/\S/u.test(text)) {
        return failed({ code: "model_error", text: saidNothing(finishReason), empty: true, usage, ...cut })
      }
      if (calls.length > mostCalls) {
        return failed({
          code: "model_error",
          text: `The model asked for ${calls.length} calls at once; at most ${mostCalls} are run.`,
          usage
        })
      }
      const replied: Outcome = {
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
      return replied
    }).pipe(
      Effect.catchTag("ModelFailure", ({ code, details, retryAfterMs, text, transient, unavailable, usage }) =>
        Effect.sync(() =>
          failed({
            code,
            text,
            transient,
            unavailable,
            ...(details === undefined ? {} : { details }),
            ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
            ...(usage === undefined ? {} : { usage })
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
      compacting.summarise(job, messages, compaction, (prompt) =>
        setAside(being, turn, { id: summaryReservationOf(job), modelId: job.modelId }, prompt)
      )
    )
  })

  const runTool = Effect.fnUntraced(function* (being: ActorView<Snapshot>, run: ToolRun, start: Start) {
    const { toolCallId, turnId } = run
    const about = { workspace: being.ref.workspace, agentId: being.parent ?? "", threadId: being.ref.id }
    const { turn } = being.snapshot.context
    const toolkit = turn === null ? Effect.succeed(emptyToolkit) : toolkitOf(being, turn)
    const [duration, outcome] = yield* Effect.flatMap(toolkit, (toolkit) => {
      const line = toolkit.asksAgent(run.name) ? undefined : enter(being, start)
      // What hooks have to judge first is shown to nobody: of progress the words, not the numbers.
      const hidden = judgesResults(toolkit.hooks, settingsOf(being))
      const progressed = ({ message, ...numbers }: Progress) => {
        if (bus.watched(about))
          bus.publish({
            ...about,
            type: "progress",
            toolCallId,
            ...numbers,
            ...(hidden || message === undefined ? {} : { message })
          })
      }
      const ran = needed(Effect.timed(toolkit.run(callBy(being), run, () => start.begun(), progressed)))
      return line === undefined ? ran : Effect.andThen(line, ran)
    }).pipe(
      Effect.catchDefect((defect) =>
        Effect.map(Effect.logError("a tool call broke", defect), (): readonly [Duration.Duration, BuiltInOutcome] => [
          Duration.zero,
          { failure: { code: "internal", text: "The tool call broke. The server's log says why." } }
        ])
      )
    )
    const returned: Outcome = {
      type: "tool.returned",
      turnId,
      toolCallId,
      durationMs: Math.round(Duration.toMillis(duration)),
      ...outcome
    }
    return returned
  })

  const askHook = Effect.fnUntraced(function* (
    being: ActorView<Snapshot>,
    { data, principal, ...asking }: HookAsked,
    start: Start
  ) {
    const {
      parent,
      ref,
      snapshot: {
        context: { turn }
      }
    } = being
    if (turn === null) return undefined
    const { index, turnId } = asking
    const about = { ...asking, point: data.point, ...("toolCallId" in data ? { toolCallId: data.toolCallId } : {}) }
    const deliveryId = deliveryIdOf(about)
    const asked = { type: "hook.decided" as const, ...about, deliveryId }
    // Where the profile has no such hook, nobody knows what it is: it fails closed.
    const unknown: Outcome = {
      ...asked,
      hookId: "",
      processor: "client",
      decision: "deny",
      latencyMs: 0,
      failed: true,
      reason: "The turn's profile has no such hook."
    }
    const hook = (yield* toolkitOf(being, turn)).hooks[index]
    if (hook === undefined) return unknown
    // An agent answers in a turn of its own, a client whenever it will.
    const line = hook.processor.type === "url" ? enter(being, start) : undefined
    if (line !== undefined) yield* line
    const known = { hookId: hook.id, processor: hook.processor.type }
    return yield* hooks
      .evaluate({
        workspace: ref.workspace,
        agentId: parent ?? "",
        threadId: ref.id,
        turnId,
        principal: principal ?? turn.principal,
        turnPrincipal: turn.principal,
        hook,
        index,
        deliveryId,
        data,
        spendsWithin: settingsOf(being).spendsWithin ?? [],
        ...(turn.hops === undefined ? {} : { hops: turn.hops }),
        reviewer: settingsOf(being).reviews !== undefined
      })
      .pipe(
        Effect.map((outcome): Outcome => ({ ...asked, ...known, ...outcome })),
        Effect.catchDefect((defect) =>
          Effect.map(
            Effect.logError("a hook's evaluation broke", defect),
            (): Outcome => ({ ...unknown, ...known, reason: "The evaluation broke. The server's log says why." })
          )
        )
      )
  })

  return (being: ActorView<Snapshot>, job: Job, start: Start): Effect.Effect<Outcome | undefined> => {
    switch (job.type) {
      case "sample":
        return sample(being, job.params, start)
      case "summarise":
        return summarise(being, job.params, start)
      case "runTool":
        return runTool(being, job.params, start)
      case "askHook":
        return askHook(being, job.params, start)
      case "abandon":
        return Effect.succeed(undefined)
    }
  }
}
export type Perform = ReturnType<typeof makePerform>
