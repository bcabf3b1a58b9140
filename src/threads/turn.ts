/** A turn of a thread, as a client is shown it (contract C35.3). */
import { Schema } from "effect"
import { SubmitMode } from "../domain/content.ts"
import { described } from "../domain/described.ts"
import { NextCursor } from "../domain/nextCursor.ts"
import { Principal } from "../domain/principal.ts"
import { Timestamp } from "../domain/time.ts"
import { ModelUsage } from "../domain/usage.ts"

/** How a turn has ended, by the type of the event that ends it. */
export const turnOutcomes = { turn_completed: "completed", turn_failed: "failed", turn_cancelled: "cancelled" } as const

export const ThreadTurn = Schema.Struct({
  turnId: described(Schema.String, "Id of the turn."),
  firstSeq: described(Schema.Int, "Seq of its first event: the message that began it."),
  lastSeq: described(Schema.Int, "Seq of its last event, so far."),
  startedAt: described(Timestamp, "When it began."),
  endedAt: described(Schema.optionalKey(Timestamp), "When it ended. Absent while it goes on."),
  outcome: described(
    Schema.optionalKey(Schema.Literals(Object.values(turnOutcomes))),
    "How it ended. Absent while it goes on."
  ),
  failureCode: described(Schema.optionalKey(Schema.String), "Why it failed."),
  principal: described(Principal, "Who began it."),
  submitMode: described(SubmitMode, "How the message that began it was submitted."),
  responses: described(Schema.Int, "Responses of models."),
  toolCalls: described(Schema.Int, "Calls of tools."),
  waits: described(Schema.Int, "Waits for people, clients and hooks."),
  usage: described(ModelUsage, "Tokens that it has used so far, and their cost.")
}).annotate({ identifier: "ThreadTurn" })
export type ThreadTurn = typeof ThreadTurn.Type

export const TurnPage = Schema.Struct({
  turns: described(Schema.Array(ThreadTurn), "Turns of this page, in the order asked for."),
  nextCursor: NextCursor
}).annotate({ identifier: "TurnPage" })
