/** Hooks at work: what they have decided, a dry run, and what they ask for (design, sections 5 and 6). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AgentId } from "../../src/domain/agent.ts"
import { HookDecisionEvent, HookPoint } from "../../src/domain/event.ts"
import { HookData, HookInput } from "../../src/domain/hook.ts"
import { HookDecision } from "../../src/domain/hookDecision.ts"
import { idOf } from "../../src/domain/ids.ts"
import { AnyTime } from "../../src/domain/time.ts"
import { DeliveryDecision, HookWaitDecision } from "../../src/domain/waitAnswer.ts"
import { access } from "../Authenticate.ts"
import { refuses } from "../errors.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { ThreadId } from "../threads/api.ts"
import { ResolvedWait, WaitId } from "../waits/api.ts"

const { decision } = HookDecisionEvent.fields

export const HookDecisionPage = Schema.Struct({
  decisions: Schema.Array(HookDecision),
  nextCursor: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "HookDecisionPage" })

/** `data` is what the hook would be told at its point. */
export const HookSample = Schema.Struct({ hook: HookInput, data: HookData }).annotate({ identifier: "HookSample" })

export const HookOutcome = Schema.Struct({
  decision,
  latencyMs: Schema.Int,
  deliveryId: Schema.String,
  reason: Schema.optionalKey(Schema.String),
  /** What takes the place of what was judged. */
  rewrite: Schema.optionalKey(Schema.Struct({
    content: Schema.optionalKey(Schema.Array(Schema.Unknown)),
    toolInput: Schema.optionalKey(Schema.Unknown),
    toolOutput: Schema.optionalKey(Schema.Unknown)
  })),
  /** Of an ask: who answers, how long it stays open, and what becomes of it then. */
  ask: Schema.optionalKey(Schema.Struct({
    target: Schema.Literals(["person", "client", "url"]),
    timeoutMs: Schema.Int,
    onTimeout: Schema.Literals(["deny", "allow", "fail"])
  })),
  /** No valid answer came: this is what the hook's onError says. */
  failed: Schema.optionalKey(Schema.Literal(true))
}).annotate({ identifier: "HookOutcome" })

export const HookTest = Schema.Struct({
  /** Whether the hook's match fits the sample. It is asked in any case. */
  matched: Schema.Boolean,
  outcome: HookOutcome,
  /** What was sent to a url, in the last attempt; signatures are left out. */
  request: Schema.optionalKey(Schema.Struct({ url: Schema.String, headers: Schema.Record(Schema.String, Schema.String), body: Schema.Unknown })),
  /** What came back, as text. */
  response: Schema.optionalKey(Schema.Struct({ status: Schema.Int, body: Schema.String }))
}).annotate({ identifier: "HookTest" })

export const HooksApi = HttpApiGroup.make("hooks").add(
  HttpApiEndpoint.get("decisions", "/hooks/decisions", {
    query: {
      threadId: Schema.optional(ThreadId),
      agentId: Schema.optional(AgentId),
      hookId: Schema.optional(idOf("hook")),
      point: Schema.optional(HookPoint),
      decision: Schema.optional(decision),
      from: Schema.optional(AnyTime),
      to: Schema.optional(AnyTime),
      limit: limitOf("hookDecisions"),
      cursor: CursorParam
    },
    success: HookDecisionPage
  }).annotateMerge(access("read")).annotateMerge(OpenApi.annotations({
    summary: "List decisions of hooks",
    description: "Newest first, over all threads of the workspace. `from` is included, `to` is not. A page looks at a bounded number of decisions: with filters it may hold fewer than `limit`, or none, and still have a `nextCursor`. The list ends where there is none."
  })),
  HttpApiEndpoint.post("test", "/hooks/test", {
    payload: HookSample,
    success: HookTest
  }).annotateMerge(access("write")).annotateMerge(OpenApi.annotations({
    summary: "Try a hook on a sample",
    description: "Asks the hook as a turn would, and changes nothing: a url gets a real delivery whose ids lead nowhere and that holds no `answerToken`, an agent a real question."
  })),
  HttpApiEndpoint.post("resolveWait", "/hooks/waits/:waitId/resolve", {
    params: { waitId: WaitId },
    payload: HookWaitDecision,
    success: ResolvedWait,
    error: refuses("wait_type_mismatch", "wait_already_resolved", "wait_expired")
  }).annotateMerge(access("approve")).annotateMerge(OpenApi.annotations({
    summary: "Decide what a hook or a role asks",
    description: "The same as answering the wait in its thread, for those who know only the wait."
  })),
  HttpApiEndpoint.post("decide", "/hooks/deliveries/:deliveryId/decision", {
    params: { deliveryId: idOf("delivery") },
    payload: DeliveryDecision,
    success: ResolvedWait,
    error: refuses("wait_type_mismatch", "wait_already_resolved", "wait_expired")
  }).annotateMerge(access("approve", { delivery: true })).annotateMerge(OpenApi.annotations({
    summary: "Answer an ask late",
    description: "For an endpoint that has answered a delivery with `ask`: its decision, once there is one. With an API key, or with the `answerToken` of the delivery as bearer: good for one answer. 404 while nothing asks about the delivery, as in the moment before its `ask` is written down."
  }))
).annotateMerge(OpenApi.annotations({ description: "Runtime hook audit, dry runs of hooks, and decisions that hooks ask for." }))
