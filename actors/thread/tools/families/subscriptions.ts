/**
 * The family `subscriptions`: what wakes the agent itself.
 *
 * S1. It is about the agent's own subscriptions: those of others are not there.
 * S2. A refusal is a `tool_error` that begins with the word that the endpoint would have refused with.
 * S3. A call that runs again after a crash finds what it has made: ids and changes derive from the call.
 */
import { Effect, Schema } from "effect"
import type { Database, DatabaseUnavailable } from "../../../../src/database/Database.ts"
import { limits } from "../../../../src/domain/limits.ts"
import { wordsOf } from "../../../../src/domain/problems.ts"
import type { Principal } from "../../../../src/domain/principal.ts"
import { FeedId, SubscriptionId } from "../../../../src/domain/resourceIds.ts"
import type { OperationAction } from "../../../../src/operations/operation.ts"
import type { makeChanging } from "../../../../src/subscriptions/changing.ts"
import type { CommonRefusal, SubscriptionRefusal, UnfitSettings } from "../../../../src/subscriptions/refusals.ts"
import { listSubscriptions } from "../../../../src/subscriptions/rows.ts"
import { SubscriptionInput, SubscriptionPatch } from "../../../../src/subscriptions/subscription.ts"
import type { ToolApproval } from "../approval.ts"
import type { BuiltInOutcome } from "../toolkit.ts"
import { type BuiltInBy, builtIn, type Family, toolError } from "../builtIn.ts"
import { pageFields, pageOf, rowsAsked } from "./pages.ts"

export interface SubscriptionTools {
  readonly approval: ToolApproval
  readonly changing: Effect.Success<typeof makeChanging>
  readonly database: Database["Service"]
}

type Refusal = SubscriptionRefusal | CommonRefusal | UnfitSettings

const subscriptionId = SubscriptionId.annotate({
  description: "Id of the subscription, sub_…; subscriptions.list has them."
})

const { identity: _given, ...createFields } = SubscriptionInput.fields
const { identity: _changed, ...patchFields } = SubscriptionPatch.fields
const CreateInput = Schema.Struct(createFields)
const UpdateInput = Schema.Struct({ subscriptionId, ...patchFields })
const ListInput = Schema.Struct({
  feedId: Schema.optionalKey(FeedId.annotate({ description: "Only those to this feed." })),
  ...pageFields
})
const One = Schema.Struct({ subscriptionId })

const refusal = (refused: Refusal) =>
  refused._tag === "UnfitSettings"
    ? toolError(`invalid_request: ${wordsOf(refused.cause.issue, "the input")}`)
    : toolError(`${refused.error}: ${refused.message}.`)

const notTheirs = toolError("not_found: no such subscription.")

/** S2. */
const saying = <A>(
  effect: Effect.Effect<A, Refusal | DatabaseUnavailable>,
  outcome: (found: A) => BuiltInOutcome | undefined
) =>
  effect.pipe(
    Effect.map(outcome),
    Effect.catch((failure) =>
      failure._tag === "DatabaseUnavailable" ? Effect.fail(failure) : Effect.succeed(refusal(failure))
    )
  )

const principalOf = ({ agentId, identity }: BuiltInBy): Principal => ({
  type: "agent",
  id: agentId,
  ...(identity === undefined ? {} : { identity })
})

const nothing = () => undefined

