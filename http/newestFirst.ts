/** Pages of lists by createdAt desc with the id as tie-break. */
import { Effect } from "effect"
import { toUuid } from "../src/domain/ids.ts"
import { fromTimestamp } from "../src/domain/time.ts"
import type { Db } from "../src/database/handle.ts"
import { Database } from "../src/database/Database.ts"
import type { Position } from "../src/database/newestFirst.ts"
import { Cursors, type Filter } from "./Cursors.ts"
import { type List, pageSize } from "./pagination.ts"

interface PageOptions<Row> {
  readonly list: List
  /** What is paged, with the workspace and path ids. */
  readonly place: string
  readonly query: { readonly limit?: number | undefined; readonly cursor?: string | undefined }
  readonly filter?: Filter
  /** What a filter stands for that is not sent. */
  readonly defaults?: Filter
  /** At most `limit` rows behind a position, with the filters of the page. */
  readonly fetch: (
    db: Db,
    page: { readonly after: Position | undefined; readonly limit: number; readonly filter: Filter }
  ) => Promise<ReadonlyArray<Row>>
  readonly position: (row: Row) => Position
}

/** The place of a resource in its list. */
export const positionOf = (resource: { readonly id: string; readonly createdAt: string }): Position => ({
  at: fromTimestamp(resource.createdAt),
  id: toUuid(resource.id)
})

export const makePages = Effect.gen(function* () {
  const cursors = yield* Cursors
  const database = yield* Database

  return Effect.fnUntraced(function* <Row>(options: PageOptions<Row>) {
    const { after, filter } = yield* cursors.open(
      options.place,
      options.query.cursor,
      options.filter ?? {},
      options.defaults
    )
    const limit = pageSize(options.list, options.query.limit)
    const [at, id] = after ?? []
    const position = typeof at === "number" && typeof id === "string" ? { at, id } : undefined
    const found = yield* database.run(`${options.list}.list`, (db) =>
      options.fetch(db, { after: position, limit: limit + 1, filter })
    )
    const rows = found.slice(0, limit)
    const last = rows.at(-1)
    if (found.length <= limit || last === undefined) return { rows }
    const end = options.position(last)
    return { rows, nextCursor: cursors.seal(options.place, filter, [end.at, end.id]) }
  })
})
