/** What may park of subscriptions: to read, make, change and delete one. */
import { Effect, Schema } from "effect"
import { Database } from "../../src/database/Database.ts"
import { makeChanging } from "../../src/subscriptions/changing.ts"
import type { CommonRefusal, SubscriptionRefusal, UnfitSettings } from "../../src/subscriptions/refusals.ts"
import { agentOfSubscription, type StoredSubscription } from "../../src/subscriptions/rows.ts"
import { SubscriptionInput, SubscriptionPatch } from "../../src/subscriptions/subscription.ts"
import type { Unavailable } from "../actions/Action.ts"
import { defineAction } from "../actions/defineAction.ts"
import { refuseBody } from "../badInput.ts"
import { Refused } from "../errors.ts"
import type { KeptAnswer } from "../Idempotency.ts"
import { etag, meets } from "../etag.ts"
import { emptyAnswer, jsonAnswer } from "../writes.ts"

const One = Schema.Struct({ subscriptionId: Schema.String })
const ifMatch = Schema.optionalKey(Schema.String)
const Create = Schema.Struct({ agentId: Schema.String, ...SubscriptionInput.fields })
const ChangeOfOne = Schema.Struct({ subscriptionId: Schema.String, ifMatch, patch: SubscriptionPatch })
const DeleteOfOne = Schema.Struct({ subscriptionId: Schema.String, ifMatch })

const answer = ({ subscription, version }: StoredSubscription) => jsonAnswer(subscription, 200, { etag: etag(version) })

type Word = SubscriptionRefusal["error"]

/** The same words over HTTP. */
const refusing = <A, W extends Word>(
  effect: Effect.Effect<A, SubscriptionRefusal<W> | CommonRefusal | UnfitSettings | Unavailable>
): Effect.Effect<A, Refused<W> | Refused<CommonRefusal["error"]> | Unavailable> =>
  Effect.mapError(effect, (failure) => {
    switch (failure._tag) {
      case "UnfitSettings":
        return refuseBody(failure.cause)
      case "SubscriptionRefusal": {
        const { _tag, ...fields } = failure
        return new Refused<W>(fields)
      }
      case "CommonRefusal": {
        const { _tag, ...fields } = failure
        return new Refused(fields)
      }
      default:
        return failure
    }
  })

/** Whether a version is the one that the header names; absent where it names none. */
const fitting = <A extends { readonly ifMatch?: string }>({ ifMatch, ...params }: A) => ({
  ...params,
  ...(ifMatch === undefined ? {} : { fits: meets(ifMatch) })
})

export const makeSubscriptionActions = Effect.gen(function* () {
  const database = yield* Database
  const changing = yield* makeChanging

  const agentOf = (workspace: string, { subscriptionId }: { readonly subscriptionId: string }) =>
    database.run("subscriptions.agentOf", (db) => agentOfSubscription(db, workspace, subscriptionId))
  const afterwards = Effect.void
  const refuse = () => undefined

  return {
    read: defineAction({
      name: "subscription.read",
      params: One,
      scope: "read",
      agentOf,
      way: {
        type: "read",
        read: ({ workspace }, { subscriptionId }) =>
          refusing<KeptAnswer, never>(Effect.map(changing.find(workspace, subscriptionId), answer))
      }
    }),

    create: defineAction({
      name: "subscription.create",
      params: Create,
      scope: "write",
      agentOf: (_, { agentId }) => Effect.succeed(agentId),
      tool: ({ agentId, ...input }) => ({ name: "subscriptions.create", input }),
      way: {
        type: "command",
        plain: true,
        refuse,
        check: (asking, params) => refusing(changing.checkCreate(asking, params)),
        command: (asking, params) =>
          refusing(
            Effect.map(
              changing.create(asking, params),
              ({ subscription, version }) =>
                async () =>
                  jsonAnswer(subscription, 201, {
                    location: `/v1/subscriptions/${subscription.id}`,
                    etag: etag(version)
                  })
            )
          ),
        afterwards
      }
    }),

    update: defineAction({
      name: "subscription.update",
      params: ChangeOfOne,
      scope: "write",
      agentOf,
      tool: ({ patch, subscriptionId }) => ({ name: "subscriptions.update", input: { subscriptionId, ...patch } }),
      way: {
        type: "command",
        plain: true,
        refuse,
        check: (asking, params) => refusing(changing.meant(asking, fitting(params))),
        command: (asking, params) =>
          refusing(Effect.map(changing.update(asking, fitting(params)), (stored) => async () => answer(stored))),
        afterwards
      }
    }),

    delete: defineAction({
      name: "subscription.delete",
      params: DeleteOfOne,
      scope: "write",
      agentOf,
      tool: ({ subscriptionId }) => ({ name: "subscriptions.delete", input: { subscriptionId } }),
      way: {
        type: "command",
        plain: true,
        refuse,
        check: ({ workspace }, params) => refusing(changing.found(workspace, fitting(params))),
        command: (asking, params) =>
          refusing(Effect.map(changing.remove(asking, fitting(params)), () => async () => emptyAnswer)),
        afterwards
      }
    })
  }
})
