/**
 * What authentication reads of API keys, from PostgreSQL.
 *
 * Whoever guesses keys is looked up as well as whoever has one, before it is known whose request that is. Look-ups that
 * come while one is under way share the next statement: however many there are, they have one connection.
 */
import { Effect, Layer } from "effect"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { batched } from "../database/batches.ts"
import { Database, DatabaseUnavailable, isUnavailable } from "../database/Database.ts"
import { Keys, type StoredKey } from "./Keys.ts"
import { rightsOf } from "./rows.ts"

interface Row {
  readonly public: string
  readonly workspace: string
  readonly id: string
  readonly first: string | null
  readonly hash: string
  readonly kind: string
  readonly scopes: ReadonlyArray<string>
  readonly identity: string | null
  readonly trigger: unknown
  readonly expires_at: Date | null
  readonly revoked: boolean
  readonly disabled: boolean
}

const name = "keys_by_public"
const find = `
  select k.public, k.workspace, k.id, k.first, k.hash, k.kind, k.scopes, k.identity, k.trigger, k.expires_at,
         k.revoked_at is not null as revoked,
         coalesce(h.status = 'disabled', false) as disabled
    from api_keys k
    left join identities i on i.workspace = k.workspace and i.identity = k.identity
    left join heads h on h.workspace = i.workspace and h.id = i.actor
   where k.public = any($1::text[])`

// A key's last use only ever moves on, whichever node reports last. Its use is a sight of its identity.
const touched = `
  with used as (
    update api_keys k set last_used_at = greatest(k.last_used_at, u.at)
      from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as u (workspace, id, at)
     where k.workspace = u.workspace and k.id = u.id
    returning k.workspace, k.identity, u.at
  ), sights as (
    select workspace, identity, max(at) as at from used where identity is not null group by workspace, identity order
      by workspace, identity
  )
  update identities i set last_seen = greatest(i.last_seen, s.at)
    from sights s where i.workspace = s.workspace and i.identity = s.identity`

const storedKey = (row: Row): StoredKey => ({
  workspace: fromUuid("workspace", row.workspace),
  id: fromUuid("key", row.id),
  ...(row.first !== null && { firstId: fromUuid("key", row.first) }),
  hash: row.hash,
  ...rightsOf(row),
  ...(row.identity !== null && { identity: row.identity }),
  identityDisabled: row.disabled,
  ...(row.expires_at !== null && { expiresAt: row.expires_at.getTime() }),
  revoked: row.revoked
})

export const keysPostgres = Layer.effect(
  Keys,
  Effect.gen(function* () {
    const database = yield* Database
    return Keys.of({
      findByPublic: batched<string, StoredKey | undefined, DatabaseUnavailable>({
        max: 64,
        lanes: 1,
        run: async (requests) => {
          try {
            const rows = await database.query<Row>({ name, text: find, values: [requests.map(({ item }) => item)] })
            const found = new Map(rows.map((row) => [row.public, storedKey(row)]))
            for (const { answer, item } of requests) answer(Effect.succeed(found.get(item)))
          } catch (cause) {
            if (!isUnavailable(cause)) throw cause
            for (const { answer } of requests) answer(Effect.fail(new DatabaseUnavailable({ operation: name, cause })))
          }
        }
      }),
      touch: (uses) =>
        uses.length === 0
          ? Effect.void
          : database
              .read({
                name: "keys_touched",
                text: touched,
                values: [
                  uses.map((use) => toUuid(use.workspace)),
                  uses.map((use) => toUuid(use.id)),
                  uses.map((use) => new Date(use.at).toISOString())
                ]
              })
              .pipe(Effect.asVoid)
    })
  })
)
