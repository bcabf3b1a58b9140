/**
 * Threads count for their quota until they are archived. Before this they counted for good: all are counted anew, once,
 * in one pass over the index heads_touched, about a second a million.
 *
 * The version before counts births as this one does, and takes off nothing for what its nodes archive meanwhile; what
 * living nodes have counted and not written yet, at most a second's births, counts twice. A rollback to it removes this
 * migration's name, and the next upgrade counts again.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  // Nodes that live write these rows, in an order of their own, and fold them.
  sql`lock table tallies in share row exclusive mode`,
  sql`delete from tallies where resource = 'threads'`,
  sql`insert into tallies (workspace, minute, resource, node, amount)
    select h.workspace, 0, 'threads', '00000000-0000-0000-0000-000000000000', count(*) from heads h
    where h.kind = 'thread' and not exists (select from archived_threads a where a.thread = h.id) group by h.workspace`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
