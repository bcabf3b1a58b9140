/**
 * Idempotency-Key on every POST: the same request sent twice takes effect once
 * and gets the same answer.
 *
 * I1. A key belongs to a credential (a lease is one for itself), a method and a path with its ids. Only hashes of it
 *     are kept, and a hash of the body that is keyed with the credential: a body may hold a secret that is short enough
 *     to guess.
 * I2. The answer is stored in the same transaction as the effect, by whoever writes the effect: in
 *     the actor's append (`Append.keys`), or by `keepAnswer` (src/idempotency/rows.ts) in a repository's transaction.
 * I3. Only 2xx answers are kept: a refusal may be repeated with another outcome.
 * I4. A second request waits for the first on this node; on another node the unique key decides.
 */
import { Context, Data, Deferred, Duration, Effect, Layer, Option } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { createHmac, hash } from "node:crypto"
import { limits } from "../src/domain/limits.ts"
import { type IdempotencyRow, Journal, type JournalUnavailable } from "../src/journal/Journal.ts"
import { makeMonotonic } from "../src/monotonic.ts"
import { jsonText } from "./answers.ts"
import { bodyTextOf } from "./Body.ts"
import { Caller } from "./Caller.ts"
import { Refused } from "./errors.ts"
import { bearerOf, header } from "./headers.ts"
import { keptHeaders } from "./location.ts"

/** What the writer of the effect stores, with the status and body of its answer. */
export type Key = Pick<IdempotencyRow, "scope" | "fingerprint">

