/** The credential in use, and API keys: contract to rows. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { generateKey } from "../../src/keys/keyText.ts"
import { fromTimestamp, toTimestamp } from "../../src/domain/time.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { createKey, holdKey, listKeys, readKey, revokeKey } from "../../src/keys/rows.ts"
import { Database } from "../../src/database/Database.ts"
import { readIdentity } from "../../src/identities/rows.ts"
import { json, noContent } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Credentials } from "../Credentials.ts"
import { Refused } from "../errors.ts"
import { header } from "../headers.ts"
import { refuseForeign } from "../ownIdentity.ts"
import { makePages, positionOf } from "../newestFirst.ts"
import { makeRoom } from "../quotas.ts"
import { jsonAnswer, makeWrites } from "../writes.ts"
import { sealedToken } from "./sealedToken.ts"

const notHeld = new Refused({
  error: "permission_denied",
  code: "scope_not_held",
  message: "scopes: a key cannot be given a scope that the caller lacks"
})
const past = new Refused({
  error: "invalid_request",
  code: "invalid_body",
  message: "expiresAt: expected a time in the future"
})
const pastMaker = new Refused({
  error: "invalid_request",
  code: "invalid_body",
  message: "expiresAt: expected a time no later than the end of the key that makes this one"
})
const makerRevoked = new Refused({
  error: "unauthenticated",
  code: "invalid_credential",
  message: "the credential was revoked"
})
const disabled = new Refused({ error: "identity_disabled", message: "identity: this identity is disabled" })
const noKey = new Refused({ error: "not_found", message: "no such key" })

export const AuthHandlers = HttpApiBuilder.group(
  Api,
  "auth",
  Effect.fnUntraced(function* (handlers) {
    const credentials = yield* Credentials
    const database = yield* Database
    const lease = yield* Lease
    const pages = yield* makePages
    const roomFor = yield* makeRoom
    const writes = yield* makeWrites

    return handlers.handleAll({
      context: Effect.fnUntraced(function* () {
        const { expiresAt, principal, scheme, scopes, workspace } = yield* Caller
        return json({
          principal,
          workspaceId: workspace,
          scheme,
          scopes: [...scopes],
          ...(expiresAt !== undefined && { expiresAt: toTimestamp(expiresAt) })
        })
      }),

      createKey: Effect.fnUntraced(function* ({ payload: { expiresAt, kind, name, scopes, ...input }, request }) {
        const { expiresAt: end, identity: own, keyId, principal, scopes: held, workspace } = yield* Caller
        if (!scopes.every((scope) => held.has(scope))) return yield* notHeld
        const { identity = own } = input
        const foreign = refuseForeign(own, identity)
        if (foreign !== undefined) return yield* foreign
        const until = expiresAt === undefined ? end : fromTimestamp(expiresAt)
        if (end !== undefined && until !== undefined && until > end) return yield* pastMaker
        const sealed = sealedToken({
          authorization: header(request, "authorization") ?? "",
          idempotencyKey: header(request, "idempotency-key") ?? ""
        })
        return yield* writes.post(
          "auth.createKey",
          async (tx) => {
            if (until !== undefined && until <= lease.now()) return past
            if (!(await holdKey(tx, workspace, keyId))) return makerRevoked
            if (identity !== undefined && (await readIdentity(tx, workspace, identity))?.disabled === true)
              return disabled
            const full = await roomFor(tx, workspace, "keys")
            if (full !== undefined) return full
            const { hash, key: token, publicPart } = generateKey()
            const made = {
              public: publicPart,
              hash,
              name,
              scopes,
              by: principal,
              ...(kind !== undefined && { kind }),
              ...(identity !== undefined && { identity }),
              ...(until !== undefined && { expiresAt: until })
            }
            const key = await createKey(tx, workspace, made, lease.now())
            return jsonAnswer({ key, token }, 201, { location: `/v1/auth/keys/${key.id}` })
          },
          sealed
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
      })
    })
  })
)
