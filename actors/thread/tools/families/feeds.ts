/**
 * The family `feeds`: logs of the workspace that agents append to, and read.
 *
 * L1. A refusal is a `tool_error` that begins with the word that the endpoint would have refused with.
 * L2. An append keeps its answer under its call, in one transaction, for a day: a call that runs again after a crash
 *     gets that answer, and appends nothing.
 * L3. A message has one hop more than the turn that appends it.
 */
import { Effect, Result, Schema } from "effect"
import { hash } from "node:crypto"
import type { Bus } from "../../../../src/bus/Bus.ts"
import type { Database } from "../../../../src/database/Database.ts"
import { withdrawable } from "../../../../src/database/withdrawable.ts"
import { limits } from "../../../../src/domain/limits.ts"
import type { Principal } from "../../../../src/domain/principal.ts"
import { FeedId } from "../../../../src/domain/resourceIds.ts"
import type { ConditionJudge } from "../../../../src/subscriptions/ConditionJudge.ts"
import { judgeMessages } from "../../../../src/subscriptions/matching.ts"
import { appendMessages, type AppendRefusal, hopsAfter } from "../../../../src/feeds/appending.ts"
import { Tag } from "../../../../src/domain/feedMessage.ts"
import { AgentFeedAppend, type FeedAppended, FeedName } from "../../../../src/feeds/feed.ts"
import { readMessages } from "../../../../src/feeds/reading.ts"
import { appendRefusal, feedNotFound } from "../../../../src/feeds/refusals.ts"
import { listFeeds, readFeed } from "../../../../src/feeds/rows.ts"
import { awaitMessages, mayCome } from "../../../../src/feeds/waiting.ts"
import { keepAnswer } from "../../../../src/idempotency/rows.ts"
import type { Journal } from "../../../../src/journal/Journal.ts"
import { shardOf } from "../../../../src/journal/shard.ts"
import { rowOf } from "../../../kept.ts"
import type { ToolApproval } from "../approval.ts"
import { type BuiltInBy, builtIn, type Family, toolError } from "../builtIn.ts"
import { limitField, shortened, usual } from "./pages.ts"

export interface Feeds {
  readonly approval: ToolApproval
  readonly bus: Bus["Service"]
  readonly conditions: ConditionJudge["Service"]
  readonly database: Database["Service"]
  readonly journal: Journal["Service"]
}

/** Of all messages that one call gets; the rest is on the next page. */
const pageBytes = 64 * 1024

const feedId = FeedId.annotate({ description: "Id of the feed, feed_…; feeds.list has them." })
const seq = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

const ListInput = Schema.Struct({
  namePrefix: Schema.optionalKey(FeedName.annotate({ description: "What their names begin with." })),
  tag: Schema.optionalKey(Tag.annotate({ description: "A tag that they have." })),
  includeArchived: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Whether archived feeds are listed as well; false when left out." })
  ),
  limit: limitField,
  cursor: Schema.optionalKey(
    FeedName.annotate({ description: "nextCursor of the page before, for what comes after it." })
  )
})
const ReadInput = Schema.Struct({
  feedId,
  startSeq: Schema.optionalKey(
    seq.annotate({ description: "Seq to begin at; the oldest message that is kept when left out." })
  ),
  endSeq: Schema.optionalKey(seq.annotate({ description: "Seq to end at; the newest when left out." })),
  tailOffset: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: limits.feedTail })).annotate({
      description: "How many of the newest messages to begin with, in the place of startSeq and endSeq."
    })
  ),
  waitSeconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: limits.feedWaitSeconds })).annotate({
      description: "Seconds to wait for a message from startSeq on, where there is none yet; 0 when left out."
    })
  ),
  limit: limitField
})
const AppendInput = Schema.Struct({ feedId, ...AgentFeedAppend.fields })
type AppendInput = typeof AppendInput.Type

const refusal = ({ error, message }: { readonly error: string; readonly message: string }) =>
  toolError(`${error}: ${message}.`)

const refusalOf = (done: FeedAppended | AppendRefusal) => ("refused" in done ? refusal(appendRefusal(done)) : undefined)

const tailWithRange = refusal({
  error: "invalid_request",
  message: "tailOffset: not together with startSeq or endSeq"
})

const notTwice = toolError("The same call is being carried out elsewhere. Try again.")

