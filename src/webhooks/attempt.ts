/** One attempt to deliver an event: signed after Standard Webhooks, and what its answer means. */
import { Effect } from "effect"
import { LRUCache } from "lru-cache"
import { Webhook } from "standardwebhooks"
import type { SecretEnvelope } from "../crypto/envelope.ts"
import { limits } from "../domain/limits.ts"
import { retryAfterMs } from "../domain/retryAfter.ts"
import type { Outbound } from "../outbound/Outbound.ts"

/** A delivery that this node has taken to send. Ids as clients know them. */
export interface DueDelivery {
  readonly workspace: string
  readonly webhookId: string
  readonly deliveryId: string
  readonly eventId: string
  readonly url: string
  readonly body: string
  /** Attempts before this one. */
  readonly attempts: number
  /** When another node may take it, milliseconds since 1970. It names the attempt: no other one has the same. */
  readonly takenUntil: number
  /** Encrypted; two while one takes the other's place. */
  readonly secrets: ReadonlyArray<string>
}

/** What came of an attempt. */
export interface AttemptOutcome {
  readonly state: "pending" | "delivered" | "failed"
  /** Milliseconds until the next attempt, of one that is pending. */
  readonly pauseMs: number
  readonly status?: number
  readonly error?: string
  /** The endpoint wants nothing any more. */
  readonly gone?: true
}

/** Binds a sealed secret to what it is for. */
export const sealedForWebhook = (workspace: string, id: string) => ({ workspace, id, purpose: "webhook" })

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
/** Before the second attempt, the third, and so on: three days in all. */
export const pauses = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour
] as const

/** Of what an endpoint says nobody reads more. */
const answerBytes = 64 * 1024

/**
 * What follows from an attempt that has failed, the `attempts`-th. A pause differs by a tenth, so that what has failed
 * together does not come back as a herd; `random` lies between 0 and 1. An endpoint may ask for a longer one.
 */
const afterFailure = (
  attempts: number,
  { random, retryAfter }: { readonly random: number; readonly retryAfter: number | undefined }
): Pick<AttemptOutcome, "state" | "pauseMs"> => {
  const pause = pauses[attempts - 1]
  if (pause === undefined || attempts >= limits.webhookAttempts) return { state: "failed", pauseMs: 0 }
  const wantedMs = Math.min(retryAfter ?? 0, limits.webhookRetryAfterSeconds * second)
  return { state: "pending", pauseMs: Math.round(Math.max(wantedMs, pause * (0.9 + random * 0.2))) }
}

/** What signs for an endpoint, by its sealed secret: opening one costs more than signing with it. */
const makeSigners = (envelope: SecretEnvelope["Service"]) => {
  const signers = new LRUCache<string, Webhook>({ max: 1_000 })
  return ({ secrets, webhookId, workspace }: DueDelivery) =>
    secrets.map((sealed) => {
      const key = `${workspace} ${webhookId} ${sealed}`
      const signer = signers.get(key) ?? new Webhook(envelope.open(sealedForWebhook(workspace, webhookId), sealed))
      signers.set(key, signer)
      return signer
    })
}

export const makeAttempt = (outbound: Outbound["Service"], envelope: SecretEnvelope["Service"], now: () => number) => {
  const signersOf = makeSigners(envelope)
  return (delivery: DueDelivery): Effect.Effect<AttemptOutcome> => {
    const { attempts, body, eventId, url, workspace } = delivery
    const at = new Date(now())
    const failed = (
      error: string,
      more: { readonly status?: number; readonly retryAfter?: number | undefined } = {}
    ) => {
      const { retryAfter, status } = more
      return {
        ...afterFailure(attempts + 1, { random: Math.random(), retryAfter }),
        error,
        ...(status === undefined ? {} : { status })
      }
    }
    const signed = Effect.try({
      try: () =>
        signersOf(delivery)
          .map((signer) => signer.sign(eventId, at, body))
          .join(" "),
      catch: () => "the secret cannot be opened with the keys of this server"
    })
    const send = (signature: string) =>
      outbound.request({
        workspace,
        method: "POST",
        url,
        headers: {
          "content-type": "application/json",
          "webhook-id": eventId,
          "webhook-timestamp": String(Math.floor(at.getTime() / second)),
          "webhook-signature": signature
        },
        body,
        timeoutMs: limits.webhookMs,
        maxBytes: answerBytes
      })
    return signed.pipe(
      Effect.flatMap((signature) =>
        Effect.match(send(signature), {
          onFailure: ({ message }): AttemptOutcome => failed(message),
          onSuccess: ({ headers, status }): AttemptOutcome => {
            if (status >= 200 && status < 300) return { state: "delivered", pauseMs: 0, status }
            const error = `the endpoint answered with status ${status}`
            if (status === 410) return { state: "failed", pauseMs: 0, status, error, gone: true }
            return failed(error, { status, retryAfter: retryAfterMs(headers["retry-after"], now()) })
          }
        })
      ),
      // Nothing unsigned is ever sent.
      Effect.catch((error) => Effect.succeed<AttemptOutcome>(failed(error)))
    )
  }
}
