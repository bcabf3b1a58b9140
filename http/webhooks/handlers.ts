/** Webhooks: contract to rows. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { randomBytes } from "node:crypto"
import { SecretEnvelope } from "../../src/crypto/envelope.ts"
import { Database } from "../../src/database/Database.ts"
import { limits } from "../../src/domain/limits.ts"
import { fromTimestamp } from "../../src/domain/time.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { Outbound } from "../../src/outbound/Outbound.ts"
import { sealedForWebhook } from "../../src/webhooks/attempt.ts"
import { listDeliveries, redeliver, resend, sendTest } from "../../src/webhooks/deliveries.ts"
import { WebhookInterest } from "../../src/webhooks/Interest.ts"
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  patchWebhook,
  readWebhook,
  rotateWebhook,
  type WebhookPatchRefusal
} from "../../src/webhooks/rows.ts"
import type { StoredWebhook } from "../../src/webhooks/shown.ts"
import { json, noContent } from "../answers.ts"
import { Api } from "../Api.ts"
import { refuseBody, refuseUrl } from "../badInput.ts"
import { Caller } from "../Caller.ts"
import { Refused } from "../errors.ts"
import { etag, meets } from "../etag.ts"
import { makePages, positionOf } from "../newestFirst.ts"
import { sealedAnswer } from "../sealedAnswer.ts"
import { jsonAnswer, makeWrites } from "../writes.ts"

const noWebhook = new Refused({ error: "not_found", message: "no such webhook" })
const noDelivery = new Refused({ error: "not_found", message: "no such delivery of this webhook" })
const noAgent = new Refused({ error: "agent_not_found", message: "agentId: no such agent" })
const changed = new Refused({ error: "precondition_failed", message: "If-Match: the webhook has changed since" })
const disabled = new Refused({
  error: "invalid_request",
  code: "webhook_disabled",
  message: "the webhook is disabled: nothing can be sent until it is enabled"
})
const tooMany = new Refused({
  error: "too_many_webhooks",
  message: `the workspace has ${limits.webhooks} webhooks, as many as it may`
})

const refusalOf = (refusal: WebhookPatchRefusal) => {
  switch (refusal.refused) {
    case "not_found":
      return noWebhook
    case "precondition":
      return changed
    case "agent_not_found":
      return noAgent
    case "invalid":
      return refuseBody(refusal.cause)
  }
}

/** Standard Webhooks: 24 to 64 random bytes. */
const freshSecret = () => `whsec_${randomBytes(32).toString("base64")}`

const answer = ({ rev, webhook }: StoredWebhook) => json({ webhook }, 200, { etag: etag(rev) })

