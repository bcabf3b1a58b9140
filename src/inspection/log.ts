/** An actor's log as whoever looks at it reads it: piece by piece, from where a fold may begin. */
import { sql } from "kysely"
import type { Db } from "../database/handle.ts"
import { long } from "../database/shorthand.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { readEvent, storedFact, type FactColumns } from "../journal/storedFact.ts"
import type { StoredFact } from "../journal/Journal.ts"

export interface InspectedHead {
  readonly id: string
  readonly kind: string
  readonly parent: string | null
  readonly status: string
  readonly pos: number
  readonly seq: number
  readonly epoch: number
  /** Milliseconds. */
  readonly runnableAt: number | null
  readonly carry: string
  /** The node that lives with it. */
  readonly node: string | undefined
}

interface HeadRow {
  readonly kind: string
  readonly parent: string | null
  readonly status: string
  readonly pos: number
  readonly seq: number
  readonly epoch: number
  readonly runnable: number | null
  readonly carry: string
  readonly node: string | null
}

/** Undefined where the workspace has no such actor. */
export const readHead = async (db: Db, workspace: string, id: string): Promise<InspectedHead | undefined> => {
  const { rows } = await sql<HeadRow>`select h.kind, h.parent, h.status, h.pos, h.seq, h.epoch, h.carry,
      (extract(epoch from h.runnable_at) * 1000)::float8 as runnable, n.name as node
    from heads h left join nodes n on n.incarnation = h.owner and n.deadline > clock_timestamp()
    where h.workspace = ${toUuid(workspace)}::uuid and h.id = ${toUuid(id)}::uuid`.execute(db)
  const [row] = rows
  if (row === undefined) return undefined
  const { carry, node, runnable: runnableAt, ...head } = row
  return { ...head, id, carry: long(carry), runnableAt, node: node ?? undefined }
}

/** Whose facts: of no workspace but that one. */
export interface LogOf {
  readonly workspace: string
  readonly id: string
}

const factsOf = ({ id, workspace }: LogOf) =>
  sql`heads h join facts f on f.actor = h.id where h.workspace = ${toUuid(workspace)}::uuid and
    h.id = ${toUuid(id)}::uuid`

export interface Mark {
  readonly pos: number
  readonly at: number
  readonly cause: number | null
}

/** Where commands begin is seen by these: those up to a position, newest first. */
export const marksUpTo = async (db: Db, log: LogOf, pos: number, limit: number): Promise<ReadonlyArray<Mark>> => {
  const { rows } = await sql<Mark>`select f.pos, f.cause, (extract(epoch from f.at) * 1000)::float8 as at
    from ${factsOf(log)} and f.pos <= ${pos}::int order by f.pos desc limit ${limit}`.execute(db)
  return rows
}

/** As it is stored: without a command where none was kept. */
export type InspectedFact = Omit<StoredFact, "cause"> & { readonly cause: number | null }

/** Behind a position, oldest first, up to another. */
export const factsBehind = async (
  db: Db,
  log: LogOf,
  { after, limit, upTo }: { readonly after: number; readonly upTo: number; readonly limit: number }
): Promise<ReadonlyArray<InspectedFact>> => {
  const { rows } = await sql<FactColumns & { readonly cause: number | null }>`select f.pos, f.seq, f.n, f.turn, f.once,
      f.event, f.detail, f.cause, (extract(epoch from f.at) * 1000)::float8 as at
    from ${factsOf(log)} and f.pos > ${after}::int and f.pos <= ${upTo}::int
    order by f.pos limit ${limit}`.execute(db)
  return rows.map((row) => ({ ...storedFact(row), cause: row.cause }))
}

/** The first fact of the last turn that began up to a position; undefined where none did. */
export const turnBegunUpTo = async (db: Db, log: LogOf, pos: number): Promise<number | undefined> => {
  const { rows } = await sql<{ readonly pos: number }>`select f.pos
    from ${factsOf(log)} and f.pos <= ${pos}::int and f.n = 0 and f.turn is not null
    order by f.pos desc limit 1`.execute(db)
  return rows[0]?.pos
}

/** What stands before a position: how many events, and the last fact of a turn. */
export const before = async (db: Db, log: LogOf, pos: number) => {
  const { rows } = await sql<{
    readonly seq: number
    readonly event: string | null
    readonly turn: string | null
  }>`select coalesce((select f.seq from ${factsOf(log)} and f.pos < ${pos}::int and f.seq is not null
        order by f.pos desc limit 1), 0) as seq, last.event, last.turn
    from (select 1) one left join lateral (select f.event, f.turn from ${factsOf(log)} and f.pos < ${pos}::int
      and f.turn is not null order by f.pos desc limit 1) last on true`.execute(db)
  const [row] = rows
  return {
    seq: row?.seq ?? 0,
    before:
      row === undefined || row.event === null || row.turn === null
        ? undefined
        : { type: readEvent(row.event).type, turn: fromUuid("turn", row.turn) }
  }
}

/** Inputs that wait. */
export const pendingInputs = (db: Db, { id, workspace }: LogOf) =>
  db
    .selectFrom("inputs")
    .select(["id", "ord", "state", "body"])
    .where("workspace", "=", toUuid(workspace))
    .where("actor", "=", toUuid(id))
    .where("state", "=", "pending")
    .orderBy("ord")
    .execute()
    .then((rows) => rows.map((row) => ({ ...row, id: fromUuid("input", row.id) })))

/** The position of an event. It is never below the event's seq, which has no index. */
export const positionOf = async (db: Db, log: LogOf, seq: number): Promise<number | undefined> => {
  const { rows } = await sql<{ readonly pos: number }>`select f.pos from ${factsOf(log)} and f.pos >= ${seq}::int
    and f.seq >= ${seq}::int order by f.pos limit 1`.execute(db)
  return rows[0]?.pos
}
