/**
 * Deliveries to url hooks: signed after Standard Webhooks, tried at most three times
 * within the hook's own time.
 *
 * D1. All attempts bear one `webhook-id`, the delivery's: a receiver that has decided already says the same.
 * D2. Tried again: no connection, a broken one, 429 and 5xx. Nothing else is, and no pause outlasts the time.
 * D3. A connection whose secret is not there sends nothing: a receiver must not get used to unsigned deliveries.
 */
import { Effect, Option, Redacted } from "effect"
import { Webhook } from "standardwebhooks"
import type { Connections } from "../connections/Connections.ts"
import type { ConnectionSecret } from "../connections/connection.ts"
import type { HookProcessor } from "../domain/hook.ts"
import { limits } from "../domain/limits.ts"
import { retryAfterMs } from "../domain/retryAfter.ts"
import { toTimestamp } from "../domain/time.ts"
import { makeMonotonic } from "../monotonic.ts"
import type { Outbound } from "../outbound/Outbound.ts"
import { type HookAnswer, NotAnAnswer, readAnswer } from "./answer.ts"
import type { HookQuestion } from "./question.ts"

/** No answer came of it, and why, for people. */
export class Unanswered {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}

export interface SentDelivery {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Delivery {
  readonly answered: HookAnswer | Unanswered
  /** Of the last attempt. */
  readonly request?: SentDelivery
  readonly response?: { readonly status: number; readonly body: string }
}

type Url = Extract<HookProcessor, { readonly type: "url" }>

const attempts = 3
const firstPauseMs = 250

/** Half of it is random, so that many hooks of one endpoint do not come back as a herd. */
const pauseMs = (attempt: number) => firstPauseMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2)

type Secrets = ReadonlyArray<Redacted.Redacted<string>>

/** One signature for each secret, so that the receiver may hold either of them. */
const signatures = (secrets: Secrets, id: string, at: Date, body: string) =>
  secrets.map((secret) => new Webhook(Redacted.value(secret)).sign(id, at, body)).join(" ")

/** What a receiver can answer later with. */
export interface LateAnswer {
  readonly answerToken: string
  /** A path where the installation does not know its own address. */
  readonly answerUrl: string
}

const bodyOf = (
  question: HookQuestion,
  attempt: number,
  askedAt: number,
  timeoutMs: number,
  late: LateAnswer | undefined
) => {
  const {
    agentId,
    data: { point, ...data },
    deliveryId,
    hook,
    index,
    principal,
    threadId,
    turnId,
    turnPrincipal,
    workspace
  } = question
  return JSON.stringify({
    type: `hook.${point}`,
    deliveryId,
    attempt,
    occurredAt: toTimestamp(askedAt),
    respondBy: toTimestamp(askedAt + timeoutMs),
    workspaceId: workspace,
    agentId,
    threadId,
    turnId,
    hookId: hook.id,
    index,
    point,
    principal,
    turnPrincipal,
    data,
    ...late
  })
}

const unread = new Unanswered("the signing secret cannot be read now")

export const makePost = (outbound: Outbound["Service"], connections: Connections["Service"]) => {
  const secretsOf = (
    workspace: string,
    connectionId: string | undefined,
    timeoutMs: number
  ): Effect.Effect<ConnectionSecret | undefined | Unanswered> =>
    connectionId === undefined
      ? Effect.succeed(undefined)
      : connections.secret(workspace, connectionId).pipe(
          Effect.map((secret) =>
            secret?.kind === "signing" ? secret : new Unanswered("the connection of the hook has no signing secret")
          ), // D3
          Effect.catch(() => Effect.succeed(unread)),
          Effect.timeoutOption(timeoutMs),
          Effect.map(Option.getOrElse(() => unread))
        )

  return Effect.fnUntraced(function* (
    question: HookQuestion,
    { connectionId, url }: Url,
    timeoutMs: number,
    late?: LateAnswer
  ) {
    const askedAt = Date.now()
    const monotonic = yield* makeMonotonic
    const deadline = monotonic() + timeoutMs
    const timedOut = new Unanswered(`the endpoint did not answer within ${timeoutMs} ms`)
    const secret = yield* secretsOf(question.workspace, connectionId, timeoutMs)
    if (secret instanceof Unanswered) return { answered: secret }
    let last: Delivery = { answered: timedOut }
    for (let attempt = 1; ; attempt++) {
      const left = Math.ceil(deadline - monotonic())
      if (left <= 0) return last
      const body = bodyOf(question, attempt, askedAt, timeoutMs, late)
      const now = new Date()
      const headers = {
        "content-type": "application/json",
        "webhook-id": question.deliveryId,
        "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
        ...(secret?.kind === "signing" && {
          "webhook-signature": signatures(secret.secrets, question.deliveryId, now, body)
        })
      }
      const request: SentDelivery = { url, headers, body }
      const result = yield* Effect.result(
        outbound.request({
          workspace: question.workspace,
          method: "POST",
          url,
          headers,
          body,
          timeoutMs: left,
          maxBytes: limits.hookAnswerBytes,
          reach: secret?.reach
        })
      )
      let pause = pauseMs(attempt)
      if (result._tag === "Failure") {
        const { message, reason, retryable } = result.failure
        if (reason === "timeout") return { ...last, request, answered: timedOut }
        last = { request, answered: new Unanswered(message) }
        if (!retryable) return last
      } else {
        const { body, headers, status } = result.success
        const response = { status, body }
        if (status === 200) {
          const answer = readAnswer(question.data, body)
          return {
            request,
            response,
            answered: answer instanceof NotAnAnswer ? new Unanswered(`the endpoint's answer ${answer.why}`) : answer
          }
        }
        last = { request, response, answered: new Unanswered(`the endpoint answered with status ${status}`) }
        if (status !== 429 && status < 500) return last
        pause = Math.max(pause, retryAfterMs(headers["retry-after"], Date.now()) ?? 0)
      }
      if (attempt === attempts || pause >= deadline - monotonic()) return last // D2
      yield* Effect.sleep(pause)
    }
  })
}
