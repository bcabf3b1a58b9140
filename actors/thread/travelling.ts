/**
 * Requests to a thread that may come from another node, or through the inbox: those of clients. How they
 * are read there, and what became of one that may have come before.
 */
import { Effect, Option, Schema } from "effect"
import { MessageContent, SubmitMode } from "../../src/domain/content.ts"
import { idOf } from "../../src/domain/ids.ts"
import { Principal } from "../../src/domain/principal.ts"
import { WaitRewrite } from "../../src/domain/waitAnswer.ts"
import type { Journal } from "../../src/journal/Journal.ts"
import { freshBody } from "../../src/seed.ts"
import { pendingState, queuedMessage } from "../../src/store/threadDetail.ts"
import { readAdmitted, readInput } from "../../src/store/threadView.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import { type Answer, Unreachable } from "../Actor.ts"
import type { Being, Travel } from "../Kind.ts"
import type { Request } from "./requests.ts"

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
    model: Schema.optionalKey(Schema.String)
  }),
  expectedTurnId: Schema.optionalKey(turnId),
  acknowledged: Schema.optionalKey(Schema.Literal(true))
})

const WaitAnswer = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("decision"),
    decision: Schema.Literals(["allow", "deny"]),
    reason: Schema.optionalKey(Schema.String),
    rewrite: Schema.optionalKey(WaitRewrite),
    scope: Schema.optionalKey(Schema.Literals(["once", "thread"]))
  }),
  Schema.Struct({ type: Schema.Literal("tool_result"), error: Schema.Struct({ code: Schema.String, message: Schema.String }) }),
  Schema.Struct({ type: Schema.Literal("tool_result"), output: Schema.Unknown })
])

const Travelling = Schema.Union([
  Submit,
  Schema.Struct({ type: Schema.Literal("edit"), inputId, content: MessageContent }),
  Schema.Struct({ type: Schema.Literal("remove"), inputId }),
  Schema.Struct({
    type: Schema.Literal("promote"), inputId, mode: Schema.Literals(["steer", "interrupt"]), principal: Principal, expectedTurnId: Schema.optionalKey(turnId)
  }),
  Schema.Struct({ type: Schema.Literal("cancel"), principal: Principal, turnId: Schema.optionalKey(turnId), clearQueue: Schema.Boolean }),
  Schema.Struct({ type: Schema.Literal("retry"), inputId, principal: Principal }),
  Schema.Struct({
    type: Schema.Literal("answer"), waitId: idOf("wait"), principal: Principal, answer: WaitAnswer, from: Schema.optionalKey(idOf("thread"))
  })
])
type Travelling = typeof Travelling.Type

const decode = Schema.decodeUnknownOption(Travelling)

export const revive = (sent: unknown): Request | undefined => Option.getOrUndefined(decode(sent))

const clients: ReadonlySet<string> = new Set<Travelling["type"]>(["submit", "edit", "remove", "promote", "cancel", "retry", "answer"])

/** Whether a submit can be kept for an owner that cannot be reached: not where the answer hangs on what the owner does right now. */
export const isStorable = ({ expectedTurnId }: Pick<Extract<Request, { type: "submit" }>, "expectedTurnId">) => expectedTurnId === undefined

export const travels = (request: Request): Travel | undefined => {
  if (request.type === "submit") return request.creating === true ? undefined : { id: request.input.inputId, storable: isStorable(request) }
  if (request.type === "retry") return { id: request.inputId, storable: false }
  return clients.has(request.type) ? { id: freshBody(), storable: false } : undefined
}

export interface Recalling {
  readonly journal: Pick<Journal["Service"], "input">
}

const unreachable = () => new Unreachable({ retryAfterSeconds: 2 })

const created = (body: object): Answer => ({ status: 201, body: JSON.stringify(body) })

/** Inputs are known by their ids. Everything else comes to the same when it is asked twice, but for a cancel that names no turn. */
export const makeRecall = ({ journal }: Recalling) => ({ ref, snapshot }: Being<Snapshot>, request: Request): Effect.Effect<Answer | undefined, Unreachable> => {
  const { pending, turn } = snapshot.context
  switch (request.type) {
    case "submit":
    case "retry": {
      const id = request.type === "submit" ? request.input.inputId : request.inputId
      const waiting = pending.find((input) => input.inputId === id)
      if (waiting !== undefined) return Effect.succeed(created({ ...queuedMessage(waiting, turn?.turnId), state: pendingState(waiting, turn?.turnId) }))
      return journal.input(ref, id).pipe(
        Effect.mapError(unreachable),
        Effect.map((stored) => {
          if (stored === undefined) return undefined
          // One that was cancelled since had been queued.
          return created(stored.state === "admitted" ? readAdmitted(id, stored.fact) : { ...queuedMessage(readInput(stored.row), undefined), state: "queued" })
        })
      )
    }
    case "cancel":
      // The turn that runs now may be there because the one that was meant was cancelled.
      return request.turnId === undefined && turn !== null ? Effect.fail(unreachable()) : Effect.succeed(undefined)
    default:
      return Effect.succeed(undefined)
  }
}
