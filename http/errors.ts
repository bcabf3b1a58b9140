/**
 * The one table of refusals: every `error` word of the interface with its status, and how typed
 * errors of the rooms below become an ErrorResponse. Nothing else in the server knows a status code
 * of an error.
 *
 * E1. An endpoint declares the words it may refuse with: `error: refuses("not_found", "turn_conflict")`.
 *     The compiler holds its handler to them, and OpenAPI shows them.
 * E2. A handler refuses with `yield* new Refused({ error: "turn_conflict", message: "…" })`.
 * E3. `retryAfterSeconds` and the header Retry-After are always equal.
 */
import { Predicate, Schema, SchemaTransformation } from "effect"
import { described } from "../src/domain/described.ts"
import { ExpectedError } from "../src/domain/expected.ts"

export const ErrorResponse = Schema.Struct({
  error: described(Schema.String, "The problem, as a stable word to act on."),
  message: described(Schema.String, "The problem, for people. It says which field, where one is."),
  code: described(Schema.optionalKey(Schema.String), "A finer cause, for machines."),
  attemptsRemaining: described(Schema.optionalKey(Schema.Int), "How many more attempts are taken."),
  currentVersion: described(
    Schema.optionalKey(Schema.String),
    "Version of the memory entry that stood in the way. Only with `memory_conflict`."
  ),
  retryAfterSeconds: described(
    Schema.optionalKey(Schema.Int),
    "Seconds after which to try again: what the header Retry-After says."
  )
}).annotate({ identifier: "ErrorResponse" })
export type ErrorResponse = typeof ErrorResponse.Type

/** Word -> status. A word stands for one status everywhere. */
export const statuses = {
  invalid_request: 400,
  model_not_allowed_with_steer: 400,
  key_required: 400,
  wait_type_mismatch: 400,
  unauthenticated: 401,
  budget_exceeded: 402,
  thread_cost_exceeded: 402,
  permission_denied: 403,
  identity_disabled: 403,
  credential_not_accepted: 403,
  origin_not_allowed: 403,
  operation_denied: 403,
  not_found: 404,
  method_not_allowed: 405,
  memory_conflict: 409,
  memory_full: 409,
  turn_conflict: 409,
  input_not_pending: 409,
  wait_already_resolved: 409,
  operation_resolved: 409,
  operation_cancelled: 409,
  quota_exceeded: 409,
  feed_name_taken: 409,
  feed_archived: 409,
  feed_conflict: 409,
  too_many_feeds: 409,
  too_many_schedules: 409,
  too_many_subscriptions: 409,
  too_many_webhooks: 409,
  thread_archived: 409,
  agent_archived: 409,
  profile_archived: 409,
  nothing_to_retry: 409,
  nothing_to_compact: 409,
  own_identity: 409,
  role_in_use: 409,
  profile_in_use: 409,
  namespace_taken: 409,
  toolset_in_use: 409,
  too_many_roles: 409,
  connection_in_use: 409,
  idempotency_in_progress: 409,
  wait_expired: 410,
  operation_expired: 410,
  precondition_failed: 412,
  payload_too_large: 413,
  image_too_large: 413,
  unsupported_media_type: 415,
  image_format_unsupported: 415,
  misdirected_request: 421,
  image_not_found: 422,
  image_format_mismatch: 422,
  image_malformed: 422,
  model_unavailable: 422,
  model_not_priced: 422,
  agent_not_found: 422,
  feed_not_found: 422,
  thread_not_found: 422,
  profile_not_found: 422,
  role_not_found: 422,
  connection_not_found: 422,
  toolset_not_found: 422,
  idempotency_key_reused: 422,
  rate_limited: 429,
  queue_full: 429,
  internal: 500,
  runtime_unavailable: 503,
  node_draining: 503
} as const
export type ErrorWord = keyof typeof statuses

declare module "effect/Schema" {
  namespace Annotations {
    interface Annotations {
      /** Of an error's schema: the words that it stands for, which the OpenAPI document shows. */
      readonly refusals?: ReadonlyArray<ErrorWord> | undefined
    }
  }
}

interface Fields<W extends ErrorWord> {
  readonly error: W
  /** For people. Never holds a secret, nor a value that the client sent. */
  readonly message: string
  /** A finer cause, for machines. */
  readonly code?: string
  readonly attemptsRemaining?: number
  readonly retryAfterSeconds?: number
  /** Of a memory entry, beside `memory_conflict`. */
  readonly currentVersion?: string
}

