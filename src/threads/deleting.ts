/**
 * Threads that are deleted for good: gone at once for whoever asks, their rows in portions.
 *
 * D1. Only an archived thread at rest is deleted. Its head goes first: without it nothing of the thread is found, and
 *     no node can write to it.
 * D2. Its leftovers are found by its row in deleted_threads, which goes last. Images that it named are handed
 *     to whoever sees whether anything else names them (src/images/leaving.ts).
 */
import { Effect } from "effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import type { Db, Tx } from "../database/handle.ts"
import { toUuid } from "../domain/ids.ts"
import { imageMark } from "../images/leaving.ts"

export type Deletion = "deleted" | "not_found" | "not_archived"

interface Found {
  readonly archived: boolean
  readonly resting: boolean
}

/** D1. */
export const deleteThread = async (tx: Tx, workspace: string, threadId: string): Promise<Deletion> => {
  const [space, thread] = [toUuid(workspace), toUuid(threadId)]
  const { rows } = await sql<Found>`select exists (select from archived_threads a where a.thread = h.id) as archived,
      h.since is null as resting
    from heads h where h.workspace = ${space} and h.id = ${thread} and h.kind = 'thread' for update`.execute(tx)
  const [found] = rows
  if (found === undefined) return "not_found"
  if (!found.archived || !found.resting) return "not_archived"
  await sql`with gone as (delete from heads where workspace = ${space} and id = ${thread}
        returning workspace, id, parent),
      listed as (delete from archived_threads where thread = ${thread})
    insert into deleted_threads (workspace, thread, agent) select workspace, id, parent from gone
      on conflict do nothing`.execute(tx)
  return "deleted"
}

/** Facts of a portion: no long locks, no large transactions. */
const usualPortion = 5_000

/**
 * One portion of one thread: how many facts it is about, and whether the thread is done. Another node may have removed
 * some of them since the statement began to look: those that were there to be seen count, not those that it removed
 * itself, or a thread would be done with facts left.
 */
const clear = async (db: Db, portion: number) => {
  const { rows } = await sql<{ readonly facts: number; readonly threads: number }>`with
      one as (select workspace, thread, agent from deleted_threads order by at limit 1 for update skip locked),
      seen as materialized (select f.ctid as place from facts f, one where f.actor = one.thread limit ${portion}),
      f as (delete from facts where ctid = any (array(select place from seen)) returning event as text),
      i as (delete from inputs i using one where i.workspace = one.workspace and i.actor = one.thread
        returning body as text),
      w as (delete from waits w using one where w.workspace = one.workspace and w.actor = one.thread),
      x as (delete from inbox x using one where x.workspace = one.workspace and x.actor = one.thread
        returning command as text),
      said as (select text from f union all select text from i union all select text from x),
      named as (select distinct image from said, unnest(image_names(text)) image where strpos(text, ${imageMark}) > 0),
      l as (insert into leaving_images (workspace, agent, image)
        select one.workspace, one.agent, decode(substr(named.image, 5), 'hex') from one, named
        where one.agent is not null
        on conflict (workspace, agent, image) do update set at = now()),
      s as (delete from thread_spend s using one where s.workspace = one.workspace and s.thread = one.thread),
      counted as (select count(*)::int as facts from seen),
      d as (delete from deleted_threads d using one, counted where d.thread = one.thread and counted.facts < ${portion}
        returning 1)
    select counted.facts, (select count(*)::int from d) as threads from counted`.execute(db)
  return rows[0] ?? { facts: 0, threads: 0 }
}

/** D2. How many threads were cleared away. */
export const clearDeleted = Effect.fnUntraced(function* (portion = usualPortion) {
  const database = yield* Database
  let done = 0
  for (;;) {
    const { facts, threads } = yield* database.run("clear deleted threads", (db) => clear(db, portion))
    done += threads
    if (threads === 0 && facts === 0) return done
  }
})
