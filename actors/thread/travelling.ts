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
import { pendingState, queuedMessage, type Spend } from "../../src/store/threadDetail.ts"
import { readAdmitted, readInput } from "../../src/store/threadView.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import { type Answer, Unreachable } from "../Actor.ts"
import type { Being } from "../Kind.ts"
import * as answers from "./answers.ts"
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

export const travels = (request: Request): string | undefined => {
  if (request.type === "submit") return request.creating === true ? undefined : request.input.inputId
  if (request.type === "retry") return request.inputId
  return clients.has(request.type) ? freshBody() : undefined
}

export interface Recalling {
  readonly journal: Pick<Journal["Service"], "facts" | "input">
  readonly spendOf: (workspace: string, agentId: string) => Effect.Effect<Spend, Unreachable>
}

const unreachable = () => new Unreachable({ retryAfterSeconds: 2 })

const created = (body: object): Answer => ({ status: 201, body: JSON.stringify(body) })

/** Inputs are known by their ids. Everything else comes to the same when it is asked twice, but for a cancel that names no turn. */
export const makeRecall = ({ journal, spendOf }: Recalling) => {
  /** When the running turn began. */
  const beganAt = ({ ref, snapshot: { context: { turn } } }: Being<Snapshot>): Effect.Effect<number | undefined, Unreachable> =>
    turn === null ? Effect.succeed(undefined) : journal.facts(ref, turn.openedPos - 1).pipe(Effect.mapBoth({ onFailure: unreachable, onSuccess: ([first]) => first?.at }))

  return (being: Being<Snapshot>, request: Request, sentAt: number): Effect.Effect<Answer | undefined, Unreachable> => {
    const { parent, ref, snapshot } = being
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
        // A turn that began after the cancel was sent is not meant by it: it may be there because of it.
        if (request.turnId !== undefined) return Effect.succeed(undefined)
        return Effect.flatMap(beganAt(being), (at) =>
          at !== undefined && at <= sentAt
            ? Effect.succeed(undefined)
            : Effect.map(spendOf(ref.workspace, parent ?? ""), (spend) => ({ status: 200, body: JSON.stringify(answers.detail(being, snapshot, at ?? sentAt, spend)) })))
      default:
        return Effect.succeed(undefined)
    }
  }
}
