/** The frames of Server-Sent Events streams, as schemas. */
import { Schema } from "effect"
import { described } from "../../src/domain/described.ts"
import { PendingWait, ThreadStatus } from "../../src/domain/thread.ts"
import { Operation } from "../../src/operations/operation.ts"
import { ActorStep } from "../inspection/api.ts"
import { ThreadEvent } from "../../src/threads/threadEvent.ts"

/** Every frame that a stream may hold. */
export const frameTypes = [
  "ready",
  "event",
  "delta",
  "status",
  "queue",
  "wait",
  "progress",
  "operation",
  "feed",
  "step",
  "discard",
  "gap",
  "bye"
] as const
export type FrameType = (typeof frameTypes)[number]

const saysEvent = "Kind of the frame."

/** What a frame says, as JSON. The reference shows the text that is sent, so that is what is described. */
const asJsonLine = <Data extends Schema.Top>(data: Data) =>
  Schema.flip(described(Schema.flip(Schema.fromJsonString(data)), "Content of the frame, as JSON on one line."))

const frame = <const Event extends FrameType, Data extends Schema.Top>(event: Event, data: Data) =>
  Schema.Struct({ event: described(Schema.Literal(event), saysEvent), data: asJsonLine(data) })

const threadId = described(Schema.String, "Thread that it is about.")
const turnId = described(Schema.String, "Turn that it is about.")

const HintedEvent = Schema.Struct({
  threadId,
  agentId: described(Schema.String, "Agent of the thread."),
  turnId,
  seq: described(Schema.Int, "Seq of the event in its thread's log."),
  type: described(Schema.String, "Type of the event.")
})
const ready = frame(
  "ready",
  Schema.Struct({
    streamId: described(Schema.String, "Id of this stream, for logs."),
    lastSeq: described(
      Schema.optionalKey(Schema.Int),
      "Seq of the newest event now, in a thread's stream. A client that reads the log up to it misses nothing."
    )
  })
)
const delta = frame(
  "delta",
  Schema.Struct({
    threadId,
    turnId,
    eventId: described(Schema.String, "Id that the `assistant_message` will have, once it is recorded."),
    index: described(
      Schema.Int,
      "Place of the piece in the response, from 0. Pieces that waited together come as one, with the first one's place."
    ),
    text: described(Schema.String, "The piece.")
  })
)
const status = frame(
  "status",
  Schema.Struct({
    threadId,
    status: described(ThreadStatus, "Status of the thread now."),
    lastSeq: described(Schema.Int, "Seq of the newest event of its log.")
  })
)
const wait = frame(
  "wait",
  Schema.Struct({
    threadId,
    waitId: described(Schema.String, "The wait."),
    state: PendingWait.fields.state,
    target: PendingWait.fields.target
  })
)
const queue = frame("queue", Schema.Struct({ threadId, pending: described(Schema.Int, "Number of inputs that wait.") }))
const discard = frame(
  "discard",
  Schema.Struct({
    threadId,
    eventId: described(Schema.String, "The `eventId` of deltas that came: their text will not be recorded.")
  })
)
const gap = frame(
  "gap",
  Schema.Struct({
    fromSeq: described(
      Schema.optionalKey(Schema.Int),
      "Seq of the first event that was left out for a slow reader, in a thread's stream."
    ),
    toSeq: described(Schema.optionalKey(Schema.Int), "Seq of the last event that was left out, in a thread's stream.")
  })
)
const bye = frame(
  "bye",
  Schema.Struct({
    reason: described(
      Schema.Literals(["draining", "auth_expired"]),
      "Why the stream ends: the node goes away, so come back at once, or the credential has ended."
    )
  })
)
const progress = frame(
  "progress",
  Schema.Struct({
    threadId,
    toolCallId: described(Schema.String, "Call that it is about."),
    progress: described(
      Schema.Finite,
      "How far the call is, as the tool's server counts: more each time. At most five reports a second are sent " +
        "of one call."
    ),
    total: described(
      Schema.optionalKey(Schema.Finite),
      "Value of `progress` at the end. Absent where the server does not know."
    ),
    message: described(Schema.optionalKey(Schema.String), "The server's work at the moment, in words for people.")
  })
)

const operation = frame(
  "operation",
  Schema.Struct({
    operationId: described(Schema.String, "The operation."),
    action: Operation.fields.action,
    state: Operation.fields.state,
    agentId: Operation.fields.agentId
  })
)

const feed = frame(
  "feed",
  Schema.Struct({
    feedId: described(Schema.String, "The feed."),
    lastSeq: described(Schema.Int, "Seq of its newest message.")
  })
)

const step = frame(
  "step",
  Schema.Struct({
    actorId: described(Schema.String, "The actor that took it: of a thread's stream the thread."),
    ...ActorStep.fields
  })
)

export const ThreadFrame = Schema.Union([
  ready,
  Schema.Struct({
    id: described(Schema.String, "Seq of the event: what `Last-Event-ID` says when a client comes back."),
    event: described(Schema.Literal("event"), saysEvent),
    data: asJsonLine(ThreadEvent)
  }),
  delta,
  status,
  queue,
  wait,
  progress,
  step,
  discard,
  gap,
  bye
])
export const HintFrame = Schema.Union([
  ready,
  frame("event", HintedEvent),
  delta,
  status,
  queue,
  wait,
  progress,
  operation,
  feed,
  step,
  discard,
  gap,
  bye
])
