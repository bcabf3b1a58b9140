/**
 * Agents that review for hooks: who asks one, and what it is asked. The threads that they answer in are the actors',
 * which ask hooks in turn: so they appoint themselves once they are there (actors/thread/tools/reviewer.ts).
 */
import { Context, Data, Effect, Layer } from "effect"

export interface Review {
  readonly workspace: string
  /** The reviewer. */
  readonly agentId: string
  /** Whose turn it judges: the cost is theirs. */
  readonly reviewed: { readonly agentId: string; readonly threadId: string }
  readonly hookId: string
  /** Threads that the reviewed one was asked for by: the review is within what they may cost, too. */
  readonly spendsWithin?: ReadonlyArray<string>
  /** How many turns lead to the reviewed one by way of feeds; absent: none. */
  readonly hops?: number
  /** The same for the same question, also after a crash: asked again, the same thread answers. */
  readonly deliveryId: string
  /** The one message that the reviewer gets. */
  readonly text: string
  /** A sample: the reviewed thread is made up, and nobody would ask again. */
  readonly dry?: true
}

/** No final text came of it. */
export class ReviewFailure extends Data.TaggedError("ReviewFailure")<{ readonly reason: string }> {}

/** The reviewer's final text. Interruption cancels its turn. */
export type Reviewing = (review: Review) => Effect.Effect<string, ReviewFailure>

export class Reviewers extends Context.Service<
  Reviewers,
  {
    readonly review: Reviewing
    /** Who does it from now on. */
    readonly appoint: (by: Reviewing) => void
  }
>()("troupe/hooks/Reviewers") {
  /** Until somebody is appointed every review fails. */
  static readonly layer = Layer.sync(Reviewers, () => {
    let appointed: Reviewing = () => Effect.fail(new ReviewFailure({ reason: "no reviewer can be asked here" }))
    return Reviewers.of({
      review: (review) => appointed(review),
      appoint: (by) => {
        appointed = by
      }
    })
  })

  /** Somebody else for good, whoever is appointed. */
  static readonly layerOf = (review: Reviewing) => Layer.succeed(Reviewers, Reviewers.of({ review, appoint: () => {} }))
}
