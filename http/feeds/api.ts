/** Feeds: create, list, get, patch, archive, append, read (contract C39.1 to C39.4). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { Tag } from "../../src/domain/feedMessage.ts"
import { limits } from "../../src/domain/limits.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { FeedId } from "../../src/domain/resourceIds.ts"
import { FeedAppend, FeedAppended, Feed, FeedInput, FeedMessage, FeedName, FeedPatch } from "../../src/feeds/feed.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { IfMatch } from "../etag.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { flag, int64, wholeNumber } from "../parameters.ts"

export const FeedAnswer = Schema.Struct({ feed: described(Feed, "The feed.") }).annotate({ identifier: "FeedAnswer" })

export const FeedPage = Schema.Struct({
  feeds: described(Schema.Array(Feed), "Feeds of this page, by name."),
  nextCursor: NextCursor
}).annotate({ identifier: "FeedPage" })

export const FeedMessagePage = Schema.Struct({
  messages: described(Schema.Array(FeedMessage), "Messages of this page, ascending by seq."),
  nextSeq: described(Schema.optionalKey(Schema.Int), "The `startSeq` of the next page. Absent at the end.")
}).annotate({ identifier: "FeedMessagePage" })

const says = (summary: string, text: string) => OpenApi.annotations({ summary, description: text })

export const FeedsApi = HttpApiGroup.make("feeds")
  .add(
    HttpApiEndpoint.post("create", "/feeds", {
      payload: FeedInput,
      success: FeedAnswer.pipe(HttpApiSchema.status(201)),
      error: refuses("feed_name_taken", "too_many_feeds", "queue_full")
    })
      .annotateMerge(access("write", { stores: "rows", parks: true }))
      .annotateMerge(
        says("Create a feed", `A workspace has at most ${limits.feeds} feeds that are not archived. Names stay taken.`)
      ),
    HttpApiEndpoint.get("list", "/feeds", {
      query: {
        namePrefix: described(Schema.optional(FeedName), "Beginning of their names."),
        tag: described(Schema.optional(Tag), "A tag that they have."),
        includeArchived: described(
          Schema.optional(flag),
          "Whether archived feeds are listed as well. False when absent."
        ),
        limit: limitOf("feeds"),
        cursor: CursorParam
      },
      success: FeedPage
    })
      .annotateMerge(access("read", { lease: true }))
      .annotateMerge(says("List feeds", "By name. Archived ones only with `includeArchived=true`.")),
    HttpApiEndpoint.get("get", "/feeds/:feedId", { params: { feedId: FeedId }, success: FeedAnswer })
      .annotateMerge(access("read", { lease: true }))
      .annotateMerge(says("Get a feed", "Archived ones too. The ETag is what `If-Match` of a patch is held against.")),
    HttpApiEndpoint.patch("update", "/feeds/:feedId", {
      params: { feedId: FeedId },
      headers: IfMatch,
      payload: FeedPatch,
      success: FeedAnswer,
      error: refuses("feed_name_taken", "feed_archived", "precondition_failed", "queue_full")
    })
      .annotateMerge(access("write", { parks: true }))
      .annotateMerge(says("Change a feed", "JSON Merge Patch (RFC 7396): absent keeps, null clears.")),
    HttpApiEndpoint.post("archive", "/feeds/:feedId/archive", {
      params: { feedId: FeedId },
      headers: IfMatch,
      success: FeedAnswer,
      error: refuses("precondition_failed", "queue_full")
    })
      .annotateMerge(access("write", { parks: true }))
      .annotateMerge(
        says(
          "Archive a feed",
          "For good: it takes no messages any more, and is read on. Archiving again changes nothing."
        )
      ),
    HttpApiEndpoint.post("append", "/feeds/:feedId/messages", {
      params: { feedId: FeedId },
      payload: FeedAppend,
      success: [FeedAppended.pipe(HttpApiSchema.status(201)), FeedAppended],
      error: refuses("not_found", "feed_archived", "feed_conflict", "origin_not_allowed", "queue_full")
    })
      .annotateMerge(
        access("run", {
          lease: true,
          stores: "rows",
          parks: true,
          trigger: true,
          bodyBytes: limits.feedBodyBytes
        })
      )
      .annotateMerge(
        says(
          "Append messages",
          "All of them or none, with seqs that follow each other. A `dedupeKey` that came within 24 hours is not " +
            "appended again; where nothing was written the answer is 200."
        )
      ),
    HttpApiEndpoint.get("read", "/feeds/:feedId/messages", {
      params: { feedId: FeedId },
      query: {
        startSeq: described(Schema.optional(int64), "Seq to begin at. Absent: the oldest that is kept."),
        endSeq: described(Schema.optional(int64), "Seq to end at. Absent: the newest."),
        tailOffset: described(
          Schema.optional(wholeNumber(1, limits.feedTail)),
          "How many of the newest messages to begin with, in the place of `startSeq` and `endSeq`."
        ),
        waitSeconds: described(
          Schema.optional(wholeNumber(0, limits.feedWaitSeconds)),
          "Seconds that the answer may wait for a message from `startSeq` on, where there is none yet. 0 when absent."
        ),
        limit: limitOf("feedMessages")
      },
      success: FeedMessagePage
    })
      .annotateMerge(access("read", { lease: true }))
      .annotateMerge(
        says("Read messages", "Ascending by seq. What retention has removed is passed over. A page ends at 4 MiB.")
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "Workspace append-only feeds." }))
