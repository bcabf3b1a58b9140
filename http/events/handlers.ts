/** The event log: pages of texts that the store has made, spliced and sent. */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Threads } from "../../actors/thread/Threads.ts"
import { Bus } from "../../src/bus/Bus.ts"
import { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { jsonText } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Refused } from "../errors.ts"
import { lean } from "../lean.ts"
import { Cursors } from "../Cursors.ts"
import { pageSize } from "../pagination.ts"
import { Streams } from "../streams/Streams.ts"
import { noThread } from "../threads/refusals.ts"
import { makeLongPoll } from "./longPoll.ts"

const refusal = (code: string, message: string) => new Refused({ error: "invalid_request", code, message })

const refuse = (query: {
  readonly afterSeq?: number | undefined
  readonly cursor?: string | undefined
  readonly order?: string | undefined
  readonly waitSeconds?: number | undefined
}) => {
  const { afterSeq = 0, cursor, order, waitSeconds } = query
  if (afterSeq > 0 && cursor !== undefined)
    return refusal("after_seq_with_cursor", "afterSeq: not together with cursor")
  if (afterSeq > 0 && order === "desc") return refusal("after_seq_with_desc", "afterSeq: not together with order=desc")
  if (waitSeconds !== undefined && cursor !== undefined)
    return refusal("wait_with_cursor", "waitSeconds: not together with cursor")
  if (waitSeconds !== undefined && order === "desc")
    return refusal("wait_with_desc", "waitSeconds: not together with order=desc")
  return undefined
}

export const EventsHandlers = Layer.unwrap(
  Effect.gen(function* () {
    const reads = yield* ThreadReads
    const threads = yield* Threads
    const cursors = yield* Cursors
    const longPoll = makeLongPoll(yield* Bus, reads, yield* Streams, threads.lastSeq)

    return lean(
      HttpApiBuilder.group(Api, "events", (handlers) =>
        handlers.handleRaw(
          "list",
          Effect.fnUntraced(function* ({ params: { threadId }, query, request }) {
            const refused = refuse(query)
            if (refused !== undefined) return yield* refused
            const caller = yield* Caller
            const { workspace } = caller
            const { afterSeq = 0, limit, turnId, waitSeconds = 0 } = query
            const place = `events ${threadId} ${workspace}`
            const page =
              query.cursor === undefined
                ? { filter: { turnId, order: query.order ?? "asc" }, after: undefined }
                : yield* cursors.open(place, query.cursor, { turnId, order: query.order })
            const { filter } = page
            const position = page.after?.[0]
            const ofTurn = filter.turnId
            const wanted = {
              workspace,
              threadId,
              order: filter.order === "desc" ? ("desc" as const) : ("asc" as const),
              limit: pageSize("events", limit),
              ...(ofTurn === undefined ? {} : { turnId: ofTurn }),
              ...(afterSeq > 0 ? { afterSeq } : {}),
              ...(typeof position === "number" ? { position } : {})
            }
            // Whoever follows a thread that lives here costs no statement.
            if (waitSeconds === 0 && query.cursor === undefined && turnId === undefined && wanted.order === "asc") {
              const recent = yield* threads.recent(workspace, threadId, afterSeq, wanted.limit)
              if (recent !== undefined) return jsonText(`{"events":[${recent.join(",")}]}`)
            }
            const found =
              waitSeconds > 0
                ? yield* longPoll(request, caller, wanted, afterSeq, waitSeconds * 1000)
                : yield* reads.events(wanted)
            if (found === undefined) return yield* noThread()
            const next =
              found.position === undefined ? "" : `,"nextCursor":"${cursors.seal(place, filter, [found.position])}"`
            return jsonText(`{"events":[${found.events.join(",")}]${next}}`)
          })
        )
      )
    )
  })
)
