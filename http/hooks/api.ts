/** Hooks at work: what they have decided, a dry run, and what they ask for. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ContentBlock } from "../../src/domain/content.ts"
import { described } from "../../src/domain/described.ts"
import { HookDecisionEvent, HookPoint } from "../../src/domain/event.ts"
import { HookData, HookInput } from "../../src/domain/hook.ts"
import { HookDecision } from "../../src/hooks/decision.ts"
import { idOf } from "../../src/domain/ids.ts"
import { is, part } from "../../src/domain/jsonSchema.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { AnyTime } from "../../src/domain/time.ts"
import { DeliveryDecision, HookWaitDecision } from "../../src/waits/answer.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { ResolvedWait, resolveWords } from "../waits/api.ts"
import { AgentId, ThreadId, WaitId } from "../../src/domain/resourceIds.ts"

const { decision } = HookDecisionEvent.fields

export const HookDecisionPage = Schema.Struct({
  decisions: described(Schema.Array(HookDecision), "Decisions of this page, newest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "HookDecisionPage" })

/** `data` is what the hook would be told at its point. */
export const HookSample = Schema.Struct({
  hook: described(HookInput, "The hook to try, as a profile would hold it."),
  data: described(HookData, "Data as the hook would be told it at its point.")
})
  .check(
    Schema.makeFilter(
      ({ data, hook }) => data.point === hook.point || { path: ["data", "point"], issue: "must be the hook's point" },
      {
        toJsonSchema: () => ({
          dependentSchemas: {
            hook: {
              anyOf: HookPoint.literals.map((point) => part({ hook: is("point", point), data: is("point", point) }))
            }
          }
        })
      }
    )
  )
  .annotate({ identifier: "HookSample" })

export const HookOutcome = Schema.Struct({
  decision: described(decision, "The hook's decision."),
  latencyMs: described(Schema.Int, "How long the answer took, in milliseconds."),
  deliveryId: described(Schema.String, "Id of the delivery that asked."),
  reason: described(Schema.optionalKey(Schema.String), "Why, in words for people."),
  rewrite: described(
    Schema.optionalKey(
      Schema.Struct({
        content: described(Schema.optionalKey(Schema.Array(ContentBlock)), "Message or text from now on."),
        toolInput: described(Schema.optionalKey(Schema.Unknown), "Input of the call from now on."),
        toolOutput: described(Schema.optionalKey(Schema.Unknown), "Output of the call from now on.")
      })
    ),
    "Replacement for the content that was judged."
  ),
  ask: described(
    Schema.optionalKey(
      Schema.Struct({
        target: described(Schema.Literals(["person", "client", "url"]), "Who is expected to answer."),
        timeoutMs: described(Schema.Int, "How long it stays open, in milliseconds."),
        onTimeout: described(Schema.Literals(["deny", "allow", "fail"]), "Outcome when nobody answers.")
      })
    ),
    "For an ask: who answers, how long it stays open, and its outcome then."
  ),
  failed: described(
    Schema.optionalKey(Schema.Literal(true)),
    "No valid answer came: this is what the hook's onError says."
  )
}).annotate({ identifier: "HookOutcome" })

export const HookTest = Schema.Struct({
  matched: described(Schema.Boolean, "Whether the hook's match fits the sample. It is asked in any case."),
  outcome: described(HookOutcome, "Outcome of the question."),
  request: described(
    Schema.optionalKey(
      Schema.Struct({
        url: described(Schema.String, "Where it was sent."),
        headers: described(Schema.Record(Schema.String, Schema.String), "Headers by name."),
        body: described(Schema.Unknown, "The delivery.")
      })
    ),
    "Request of the last attempt to a url. Signatures are left out."
  ),
  response: described(
    Schema.optionalKey(
      Schema.Struct({
        status: described(Schema.Int, "HTTP status of the answer."),
        body: described(Schema.String, "Body of the answer, as text.")
      })
    ),
    "Answer of the url. Absent when none came."
  )
}).annotate({ identifier: "HookTest" })

export const HooksApi = HttpApiGroup.make("hooks")
  .add(
    HttpApiEndpoint.get("decisions", "/hooks/decisions", {
      query: {
        threadId: described(Schema.optional(ThreadId), "Only decisions in this thread."),
        agentId: described(Schema.optional(AgentId), "Only decisions in threads of this agent."),
        hookId: described(Schema.optional(idOf("hook")), "Only decisions of this hook."),
        point: described(Schema.optional(HookPoint), "Only decisions at this point of a turn."),
        decision: described(Schema.optional(decision), "Only these decisions."),
        from: described(Schema.optional(AnyTime), "Only decisions from this time on, itself included."),
        to: described(Schema.optional(AnyTime), "Only decisions before this time."),
        limit: limitOf("hookDecisions"),
        cursor: CursorParam
      },
      success: HookDecisionPage
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List decisions of hooks",
          description:
            "Newest first, over all threads of the workspace. `from` is included, `to` is not. A page looks at a " +
            "bounded number of decisions: with filters it may hold fewer than `limit`, or none, and still have a " +
            "`nextCursor`. The list ends where there is none."
        })
      ),
    HttpApiEndpoint.post("test", "/hooks/test", {
      payload: HookSample,
      success: HookTest
    })
      .annotateMerge(access("write"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Try a hook on a sample",
          description:
            "Asks the hook as a turn would, and changes nothing: a url gets a real delivery whose ids lead " +
            "nowhere and that holds no `answerToken`, an agent a real question."
        })
      ),
    HttpApiEndpoint.post("resolveWait", "/hooks/waits/:waitId/resolve", {
      params: { waitId: WaitId },
      payload: HookWaitDecision,
      success: ResolvedWait,
      error: refuses(...resolveWords)
    })
      .annotateMerge(access("approve"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Decide what a hook or a role asks",
          description: "The same as answering the wait in its thread, for those who know only the wait."
        })
      ),
    HttpApiEndpoint.post("decide", "/hooks/deliveries/:deliveryId/decision", {
      params: { deliveryId: described(idOf("delivery"), "Id of the delivery, as the endpoint was told.") },
      payload: DeliveryDecision,
      success: ResolvedWait,
      error: refuses(...resolveWords)
    })
      .annotateMerge(access("approve", { delivery: true }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Answer an ask late",
          description:
            "For an endpoint that has answered a delivery with `ask`: its decision, once there is one. With an " +
            "API key, or with the `answerToken` of the delivery as bearer: good for one answer. 404 while " +
            "nothing asks about the delivery, as in the moment before its `ask` is written down."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({ description: "Runtime hook audit, dry runs of hooks, and decisions that hooks ask for." })
  )
