/**
 * Messages judged by conditions without holding the node.
 *
 * N1. What is cheap is judged at once, with a pause for others after a few milliseconds; what may be costly in threads
 *     that are ended when they are late, in a line that is fair to workspaces (src/judging/JudgingThreads.ts).
 * N2. A condition that takes too long over a message does not match it, and says so (contract C40.4).
 */
import { Context, Effect, Layer } from "effect"
import { JudgingThreads, type ThreadLimits } from "../judging/JudgingThreads.ts"
import {
  conditionChecks,
  conditionChecksWaiting,
  conditionCpu,
  conditionThreadsDied,
  record
} from "../telemetry/metrics.ts"
import type { JudgedMessage, MessageCondition, ConditionSays } from "./condition.ts"
import type { ConditionAnswer, ConditionQuestion } from "./conditionThread.ts"

export const conditionLimits: ThreadLimits = {
  threads: 2,
  checkMs: 200,
  wallMs: 1_000,
  lineMs: 10_000,
  budget: { ms: 1_000, windowMs: 5_000 }
}

export class ConditionJudge extends Context.Service<
  ConditionJudge,
  {
    /** What a condition says of each message. */
    readonly judge: (
      workspace: string,
      condition: MessageCondition,
      messages: ReadonlyArray<JudgedMessage>
    ) => Effect.Effect<ReadonlyArray<ConditionSays>>
    /** What each of several says of each message; undefined of those that could not be judged within the time. */
    readonly judgeWithin: (
      workspace: string,
      conditions: ReadonlyArray<MessageCondition>,
      messages: ReadonlyArray<JudgedMessage>,
      ms: number
    ) => Effect.Effect<ReadonlyArray<ReadonlyArray<ConditionSays> | undefined>>
  }
>()("troupe/subscriptions/ConditionJudge") {
  static readonly layer = Layer.effect(
    ConditionJudge,
    Effect.suspend(() => make)
  )
}

/** Of the event loop's time, before others come. */
const sliceMs = 5
/** Messages and characters of one question, conditions of one. */
const mostMessages = 64
const mostCharacters = 262_144
const mostConditions = 50

const tooSlow: ConditionSays = { matched: false, error: "it takes too long over this message" }

/** Runs of messages that go to a thread together. */
const portionsOf = (messages: ReadonlyArray<JudgedMessage>) => {
  const portions: Array<Array<JudgedMessage>> = []
  let characters = 0
  for (const message of messages) {
    const last = portions.at(-1)
    characters += message.text.length
    if (last === undefined || last.length >= mostMessages || characters > mostCharacters) {
      portions.push([message])
      characters = message.text.length
    } else last.push(message)
  }
  return portions
}

const make = Effect.gen(function* () {
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const threads = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new JudgingThreads<ConditionQuestion, ConditionAnswer>(
          conditionLimits,
          {
            waiting: (count) => record(conditionChecksWaiting, count),
            spent: (ms) => record(conditionCpu, ms / 1_000),
            died: (cause) => {
              record(conditionThreadsDied)
              run(Effect.logWarning("a thread that judges conditions has died: it is replaced", cause))
            }
          },
          new URL("./conditionThread.ts", import.meta.url)
        )
    ),
    (threads) => Effect.sync(() => threads.close())
  )

  const ask = (workspace: string, question: ConditionQuestion) =>
    Effect.callback<ConditionAnswer | "slow" | "busy" | "broken">((resume) => {
      const withdraw = threads.ask(workspace, question, (judgement) => {
        record(conditionChecks.with({ outcome: "answer" in judgement ? "judged" : judgement.without }))
        resume(Effect.succeed("answer" in judgement ? judgement.answer : judgement.without))
      })
      return Effect.sync(withdraw)
    })

  /** N2. What is late is asked anew by halves, until it is known which messages it is late over. */
  const inThread = (
    workspace: string,
    source: string,
    messages: ReadonlyArray<JudgedMessage>
  ): Effect.Effect<ReadonlyArray<ConditionSays>> =>
    Effect.flatMap(ask(workspace, { conditions: [source], messages }), (answer) => {
      if (typeof answer !== "string") return Effect.succeed(answer[0] ?? [])
      // The line is the pace.
      if (answer === "busy") return inThread(workspace, source, messages)
      if (messages.length <= 1) return Effect.succeed(messages.map(() => tooSlow))
      const half = messages.length / 2
      return Effect.zipWith(
        inThread(workspace, source, messages.slice(0, half)),
        inThread(workspace, source, messages.slice(half)),
        (first, second) => [...first, ...second]
      )
    })

  const here = ({ judge }: MessageCondition, messages: ReadonlyArray<JudgedMessage>) =>
    Effect.gen(function* () {
      const said: Array<ConditionSays> = []
      let until = performance.now() + sliceMs
      for (const message of messages) {
        said.push(judge(message))
        if (performance.now() < until) continue
        yield* Effect.sleep(0)
        until = performance.now() + sliceMs
      }
      return said
    })

  const withinTime = Effect.fnUntraced(function* (
    workspace: string,
    conditions: ReadonlyArray<MessageCondition>,
    messages: ReadonlyArray<JudgedMessage>,
    said: Array<ReadonlyArray<ConditionSays> | undefined>
  ) {
    for (let from = 0; from < conditions.length; from += mostConditions) {
      const some = conditions.slice(from, from + mostConditions).map(({ source }) => source)
      const answer = yield* ask(workspace, { conditions: some, messages })
      said.push(...(typeof answer === "string" ? some.map(() => undefined) : answer))
    }
  })

  return ConditionJudge.of({
    judge: (workspace, condition, messages) =>
      condition.isCostly
        ? Effect.map(
            Effect.forEach(portionsOf(messages), (portion) => inThread(workspace, condition.source, portion)),
            (said) => said.flat()
          )
        : here(condition, messages),
    judgeWithin: (workspace, conditions, messages, ms) => {
      const said: Array<ReadonlyArray<ConditionSays> | undefined> = []
      return withinTime(workspace, conditions, messages, said).pipe(
        Effect.timeoutOption(ms),
        Effect.map(() => conditions.map((_, i) => said[i]))
      )
    }
  })
})
