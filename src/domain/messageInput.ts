/** What a client may say to a thread, and what it is told of an input (design, section 3). */
import { Schema } from "effect"
import { SubmitMode, UserContent } from "./content.ts"
import { idOf } from "./ids.ts"
import { Origin } from "./principal.ts"
import { ModelSelector } from "./profile.ts"
import { QueuedMessage } from "./thread.ts"

const TurnId = idOf("turn")

export const MessageInput = Schema.Struct({
  content: UserContent,
  /** queue when absent. */
  mode: Schema.optionalKey(SubmitMode),
  /** Not together with steer. */
  model: Schema.optionalKey(ModelSelector),
  /** Refused with 409 unless this turn is the active one. */
  expectedTurnId: Schema.optionalKey(TurnId),
  /** Only a trigger's principal may send it. */
  origin: Schema.optionalKey(Origin)
}).annotate({ identifier: "MessageInput" })
export type MessageInput = typeof MessageInput.Type

export const MessageEdit = Schema.Struct({ content: UserContent }).annotate({ identifier: "MessageEdit" })

export const Promotion = Schema.Struct({
  mode: Schema.Literals(["steer", "interrupt"]),
  expectedTurnId: Schema.optionalKey(TurnId)
}).annotate({ identifier: "Promotion" })

export const Cancellation = Schema.Struct({
  /** Refused with 409 unless this turn is the active one. */
  turnId: Schema.optionalKey(TurnId),
  /** Also cancels what waits; false when absent. */
  clearQueue: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "Cancellation" })

/** queued: waits its turn. steered: waits for the running turn's next model call. admitted: in the log, at `seq`. */
const submitStates = ["queued", "steered", "admitted"] as const

/** The answer to a submit: the Queued message, where it stands, and where it is in the log. */
export const SubmittedMessage = Schema.Struct({
  ...QueuedMessage.fields,
  state: Schema.Literals(submitStates),
  seq: Schema.optionalKey(Schema.Int)
}).annotate({ identifier: "SubmittedMessage" })
export type SubmittedMessage = typeof SubmittedMessage.Type

/** An input by its id, also after it has left the queue. */
export const InputRecord = Schema.Struct({
  ...QueuedMessage.fields,
  state: Schema.Literals([...submitStates, "cancelled"]),
  seq: Schema.optionalKey(Schema.Int)
}).annotate({ identifier: "InputRecord" })
export type InputRecord = typeof InputRecord.Type
