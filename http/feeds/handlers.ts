/** Feeds: contract to actions and rows. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Bus } from "../../src/bus/Bus.ts"
import { Database } from "../../src/database/Database.ts"
import { readMessages } from "../../src/feeds/reading.ts"
import { listFeeds, readFeed } from "../../src/feeds/rows.ts"
import { mayCome } from "../../src/feeds/waiting.ts"
import { Actions } from "../actions/Actions.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Cursors } from "../Cursors.ts"
import { Refused } from "../errors.ts"
import { etag } from "../etag.ts"
import { pageSize } from "../pagination.ts"
import { defined } from "../parameters.ts"
import { Streams } from "../streams/Streams.ts"
import { refuseOrigin } from "../threads/refusals.ts"
import { makeLeaseMay } from "../leaseMay.ts"
import { makeFeedActions, refusedNoFeed } from "./actions.ts"
import { makeFeedPoll } from "./longPoll.ts"

/** As an action has it: without the header where there is none. */
const withIfMatch = <A extends object>(params: A, ifMatch: string | undefined) =>
  ifMatch === undefined ? params : { ...params, ifMatch }

/** Tags may hold what JSON writes in two characters: as this they fit into a cursor. */
const packed = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text).toString("base64url"))
const unpacked = (text: string | undefined) =>
  text === undefined ? undefined : Buffer.from(text, "base64url").toString()

const denied = new Refused({
  error: "permission_denied",
  message: "the agent's profile and roles do not let it do this with this feed"
})

const tailWithRange = new Refused({
  error: "invalid_request",
  code: "invalid_parameter",
  message: "tailOffset: not together with startSeq or endSeq"
})

export const FeedsHandlers = HttpApiBuilder.group(
  Api,
  "feeds",
  Effect.fnUntraced(function* (handlers) {
    const { perform } = yield* Actions
    const actions = yield* makeFeedActions
    const cursors = yield* Cursors
    const database = yield* Database
    const may = yield* makeLeaseMay
    const poll = makeFeedPoll(yield* Bus, yield* Streams)

    /** The caller, where a lease lets it read as its agent's tool with this input would. */
    const reader = Effect.fnUntraced(function* (verb: "list" | "get" | "read", input: object) {
      const caller = yield* Caller
      if (caller.lease === undefined) return caller
      const verdict = yield* may(caller, `feeds.${verb}`, defined(input))
      // Nobody is asked about a read: a grant that wants their word lets it not.
      return verdict === "allow" ? caller : yield* denied
    })

    return handlers.handleAll({
      create: ({ payload }) => perform(actions.create, payload),

      list: Effect.fnUntraced(function* ({ query }) {
        const { workspace } = yield* reader("list", query)
        const { includeArchived, namePrefix } = query
        const place = `feeds ${workspace}`
        const sent = {
          namePrefix,
          tag: packed(query.tag),
          includeArchived: includeArchived === undefined ? undefined : String(includeArchived)
        }
        const { after, filter } = yield* cursors.open(place, query.cursor, sent, { includeArchived: "false" })
        const limit = pageSize("feeds", query.limit)
        const behind = after?.[0]
        const found = yield* database.run("feeds.list", (db) =>
          listFeeds(db, workspace, {
            namePrefix: filter.namePrefix ?? "",
            tag: unpacked(filter.tag),
            includeArchived: filter.includeArchived === "true",
            after: typeof behind === "string" ? behind : "",
            limit: limit + 1
          })
        )
        const feeds = found.slice(0, limit)
        const last = found.length > limit ? feeds.at(-1) : undefined
        return json({ feeds, ...(last && { nextCursor: cursors.seal(place, filter, [last.name]) }) })
      }),

      get: Effect.fnUntraced(function* ({ params }) {
        const { workspace } = yield* reader("get", params)
        const found = yield* database.run("feeds.get", (db) => readFeed(db, workspace, params.feedId))
        return found === undefined ? yield* refusedNoFeed : json({ feed: found.feed }, 200, { etag: etag(found.rev) })
      }),

      update: ({ headers, params, payload }) =>
        perform(actions.update, withIfMatch({ ...params, patch: payload }, headers["if-match"])),

      archive: ({ headers, params }) => perform(actions.archive, withIfMatch(params, headers["if-match"])),

      append: Effect.fnUntraced(function* ({ params, payload }) {
        const caller = yield* Caller
        const at = payload.messages.findIndex(({ origin }) => origin !== undefined)
        const refused = refuseOrigin(caller, payload.messages[at]?.origin, `messages[${at}].`)
        if (refused !== undefined) return yield* refused
        const request = { ...params, ...payload }
        const verdict = yield* may(caller, "feeds.append", request)
        if (verdict === "deny") return yield* denied
        return yield* perform(actions.append, request, { parks: verdict === "park" })
      }),

      read: Effect.fnUntraced(function* ({ params: { feedId }, query, request }) {
        const { endSeq, startSeq, tailOffset, waitSeconds = 0 } = query
        if (tailOffset !== undefined && (startSeq !== undefined || endSeq !== undefined)) return yield* tailWithRange
        const caller = yield* reader("read", { feedId, ...query })
        const range = {
          ...(startSeq === undefined ? {} : { startSeq }),
          ...(endSeq === undefined ? {} : { endSeq }),
          ...(tailOffset === undefined ? {} : { tailOffset }),
          limit: pageSize("feedMessages", query.limit)
        }
        const read = database.run("feeds.read", (db) => readMessages(db, caller.workspace, feedId, range))
        const page = yield* waitSeconds > 0 && mayCome(range)
          ? poll(request, caller, { feedId, waitMs: waitSeconds * 1000, read })
          : read
        if (page === undefined) return yield* refusedNoFeed
        return json({ messages: page.messages, nextSeq: page.nextSeq })
      })
    })
  })
)
