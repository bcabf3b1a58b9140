/**
 * Requests to a thread that may come from another node, or through the inbox: those of clients. How they are named and
 * read there.
 */
import { hash } from "node:crypto"
import { Option, Schema } from "effect"
import { MessageContent, SubmitMode } from "../../src/domain/content.ts"
import { idOf } from "../../src/domain/ids.ts"
import { Principal } from "../../src/domain/principal.ts"
import { WaitRewrite } from "../../src/waits/answer.ts"
import { freshBody } from "../../src/seed.ts"
import type { Forwardable } from "../Kind.ts"
import type { ThreadRequest } from "./requests.ts"

const inputId = idOf("input")
const turnId = idOf("turn")

/** As `messages` and the journal hold it: limits were checked where the client sent it. */
const Submit = Schema.Struct({
  type: Schema.Literal("submit"),
  input: Schema.Struct({
    inputId,
    mode: SubmitMode,
    content: MessageContent,
    principal: Principal,
    model: Schema.optionalKey(Schema.String),
    queuedAt: Schema.optionalKey(Schema.Int),
    hops: Schema.optionalKey(Schema.Int)
  }),
  expectedTurnId: Schema.optionalKey(turnId),
  acknowledged: Schema.optionalKey(Schema.Literal(true)),
  fresh: Schema.optionalKey(Schema.Literal(true)),
  profileModels: Schema.optionalKey(Schema.Literal(true))
})

const SentWaitAnswer = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("decision"),
    decision: Schema.Literals(["allow", "deny"]),
    reason: Schema.optionalKey(Schema.String),
    rewrite: Schema.optionalKey(WaitRewrite),
    scope: Schema.optionalKey(Schema.Literals(["once", "thread"]))
  }),
  Schema.Struct({
    type: Schema.Literal("tool_result"),
    error: Schema.Struct({ code: Schema.String, message: Schema.String })
  }),
  Schema.Struct({ type: Schema.Literal("tool_result"), output: Schema.Unknown })
])

const ForwardableRequest = Schema.Union([
  Submit,
  Schema.Struct({
    type: Schema.Literal("edit"),
    inputId,
    content: MessageContent,
    // A node of an earlier version sends neither.
    principal: Schema.optionalKey(Principal),
    profileModels: Schema.optionalKey(Schema.Literal(true))
  }),
  Schema.Struct({ type: Schema.Literal("remove"), inputId }),
  Schema.Struct({
    type: Schema.Literal("promote"),
    inputId,
    mode: Schema.Literals(["steer", "interrupt"]),
    principal: Principal,
    expectedTurnId: Schema.optionalKey(turnId)
  }),
  Schema.Struct({
    type: Schema.Literal("cancel"),
    principal: Principal,
    turnId: Schema.optionalKey(turnId),
    clearQueue: Schema.Boolean
  }),
  Schema.Struct({ type: Schema.Literals(["compact", "archive"]) }),
  Schema.Struct({
    type: Schema.Literal("retry"),
    inputId,
    principal: Principal,
    fresh: Schema.optionalKey(Schema.Literal(true)),
    profileModels: Schema.optionalKey(Schema.Literal(true))
  }),
  Schema.Struct({
    type: Schema.Literal("answer"),
    waitId: idOf("wait"),
    principal: Principal,
    answer: SentWaitAnswer,
    from: Schema.optionalKey(idOf("thread"))
  })
])
type ForwardableRequest = typeof ForwardableRequest.Type

const decode = Schema.decodeUnknownOption(ForwardableRequest)

export const decodeRequest = (sent: unknown): ThreadRequest | undefined => Option.getOrUndefined(decode(sent))

const clients: ReadonlySet<string> = new Set<ForwardableRequest["type"]>([
  "submit",
  "edit",
  "remove",
  "promote",
  "cancel",
  "compact",
  "archive",
  "retry",
  "answer"
])

/**
 * Whether a submit can be kept for an owner that cannot be reached: not where the answer hangs on what the owner knows
 * or does right now.
 */
export const isStorable = ({
  expectedTurnId,
  profileModels
}: Pick<Extract<ThreadRequest, { type: "submit" }>, "expectedTurnId" | "profileModels">) =>
  expectedTurnId === undefined && profileModels === undefined

/** What two requests of one content share: asked twice, it comes to the same. */
const nameOf = (request: ThreadRequest) => hash("sha256", JSON.stringify(request), "base64url")

/** A request has the same id each time that it is sent. */
export const forwardable = (request: ThreadRequest): Forwardable | undefined => {
  if (request.type === "submit")
    return request.creating === true ? undefined : { id: request.input.inputId, storable: isStorable(request) }
  if (request.type === "retry") return { id: request.inputId, storable: false }
  if (!clients.has(request.type)) return undefined
  // A cancel that names no turn means whichever runs: two of them are two. A summary may be wanted again later.
  return {
    id:
      (request.type === "cancel" && request.turnId === undefined) || request.type === "compact"
        ? freshBody()
        : nameOf(request),
    storable: false
  }
}
