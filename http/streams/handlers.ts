/** The three streams: who watches what, and from where. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Inspecting } from "../../actors/inspecting.ts"
import { Bus } from "../../src/bus/Bus.ts"
import { isIdOf } from "../../src/domain/ids.ts"
import { Directory } from "../../src/agents/Directory.ts"
import { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { Api } from "../Api.ts"
import { Caller, holding } from "../Caller.ts"
import { Refused } from "../errors.ts"
import { makeFollowHints } from "./followHints.ts"
import { makeFollowThread } from "./followThread.ts"
import { Streams } from "./Streams.ts"
import { type Wanted, wanted } from "./wanted.ts"

const isIdentity = isIdOf("identity")

export const StreamsHandlers = HttpApiBuilder.group(
  Api,
  "streams",
  Effect.fnUntraced(function* (handlers) {
    const bus = yield* Bus
    const directory = yield* Directory
    const reads = yield* ThreadReads
    const streams = yield* Streams
    const inspecting = yield* Inspecting
    const thread = makeFollowThread(bus, reads, inspecting)
    const hints = makeFollowHints(bus, inspecting)

    /** Steps are for whoever may look at the actor (contract C46.4). */
    const seesSteps = Effect.fnUntraced(function* (actorId: string, { step }: Wanted) {
      if (!step) return
      const { trigger } = yield* holding(isIdentity(actorId) ? "admin" : "read")
      if (trigger !== undefined)
        return yield* new Refused({
          error: "permission_denied",
          code: "trigger",
          message: "types: a trigger's key is told of no steps"
        })
    })

    return handlers.handleAll({
      thread: Effect.fnUntraced(function* ({ headers, params: { threadId }, query, request }) {
        const caller = yield* Caller
        // A client that comes back says where it was; its URL still says where it began.
        const after = headers["last-event-id"] ?? query.afterSeq
        const frames = wanted(query, "one")
        yield* seesSteps(threadId, frames)
        return yield* streams.open(
          request,
          caller,
          thread({ workspace: caller.workspace, threadId, wanted: frames, after })
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
        const { actorId, agentId } = query
        const frames = wanted(query, "many")
        if (actorId !== undefined) yield* seesSteps(actorId, frames)
        return yield* streams.open(
          request,
          caller,
          hints({ workspace: caller.workspace, ...(agentId === undefined ? {} : { agentId }) }, frames, actorId)
        )
      })
    })
  })
)
