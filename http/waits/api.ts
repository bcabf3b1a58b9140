/** Waits: what a turn is parked on, and the one endpoint that answers them all. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { WaitRecord } from "../../src/domain/thread.ts"
import { WaitResolution } from "../../src/waits/answer.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { ThreadId, WaitId } from "../../src/domain/resourceIds.ts"

export const WaitAnswer = Schema.Struct({
  wait: described(WaitRecord, "The wait."),
  seq: described(Schema.optionalKey(Schema.Int), "Seq of its `wait_resolved` event, once it is over.")
}).annotate({ identifier: "WaitAnswer" })

/** `seq` is that of the wait_resolved event. */
export const ResolvedWait = Schema.Struct({
  wait: described(WaitRecord, "The wait, as it ended."),
  seq: described(Schema.Int, "Seq of its `wait_resolved` event.")
}).annotate({ identifier: "ResolvedWait" })

const wait = { threadId: ThreadId, waitId: WaitId }

/** Words of every endpoint that answers a wait, beside the common ones. */
export const resolveWords = ["wait_type_mismatch", "wait_already_resolved", "wait_expired"] as const

export const WaitsApi = HttpApiGroup.make("waits")
  .add(
    HttpApiEndpoint.get("get", "/threads/:threadId/waits/:waitId", {
      params: wait,
      success: WaitAnswer
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a wait",
          description:
            "Also when it is over. While it is open, a credential with the scope `approve` also sees what a hook " +
            "asks about: `content`, or `toolOutput` with what came beside it (`toolContent`, `toolMeta`) and " +
            "`failureCode`."
        })
      ),
    HttpApiEndpoint.post("resolve", "/threads/:threadId/waits/:waitId/resolve", {
      params: wait,
      payload: WaitResolution,
      success: ResolvedWait,
      error: refuses(...resolveWords)
    })
      .annotateMerge(access(["run", "approve"]))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Answer a wait: approve, deny, or give a result",
          description:
            "The first answer wins. The same one again is answered as before (a decision's reason does not " +
            "count); a different one, or one for a turn that was stopped, is `wait_already_resolved`. A decision " +
            "takes the scope `approve`, a tool's result `run`."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      description: "Waits that turns are parked on: results of client tools, decisions that hooks and roles ask for."
    })
  )
