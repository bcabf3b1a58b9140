/** What may park of feeds: to make, change and archive one, and to append to it. */
import { Effect, Schema } from "effect"
import { Bus } from "../../src/bus/Bus.ts"
import { Database } from "../../src/database/Database.ts"
import { limits } from "../../src/domain/limits.ts"
import { ConditionJudge } from "../../src/subscriptions/ConditionJudge.ts"
import { judgeMessages, type Judged } from "../../src/subscriptions/matching.ts"
import { appendAlone, type AppendedBy, appendMessages, hopsAfter } from "../../src/feeds/appending.ts"
import { FeedAppend, type FeedAppended, FeedInput, FeedPatch } from "../../src/feeds/feed.ts"
import { appendRefusal, feedArchived, feedNotFound } from "../../src/feeds/refusals.ts"
import {
  archiveFeed,
  createFeed,
  type FeedPatchRefusal,
  type FeedNotThere,
  patchFeed,
  type StoredFeed
} from "../../src/feeds/rows.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { shardOf } from "../../src/journal/shard.ts"
import { disableAll } from "../../src/subscriptions/enlisting.ts"
import type { Asking } from "../actions/Action.ts"
import { defineAction } from "../actions/defineAction.ts"
import { refuseBody } from "../badInput.ts"
import { Refused } from "../errors.ts"
import { etag, meets } from "../etag.ts"
import { jsonAnswer } from "../writes.ts"

export const refusedNoFeed = new Refused(feedNotFound)
const changed = new Refused({ error: "precondition_failed", message: "If-Match: the feed has changed since" })
const archived = new Refused(feedArchived)
const taken = new Refused({ error: "feed_name_taken", message: "name: another feed of the workspace has it" })
const tooMany = new Refused({
  error: "too_many_feeds",
  message: `the workspace has ${limits.feeds} feeds, as many as it may`
})

const notThere = ({ refused }: FeedNotThere) => (refused === "not_found" ? refusedNoFeed : changed)

const refusal = (refused: FeedPatchRefusal) => {
  switch (refused.refused) {
    case "not_found":
    case "precondition":
      return notThere(refused)
    case "archived":
      return archived
    case "name_taken":
      return taken
    case "invalid":
      return refuseBody(refused.cause)
  }
}

const answer = ({ feed, rev }: StoredFeed) => jsonAnswer({ feed }, 200, { etag: etag(rev) })

const ifMatch = Schema.optionalKey(Schema.String)
const ChangeOfOne = Schema.Struct({ feedId: Schema.String, ifMatch, patch: FeedPatch })
const ArchiveOfOne = Schema.Struct({ feedId: Schema.String, ifMatch })
const AppendToOne = Schema.Struct({ feedId: Schema.String, ...FeedAppend.fields })

type AppendToOne = typeof AppendToOne.Type

const byOf = ({ from, principal }: Pick<Asking, "from" | "principal">): AppendedBy => ({
  principal,
  hops: from === undefined ? 0 : hopsAfter(from.hops)
})

export const makeFeedActions = Effect.gen(function* () {
  const bus = yield* Bus
  const conditions = yield* ConditionJudge
  const database = yield* Database
  const lease = yield* Lease
  /** By the request that has appended: the seq of its last message, until watchers are told. */
  const appended = new WeakMap<object, number>()
  /** The same: what was known ahead of who matches. */
  const judged = new WeakMap<object, Judged>()
  /** The same: subscriptions that it has told. */
  const woken = new WeakMap<object, ReadonlyArray<string>>()
  const wake = (params: object) => {
    for (const id of woken.get(params) ?? []) bus.wake(shardOf(id))
  }

  const answered = (params: AppendToOne, done: FeedAppended) => {
    if (done.endSeq === undefined) return jsonAnswer(done)
    appended.set(params, done.endSeq)
    return jsonAnswer(done, 201, { location: `/v1/feeds/${params.feedId}/messages?startSeq=${done.startSeq}` })
  }

  return {
    create: defineAction({
      name: "feed.create",
      params: FeedInput,
      scope: "write",
      way: {
        type: "change",
        change: async (tx, { principal, workspace }, input) => {
          const made = await createFeed(tx, workspace, input, principal, lease.now())
          if ("refused" in made) return made.refused === "too_many" ? tooMany : taken
          return jsonAnswer({ feed: made.feed }, 201, {
            location: `/v1/feeds/${made.feed.id}`,
            etag: etag(made.rev)
          })
        }
      }
    }),

    update: defineAction({
      name: "feed.update",
      params: ChangeOfOne,
      scope: "write",
      way: {
        type: "change",
        change: async (tx, { workspace }, { feedId, ifMatch, patch }) => {
          const patched = await patchFeed(tx, workspace, feedId, patch, meets(ifMatch), lease.now())
          return "refused" in patched ? refusal(patched) : answer(patched)
        }
      }
    }),

    archive: defineAction({
      name: "feed.archive",
      params: ArchiveOfOne,
      scope: "write",
      way: {
        type: "change",
        change: async (tx, { workspace }, params) => {
          const { feedId, ifMatch } = params
          const done = await archiveFeed(tx, workspace, feedId, meets(ifMatch), lease.now())
          if ("refused" in done) return notThere(done)
          woken.set(params, await disableAll(tx, workspace, { feedId }))
          return answer(done)
        },
        changed: (_, params) => wake(params)
      }
    }),

    append: defineAction({
      name: "feed.append",
      params: AppendToOne,
      scope: "run",
      tool: (params) => ({ name: "feeds.append", input: params }),
      way: {
        type: "change",
        change: async (tx, asking, params) => {
          const { feedId, ...append } = params
          appended.delete(params)
          woken.delete(params)
          const ahead = judged.get(params)
          const done = await appendMessages(
            tx,
            asking.workspace,
            feedId,
            append,
            byOf(asking),
            ahead,
            (subscriptions) => woken.set(params, subscriptions)
          )
          return "refused" in done ? new Refused(appendRefusal(done)) : answered(params, done)
        },
        alone: Effect.fnUntraced(function* (asking, params) {
          const { workspace } = asking
          const { feedId, ...append } = params
          const by = byOf(asking)
          const ahead = yield* judgeMessages(conditions, workspace, feedId, append.messages, by.principal)
          const done = yield* appendAlone(database, workspace, feedId, append, by, ahead)
          if (done !== undefined) return answered(params, done)
          if (ahead !== undefined) judged.set(params, ahead)
          return undefined
        }),
        changed: ({ workspace }, params) => {
          const lastSeq = appended.get(params)
          if (lastSeq === undefined) return
          bus.publish({ workspace, agentId: "", threadId: "", type: "feed", feedId: params.feedId, lastSeq })
          wake(params)
        }
      }
    })
  }
})
