/** A list of the API as a table, page by page. */
import { useInfiniteQuery } from "@tanstack/react-query"
import { Failure } from "./Failure.tsx"
import { firstPage } from "./firstPage.ts"
import { type Column, Table } from "./Table.tsx"

const limit = 50

export interface PageQuery {
  readonly limit: number
  readonly cursor?: string
}

export const Listing = <Row,>({
  ask,
  columns,
  empty,
  everyMs,
  keyOf,
  label,
  queryKey
}: {
  readonly label: string
  /** What stands here where there is no row. */
  readonly empty: string
  /** How often it is asked for again; of what no stream tells. */
  readonly everyMs?: number
  readonly queryKey: ReadonlyArray<unknown>
  readonly ask: (
    query: PageQuery,
    signal: AbortSignal
  ) => Promise<{ readonly rows: ReadonlyArray<Row>; readonly nextCursor?: string | undefined }>
  readonly keyOf: (row: Row) => string
  readonly columns: ReadonlyArray<Column<Row>>
}) => {
  const pages = useInfiniteQuery({
    queryKey: [...queryKey, "pages"],
    refetchInterval: everyMs ?? false,
    ...firstPage,
    queryFn: ({ pageParam, signal }) => ask(pageParam === undefined ? { limit } : { limit, cursor: pageParam }, signal),
    getNextPageParam: ({ nextCursor }) => nextCursor
  })
  const rows = pages.data?.pages.flatMap((page) => page.rows) ?? []
  return (
    <>
      {pages.error === null ? null : <Failure failure={pages.error} retry={() => void pages.refetch()} />}
      {pages.isPending ? <p className="quiet">Looking…</p> : null}
      {rows.length === 0 ? (
        pages.isSuccess ? (
          <p className="quiet">{empty}</p>
        ) : null
      ) : (
        <Table label={label} rows={rows} keyOf={keyOf} columns={columns} />
      )}
      {pages.hasNextPage ? (
        <p>
          <button type="button" disabled={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            Show more
          </button>
        </p>
      ) : null}
    </>
  )
}
