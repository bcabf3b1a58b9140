/**
 * The journal that lasts: PostgreSQL keeps J1 to J6 with one statement an append.
 *
 * Appends go through `appends.ts`, claims through `claims.ts`, loads through `loads.ts`, moments through `agenda.ts`,
 * stored commands through `inbox.ts`, lookups of keys and attributes through `lookups.ts`; here is what is left:
 * setting aside, whole logs, kept answers.
 */
import { Effect, Layer } from "effect"
import { toUuid } from "../domain/ids.ts"
import { Database, type DatabaseUnavailable } from "../database/Database.ts"
import { makeAgenda } from "./agenda.ts"
import { appends } from "./appends.ts"
import { claims } from "./claims.ts"
import { makeInbox } from "./inbox.ts"
import { Journal, JournalUnavailable, type KindNouns } from "./Journal.ts"
import { Lease } from "./Lease.ts"
import { loads } from "./loads.ts"
import { lookups } from "./lookups.ts"
import { storedInput } from "./storedInput.ts"
import { wholeLog } from "./wholeLog.ts"

// A failed turn is news of its thread, as any other change of its head is.
const quarantining = `update heads t set status = 'failed', runnable_at = null, rev = t.rev + 1, updated_at = g.at,
  touched = floor(extract(epoch from g.at) / 60)
from (select greatest(h.updated_at, clock_timestamp()) as at from heads h where h.id = $2) g
where t.id = $2 and t.workspace = $1 and t.epoch = $3 and t.owner = $4`

const keepingAlone = `insert into idempotency (workspace, scope, created_at, status, fingerprint, body) values ($1, $2,
  now(), $3, $4, $5)
  on conflict (workspace, scope) do update set status = excluded.status, fingerprint = excluded.fingerprint, body =
    excluded.body, created_at = excluded.created_at
  where idempotency.created_at <= now() - interval '24 hours' returning scope`

const unavailable = <A>(effect: Effect.Effect<A, DatabaseUnavailable>) =>
  Effect.mapError(effect, ({ cause }) => new JournalUnavailable({ cause }))

export interface JournalOptions {
  /** Append statements under way at once: as many as the database has writer connections. */
  readonly lanes?: number
}

export const layerPostgres = (options: JournalOptions = {}) =>
  Layer.effect(
    Journal,
    Effect.gen(function* () {
      const database = yield* Database
      const lease = yield* Lease
      const append = appends(database, options.lanes ?? 1)
      const kinds = new Map<string, KindNouns>()
      const claim = claims(database, kinds)
      const agenda = makeAgenda(database, lease.incarnation, kinds)
      const { attributes, key } = lookups(database)
      const inbox = makeInbox(database, lease.incarnation, kinds)

      return Journal.of({
        know: (kind, nouns) => {
          kinds.set(kind, nouns)
        },
        append: (entry) => append({ ...entry, owner: lease.incarnation() }),
        claim: (actor, onlyMine = false) => claim({ actor, owner: lease.incarnation(), onlyMine }),
        load: loads(database),
        release: (actors) => unavailable(agenda.release(actors)),
        due: (limit, shards, aheadMs = 0) => unavailable(agenda.due(limit, shards, aheadMs)),
        tend: (others) => unavailable(agenda.tend(others)),
        log: (actor, afterPos, types) =>
          unavailable(database.longRead("log", (read) => wholeLog({ read }, actor, afterPos, types))),
        quarantine: ({ id, workspace }, epoch) =>
          unavailable(
            database.read({
              name: "quarantine",
              text: quarantining,
              values: [toUuid(workspace), toUuid(id), epoch, toUuid(lease.incarnation())]
            })
          ).pipe(Effect.asVoid),
        key,
        keep: (workspace, { body, fingerprint, scope, status }) =>
          unavailable(
            database.read({
              name: "keep",
              text: keepingAlone,
              values: [toUuid(workspace), scope, status, fingerprint, body]
            })
          ).pipe(Effect.map((rows) => rows.length > 0)),
        attributes,
        input: (actor, inputId) => unavailable(storedInput(database, actor, inputId)),
        post: (row, kept) => unavailable(inbox.post(row, kept)),
        inbox: (wanted) => unavailable(inbox.inbox(wanted)),
        inboxRows: (actor, wanted) => unavailable(inbox.posted(actor, wanted))
      })
    })
  )
