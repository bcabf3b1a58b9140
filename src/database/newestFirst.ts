/** Keyset of lists by createdAt desc with the id as tie-break: what comes after a row, whatever is added meanwhile. */
import { type Expression, type SqlBool, sql } from "kysely"

/** A row's place: milliseconds since 1970, and its id as a UUID. */
export interface Position {
  readonly at: number
  readonly id: string
}

/** For a `where`: rows behind the position; all of them without one. */
export const behind = (moment: string, id: string, after: Position | undefined): Expression<SqlBool> =>
  after === undefined
    ? sql<SqlBool>`true`
    : sql<SqlBool>`(${sql.ref(moment)}, ${sql.ref(id)}) < (${new Date(after.at)}::timestamptz, ${after.id}::uuid)`