/** A request that is not carried out, and why. */
export class Refused<out W extends ErrorWord = ErrorWord> extends ExpectedError("Refused")<Fields<ErrorWord>> {
  declare readonly error: W
  constructor(fields: Fields<W>) {
    super(fields)
  }
  get status() {
    return statuses[this.error]
  }
}

export const isRefused = (error: unknown): error is Refused => error instanceof Refused

const fields = <W extends ErrorWord>(error: W, body: Omit<ErrorResponse, "error">): Fields<W> => ({
  error,
  message: body.message,
  ...(body.code === undefined ? {} : { code: body.code }),
  ...(body.attemptsRemaining === undefined ? {} : { attemptsRemaining: body.attemptsRemaining }),
  ...(body.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: body.retryAfterSeconds }),
  ...(body.currentVersion === undefined ? {} : { currentVersion: body.currentVersion })
})

/** What goes over the wire for a refusal: its six fields and nothing else (contract C3.1). */
export const toErrorResponse = (refused: Refused): ErrorResponse => fields(refused.error, refused)

/**
 * Error schemas of an endpoint, one per status, annotated with their words. They serve OpenAPI and
 * typed clients; on the server the gate answers refusals itself.
 */
export const refuses = <const Words extends ReadonlyArray<ErrorWord>>(...words: Words) => {
  const byStatus = Map.groupBy<number, Words[number]>(words, (word) => statuses[word])
  return [...byStatus].map(([status, words]) => {
    const isOne = (value: unknown): value is Refused<Words[number]> => isRefused(value) && value.status === status
    return ErrorResponse.pipe(
      Schema.decodeTo(
        Schema.declare<Refused<Words[number]>>(isOne),
        SchemaTransformation.transform({
          decode: (body: ErrorResponse): Refused<Words[number]> => {
            const word = words.find((word) => word === body.error) ?? words[0]!
            return new Refused<Words[number]>(fields(word, body))
          },
          encode: toErrorResponse
        })
      )
    ).annotate({ httpApiStatus: status, refusals: words })
  })
}

/** What any endpoint may answer, whatever it does: declared once, by the middleware. */
export const everywhere = [
  "invalid_request",
  "unauthenticated",
  "permission_denied",
  "identity_disabled",
  "credential_not_accepted",
  "not_found",
  "idempotency_in_progress",
  "payload_too_large",
  "unsupported_media_type",
  "idempotency_key_reused",
  "rate_limited",
  "internal",
  "runtime_unavailable",
  "node_draining"
] as const satisfies ReadonlyArray<ErrorWord>

/** What a failure of the rooms below means for whoever asks, by its tag: this node cannot serve the request now. */
const outages = {
  DatabaseUnavailable: "the database does not answer",
  JournalUnavailable: "the database does not answer",
  OwnedElsewhere: "another node owns this resource and cannot be reached",
  Superseded: "ownership of this resource is moving to another node",
  Unjudged: "schemas of tools cannot be checked at the moment"
} as const

/** A failure that any handler may let through. */
export interface Outage {
  readonly _tag: keyof typeof outages
}

const isOutage = (error: unknown): error is Outage =>
  Predicate.hasProperty(error, "_tag") && typeof error._tag === "string" && Object.hasOwn(outages, error._tag)

/**
 * Lets handlers fail with an `Outage` as it is; in OpenAPI it is the 503 of every endpoint. A client never meets one:
 * it reads the refusal.
 */
export const OutageResponse = ErrorResponse.pipe(
  Schema.decodeTo(
    Schema.declare<Outage>(isOutage),
    SchemaTransformation.transform({
      decode: (): Outage => ({ _tag: "JournalUnavailable" }),
      encode: (outage: Outage) => toErrorResponse(toRefusedOutage(outage))
    })
  )
).annotate({ httpApiStatus: 503, refusals: ["runtime_unavailable"] })

const toRefusedOutage = (outage: Outage) =>
  new Refused({ error: "runtime_unavailable", message: `${outages[outage._tag]}; try again`, retryAfterSeconds: 1 })

/** The refusal that a failure stands for, if it is one of the table's. */
export const toRefused = (error: unknown): Refused | undefined =>
  isRefused(error) ? error : isOutage(error) ? toRefusedOutage(error) : undefined
