/** Subscriptions: contract to actions and rows. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Database } from "../../src/database/Database.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { takenCondition } from "../../src/subscriptions/condition.ts"
import { listEvaluations } from "../../src/subscriptions/evaluations.ts"
import { handoverOf } from "../../src/subscriptions/handover.ts"
import { ConditionJudge } from "../../src/subscriptions/ConditionJudge.ts"
import { isOwnMessage } from "../../src/subscriptions/matching.ts"
import { listSubscriptions, readSubscription } from "../../src/subscriptions/rows.ts"
import { Actions } from "../actions/Actions.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Cursors } from "../Cursors.ts"
import { makeLeaseMay } from "../leaseMay.ts"
import { makePages } from "../newestFirst.ts"
import { refuseForeign, refuseGiven } from "../ownIdentity.ts"
import { pageSize } from "../pagination.ts"
import { ownIdentity } from "../threads/threadCaller.ts"
import { jsonAnswer, makeWrites } from "../writes.ts"
import { makeSubscriptionActions } from "./actions.ts"
import { Refused } from "../errors.ts"

const noSubscription = new Refused({ error: "not_found", message: "no such subscription" })

const nobodysAgent = new Refused({ error: "not_found", message: "no such agent" })
const denied = new Refused({
  error: "permission_denied",
  message: "the agent's profile and roles do not let it do this with subscriptions"
})

/** As an action has it: without the header where there is none. */
const withIfMatch = <A extends object>(params: A, ifMatch: string | undefined) =>
  ifMatch === undefined ? params : { ...params, ifMatch }

export const SubscriptionsHandlers = HttpApiBuilder.group(
  Api,
  "subscriptions",
  Effect.fnUntraced(function* (handlers) {
    const { perform } = yield* Actions
    const actions = yield* makeSubscriptionActions
    const cursors = yield* Cursors
    const conditions = yield* ConditionJudge
    const database = yield* Database
    const lease = yield* Lease
    const pages = yield* makePages
    const writes = yield* makeWrites
    const may = yield* makeLeaseMay

    const existing = (workspace: string, id: string) =>
      Effect.flatMap(
        database.run("subscriptions.get", (db) => readSubscription(db, workspace, id)),
        (found) => (found === undefined ? Effect.fail(noSubscription) : Effect.succeed(found))
      )

    /** What the grants of a lease say of a call of the tool that stands for the same. */
    const granted = Effect.fnUntraced(function* (verb: "create" | "update" | "delete" | "list", input: object) {
      const caller = yield* Caller
      const verdict = yield* may(caller, `subscriptions.${verb}`, input)
      // Nobody is asked about a read: a grant that wants their word lets it not.
      if (verdict === "deny" || (verb === "list" && verdict === "park")) return yield* denied
      return { caller, also: { parks: verdict === "park" } }
    })

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ params, payload }) {
        const { also, caller } = yield* granted("create", payload)
        const own = ownIdentity(caller)
        const { identity = own } = payload
        const foreign = refuseForeign(own, identity) ?? refuseGiven(caller, payload.identity)
        if (foreign !== undefined) return yield* foreign
        const request = { ...params, ...payload, ...(identity === undefined ? {} : { identity }) }
        return yield* perform(actions.create, request, also)
      }),

      list: Effect.fnUntraced(function* ({ query }) {
        const { agentId, feedId } = query
        const filters = { ...(agentId === undefined ? {} : { agentId }), ...(feedId === undefined ? {} : { feedId }) }
        const { caller } = yield* granted("list", filters)
        const { lease, workspace } = caller
        // A lease lists those of its agent.
        if (lease !== undefined && agentId !== undefined && agentId !== lease.agentId) return yield* nobodysAgent
        const { rows, nextCursor } = yield* pages({
          list: "subscriptions",
          place: `subscriptions ${workspace}`,
          query,
          filter: { agentId: lease?.agentId ?? agentId, feedId },
          fetch: (db, { after, filter, limit }) =>
            listSubscriptions(db, workspace, { after, limit, agentId: filter.agentId, feedId: filter.feedId }),
          position: (row) => row.position
        })
        return json({ subscriptions: rows.map(({ subscription }) => subscription), nextCursor })
      }),

      get: ({ params }) => perform(actions.read, params),

      update: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const { also, caller } = yield* granted("update", { ...params, ...payload })
        const { identity } = payload
        const foreign =
          identity === undefined
            ? undefined
            : (refuseForeign(ownIdentity(caller), identity ?? undefined) ?? refuseGiven(caller, identity ?? undefined))
        if (foreign !== undefined) return yield* foreign
        return yield* perform(actions.update, withIfMatch({ ...params, patch: payload }, headers["if-match"]), also)
      }),

      delete: Effect.fnUntraced(function* ({ headers, params }) {
        const { also } = yield* granted("delete", params)
        return yield* perform(actions.delete, withIfMatch(params, headers["if-match"]), also)
      }),

      evaluations: Effect.fnUntraced(function* ({ params: { subscriptionId }, query }) {
        const { workspace } = yield* Caller
        yield* existing(workspace, subscriptionId)
        const place = `evaluations ${workspace} ${subscriptionId}`
        const { after, filter } = yield* cursors.open(place, query.cursor, {})
        const limit = pageSize("evaluations", query.limit)
        const [before] = after ?? []
        const found = yield* database.run("subscriptions.evaluations", (db) =>
          listEvaluations(db, workspace, subscriptionId, {
            before: typeof before === "number" ? before : undefined,
            limit: limit + 1
          })
        )
        const evaluations = found.slice(0, limit)
        const last = found.length > limit ? evaluations.at(-1) : undefined
        return json({ evaluations, ...(last && { nextCursor: cursors.seal(place, filter, [last.seq]) }) })
      }),

      evaluate: Effect.fnUntraced(function* ({ params: { subscriptionId }, payload: { sample } }) {
        const caller = yield* Caller
        const { feed, settings, subscription } = yield* existing(caller.workspace, subscriptionId)
        const { data, principal = caller.principal, tags = [], text } = sample
        const message = {
          text,
          tags,
          ...(data === undefined ? {} : { data }),
          principal,
          seq: feed.lastSeq + 1,
          appendedAt: Math.floor(lease.now())
        }
        const [said = { matched: false }] = yield* conditions.judge(
          caller.workspace,
          takenCondition(settings.condition),
          [message]
        )
        const matched = said.matched && (settings.includeSelf || !isOwnMessage(principal, subscription.agentId))
        const { feedId, feedName } = subscription
        const content = handoverOf({
          intent: settings.intent,
          feed: { id: feedId, name: feedName },
          messages: [message]
        })
        const answer = { ...said, matched, ...(matched ? { content } : {}) }
        return yield* writes.post("subscriptions.evaluate", async () => jsonAnswer(answer))
      })
    })
  })
)
