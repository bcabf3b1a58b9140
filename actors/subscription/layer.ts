/** The subscription kind in its registry, appointed to `Subscriptions`. */
import { Effect, Layer } from "effect"
import { Spending } from "../../src/agents/Spending.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import {
  type Configuring,
  NoSubscription,
  SubscriptionChanged,
  Subscriptions,
  SubscriptionUnavailable
} from "../../src/subscriptions/Subscriptions.ts"
import { UsageCounts } from "../../src/usage/UsageCounts.ts"
import { WebhookInterest } from "../../src/webhooks/Interest.ts"
import type { ActorError } from "../Actor.ts"
import { isUnknown, makeRegistry, type RegistryOptions } from "../Registry.ts"
import { makeSubscriptionKind } from "./kind.ts"
import { makePerform } from "./perform.ts"
import type { SubscriptionRequest } from "./requests.ts"

const failureOf = (error: ActorError) => {
  if (isUnknown(error)) return new NoSubscription()
  return error._tag === "Refused" && error.reason === "precondition_failed"
    ? new SubscriptionChanged()
    : new SubscriptionUnavailable({ cause: error })
}

export const layer = (options: RegistryOptions) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const spending = yield* Spending
      const subscriptions = yield* Subscriptions
      const usage = yield* UsageCounts
      const perform = yield* makePerform
      const webhooks = yield* WebhookInterest
      const kind = makeSubscriptionKind({ perform, booked: spending.booked, used: usage.add, webhooks })
      const registry = yield* makeRegistry(kind, options)
      const refOf = (workspace: string, id: string): ActorRef => ({ workspace, kind: "subscription", id })

      const configure = ({ born, id, workspace, ...change }: Configuring) => {
        const ref = refOf(workspace, id)
        const request: SubscriptionRequest = { type: "configure", ...change }
        const configured = registry.tell(ref, { request })
        if (born === undefined) return configured
        const { agentId, feedId } = born
        const birth = { parent: agentId, attributes: JSON.stringify({ createdBy: change.by, feedId }) }
        return configured.pipe(
          Effect.catchIf(isUnknown, () => registry.create(ref, birth, { request })),
          // Born by another node at the same moment, it is there now. Where it is not, its birth may be tried again.
          Effect.catchTag("Unreachable", (unreachable) =>
            Effect.catchIf(registry.tell(ref, { request }), isUnknown, () => Effect.fail(unreachable))
          )
        )
      }

      subscriptions.appoint({
        configure: (change) => Effect.asVoid(Effect.mapError(configure(change), failureOf)),
        remove: (workspace, id, version) =>
          registry
            .tell(refOf(workspace, id), {
              request: { type: "delete", ...(version === undefined ? {} : { version }) }
            })
            .pipe(Effect.mapError(failureOf), Effect.asVoid)
      })
    })
  )
