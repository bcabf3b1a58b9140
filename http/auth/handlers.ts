/** The credential in use, and API keys: contract to rows. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { missingAgent } from "../../src/agents/rows.ts"
import type { Tx } from "../../src/database/handle.ts"
import { fromTimestamp, toTimestamp } from "../../src/domain/time.ts"
import { missingFeed } from "../../src/feeds/rows.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { holdKey, listKeys, readKey, revokeKey } from "../../src/keys/rows.ts"
import { Database } from "../../src/database/Database.ts"
import { json, noContent } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Credentials } from "../Credentials.ts"
import { isRefused, Refused } from "../errors.ts"
import { makePages, positionOf } from "../newestFirst.ts"
import { sealedAnswer } from "../sealedAnswer.ts"
import { makeWrites } from "../writes.ts"
import { created, makeIssue, makerRevoked, noKey, refuseMore } from "./issuing.ts"
import { makeRotate } from "./rotating.ts"

const noAgent = (at: number) => new Refused({ error: "agent_not_found", message: `agentIds[${at}]: no such agent` })

const noFeed = (at: number) => new Refused({ error: "feed_not_found", message: `feedIds[${at}]: no such feed` })

export const AuthHandlers = HttpApiBuilder.group(
  Api,
  "auth",
  Effect.fnUntraced(function* (handlers) {
    const credentials = yield* Credentials
    const database = yield* Database
    const lease = yield* Lease
    const pages = yield* makePages
    const issue = yield* makeIssue
    const rotate = yield* makeRotate
    const writes = yield* makeWrites

    return handlers.handleAll({
      context: Effect.fnUntraced(function* () {
        const { expiresAt, lease: given, principal, scheme, scopes, workspace } = yield* Caller
        return json({
          principal,
          workspaceId: workspace,
          scheme,
          scopes: [...scopes],
          ...(given !== undefined && { agentId: given.agentId, threadId: given.threadId }),
          ...(expiresAt !== undefined && { expiresAt: toTimestamp(expiresAt) })
        })
      }),

      createKey: Effect.fnUntraced(function* ({ payload, request }) {
        const caller = yield* Caller
        const { identity: own, keyId, principal, workspace } = caller
        const { agentIds, expiresAt, feedIds = [], identity = own, kind = "api_key", name, provider, scopes } = payload
        const until = expiresAt === undefined ? caller.expiresAt : fromTimestamp(expiresAt)
        const refused = refuseMore(caller, { scopes, identity, expiresAt: until })
        if (refused !== undefined) return yield* refused
        return yield* writes.post(
          "auth.createKey",
          async (tx) => {
            if (!(await holdKey(tx, workspace, keyId))) return makerRevoked
            const unknown = await missingAgent(tx, workspace, agentIds ?? [])
            if (unknown !== -1) return noAgent(unknown)
            const missing = await missingFeed(tx, workspace, feedIds)
            if (missing !== -1) return noFeed(missing)
            const made = await issue(tx, workspace, {
              kind,
              name,
              scopes,
              by: principal,
              ...(provider !== undefined &&
                agentIds !== undefined && {
                  trigger: { provider, agentIds, ...(feedIds.length > 0 && { feedIds }) }
                }),
              ...(identity !== undefined && { identity }),
              ...(until !== undefined && { expiresAt: until })
            })
            return isRefused(made) ? made : created(made)
          },
          sealedAnswer(request, "token")
        )
      }),

      listKeys: Effect.fnUntraced(function* ({ query }) {
        const { workspace } = yield* Caller
        const { rows, nextCursor } = yield* pages({
          list: "keys",
          place: `keys ${workspace}`,
          query,
          fetch: (db, page) => listKeys(db, workspace, page),
          position: positionOf
        })
        return json({ keys: rows, nextCursor })
      }),

      getKey: Effect.fnUntraced(function* ({ params }) {
        const { workspace } = yield* Caller
        const key = yield* database.run("auth.getKey", (db) => readKey(db, workspace, params.keyId))
        return key === undefined ? yield* noKey : json({ key })
      }),

      revokeKey: Effect.fnUntraced(function* ({ params, query }) {
        const { workspace } = yield* Caller
        yield* writes.change("auth.revokeKey", async (tx) =>
          (await revokeKey(tx, workspace, params.keyId, lease.now(), query.descendants)) ? undefined : noKey
        )
        yield* credentials.forget
        return noContent
      }),

      rotateKey: Effect.fnUntraced(function* ({ params, payload, request }) {
        const caller = yield* Caller
        const rotated = (tx: Tx) => rotate(tx, caller, params.keyId, payload)
        const answer = yield* writes.post("auth.rotateKey", rotated, sealedAnswer(request, "token"))
        yield* credentials.forget
        return answer
      })
    })
  })
)
