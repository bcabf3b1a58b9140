/**
 * Agents that review for hooks: who asks one, and what it is asked. The threads that they answer in are
 * the actors' (actors/thread/reviewer.ts).
 */
import { Context, Data, Effect, Layer } from "effect"

export interface Review {
  readonly workspace: string
  /** The reviewer. */
  readonly agentId: string
  /** Whose turn it judges: the cost is theirs. */
  readonly reviewed: { readonly agentId: string; readonly threadId: string }
  /** The same for the same question, also after a crash: asked again, the same thread answers. */
  readonly deliveryId: string
  /** The one message that the reviewer gets. */
  readonly text: string
}

/** No final text came of it. */
export class ReviewFailure extends Data.TaggedError("ReviewFailure")<{ readonly reason: string }> {}

export class Reviewers extends Context.Service<Reviewers, {
  /** The reviewer's final text. Interruption cancels its turn. */
  readonly review: (review: Review) => Effect.Effect<string, ReviewFailure>
}>()("troupe/hooks/Reviewers") {
  /** Where no threads can be started: every review fails. */
  static readonly layerNone = Layer.succeed(Reviewers, Reviewers.of({
    review: () => Effect.fail(new ReviewFailure({ reason: "no reviewer can be asked here" }))
  }))
}
