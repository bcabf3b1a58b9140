/**
 * What time leaves to do of feeds: messages that their retention keeps no longer.
 *
 * G1. First the feed's `first_seq` is raised: from then on nobody reads them. Then their rows go, in portions.
 * G2. A row whose key counts still stays until it does not (W3 of appending.ts).
 */
import { Effect } from "effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { limits } from "../domain/limits.ts"

/** Rows a statement: no long locks, no large transactions. */
const portion = 2_000
/** Messages of a feed that are looked at for their age in a round. */
const looked = 10_000
/** Statements of a round that look. */
const mostLooks = 100
/** Feeds a statement. */
const someFeeds = 500

/** How many feeds begin later now. */
const raise = Effect.fnUntraced(function* () {
  const database = yield* Database
  const { rows } = yield* database.run("feeds.raise", (db) =>
    sql<{ readonly id: string }>`with due as materialized (
        select f.workspace, f.id, f.first_seq, f.last_seq, greatest(
            f.last_seq - f.max_messages + 1,
            case when f.max_age_seconds is not null then (
              select coalesce(min(m.seq), least(f.first_seq + ${looked}, f.last_seq + 1)) from (
                select seq from feed_messages m
                where m.workspace = f.workspace and m.feed = f.id and m.seq >= f.first_seq
                  and m.seq < f.first_seq + ${looked}
                  and m.appended_at >= now() - make_interval(secs => f.max_age_seconds)
                order by m.seq limit 1) m) end) as keeps
        from feeds f where (f.max_messages is not null or f.max_age_seconds is not null) and f.last_seq >= f.first_seq),
      chosen as (select f.workspace, f.id, d.keeps from feeds f join due d using (workspace, id)
        where d.keeps > f.first_seq limit ${someFeeds} for update of f skip locked)
    update feeds f set first_seq = greatest(f.first_seq, s.keeps) from chosen s
      where f.workspace = s.workspace and f.id = s.id returning f.id`.execute(db)
  )
  return rows.length
})

/** How many messages went. */
const sweep = Effect.fnUntraced(function* () {
  const database = yield* Database
  const { numAffectedRows = 0n } = yield* database.run("feeds.sweep", (db) =>
    sql`delete from feed_messages where ctid = any (array(
      select m.ctid from feeds f join feed_messages m on m.workspace = f.workspace and m.feed = f.id
        where f.first_seq > 1 and m.seq < f.first_seq
          and (m.dedupe_key is null or m.appended_at < now() - make_interval(hours => ${limits.dedupeHours}))
        limit ${portion} for update of m skip locked))`.execute(db)
  )
  return Number(numAffectedRows)
})

/** One round; how many messages went. */
export const retainMessages = Effect.fnUntraced(function* () {
  // Again where a statement has not looked far enough; feeds that grow meanwhile do not keep it for ever.
  for (let looks = 0; looks < mostLooks; looks++) if ((yield* raise()) === 0) break
  let gone = 0
  for (;;) {
    const some = yield* sweep()
    gone += some
    if (some < portion) return gone
  }
})