export const WebhooksHandlers = HttpApiBuilder.group(
  Api,
  "webhooks",
  Effect.fnUntraced(function* (handlers) {
    const database = yield* Database
    const envelope = yield* SecretEnvelope
    const interest = yield* WebhookInterest
    const lease = yield* Lease
    const outbound = yield* Outbound
    const pages = yield* makePages
    const writes = yield* makeWrites

    /** What the operator does not allow is refused here already, not at the first delivery. */
    const reachable = (url: string | undefined) => {
      const problem = url === undefined ? undefined : outbound.refuses(url)
      return problem === undefined ? Effect.void : Effect.fail(refuseUrl("url", problem))
    }
    const found = (workspace: string, id: string) =>
      Effect.flatMap(
        database.run("webhooks.get", (db) => readWebhook(db, workspace, id)),
        (webhook) => (webhook === undefined ? Effect.fail(noWebhook) : Effect.succeed(webhook))
      )
    const active = Effect.fnUntraced(function* (workspace: string, id: string) {
      if (!(yield* found(workspace, id)).webhook.enabled) return yield* disabled
    })

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload, request }) {
        const { principal, workspace } = yield* Caller
        yield* reachable(payload.url)
        const made = yield* writes.post(
          "webhooks.create",
          async (tx) => {
            const secret = freshSecret()
            const seal = (id: string) => envelope.seal(sealedForWebhook(workspace, id), secret)
            const made = await createWebhook(tx, workspace, payload, principal, seal, lease.now())
            if ("refused" in made) return made.refused === "too_many" ? tooMany : noAgent
            return jsonAnswer({ webhook: made.webhook, secret }, 201, {
              location: `/v1/webhooks/${made.webhook.id}`,
              etag: etag(made.rev)
            })
          },
          sealedAnswer(request, "secret")
        )
        yield* interest.mark(workspace)
        return made
      }),

      list: Effect.fnUntraced(function* ({ query }) {
        const { workspace } = yield* Caller
        const { nextCursor, rows } = yield* pages({
          list: "webhooks",
          place: `webhooks ${workspace}`,
          query,
          fetch: (db, page) => listWebhooks(db, workspace, page),
          position: positionOf
        })
        return json({ webhooks: rows, nextCursor })
      }),

      get: Effect.fnUntraced(function* ({ params }) {
        const { workspace } = yield* Caller
        return answer(yield* found(workspace, params.webhookId))
      }),

      update: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const { workspace } = yield* Caller
        yield* reachable(payload.url)
        const patched = yield* writes.change("webhooks.update", async (tx) => {
          const fits = meets(headers["if-match"])
          const patched = await patchWebhook(tx, workspace, params.webhookId, payload, fits, lease.now())
          return "refused" in patched ? refusalOf(patched) : patched
        })
        yield* interest.mark(workspace)
        return answer(patched)
      }),

      delete: Effect.fnUntraced(function* ({ headers, params }) {
        const { workspace } = yield* Caller
        yield* writes.change("webhooks.delete", async (tx) => {
          const refused = await deleteWebhook(tx, workspace, params.webhookId, meets(headers["if-match"]))
          return refused && (refused.refused === "not_found" ? noWebhook : changed)
        })
        return noContent
      }),

      rotate: Effect.fnUntraced(function* ({ params, payload, request }) {
        const { workspace } = yield* Caller
        const { overlapSeconds = limits.webhookOverlapSeconds.usual } = payload
        return yield* writes.post(
          "webhooks.rotate",
          async (tx) => {
            const secret = freshSecret()
            const sealed = envelope.seal(sealedForWebhook(workspace, params.webhookId), secret)
            const when = { at: lease.now(), overlapSeconds }
            const rotated = await rotateWebhook(tx, workspace, params.webhookId, sealed, when)
            if (rotated === undefined) return noWebhook
            return jsonAnswer({ webhook: rotated.webhook, secret })
          },
          sealedAnswer(request, "secret")
        )
      }),

      test: Effect.fnUntraced(function* ({ params: { webhookId } }) {
        const { workspace } = yield* Caller
        const sent = yield* writes.postAfter("webhooks.test", active(workspace, webhookId), async (tx) =>
          jsonAnswer({ delivery: await sendTest(tx, workspace, webhookId, lease.now()) })
        )
        interest.due()
        return sent
      }),

      deliveries: Effect.fnUntraced(function* ({ params: { webhookId }, query }) {
        const { workspace } = yield* Caller
        yield* found(workspace, webhookId)
        const { nextCursor, rows } = yield* pages({
          list: "webhookDeliveries",
          place: `deliveries ${workspace} ${webhookId}`,
          query,
          filter: { state: query.state },
          fetch: (db, { filter, ...page }) =>
            listDeliveries(db, workspace, webhookId, { ...page, state: filter.state }),
          position: positionOf
        })
        return json({ deliveries: rows, nextCursor })
      }),

      redeliver: Effect.fnUntraced(function* ({ params: { webhookDeliveryId, webhookId } }) {
        const { workspace } = yield* Caller
        const sent = yield* writes.postAfter("webhooks.redeliver", active(workspace, webhookId), async (tx) => {
          const delivery = await redeliver(tx, workspace, webhookId, webhookDeliveryId, lease.now())
          return delivery === undefined ? noDelivery : jsonAnswer({ delivery })
        })
        interest.due()
        return sent
      }),

      resend: Effect.fnUntraced(function* ({ params: { webhookId }, payload }) {
        const { workspace } = yield* Caller
        const from = fromTimestamp(payload.from)
        const to = payload.to === undefined ? undefined : fromTimestamp(payload.to)
        const sent = yield* writes.postAfter("webhooks.resend", active(workspace, webhookId), async (tx) =>
          jsonAnswer({ count: await resend(tx, workspace, webhookId, { at: lease.now(), from, to }) })
        )
        interest.due()
        return sent
      })
    })
  })
)