/** An answer that can be kept: 2xx, and JSON as text. */
export interface KeptAnswer {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Another node has just stored an answer for this key: the transaction must roll back. */
export class KeyTaken extends Data.TaggedError("KeyTaken")<{ readonly scope: string }> {}

/** How an answer is kept that is not to be read from where it is: both are given the body's text. */
export interface Keeping {
  readonly keep: (body: string) => string
  /** What `keep` was given, for who sends the same request again. */
  readonly reveal: (kept: string) => string
}

type IdempotencyWord = "invalid_request" | "idempotency_key_reused" | "idempotency_in_progress"

const waitMs = 2_000

const inProgress = () =>
  new Refused({
    error: "idempotency_in_progress",
    message: "the first request with this Idempotency-Key has not been answered yet",
    retryAfterSeconds: 1
  })
const reused = () =>
  new Refused({ error: "idempotency_key_reused", message: "this Idempotency-Key came with another body before" })

const refuseKey = (key: string) =>
  key.length >= 1 && key.length <= limits.idempotencyKeyChars
    ? undefined
    : new Refused({
        error: "invalid_request",
        code: "invalid_header",
        message: `Idempotency-Key: expected 1 to ${limits.idempotencyKeyChars} characters`
      })

export class Idempotency extends Context.Service<
  Idempotency,
  {
    /**
     * Runs `run` unless its answer is kept already. Without the header it just runs, with no key. `reveal` makes the
     * body of a kept answer, where it is kept in another form.
     */
    readonly once: <E, R>(
      request: HttpServerRequest.HttpServerRequest,
      caller: Caller["Service"],
      run: (key: Key | undefined) => Effect.Effect<KeptAnswer, E | KeyTaken, R>,
      reveal?: Keeping["reveal"]
    ) => Effect.Effect<
      HttpServerResponse.HttpServerResponse,
      Exclude<E, KeyTaken> | Refused<IdempotencyWord> | JournalUnavailable,
      R
    >
  }
>()("troupe/http/Idempotency") {
  static readonly layer = Layer.effect(
    Idempotency,
    Effect.gen(function* () {
      const journal = yield* Journal
      const monotonic = yield* makeMonotonic
      const running = new Map<string, Deferred.Deferred<void>>()

      const replay = (kept: IdempotencyRow, key: Key, path: string, reveal: Keeping["reveal"] | undefined) =>
        kept.fingerprint === key.fingerprint
          ? Effect.succeed(
              jsonText(reveal === undefined ? kept.body : reveal(kept.body), kept.status, {
                "idempotency-replayed": "true",
                ...keptHeaders(kept.status, path, kept.body)
              })
            )
          : Effect.fail(reused())

      const first = <E, R>(
        workspace: string,
        key: Key,
        path: string,
        run: (key: Key) => Effect.Effect<KeptAnswer, E | KeyTaken, R>,
        reveal: Keeping["reveal"] | undefined
      ) =>
        Effect.gen(function* () {
          const kept = yield* journal.key(workspace, key.scope)
          if (kept !== undefined) return yield* replay(kept, key, path, reveal)
          const answer = yield* run(key).pipe(
            Effect.map(Option.some),
            Effect.catchIf(isTaken, () => Effect.succeed(Option.none<KeptAnswer>()))
          )
          if (Option.isSome(answer)) return jsonText(answer.value.body, answer.value.status, answer.value.headers)
          const other = yield* journal.key(workspace, key.scope)
          return yield* other === undefined ? Effect.fail(inProgress()) : replay(other, key, path, reveal)
        })

      const keyed = Effect.fnUntraced(function* <E, R>(
        request: HttpServerRequest.HttpServerRequest,
        caller: Caller["Service"],
        sent: string,
        run: (key: Key) => Effect.Effect<KeptAnswer, E | KeyTaken, R>,
        reveal: Keeping["reveal"] | undefined
      ) {
        const refused = refuseKey(sent)
        if (refused !== undefined) return yield* refused
        const text = yield* bodyTextOf(request)
        const path = request.url.split("?", 1)[0]!
        const bearer = bearerOf(request) ?? ""
        // Leases of a turn share its rate, and nothing else.
        const credential = caller.lease === undefined ? caller.keyId : bearer
        const key = {
          scope: hash("sha256", [credential, request.method, path, sent].join("\0"), "hex"),
          // The credential itself: the database holds only its hash.
          fingerprint: createHmac("sha256", bearer).update(text).digest("hex")
        }
        const name = caller.workspace + key.scope
        const deadline = monotonic() + waitMs
        for (;;) {
          const before = running.get(name)
          if (before === undefined) break
          const left = deadline - monotonic()
          const over = yield* Effect.timeoutOption(Deferred.await(before), Duration.millis(Math.max(0, left)))
          if (Option.isNone(over)) return yield* inProgress()
        }
        const mine = Deferred.makeUnsafe<void>()
        running.set(name, mine)
        return yield* Effect.ensuring(
          first(caller.workspace, key, path, run, reveal),
          Effect.sync(() => {
            running.delete(name)
            Deferred.doneUnsafe(mine, Effect.void)
          })
        )
      })

      return Idempotency.of({
        once: (request, caller, run, reveal) => {
          const sent = header(request, "idempotency-key")
          return sent === undefined
            ? run(undefined).pipe(
                Effect.catchIf(isTaken, (taken) => Effect.die(taken)),
                Effect.map(({ body, headers, status }) => jsonText(body, status, headers))
              )
            : keyed(request, caller, sent, run, reveal)
        }
      })
    })
  )
}

const isTaken = (error: unknown): error is KeyTaken => error instanceof KeyTaken

/**
 * For handlers: `yield* idempotent((key, caller) => …)`, where the effect's writer stores
 * `{ ...key, status, body }` together with the effect when `key` is there.
 */
export const idempotent = <E, R>(
  run: (key: Key | undefined, caller: Caller["Service"]) => Effect.Effect<KeptAnswer, E | KeyTaken, R>,
  reveal?: Keeping["reveal"]
) =>
  Effect.contextWith((context: Context.Context<Idempotency | HttpServerRequest.HttpServerRequest | Caller>) => {
    const caller = Context.get(context, Caller)
    return Context.get(context, Idempotency).once(
      Context.get(context, HttpServerRequest.HttpServerRequest),
      caller,
      (key) => run(key, caller),
      reveal
    )
  })
