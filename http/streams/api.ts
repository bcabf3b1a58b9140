/** The three Server-Sent Events endpoints: best-effort activity (specification, Events, rule 3; design, section 16). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AgentId } from "../../src/domain/agent.ts"
import { ThreadEvent } from "../../src/domain/event.ts"
import { PendingWait, ThreadStatus } from "../../src/domain/thread.ts"
import { access } from "../Authenticate.ts"
import { ThreadId } from "../threads/api.ts"
import { int64 } from "../Validate.ts"

/** Every frame that a stream may hold. `operation` is reserved. */
export const frameTypes = ["ready", "event", "delta", "status", "queue", "wait", "operation", "discard", "gap", "bye"] as const
export type FrameType = typeof frameTypes[number]

const frame = <const Event extends FrameType, Data extends Schema.Top>(event: Event, data: Data) =>
  Schema.Struct({ event: Schema.Literal(event), data: Schema.fromJsonString(data) })

const HintedEvent = Schema.Struct({
  threadId: Schema.String,
  agentId: Schema.String,
  turnId: Schema.String,
  seq: Schema.Int,
  type: Schema.String
})
/** Sent once the subscription is live: whoever reads the log up to lastSeq misses nothing. */
const ready = frame("ready", Schema.Struct({ streamId: Schema.String, lastSeq: Schema.optionalKey(Schema.Int) }))
const delta = frame("delta", Schema.Struct({
  threadId: Schema.String,
  turnId: Schema.String,
  /** The id that the durable assistant_message will have. */
  eventId: Schema.String,
  index: Schema.Int,
  text: Schema.String
}))
const status = frame("status", Schema.Struct({ threadId: Schema.String, status: ThreadStatus, lastSeq: Schema.Int }))
const wait = frame("wait", Schema.Struct({
  threadId: Schema.String, waitId: Schema.String, state: PendingWait.fields.state, target: PendingWait.fields.target
}))
const queue = frame("queue", Schema.Struct({ threadId: Schema.String, pending: Schema.Int }))
/** The streamed response will not be recorded. */
const discard = frame("discard", Schema.Struct({ threadId: Schema.String, eventId: Schema.String }))
/** Frames were dropped for a slow reader. A thread's stream names the events that it left out. */
const gap = frame("gap", Schema.Struct({ fromSeq: Schema.optionalKey(Schema.Int), toSeq: Schema.optionalKey(Schema.Int) }))
const bye = frame("bye", Schema.Struct({ reason: Schema.Literals(["draining", "auth_expired"]) }))

const ThreadFrame = Schema.Union([
  ready,
  Schema.Struct({ id: Schema.String, event: Schema.Literal("event"), data: Schema.fromJsonString(ThreadEvent) }),
  delta, status, queue, wait, discard, gap, bye
])
const HintFrame = Schema.Union([ready, frame("event", HintedEvent), delta, status, queue, wait, discard, gap, bye])

/** Comma-separated names of frames. `ready`, `gap` and `bye` always come. */
const Types = Schema.optional(Schema.String.check(
  Schema.makeFilter((text) =>
    text.split(",").every((name) => (frameTypes as ReadonlyArray<string>).includes(name)) || `frame names, separated by commas: ${frameTypes.join(", ")}`)
))
const Deltas = Schema.optional(Schema.Literal("text"))

const describe = (summary: string, description: string) => OpenApi.annotations({ summary, description })

export const StreamsApi = HttpApiGroup.make("streams").add(
  HttpApiEndpoint.get("thread", "/threads/:threadId/events/stream", {
    params: { threadId: ThreadId },
    query: { types: Types, deltas: Deltas, afterSeq: Schema.optional(int64) },
    headers: { "last-event-id": Schema.optionalKey(int64) },
    success: HttpApiSchema.StreamSse({ events: ThreadFrame })
  }).annotateMerge(access("read")).annotateMerge(describe(
    "Follow a thread",
    "`ready`, then whole events with their seq as id, and hints. With `afterSeq` or `Last-Event-ID` the log is replayed from there without gaps."
  )),
  HttpApiEndpoint.get("agent", "/agents/:agentId/events/stream", {
    params: { agentId: AgentId },
    query: { types: Types, deltas: Deltas },
    success: HttpApiSchema.StreamSse({ events: HintFrame })
  }).annotateMerge(access("read")).annotateMerge(describe("Follow an agent", "Hints of all its threads. No replay: read the log where it matters.")),
  HttpApiEndpoint.get("workspace", "/events/stream", {
    query: { types: Types, deltas: Deltas, agentId: Schema.optional(AgentId) },
    success: HttpApiSchema.StreamSse({ events: HintFrame })
  }).annotateMerge(access("read")).annotateMerge(describe("Follow the workspace", "Hints of all threads, or of one agent's. No replay: read the log where it matters."))
).annotateMerge(OpenApi.annotations({ description: "Server-Sent Events: best-effort hints of activity, and the log of one thread as it grows." }))
