/**
 * What every request passes before its handler, in this order: credential, rate, round of the event loop,
 * room, scope, query, body; and what every refusal passes on its way out. One step around the handler,
 * since each middleware more costs every request.
 *
 * G1. Nothing of a request is looked at, and nothing of the database, before its credential is known
 *     to be good.
 * G2. A client without a good credential is counted by address, before the database is asked.
 * G3. The endpoint's demands are worked out once, when the routes are built.
 * G4. A request beyond the reach of its lease or trigger (Coverage.ts) is refused before its body is read.
 */
import { Context, Effect, Layer, type Types } from "effect"
import { HttpMethod, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import type { Scope } from "../src/keys/apiKey.ts"
import { limits } from "../src/domain/limits.ts"
import { DeliveryTokens } from "../src/hooks/deliveryToken.ts"
import type { DatabaseUnavailable } from "../src/database/Database.ts"
import { Tenant } from "../src/database/tenants.ts"
import { addressOf } from "./address.ts"
import { Quotas } from "../src/quotas/Quotas.ts"
import { Access } from "./access.ts"
import { Authenticate } from "./Authenticate.ts"
import { receive, receiveNothing, bodyTextOf } from "./Body.ts"
import { Caller } from "./Caller.ts"
import { type Credential, Credentials } from "./Credentials.ts"
import { Refused, toRefused } from "./errors.ts"
import { toResponse } from "./refusing.ts"
import { isLease, Leases } from "./Leases.ts"
import { bearerOf, socketOf, header } from "./headers.ts"
import { tooManyBytes } from "./quotas.ts"
import { RateLimit } from "./RateLimit.ts"
import { Coverage, unknownIn } from "./Coverage.ts"
import { makeUploads } from "./images/Uploads.ts"
import { Room } from "./Room.ts"
import { Rounds } from "./Rounds.ts"
import { refuseInput } from "./badInput.ts"
import { problemsAt, refusingQuery } from "./strictInput.ts"

type GateRequest = HttpServerRequest.HttpServerRequest
type Query = HttpServerRequest.ParsedSearchParams["Service"]
type Sent = HttpServerRequest.HttpServerRequest | HttpServerRequest.ParsedSearchParams | HttpRouter.RouteContext
/** Of a credential that is good. */
type Known = Pick<Credential, "caller" | "identityDisabled">
type GateAnswer = Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled | DatabaseUnavailable, Sent>

const deliveryScopes: ReadonlySet<Scope> = new Set(["approve"])

const answers = {
  missing: toResponse(
    new Refused({
      error: "unauthenticated",
      code: "missing_credential",
      message: "send a key in the header Authorization: Bearer <key>"
    })
  ),
  unknown: toResponse(
    new Refused({
      error: "unauthenticated",
      code: "invalid_credential",
      message: "the credential is not valid, has expired, or was revoked"
    })
  ),
  lease: toResponse(
    new Refused({
      error: "credential_not_accepted",
      code: "agent_lease",
      message: "this endpoint takes an API key, not an agent's lease"
    })
  ),
  delivery: toResponse(
    new Refused({
      error: "credential_not_accepted",
      code: "delivery_token",
      message: "a delivery's token answers that delivery, and nothing else"
    })
  ),
  trigger: toResponse(
    new Refused({
      error: "permission_denied",
      code: "trigger",
      message: "a trigger's key begins, reads and continues threads of its agents, and does nothing else"
    })
  ),
  unreached: toResponse(new Refused({ error: "not_found", message: "nothing is here that this credential reaches" })),
  disabled: toResponse(
    new Refused({ error: "identity_disabled", message: "the identity of this credential is disabled" })
  )
}

/** Reads a body, of at most so many bytes. */
const receiving =
  (most?: number): typeof receive =>
  (request, sender) =>
    receive(request, sender, most)

/** Bytes of its body as its head says, and no more than it may have. */
const announced = (request: GateRequest, most: number = limits.bodyBytes) =>
  Math.min(most, Number(header(request, "content-length") ?? 0))

/** Nothing for streams, which have a rule of their own. */
const sizeOf = ({ body }: HttpServerResponse.HttpServerResponse) =>
  body._tag === "Uint8Array" ? body.contentLength : 0

/** What handlers know of a request beside itself. Added, not merged: a merge copies the context. */
const callingAs =
  (caller: Caller["Service"]) =>
  (context: Context.Context<Sent>): Context.Context<Sent | Caller> =>
    Context.add(Context.add(context, Tenant, caller.workspace), Caller, caller)

export const layer = Layer.effect(
  Authenticate,
  Effect.gen(function* () {
    const credentials = yield* Credentials
    const quotas = yield* Quotas
    const { count, stranger, take } = yield* RateLimit
    const leases = yield* Leases
    const coverage = yield* Coverage
    const room = yield* Room
    const uploads = makeUploads()
    const rounds = new Rounds()
    const tokens = yield* DeliveryTokens

    /** Whoever holds the token of the delivery that the path names. */
    const callerOf = (url: string, token: string): Caller["Service"] | undefined => {
      const [, deliveryId = ""] = /^[^?]*\/(dlv_[0-9a-z]+)\//.exec(url) ?? []
      const delivery = tokens.open(deliveryId, token)
      return (
        delivery && {
          workspace: delivery.workspace,
          principal: { type: "api_key", id: deliveryId },
          scheme: "DeliveryBearer",
          scopes: deliveryScopes,
          keyId: deliveryId
        }
      )
    }

    /** The answer to who has no good credential, unless too many like that come from there (G2). */
    const estranged = (request: GateRequest, answer: HttpServerResponse.HttpServerResponse) => {
      const refused = stranger?.take(addressOf(request))
      return Effect.succeed(refused === undefined ? answer : toResponse(refused))
    }

    return Authenticate.of((handler, { endpoint, group }) => {
      const found = Context.getOption(Context.merge(group.annotations, endpoint.annotations), Access)
      if (found._tag === "None")
        throw new Error(`${group.identifier}.${endpoint.identifier} does not say what access it needs`)
      const { bodyBytes, delivery, lease, scopes, stores, trigger, upload } = found.value
      const namesSomething = endpoint.path.includes("/:")
      const unowned = lease || trigger ? unknownIn(endpoint.path) : []
      if (unowned.length > 0)
        throw new Error(`${endpoint.path} takes leases or triggers: http/Coverage.ts has to say whose ${unowned[0]} is`)
      const refuseQuery = refusingQuery(endpoint.query)
      const every = problemsAt(endpoint)
      const takesBody = upload
        ? uploads.receive
        : endpoint.payload.size > 0
          ? receiving(bodyBytes)
          : HttpMethod.hasBody(endpoint.method)
            ? receiveNothing
            : undefined
      const outOfScope = new Refused({
        error: "permission_denied",
        code: "missing_scope",
        message: `this credential does not have the scope ${scopes.join(" or ")}`
      })

      const refusedScope = toResponse(outOfScope)

      // Made once: only what is in the context differs between requests.
      const answered = Effect.catch(handler, (error) => {
        // Undefined for what is nobody's fault but ours.
        const answer = (refused: Refused | undefined) =>
          refused === undefined ? Effect.fail(error) : Effect.succeed(toResponse(refused))
        if (!HttpApiError.HttpApiSchemaError.is(error)) return answer(toRefused(error))
        return Effect.contextWith((context: Context.Context<Sent>) => {
          const body =
            error.kind === "Payload"
              ? bodyTextOf(Context.get(context, HttpServerRequest.HttpServerRequest))
              : Effect.succeed("")
          return Effect.flatMap(body, (text) =>
            answer(
              refuseInput(error, () => every(error, text, Context.get(context, HttpServerRequest.ParsedSearchParams)))
            )
          )
        })
      })

      /** Counts the body of what was taken. */
      const countingBody = (request: GateRequest, workspace: string, answer: GateAnswer): GateAnswer =>
        Effect.tap(answer, ({ status }) =>
          status >= 300
            ? Effect.void
            : Effect.map(bodyTextOf(request), (text) => {
                quotas.add(workspace, "stored_bytes", Buffer.byteLength(text))
              })
        )

      const enter = (request: GateRequest, sent: Query, credential: Known): GateAnswer => {
        if (credential.identityDisabled) return Effect.succeed(answers.disabled)
        const { caller } = credential
        if (caller.trigger !== undefined && !trigger) return Effect.succeed(answers.trigger)
        // What a lease may do is said endpoint by endpoint.
        if (caller.lease === undefined && !scopes.some((scope) => caller.scopes.has(scope)))
          return Effect.succeed(refusedScope)
        const refused = refuseQuery(sent)
        if (refused !== undefined) return Effect.succeed(toResponse(refused))
        return (caller.lease === undefined && caller.trigger === undefined) || !namesSomething
          ? admitted(request, caller)
          : Effect.contextWith((context: Context.Context<Sent>) =>
              Effect.flatMap(
                coverage.covers(caller, Context.get(context, HttpRouter.RouteContext).params),
                (covered) => (covered ? admitted(request, caller) : Effect.succeed(answers.unreached))
              )
            )
      }

      const admitted = (request: GateRequest, caller: Caller["Service"]): GateAnswer => {
        const exceeded = stores === undefined ? undefined : quotas.exceeded(caller.workspace, "stored_bytes")
        if (exceeded !== undefined) return Effect.succeed(toResponse(tooManyBytes(exceeded)))
        const handled = Effect.updateContext(answered, callingAs(caller))
        const provided = stores === "rows" ? countingBody(request, caller.workspace, handled) : handled
        return takesBody !== undefined
          ? Effect.matchEffect(
              takesBody(request, {
                room,
                keyId: caller.keyId,
                took: (bytes) => count(caller, bytes)
              }),
              {
                onSuccess: () => provided,
                onFailure: (refused) => Effect.succeed(toResponse(refused))
              }
            )
          : provided
      }

      const roomy = (request: GateRequest, sent: Query, credential: Known): GateAnswer => {
        const refused = room.refuse(request, credential.caller.keyId)
        return refused === undefined ? enter(request, sent, credential) : Effect.succeed(toResponse(refused))
      }

      const inTurn = (request: GateRequest, sent: Query, credential: Known): GateAnswer => {
        const place = rounds.come(credential.caller.workspace)
        return place === undefined
          ? roomy(request, sent, credential)
          : Effect.flatMap(place, () => roomy(request, sent, credential))
      }

      const limited =
        take === undefined
          ? inTurn
          : (request: GateRequest, sent: Query, credential: Known): GateAnswer => {
              const { headers, refused } = take(credential.caller, announced(request, bodyBytes))
              return refused === undefined
                ? Effect.map(inTurn(request, sent, credential), (response) => {
                    count(credential.caller, sizeOf(response))
                    return HttpServerResponse.setHeaders(response, headers)
                  })
                : Effect.succeed(toResponse(refused, headers))
            }

      const looked = (
        request: GateRequest,
        sent: Query,
        token: string,
        known: Pick<Credentials["Service"], "familiar" | "find">
      ) => {
        const counted = stranger !== undefined && !known.familiar(token) ? addressOf(request) : undefined
        const refused = counted === undefined ? undefined : stranger?.take(counted)
        if (refused !== undefined) return Effect.succeed(toResponse(refused))
        return Effect.flatMap(known.find(token), (credential) => {
          if (credential === undefined) return Effect.succeed(answers.unknown)
          if (counted !== undefined) stranger?.giveBack(counted)
          return limited(request, sent, credential)
        })
      }

      return Effect.contextWith((context: Context.Context<Sent>) => {
        const request = Context.get(context, HttpServerRequest.HttpServerRequest)
        const sent = Context.get(context, HttpServerRequest.ParsedSearchParams)
        const token = bearerOf(request)
        if (token === undefined) return estranged(request, answers.missing)
        const known = isLease(token) ? leases : credentials
        if (known === leases && !lease) return estranged(request, answers.lease)
        if (token.startsWith("trd_")) {
          if (!delivery) return estranged(request, answers.delivery)
          const caller = callerOf(request.url, token)
          return caller === undefined
            ? estranged(request, answers.unknown)
            : limited(request, sent, { caller, identityDisabled: false })
        }
        const remembered = known.remembered(token, socketOf(request))
        return remembered !== undefined ? limited(request, sent, remembered) : looked(request, sent, token, known)
      })
    })
  })
)
