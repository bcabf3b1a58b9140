/** What a client may say to a thread, and what it is told of an input. */
import { Schema } from "effect"
import { SubmitMode, UserContent } from "../domain/content.ts"
import { described } from "../domain/described.ts"
import { idOf } from "../domain/ids.ts"
import { documented, is } from "../domain/jsonSchema.ts"
import { Origin } from "../domain/principal.ts"
import { ModelSelector } from "../domain/modelSelector.ts"
import { QueuedMessage } from "../domain/thread.ts"

const TurnId = idOf("turn")

export const MessageInput = Schema.Struct({
  content: described(UserContent, "The message."),
  mode: described(
    Schema.optionalKey(SubmitMode),
    "`queue`, the default, appends behind current work; `steer` redirects the turn in flight; `interrupt` stops " +
      "current work and goes first."
  ),
  model: described(
    Schema.optionalKey(ModelSelector),
    "Model of the turn that the message begins. Not together with `steer`. Absent: the model of the thread, else of " +
      "its profile."
  ),
  expectedTurnId: described(
    Schema.optionalKey(TurnId),
    "Turn that has to be the active one: with another, or none, the request is refused with 409."
  ),
  origin: described(
    Schema.optionalKey(Origin),
    "The outside event that the message comes from. Only a trigger may say so."
  )
})
  .check(documented({ dependentSchemas: { model: { not: is("mode", "steer") } } }))
  .annotate({ identifier: "MessageInput" })
export type MessageInput = typeof MessageInput.Type

export const MessageEdit = Schema.Struct({
  content: described(UserContent, "The new message: it replaces the whole old one.")
}).annotate({ identifier: "MessageEdit" })

export const Promotion = Schema.Struct({
  mode: described(Schema.Literals(["steer", "interrupt"]), "Mode of the input from now on."),
  expectedTurnId: described(
    Schema.optionalKey(TurnId),
    "Turn that has to be the active one: with another, or none, the request is refused with 409."
  )
}).annotate({ identifier: "Promotion" })

export const Cancellation = Schema.Struct({
  turnId: described(
    Schema.optionalKey(TurnId),
    "Turn that has to be the active one: with another, or none, the request is refused with 409."
  ),
  clearQueue: described(
    Schema.optionalKey(Schema.Boolean),
    "Whether the inputs that wait are cancelled as well. False when absent."
  )
}).annotate({ identifier: "Cancellation" })

/** queued: waits its turn. steered: waits for the running turn's next model call. admitted: in the log, at `seq`. */
const submitStates = ["queued", "steered", "admitted"] as const

const says = {
  state:
    "`queued`: it waits its turn. `steered`: it waits for the running turn's next model call. `admitted`: it is " +
    "in the log, at `seq`.",
  seq: "Seq of its `user_message`, once it is admitted."
}

/** The answer to a submit: the Queued message, where it stands, and where it is in the log. */
export const SubmittedMessage = Schema.Struct({
  ...QueuedMessage.fields,
  state: described(Schema.Literals(submitStates), says.state),
  seq: described(Schema.optionalKey(Schema.Int), says.seq)
}).annotate({ identifier: "SubmittedMessage" })
export type SubmittedMessage = typeof SubmittedMessage.Type

/** An input by its id, also after it has left the queue. */
export const InputRecord = Schema.Struct({
  ...QueuedMessage.fields,
  state: described(Schema.Literals([...submitStates, "cancelled"]), `${says.state} \`cancelled\`: it will never run.`),
  seq: described(Schema.optionalKey(Schema.Int), says.seq)
}).annotate({ identifier: "InputRecord" })
export type InputRecord = typeof InputRecord.Type
