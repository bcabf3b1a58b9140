/**
 * Threads by updatedAt, newest first, walked by the minute in which they changed (indexes heads_touched, heads_parent).
 *
 * L1. A status has no index, which every turn would have to keep: so many threads are looked at for a page, and where
 *     they are not the last it goes on behind them, also where none of them has the status.
 */
import { type RawBuilder, sql } from "kysely"
import type { SubmitMode } from "../domain/content.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import type { Input } from "../domain/input.ts"
import { limits } from "../domain/limits.ts"
import type { ThreadStatus } from "../domain/thread.ts"
import type { Database } from "../database/Database.ts"
import type { Db } from "../database/handle.ts"
import { readInput } from "./view.ts"
import { postedColumn, postedInputs, type PostedJson } from "./postedInputs.ts"
import { type StoredThread, type ThreadColumns, threadColumns, toStoredThread } from "./row.ts"

export interface ThreadQuery {
  readonly workspace: string
  /** Only threads with an open wait for a person or a client. */
  readonly waiting: boolean
  readonly agentId?: string
  /** Only threads of these agents. */
  readonly within?: ReadonlyArray<string>
  readonly identity?: string
  readonly includeArchived: boolean
  readonly status?: ThreadStatus
  readonly limit: number
  /** `position` of the page before. */
  readonly position?: ThreadPosition
}

/** Where a page has ended: its last thread, or the last that was looked at. */
export interface ThreadPosition {
  readonly updatedAt: number
  readonly threadId: string
}

export interface ListedThread extends StoredThread {
  /**
   * The inputs that may be the last to run: of those that have arrived the last one, and those that are still on their
   * way.
   */
  readonly ahead: ReadonlyArray<Pick<Input, "ord" | "mode" | "forTurnId" | "model">>
}

export interface ThreadListRows {
  readonly threads: ReadonlyArray<ListedThread>
  readonly position: ThreadPosition | undefined
}

/**
 * As `executionOrder` has them, the last one; without its text, which may be long. By patterns, since PostgreSQL reads
 * no JSON that holds a NUL, as texts may: a quote inside of a text is escaped, so that they find properties only.
 * Nothing waits in most threads.
 */
const aheadColumn = sql<unknown>`(select json_build_object('ord', x.ord, 'mode', x.mode, 'forTurnId', x.turn, 'model',
  x.model) from (
      select i.ord, substring(i.body from '"mode":"(\\w+)"') as mode, substring(i.body from '"forTurnId":"(\\w+)"') as
        turn,
        substring(i.body from '"model":("(?:[^"\\\\]|\\\\.)*")') as model
      from inputs i where i.workspace = h.workspace and i.actor = h.id and i.state = 'pending') x
    order by case when x.mode = 'interrupt' then 0 when x.turn is not null then 1 else 2 end desc, x.ord desc limit 1)`

interface Ahead {
  readonly ord: number
  readonly mode: SubmitMode
  readonly forTurnId: string | null
  /** As it stands in the JSON text, with its quotes. */
  readonly model: string | null
}

interface Columns extends ThreadColumns {
  ahead: Ahead | null
  posted: PostedJson
}

const order = sql`order by h.touched desc, h.updated_at desc, h.id desc`
const columns = sql`${sql.raw(threadColumns)}, ${aheadColumn} as ahead, ${sql.raw(postedColumn)} as posted`

/** L1: the last of those that are looked at, where there may be more. */
const edgeOf = async (db: Db, condition: RawBuilder<unknown>): Promise<ThreadPosition | undefined> => {
  const { rows } = await sql<{ readonly id: string; readonly updated: number }>`select h.id,
    (extract(epoch from h.updated_at) * 1000)::float8 as updated
    from heads h where ${condition} ${order} offset ${limits.threadsLookedAt - 1} limit 1`.execute(db)
  return rows[0] && { updatedAt: rows[0].updated, threadId: fromUuid("thread", rows[0].id) }
}

/** A JSON text of our own. */
const readModel = (text: string): string => JSON.parse(text)

const arrivedOf = ({ forTurnId, model, mode, ord }: Ahead) => ({
  ord,
  mode,
  ...(forTurnId !== null && { forTurnId }),
  ...(model !== null && { model: readModel(model) })
})

const listed = ({ ahead, posted, ...row }: Columns): ListedThread => {
  const arrived = ahead === null ? [] : [arrivedOf(ahead)]
  return { ...toStoredThread(row), ahead: [...arrived, ...postedInputs(posted).map(readInput)] }
}

export const listThreads = (database: Database["Service"], query: ThreadQuery) => {
  const { agentId, identity, includeArchived, limit, position, status, waiting, within, workspace } = query
  const condition = sql.join(
    [
      sql`h.workspace = ${toUuid(workspace)} and h.kind = 'thread'`,
      ...(position === undefined
        ? []
        : [
            sql`h.touched <= ${Math.floor(position.updatedAt / 60_000)}::int
        and (h.updated_at, h.id) <
          (to_timestamp(${position.updatedAt}::float8 / 1000)::timestamptz(3), ${toUuid(position.threadId)}::uuid)`
          ]),
      ...(includeArchived ? [] : [sql`not exists (select from archived_threads a where a.thread = h.id)`]),
      ...(agentId === undefined ? [] : [sql`h.parent = ${toUuid(agentId)}::uuid`]),
      ...(within === undefined ? [] : [sql`h.parent = any(${within.map(toUuid)}::uuid[])`]),
      ...(identity === undefined
        ? []
        : [sql`h.attributes like '%"identity":%' and readable(h.attributes) ->> 'identity' = ${identity}`]),
      ...(waiting
        ? [
            sql`h.id in (select w.actor from waits w where w.workspace = ${toUuid(workspace)} and w.state = 'open' and
              w.target in ('person', 'client'))`
          ]
        : [])
    ],
    sql` and `
  )
  const from =
    status === undefined
      ? sql`heads h where ${condition}`
      : sql`(select * from heads h where ${condition} ${order} limit ${limits.threadsLookedAt}) h
          where h.status = ${status}`
  const text = sql<Columns>`select ${columns} from ${from} ${order} limit ${limit + 1}`
  return database.run("list threads", async (db): Promise<ThreadListRows> => {
    const { rows } = await text.execute(db)
    const page = rows.slice(0, limit)
    const last = rows.length > limit ? page.at(-1) : undefined
    const edge = status === undefined || last !== undefined ? undefined : await edgeOf(db, condition)
    return {
      threads: page.map(listed),
      position: last === undefined ? edge : { updatedAt: last.updated, threadId: fromUuid("thread", last.id) }
    }
  })
}
