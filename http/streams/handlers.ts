/** The three streams: who watches what, and from where. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Bus } from "../../src/bus/Bus.ts"
import { Directory } from "../../src/agents/Directory.ts"
import { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Refused } from "../errors.ts"
import { followHints } from "./followHints.ts"
import { followThread } from "./followThread.ts"
import { Streams } from "./Streams.ts"
import { wanted } from "./wanted.ts"

export const StreamsHandlers = HttpApiBuilder.group(
  Api,
  "streams",
  Effect.fnUntraced(function* (handlers) {
    const bus = yield* Bus
    const directory = yield* Directory
    const reads = yield* ThreadReads
    const streams = yield* Streams
    const thread = followThread(bus, reads)
    const hints = followHints(bus)

    return handlers.handleAll({
      thread: Effect.fnUntraced(function* ({ headers, params: { threadId }, query, request }) {
        const caller = yield* Caller
        // A client that comes back says where it was; its URL still says where it began.
        const after = headers["last-event-id"] ?? query.afterSeq
        return yield* streams.open(
          request,
          caller,
          thread({ workspace: caller.workspace, threadId, wanted: wanted(query, "one"), after })
        )
      }),

      agent: Effect.fnUntraced(function* ({ params: { agentId }, query, request }) {
        const caller = yield* Caller
        const agent = yield* directory.agent(caller.workspace, agentId)
        if (agent === undefined) return yield* new Refused({ error: "not_found", message: "no such agent" })
        return yield* streams.open(
          request,
          caller,
          hints({ workspace: caller.workspace, agentId }, wanted(query, "many"))
        )
      }),

      workspace: Effect.fnUntraced(function* ({ query, request }) {
        const caller = yield* Caller
        const { agentId } = query
        return yield* streams.open(
          request,
          caller,
          hints({ workspace: caller.workspace, ...(agentId === undefined ? {} : { agentId }) }, wanted(query, "many"))
        )
      })
    })
  })
)
