/**
 * Asks hooks. Which are asked, in what order and what becomes of an answer is the
 * thread's business; here one question becomes one outcome, whatever the other side does.
 *
 * K1. An evaluation never fails, and ends within the hook's timeoutMs: where no valid answer comes, the
 *     hook's onError is the outcome.
 * K2. The same delivery may be asked about again after a crash: its id is the same.
 */
import { Context, Effect, Layer, Option } from "effect"
import { Connections } from "../connections/Connections.ts"
import { asyncTimeoutOf, type Hook, onErrorOf, onTimeoutOf, timeoutOf } from "../domain/hook.ts"
import { limits } from "../domain/limits.ts"
import { utf8Bytes } from "../domain/text.ts"
import { Outbound } from "../outbound/Outbound.ts"
import { type HookAnswer, NotAnAnswer, readReview, type HookRewrite } from "./answer.ts"
import { type Delivery, makePost, Unanswered } from "./delivery.ts"
import { DeliveryTokens } from "./deliveryToken.ts"
import type { HookQuestion } from "./question.ts"
import { questionOf } from "./reviewText.ts"
import { Reviewers } from "./Reviewers.ts"

export type HookRuling = Evaluated & Ruling

/** An ask says who is asked. */
type Ruling =
  | { readonly decision: "allow" | "deny" | "defer" }
  | {
      readonly decision: "ask"
      readonly ask: {
        readonly target: "person" | "client" | "url"
        readonly timeoutMs: number
        readonly onTimeout: "deny" | "allow" | "fail"
      }
    }

interface Evaluated {
  /** Whole milliseconds. */
  readonly latencyMs: number
  readonly deliveryId: string
  /** For people, at most 1 KiB. */
  readonly reason?: string
  /** With allow and ask only; fits the point. */
  readonly rewrite?: HookRewrite
  /** No valid answer came, and onError has decided: a deny of this kind is `hook_failed`. */
  readonly failed?: true
}

/** An evaluation with what went over the wire, for whoever tries a hook out. */
export interface Rehearsal {
  readonly outcome: HookRuling
  readonly request?: Delivery["request"]
  readonly response?: Delivery["response"]
}

export class Hooks extends Context.Service<
  Hooks,
  {
    /** K1. Interruption closes the connection, or cancels the reviewer's turn. */
    readonly evaluate: (question: HookQuestion) => Effect.Effect<HookRuling>
    /** The same for a sample: nobody waits for a late answer, so the delivery holds no token. */
    readonly rehearse: (question: HookQuestion) => Effect.Effect<Rehearsal>
  }
>()("troupe/hooks/Hooks") {
  /**
   * `publicUrl`: under which receivers of deliveries reach this installation, without a slash at its end; without it
   * they are told a path.
   */
  static readonly layer = (options: { readonly publicUrl: string | undefined }) =>
    Layer.effect(
      Hooks,
      Effect.suspend(() => make(options))
    )
}

type Timed = Pick<HookRuling, "latencyMs" | "deliveryId">

const asking = (hook: Hook, target: "person" | "client" | "url") => ({
  target,
  timeoutMs: asyncTimeoutOf(hook),
  onTimeout: onTimeoutOf(hook)
})

const ruling = (hook: Hook, decision: HookAnswer["decision"], target: "person" | "url" = "person"): Ruling =>
  decision === "ask" ? { decision, ask: asking(hook, target) } : { decision }

const decided = (hook: Hook, { answerBy, decision, ...answer }: HookAnswer, timed: Timed): HookRuling => ({
  ...ruling(hook, decision, answerBy),
  ...answer,
  ...timed
})

const failed = (hook: Hook, { why }: Unanswered, timed: Timed): HookRuling => ({
  ...ruling(hook, onErrorOf(hook)),
  ...timed,
  reason: why.slice(0, 256),
  failed: true
})

const make = Effect.fnUntraced(function* ({ publicUrl = "" }: { readonly publicUrl: string | undefined }) {
  const post = makePost(yield* Outbound, yield* Connections)
  const tokens = yield* DeliveryTokens
  const reviewers = yield* Reviewers

  const lateAnswer = ({ deliveryId, threadId, workspace }: HookQuestion) => ({
    answerToken: tokens.of({ workspace, threadId, deliveryId }),
    answerUrl: `${publicUrl}/v1/hooks/deliveries/${deliveryId}/decision`
  })

  const review = Effect.fnUntraced(function* (
    question: HookQuestion,
    reviewer: string,
    instructions: string | undefined,
    timeoutMs: number,
    dry: boolean
  ) {
    const { agentId, deliveryId, hook, hops, spendsWithin, threadId, workspace } = question
    const text = questionOf(instructions, question)
    // A message of a thread holds no more. One that is cut would be judged by what it shows, and acted on by what it
    // hides.
    if (utf8Bytes(text) > limits.userTextBytes)
      return new Unanswered(
        `it is too long for a reviewer: ${utf8Bytes(text)} bytes with the question, of at most ${limits.userTextBytes}`
      )
    const reviewed = yield* reviewers
      .review({
        workspace,
        agentId: reviewer,
        reviewed: { agentId, threadId },
        ...(spendsWithin !== undefined && { spendsWithin }),
        ...(hops !== undefined && { hops }),
        hookId: hook.id,
        deliveryId,
        text,
        ...(dry && { dry })
      })
      .pipe(
        Effect.map(readReview),
        Effect.catch(({ reason }) => Effect.succeed(new Unanswered(reason))),
        Effect.timeoutOption(timeoutMs)
      )
    if (Option.isNone(reviewed)) return new Unanswered(`the reviewer did not answer within ${timeoutMs} ms`)
    return reviewed.value instanceof NotAnAnswer
      ? new Unanswered(`the reviewer's answer ${reviewed.value.why}`)
      : reviewed.value
  })

  const evaluate = Effect.fnUntraced(function* (question: HookQuestion, dry: boolean) {
    const { deliveryId, hook } = question
    const { processor } = hook
    const at = performance.now()
    const timed = (): Timed => ({ latencyMs: Math.round(performance.now() - at), deliveryId })
    const outcome = (answer: HookAnswer | Unanswered) =>
      answer instanceof Unanswered ? failed(hook, answer, timed()) : decided(hook, answer, timed())
    switch (processor.type) {
      case "client":
        return {
          outcome: { decision: "ask", latencyMs: 0, deliveryId, ask: asking(hook, "client") }
        } satisfies Rehearsal
      case "agent":
        if (question.reviewer) return { outcome: outcome({ decision: "defer", reason: "reviewers are not reviewed" }) }
        return {
          outcome: outcome(yield* review(question, processor.agentId, processor.instructions, timeoutOf(hook), dry))
        }
      case "url": {
        const { answered, ...seen }: Delivery = yield* post(
          question,
          processor,
          timeoutOf(hook),
          dry ? undefined : lateAnswer(question)
        )
        return { outcome: outcome(answered), ...seen }
      }
    }
  })

  return Hooks.of({
    evaluate: Effect.fn("Hooks.evaluate")(function* (question: HookQuestion) {
      yield* Effect.annotateCurrentSpan({
        hookId: question.hook.id,
        point: question.hook.point,
        processor: question.hook.processor.type
      })
      return (yield* evaluate(question, false)).outcome
    }),
    rehearse: (question) => evaluate(question, true)
  })
})
