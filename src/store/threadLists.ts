/** Threads by updatedAt, newest first, walked by the minute in which they changed (indexes heads_touched, heads_parent). */
import { sql } from "kysely"
import { fromUuid, toUuid } from "../domain/ids.ts"
import type { Database } from "./Database.ts"
import { type StoredThread, type ThreadColumns, threadColumns, toStoredThread } from "./threadRow.ts"

export interface ThreadQuery {
  readonly workspace: string
  /** Only threads with an open wait for a person or a client. */
  readonly waiting: boolean
  readonly agentId?: string
  readonly identity?: string
  readonly limit: number
  /** `position` of the page before. */
  readonly position?: ThreadPosition
}

/** The last thread of a page. */
export interface ThreadPosition {
  readonly updatedAt: number
  readonly threadId: string
}

export interface ThreadRows {
  readonly threads: ReadonlyArray<StoredThread>
  readonly position: ThreadPosition | undefined
}

export const listThreads = (database: Database["Service"], query: ThreadQuery) => {
  const { agentId, identity, limit, position, waiting, workspace } = query
  const condition = sql.join([
    sql`h.workspace = ${toUuid(workspace)} and h.kind = 'thread'`,
    ...position === undefined ? [] : [
      sql`h.touched <= ${Math.floor(position.updatedAt / 60_000)}::int
        and (h.updated_at, h.id) < (to_timestamp(${position.updatedAt}::float8 / 1000)::timestamptz(3), ${toUuid(position.threadId)}::uuid)`
    ],
    ...agentId === undefined ? [] : [sql`h.parent = ${toUuid(agentId)}::uuid`],
    ...identity === undefined ? [] : [sql`h.attributes like '%"identity":%' and readable(h.attributes) ->> 'identity' = ${identity}`],
    ...waiting ? [sql`h.id in (select w.actor from waits w where w.workspace = ${toUuid(workspace)} and w.state = 'open' and w.target in ('person', 'client'))`] : []
  ], sql` and `)
  const text = sql<ThreadColumns>`select ${sql.raw(threadColumns)}
    from heads h where ${condition} order by h.touched desc, h.updated_at desc, h.id desc limit ${limit + 1}`
  return database.run("list threads", async (db): Promise<ThreadRows> => {
    const { rows } = await text.execute(db)
    const page = rows.slice(0, limit)
    const last = rows.length > limit ? page.at(-1) : undefined
    return {
      threads: page.map(toStoredThread),
      position: last && { updatedAt: last.updated, threadId: fromUuid("thread", last.id) }
    }
  })
}
