/** The three Server-Sent Events endpoints: best-effort activity (specification, Events, rule 3). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { PendingWait, ThreadStatus } from "../../src/domain/thread.ts"
import { ThreadEvent } from "../../src/threads/threadEvent.ts"
import { access } from "../Authenticate.ts"
import { int64 } from "../Validate.ts"
import { hintFrames, textOf, threadFrames } from "./examples.ts"
import { AgentId, ThreadId } from "../../src/domain/resourceIds.ts"

/** Every frame that a stream may hold. `operation` is reserved. */
export const frameTypes = [
  "ready",
  "event",
  "delta",
  "status",
  "queue",
  "wait",
  "progress",
  "operation",
  "discard",
  "gap",
  "bye"
] as const
export type FrameType = (typeof frameTypes)[number]

const saysEvent = "Kind of the frame."

/** What a frame says, as JSON. The reference shows the text that is sent, so that is what is described. */
const told = <Data extends Schema.Top>(data: Data) =>
  Schema.flip(described(Schema.flip(Schema.fromJsonString(data)), "What it tells, as JSON on one line."))

const frame = <const Event extends FrameType, Data extends Schema.Top>(event: Event, data: Data) =>
  Schema.Struct({ event: described(Schema.Literal(event), saysEvent), data: told(data) })

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
      "Of a thread's stream: seq of the newest event now. Whoever reads the log up to it misses nothing."
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
    status: described(ThreadStatus, "What the thread is doing now."),
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
      "Of a thread's stream: seq of the first event that was left out for a slow reader."
    ),
    toSeq: described(Schema.optionalKey(Schema.Int), "Of a thread's stream: seq of the last event that was left out.")
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
      "How far the call is, as the tool's server counts: more each time. At most five reports a second are sent of one call."
    ),
    total: described(
      Schema.optionalKey(Schema.Finite),
      "What `progress` comes to at the end. Absent where the server does not know."
    ),
    message: described(Schema.optionalKey(Schema.String), "What the server does at the moment, in words for people.")
  })
)

export const ThreadFrame = Schema.Union([
  ready,
  Schema.Struct({
    id: described(Schema.String, "Seq of the event: what `Last-Event-ID` says when a client comes back."),
    event: described(Schema.Literal("event"), saysEvent),
    data: told(ThreadEvent)
  }),
  delta,
  status,
  queue,
  wait,
  progress,
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
  discard,
  gap,
  bye
])

const Types = described(
  Schema.optional(
    Schema.String.check(
      Schema.makeFilter(
        (text) =>
          text.split(",").every((name) => (frameTypes as ReadonlyArray<string>).includes(name)) ||
          `frame names, separated by commas: ${frameTypes.join(", ")}`,
        {
          toJsonSchema: () => ({ pattern: `^(?:${frameTypes.join("|")})(?:,(?:${frameTypes.join("|")}))*$` })
        }
      )
    )
  ),
  `Which frames to send: names with commas between them, such as \`event,status\`. There are ${frameTypes.map((name) => `\`${name}\``).join(", ")}. \`ready\`, \`gap\` and \`bye\` come in any case. Absent: all, but \`delta\` and \`discard\` only with \`deltas\`, and \`progress\` only in the stream of one thread.`
)
const Deltas = described(
  Schema.optional(Schema.Literal("text")),
  "With `text`, also the text of responses while models write it: frames `delta`, and `discard` where it comes to nothing."
)

/** With what a stream sends, as `curl -N` shows it. */
const describe = (summary: string, description: string, frames: string) =>
  OpenApi.annotations({ summary, description: `${description}\n\n\`\`\`text\n${frames}\`\`\`` })

export const StreamsApi = HttpApiGroup.make("streams")
  .add(
    HttpApiEndpoint.get("thread", "/threads/:threadId/events/stream", {
      params: { threadId: ThreadId },
      query: {
        types: Types,
        deltas: Deltas,
        afterSeq: described(
          Schema.optional(int64),
          "Seq behind which to begin: the log is replayed from there, without gaps. Absent: from what happens now on."
        )
      },
      headers: {
        "last-event-id": described(
          Schema.optional(int64),
          "What a client sends when it comes back: the id of the last frame that it has seen. It goes before `afterSeq`."
        )
      },
      success: HttpApiSchema.StreamSse({ events: ThreadFrame })
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        describe(
          "Follow a thread",
          "`ready`, then whole events with their seq as id, and hints. With `afterSeq` or `Last-Event-ID` the log is replayed from there without gaps.",
          textOf(threadFrames)
        )
      ),
    HttpApiEndpoint.get("agent", "/agents/:agentId/events/stream", {
      params: { agentId: AgentId },
      query: { types: Types, deltas: Deltas },
      success: HttpApiSchema.StreamSse({ events: HintFrame })
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        describe(
          "Follow an agent",
          "Hints of all its threads. No replay: read the log where it matters.",
          textOf(hintFrames)
        )
      ),
    HttpApiEndpoint.get("workspace", "/events/stream", {
      query: {
        types: Types,
        deltas: Deltas,
        agentId: described(Schema.optional(AgentId), "Only threads of this agent.")
      },
      success: HttpApiSchema.StreamSse({ events: HintFrame })
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        describe(
          "Follow the workspace",
          "Hints of all threads, or of one agent's. No replay: read the log where it matters.",
          textOf(hintFrames)
        )
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      description: "Server-Sent Events: best-effort hints of activity, and the log of one thread as it grows."
    })
  )
