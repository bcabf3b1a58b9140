/**
 * How far a subscription has come in its feed, as clients see it: what its actor keeps, with what the feed has come to.
 *
 * R1. A subscription with nothing in hand has dealt with all that its feed holds: those messages were judged when they
 *     were appended, and did not match.
 * R2. Messages whose notice is in the actor's inbox are in hand.
 * R3. A change that the feed has not heard of takes nothing back: what was judged before it is dealt with.
 */
import { Schema } from "effect"
import { DisabledReason, PassedReason } from "../domain/subscription.ts"

/** The part of the actor's carry that says it. */
export const OwnProgress = Schema.Struct({
  disabled: Schema.NullOr(DisabledReason),
  cursor: Schema.Int,
  listing: Schema.NullOr(
    Schema.Struct({
      looks: Schema.Boolean,
      since: Schema.optionalKey(Schema.Int),
      settles: Schema.optionalKey(Schema.Boolean),
      pause: Schema.optionalKey(Schema.Struct({ since: Schema.optionalKey(Schema.Int), settles: Schema.Boolean }))
    })
  ),
  noticed: Schema.Array(Schema.Struct({ from: Schema.Int })),
  batch: Schema.NullOr(Schema.Unknown),
  retryAt: Schema.NullOr(Schema.Number),
  last: Schema.NullOr(
    Schema.Struct({
      at: Schema.Number,
      status: Schema.Literals(["escalated", "dismissed", "failed"]),
      reason: Schema.optionalKey(PassedReason)
    })
  )
})
export type OwnProgress = typeof OwnProgress.Type

export interface FeedProgress {
  readonly lastSeq: number
  /** Seq up to which appends were judged: that of the pause, where the feed was told of one, else `lastSeq`. */
  readonly judgedSeq: number
  /** When its last message was appended, in milliseconds. */
  readonly lastAt: number | undefined
  /** Seq of the first message whose notice is in the inbox. */
  readonly underway: number | undefined
}

/** R1 to R3: where it stands, and what became of the last messages. */
export const progressOf = (
  { batch, cursor, disabled, last, listing, noticed, retryAt }: OwnProgress,
  { judgedSeq, lastAt, lastSeq, underway }: FeedProgress
) => {
  if (batch !== null || retryAt !== null) return { cursor, last }
  // R2.
  const inHand = Math.min(underway ?? Infinity, noticed[0]?.from ?? Infinity)
  const judged = Math.max(cursor, Math.min(judgedSeq, inHand - 1))
  // R3.
  const isPauseOver = listing?.pause !== undefined
  const { settles, since } = listing?.pause ?? listing ?? {}
  const unread = since ?? (listing?.looks === true && !isPauseOver ? cursor : undefined)
  if (unread !== undefined) return { cursor: Math.max(cursor, Math.min(unread, judged)), last }
  if (disabled !== null || isPauseOver) return { cursor: settles === true ? judged : cursor, last }
  if (inHand <= lastSeq) return { cursor: judged, last }
  const isOwn = lastSeq <= cursor || lastAt === undefined
  return { cursor: lastSeq, last: isOwn ? last : { at: lastAt, status: "dismissed" as const } }
}
