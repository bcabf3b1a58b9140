/**
 * The messages of nodes to each other about actors: one question, one reply, each a JSON text. Both are
 * decoded, however they came: other versions and strangers may speak on the same subjects.
 */
import { Option, Schema } from "effect"
import { idOf } from "../src/domain/ids.ts"
import { type ActorError, type Reply, type Draining, KeyReused, reasons, Declined, Unreachable } from "./Actor.ts"
import { answerNumbers, kindOf, numberOf } from "./kept.ts"

/** Raised when a node of before would misunderstand; those that differ do not talk, and the inbox serves. */
const version = Schema.Literal(1)

const name = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(64))

const common = {
  v: version,
  /** The incarnation that is asked. */
  to: idOf("node"),
  /**
   * Milliseconds by the database's clock: when the command was sent first, and until when anybody waits for this
   * answer.
   */
  at: Schema.Finite,
  until: Schema.Finite,
  workspace: idOf("workspace"),
  /** The command's: the same however often it is sent. */
  command: name,
  /** The kind's own. */
  request: Schema.Unknown,
  key: Schema.optionalKey(Schema.Struct({ scope: name, fingerprint: name })),
  /** The journal says that the asked node owns the actor: it may have left its memory. */
  owned: Schema.optionalKey(Schema.Boolean),
  /** The command may have been taken already. */
  again: Schema.optionalKey(Schema.Boolean)
}

/** `id`: whoever answers for the kind says whether it is one. */
export const NodeQuestion = Schema.Struct({ kind: name, id: name, ...common })
export type NodeQuestion = typeof NodeQuestion.Type

const Failure = Schema.Union([
  Schema.Struct({
    is: Schema.Literal("Refused"),
    reason: Schema.Literals(reasons),
    message: Schema.String,
    code: Schema.optionalKey(Schema.String),
    retryAfterSeconds: Schema.optionalKey(Schema.Int)
  }),
  Schema.Struct({ is: Schema.Literal("KeyReused") }),
  Schema.Struct({
    is: Schema.Literal("Unreachable"),
    retryAfterSeconds: Schema.Int,
    elsewhere: Schema.optionalKey(Schema.Literal(true))
  })
])

/** Why a node does not take a question at all; nothing has happened. */
export const unwillings = ["stranger", "fenced", "draining", "late", "malformed"] as const
export type Unwilling = (typeof unwillings)[number]

const Answered = Schema.Struct({
  status: Schema.Literals(answerNumbers),
  body: Schema.String,
  replayed: Schema.optionalKey(Schema.Boolean),
  version: Schema.optionalKey(Schema.Int)
})

export const NodeReply = Schema.Union([
  Schema.Struct({
    v: version,
    answer: Answered
  }),
  Schema.Struct({ v: version, failure: Failure }),
  /** Not here: `owned` where the journal says so, else where the asked node would ask. */
  Schema.Struct({ v: version, elsewhere: idOf("node"), owned: Schema.Boolean }),
  Schema.Struct({ v: version, unwilling: Schema.Literals(unwillings) }),
  /** The actor broke over the command. */
  Schema.Struct({ v: version, broken: Schema.Literal(true) })
])
export type NodeReply = typeof NodeReply.Type

export const readQuestion = Schema.decodeUnknownOption(Schema.fromJsonString(NodeQuestion))
const decodeReply = Schema.decodeUnknownOption(Schema.fromJsonString(NodeReply))
export const readReply = (text: string) => Option.getOrUndefined(decodeReply(text))

export const answerReply = ({ body, kind, replayed, version }: Reply): NodeReply => ({
  v: 1,
  answer: {
    status: numberOf({ kind }),
    body,
    ...(replayed === true ? { replayed } : {}),
    ...(version === undefined ? {} : { version })
  }
})

/** The answer as it was on the other node. */
export const replyOf = ({ body, replayed, status, version }: typeof Answered.Type): Reply => ({
  kind: kindOf(status),
  body,
  ...(replayed === undefined ? {} : { replayed }),
  ...(version === undefined ? {} : { version })
})

export const failureReply = (error: ActorError): NodeReply => {
  switch (error._tag) {
    case "Refused": {
      const { code, message, reason, retryAfterSeconds } = error
      return {
        v: 1,
        failure: {
          is: "Refused",
          reason,
          message,
          ...(code === undefined ? {} : { code }),
          ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds })
        }
      }
    }
    case "KeyReused":
      return { v: 1, failure: { is: "KeyReused" } }
    case "Unreachable":
      return {
        v: 1,
        failure: {
          is: "Unreachable",
          retryAfterSeconds: error.retryAfterSeconds,
          ...(error.elsewhere === undefined ? {} : { elsewhere: error.elsewhere })
        }
      }
    case "Draining":
      return { v: 1, unwilling: "draining" }
  }
}

/** The failure as it was on the other node. */
export const actorErrorOf = (failure: typeof Failure.Type): Exclude<ActorError, Draining> => {
  switch (failure.is) {
    case "Refused": {
      const { is: _, ...fields } = failure
      return new Declined(fields)
    }
    case "KeyReused":
      return new KeyReused()
    case "Unreachable": {
      const { is: _, ...fields } = failure
      return new Unreachable(fields)
    }
  }
}