export const subscriptionsFamily = ({ approval, changing, database }: SubscriptionTools): Family => {
  /** S1. */
  const ifOwn = Effect.fnUntraced(function* (
    { agentId, workspace }: BuiltInBy,
    id: string,
    then: Effect.Effect<BuiltInOutcome, DatabaseUnavailable>
  ) {
    const known = yield* saying(changing.find(workspace, id), ({ subscription }) =>
      subscription.agentId === agentId ? undefined : notTheirs
    )
    return known ?? (yield* then)
  })

  /** Parks, or is carried out: `tried` says what it would be refused with at once. */
  const decided = Effect.fnUntraced(function* <A>(
    by: BuiltInBy,
    request: { readonly action: OperationAction; readonly request: unknown; readonly toolCallId: string },
    tried: Effect.Effect<unknown, Refusal | DatabaseUnavailable>,
    done: Effect.Effect<A, Refusal | DatabaseUnavailable>,
    output: (made: A) => unknown
  ) {
    const parked = yield* approval(by, request, saying(tried, nothing))
    if (parked !== undefined) return parked
    const outcome = yield* saying(done, (made) => ({ output: output(made) }))
    return outcome ?? notTheirs
  })

  const create = (by: BuiltInBy, input: typeof CreateInput.Type, toolCallId: string) => {
    const { agentId, identity, workspace } = by
    // Its turns act for whom this one does.
    const request = { agentId, ...input, ...(identity === undefined ? {} : { identity }) }
    const asking = { workspace, principal: principalOf(by), seed: toolCallId }
    return decided(
      by,
      { action: "subscription.create", request, toolCallId },
      changing.checkCreate(asking, request),
      changing.create(asking, request),
      ({ subscription }) => ({ subscription })
    )
  }

  const update = (by: BuiltInBy, { subscriptionId, ...patch }: typeof UpdateInput.Type, toolCallId: string) => {
    const asking = { workspace: by.workspace, principal: principalOf(by), seed: toolCallId }
    const edit = { subscriptionId, patch }
    return ifOwn(
      by,
      subscriptionId,
      decided(
        by,
        { action: "subscription.update", request: edit, toolCallId },
        changing.meant(asking, edit),
        changing.update(asking, edit),
        ({ subscription }) => ({ subscription })
      )
    )
  }

  return {
    name: "subscriptions",
    description:
      "What wakes you: subscriptions to feeds of the workspace. Messages that match become messages to you, at " +
      "once or gathered, in new threads or in one.",
    tools: [
      builtIn({
        name: "subscriptions.list",
        description: "Lists your subscriptions, newest first: feed, condition, cadence, what became of messages last.",
        input: ListInput,
        readOnly: true,
        run: ({ agentId, workspace }, { feedId, ...page }) =>
          Effect.map(
            database.run("subscriptions.list", (db) =>
              listSubscriptions(db, workspace, { agentId, feedId, ...rowsAsked(page) })
            ),
            (found) => {
              const { rows, ...more } = pageOf(
                page,
                found.map(({ subscription }) => subscription)
              )
              return { output: { subscriptions: rows, ...more } }
            }
          )
      }),
      builtIn({
        name: "subscriptions.get",
        description: "Gets one of your subscriptions: what it looks for, how far it is, what became of messages last.",
        input: One,
        readOnly: true,
        run: (by, { subscriptionId }, toolCallId) =>
          ifOwn(
            by,
            subscriptionId,
            decided(
              by,
              { action: "subscription.read", request: { subscriptionId }, toolCallId },
              Effect.void,
              changing.find(by.workspace, subscriptionId),
              ({ subscription }) => ({ subscription })
            )
          )
      }),
      builtIn({
        name: "subscriptions.create",
        description:
          "Subscribes you to a feed. intent is what you are to do with its messages, said to you with them; " +
          `condition is CEL over text, tags, data and principal. You have at most ${limits.subscriptionsPerAgent}.`,
        input: CreateInput,
        readOnly: false,
        idempotent: true,
        run: create
      }),
      builtIn({
        name: "subscriptions.update",
        description: "Changes one of your subscriptions: what is left out stays, null clears. enabled false stops it.",
        input: UpdateInput,
        readOnly: false,
        idempotent: true,
        run: update
      }),
      builtIn({
        name: "subscriptions.delete",
        description: "Deletes one of your subscriptions. Threads that it has begun stay.",
        input: One,
        readOnly: false,
        run: (by, { subscriptionId }, toolCallId) =>
          ifOwn(
            by,
            subscriptionId,
            decided(
              by,
              { action: "subscription.delete", request: { subscriptionId }, toolCallId },
              changing.found(by.workspace, { subscriptionId }),
              changing.remove(by, { subscriptionId }),
              () => ({ deleted: true })
            )
          )
      })
    ]
  }
}
