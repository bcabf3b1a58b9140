/**
 * Performs a thread's jobs: one model call (sampling.ts), one tool call, one question to a hook. Each outcome comes
 * back as a request.
 */
import { Duration, Effect, Schedule } from "effect"
import type { Hooks } from "../../src/hooks/Hooks.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Turn } from "../../machines/thread/context.ts"
import type { Job } from "../../machines/thread/draft.ts"
import { isDone } from "../../src/now.ts"
import type { Progress } from "../../src/tools/Tool.ts"
import type { ActorView, Start } from "../Kind.ts"
import { deliveryIdOf } from "./tools/derivedIds.ts"
import type { Outcome } from "./requests.ts"
import { makeSampling, type SamplingServices } from "./sampling.ts"
import { callBy, settingsOf } from "./settings.ts"
import { emptyToolkit, judgesResults, type BuiltInOutcome, type ToolRun, type Tools } from "./tools/toolkit.ts"

export interface Performing extends SamplingServices {
  readonly tools: Tools
  readonly hooks: Pick<Hooks["Service"], "evaluate">
}

type HookAsked = Extract<Job, { readonly type: "askHook" }>["params"]

/** Milliseconds between two attempts to begin. */
const firstPauseMs = 200
const longestPauseMs = 5_000

export const makePerform = (performing: Performing) => {
  const { bus, hooks, random, tools } = performing

  /**
   * What a job needs of this node before it can begin. What cannot be had is no outcome: the model, the tool and the
   * hook have not been asked. The job waits and tries again, until it begins or its turn ends.
   */
  const needed = <A, E>(what: Effect.Effect<A, E>): Effect.Effect<A> =>
    isDone(what) ? Effect.succeed(what.value) : Effect.catch(what, (failure) => retried(what, failure))

  const spread = (pauseMs: number) => pauseMs * (0.5 + random() / 2)
  /** Behind the first pause. */
  const pauses = Schedule.min([Schedule.exponential(2 * firstPauseMs), Schedule.spaced(longestPauseMs)]).pipe(
    Schedule.modifyDelay(({ duration }) => Effect.sync(() => spread(Duration.toMillis(duration))))
  )
  const retried = <A, E>(what: Effect.Effect<A, E>, failure: E) =>
    Effect.logWarning("a job cannot begin yet: it is tried again", failure).pipe(
      Effect.andThen(Effect.suspend(() => Effect.delay(Effect.retry(what, pauses), spread(firstPauseMs)))),
      Effect.orDie
    )

  /**
   * The slots of what runs itself. A thread that was asked by another one's turn goes first: that turn waits for it.
   */
  const enter = (being: ActorView<Snapshot>, start: Start) => {
    const { asked, reviews } = settingsOf(being)
    return start.enter(being.snapshot.context.turn?.runningSince ?? 0, asked !== undefined || reviews !== undefined)
  }

  const toolkitOf = (being: ActorView<Snapshot>, { plan }: Turn) => needed(tools.toolkit(being.ref.workspace, plan))

  const { sample, summarise } = makeSampling({ ...performing, needed, enter, toolkitOf })

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
    const named = { type: "hook.decided" as const, ...about, deliveryId }
    // Where the profile has no such hook, nobody knows what it is: it fails closed.
    const unknown: Outcome = {
      ...named,
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
        Effect.map((outcome): Outcome => ({ ...named, ...known, ...outcome })),
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
