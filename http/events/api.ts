/** The durable event log of a thread (contract C20.13). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { limits } from "../../src/domain/limits.ts"
import { EventPage } from "../../src/threads/threadEvent.ts"
import { access } from "../access.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { int64, wholeNumber } from "../parameters.ts"
import { ThreadId } from "../../src/domain/resourceIds.ts"

export const EventsApi = HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("list", "/threads/:threadId/events", {
      params: { threadId: ThreadId },
      query: {
        turnId: described(Schema.optional(Schema.String.check(Schema.isMinLength(1))), "Only events of this turn."),
        afterSeq: described(
          Schema.optional(int64),
          "Seq behind which to begin: only events after it. 0 is the beginning. Not together with `cursor` or " +
            "`order=desc`."
        ),
        limit: limitOf("events"),
        cursor: CursorParam,
        order: described(
          Schema.optional(Schema.Literals(["asc", "desc"])),
          "By seq, upwards or downwards. `asc` when absent."
        ),
        waitSeconds: described(
          Schema.optional(wholeNumber(0, limits.eventsWaitSeconds)),
          "Seconds that the answer may wait for an event after `afterSeq`, where there is none yet. 0 when absent."
        )
      },
      success: EventPage
    })
      .annotateMerge(access("read", { trigger: true }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List a thread's events",
          description:
            "Ascending by seq unless `order=desc`. `afterSeq` excludes `cursor` and `order=desc`. `waitSeconds` " +
            "waits until an event after `afterSeq` exists."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "Thread event log data: durable, ordered, append-only." }))
