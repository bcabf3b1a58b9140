/** The durable event log of a thread (specification, GET /v1/threads/{threadId}/events; design, section 4). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { EventPage } from "../../src/domain/event.ts"
import { limits } from "../../src/domain/limits.ts"
import { access } from "../Authenticate.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { ThreadId } from "../threads/api.ts"
import { int64, whole } from "../Validate.ts"

export const EventsApi = HttpApiGroup.make("events").add(
  HttpApiEndpoint.get("list", "/threads/:threadId/events", {
    params: { threadId: ThreadId },
    query: {
      turnId: Schema.optional(Schema.String.check(Schema.isMinLength(1))),
      afterSeq: Schema.optional(int64),
      limit: limitOf("events"),
      cursor: CursorParam,
      order: Schema.optional(Schema.Literals(["asc", "desc"])),
      waitSeconds: Schema.optional(whole(0, limits.eventsWaitSeconds))
    },
    success: EventPage
  }).annotateMerge(access("read")).annotateMerge(OpenApi.annotations({
    summary: "List a thread's events",
    description: "Ascending by seq unless `order=desc`. `afterSeq` excludes `cursor` and `order=desc`. `waitSeconds` waits until an event after `afterSeq` exists."
  }))
).annotateMerge(OpenApi.annotations({ description: "Thread event log data: durable, ordered, append-only." }))
