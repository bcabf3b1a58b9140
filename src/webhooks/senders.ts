/**
 * Sends what is due to the endpoints of webhooks: fifty at once on a node, four of one endpoint.
 *
 * N1. A look follows whatever this node has announced, whatever has come to an end, and each second.
 * N2. What cannot be written down of an attempt is sent again: at least once, never less.
 */
import { Effect, FiberSet, Latch, Layer } from "effect"
import { SecretEnvelope } from "../crypto/envelope.ts"
import { Database } from "../database/Database.ts"
import { Lease } from "../journal/Lease.ts"
import { Outbound } from "../outbound/Outbound.ts"
import { record, webhookAttempts } from "../telemetry/metrics.ts"
import { makeAttempt, type DueDelivery } from "./attempt.ts"
import { disable, makeTell, takeDue } from "./due.ts"
import { WebhookInterest } from "./Interest.ts"

const atOnce = 50
const each = 4

export const layerSenders = Layer.effectDiscard(
  Effect.gen(function* () {
    const database = yield* Database
    const envelope = yield* SecretEnvelope
    const interest = yield* WebhookInterest
    const lease = yield* Lease
    const outbound = yield* Outbound
    const attempt = makeAttempt(outbound, envelope, lease.now)
    const tell = makeTell(database)
    const fibers = yield* FiberSet.make()
    const news = Latch.makeUnsafe()
    const underWay = new Map<string, number>()
    let total = 0

    const count = (webhookId: string, by: 1 | -1) => {
      total += by
      const left = (underWay.get(webhookId) ?? 0) + by
      if (left === 0) underWay.delete(webhookId)
      else underWay.set(webhookId, left)
    }

    const send = (delivery: DueDelivery) =>
      attempt(delivery).pipe(
        Effect.tap((outcome) =>
          Effect.gen(function* () {
            record(webhookAttempts.with({ outcome: outcome.state === "delivered" ? "delivered" : "failed" }))
            const isFailing = yield* tell({ delivery, outcome })
            if (outcome.gone === true) yield* disable(database, delivery, "gone")
            else if (isFailing) yield* disable(database, delivery, "failures")
          })
        ),
        Effect.catch((error) => Effect.logWarning("what came of a webhook's delivery could not be written", error)),
        Effect.ensuring(
          Effect.sync(() => {
            count(delivery.webhookId, -1)
            news.openUnsafe()
          })
        )
      )

    const look = Effect.gen(function* () {
      if (!interest.any() || total >= atOnce) return
      const taken = yield* takeDue(database, underWay, { each, most: atOnce - total })
      for (const delivery of taken) count(delivery.webhookId, 1)
      yield* Effect.forEach(taken, (delivery) => FiberSet.run(fibers, send(delivery)), { discard: true })
    }).pipe(Effect.catch((error) => Effect.logWarning("due webhooks could not be read", error)))

    yield* Effect.acquireRelease(
      Effect.sync(() => interest.onDue(() => news.openUnsafe())),
      (stop) => Effect.sync(stop)
    )
    const round = Effect.gen(function* () {
      news.closeUnsafe()
      yield* look
      yield* Effect.raceFirst(news.await, Effect.sleep("1 second"))
    })
    yield* Effect.forkScoped(Effect.forever(round))
  })
)