const readingTools = ({ bus, database }: Feeds) => [
  builtIn({
    name: "feeds.list",
    description: "Lists the workspace's feeds by name: what each is for, its tags, its first and last seq.",
    input: ListInput,
    readOnly: true,
    run: ({ workspace }: BuiltInBy, { cursor = "", includeArchived = false, limit = usual, namePrefix = "", tag }) =>
      Effect.map(
        database.run("feeds.list", (db) =>
          listFeeds(db, workspace, { namePrefix, tag, includeArchived, after: cursor, limit: limit + 1 })
        ),
        (found) => {
          const feeds = found.slice(0, limit)
          const last = found.length > limit ? feeds.at(-1) : undefined
          return {
            output: {
              feeds: feeds.map(({ description, ...feed }) => ({
                ...feed,
                ...(description === undefined ? {} : { description: shortened(description) })
              })),
              ...(last && { nextCursor: last.name })
            }
          }
        }
      )
  }),
  builtIn({
    name: "feeds.get",
    description: "Gets one feed: its whole description, tags, first and last seq, how long it keeps messages.",
    input: Schema.Struct({ feedId }),
    readOnly: true,
    run: ({ workspace }: BuiltInBy, { feedId }) =>
      Effect.map(
        database.run("feeds.get", (db) => readFeed(db, workspace, feedId)),
        (found) => (found === undefined ? refusal(feedNotFound) : { output: { feed: found.feed } })
      )
  }),
  builtIn({
    name: "feeds.read",
    description:
      "Reads messages of a feed in their order: a range of seqs, or the newest with tailOffset. Where there is more " +
      "than fits, nextSeq is the startSeq to go on with. With waitSeconds it waits for the next one.",
    input: ReadInput,
    readOnly: true,
    run: ({ workspace }: BuiltInBy, { feedId, limit = usual, waitSeconds = 0, ...range }) =>
      range.tailOffset !== undefined && (range.startSeq !== undefined || range.endSeq !== undefined)
        ? Effect.succeed(tailWithRange)
        : Effect.map(
            awaitMessages(bus, {
              workspace,
              feedId,
              waitMs: mayCome(range) ? waitSeconds * 1_000 : 0,
              read: database.run("feeds.read", (db) =>
                readMessages(db, workspace, feedId, { ...range, limit, bytes: pageBytes })
              )
            }),
            (page) =>
              page === undefined
                ? refusal(feedNotFound)
                : {
                    output: {
                      messages: page.messages.map(({ feedId, ...message }) => message),
                      ...(page.nextSeq === undefined ? {} : { nextSeq: page.nextSeq })
                    }
                  }
          )
  })
]

const appendTool = ({ approval, bus, conditions, database, journal }: Feeds) => {
  const withdrawing = withdrawable(database)

  const authorOf = ({ agentId, hops, identity }: BuiltInBy) => {
    const principal: Principal = { type: "agent", id: agentId, ...(identity === undefined ? {} : { identity }) }
    // L3.
    return { principal, hops: hopsAfter(hops) }
  }

  /** What would become of it: it is appended, and withdrawn. */
  const tried = (by: BuiltInBy, { feedId, ...append }: AppendInput) =>
    withdrawing<never, FeedAppended | AppendRefusal>("feeds.append (tried)", async (tx) =>
      Result.fail(await appendMessages(tx, by.workspace, feedId, append, authorOf(by), undefined))
    ).pipe(Effect.catch((found) => ("_tag" in found ? Effect.fail(found) : Effect.succeed(refusalOf(found)))))

  /** L2. Undefined where another node has just kept an answer for this call. */
  const appended = Effect.fnUntraced(function* (by: BuiltInBy, { feedId, ...append }: AppendInput, scope: string) {
    let subscribers: ReadonlyArray<string> = []
    const author = authorOf(by)
    const ahead = yield* judgeMessages(conditions, by.workspace, feedId, append.messages, author.principal)
    return yield* withdrawing<FeedAppended, AppendRefusal | "kept">("feeds.append", async (tx) => {
      const done = await appendMessages(tx, by.workspace, feedId, append, author, ahead, (subscriptions) => {
        subscribers = subscriptions
      })
      if ("refused" in done) return Result.fail(done)
      const row = rowOf({ scope, fingerprint: scope }, { kind: "found", body: JSON.stringify(done) })
      return (await keepAnswer(tx, by.workspace, row)) ? Result.succeed(done) : Result.fail("kept")
    }).pipe(
      Effect.tap(() =>
        Effect.sync(() => {
          for (const id of subscribers) bus.wake(shardOf(id))
        })
      )
    )
  })

  const run = Effect.fnUntraced(function* (by: BuiltInBy, input: AppendInput, toolCallId: string) {
    const { workspace } = by
    const scope = hash("sha256", ["feeds.append", toolCallId].join("\0"), "hex")
    const kept = Effect.map(journal.key(workspace, scope), (row) => row && { output: JSON.parse(row.body) })
    const before = yield* kept
    if (before !== undefined) return before
    const parked = yield* approval(by, { action: "feed.append", request: input, toolCallId }, tried(by, input))
    if (parked !== undefined) return parked
    const done = yield* Effect.result(appended(by, input, scope))
    if (Result.isFailure(done)) {
      if (done.failure === "kept") return (yield* kept) ?? notTwice
      return "_tag" in done.failure ? yield* done.failure : refusal(appendRefusal(done.failure))
    }
    const { endSeq } = done.success
    if (endSeq !== undefined)
      bus.publish({ workspace, agentId: "", threadId: "", type: "feed", feedId: input.feedId, lastSeq: endSeq })
    return { output: done.success }
  })

  return builtIn({
    name: "feeds.append",
    description:
      "Appends messages to a feed, all of them or none, for whoever reads it: people, programs, other agents. " +
      "With expectedLastSeq only while nobody has appended since; feed_conflict says that somebody has.",
    input: AppendInput,
    readOnly: false,
    idempotent: true,
    run
  })
}

export const feedsFamily = (feeds: Feeds): Family => ({
  name: "feeds",
  description:
    "Feeds of the workspace: logs of reports, events and findings that people, programs and agents append to and read.",
  tools: [...readingTools(feeds), appendTool(feeds)]
})
