/** What waits for a person or a client, and requests that wait for approval. */
import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { answerOf } from "../../../src/client/client.ts"
import { useSession } from "../session/Session.tsx"
import { groupsOf, itemsOf } from "./items.ts"

const limit = 200
/** Lists begin with what changed last, and the oldest need comes first here: this many pages are read to find it. */
const mostPages = 5

/** Rows of a list, up to `mostPages` of it. */
const firstPages = async <Page extends { readonly nextCursor?: string }, Row>(
  ask: (query: { readonly limit: number; readonly cursor?: string }) => Promise<Page>,
  rowsOf: (page: Page) => ReadonlyArray<Row>
) => {
  const rows: Array<Row> = []
  let cursor: string | undefined
  for (let pages = 0; pages < mostPages; pages++) {
    const page = await ask(cursor === undefined ? { limit } : { limit, cursor })
    rows.push(...rowsOf(page))
    cursor = page.nextCursor
    if (cursor === undefined) break
  }
  return { rows, isWhole: cursor === undefined }
}

const none = { rows: [], isWhole: true }

export const useInbox = () => {
  const { troupe } = useSession()
  const waits = useQuery({
    queryKey: ["inbox", "waits"],
    queryFn: ({ signal }) =>
      firstPages(
        (query) =>
          answerOf(troupe.api.GET("/v1/threads", { params: { query: { ...query, state: "waiting" } }, signal })),
        ({ threads }) => threads
      )
  })
  const operations = useQuery({
    queryKey: ["inbox", "operations"],
    queryFn: ({ signal }) =>
      firstPages(
        (query) =>
          answerOf(troupe.api.GET("/v1/operations", { params: { query: { ...query, state: "pending" } }, signal })),
        ({ operations }) => operations
      )
  })
  const { isWhole: hasAllWaits, rows: threads } = waits.data ?? none
  const { isWhole: hasAllOperations, rows: asked } = operations.data ?? none
  const items = useMemo(() => itemsOf(threads, asked), [threads, asked])
  return {
    groups: useMemo(() => groupsOf(items), [items]),
    count: items.length,
    /** Not so where there are more than are read at once: the oldest are missing then. */
    isWhole: hasAllWaits && hasAllOperations,
    isLoading: waits.isLoading || operations.isLoading,
    failure: waits.error ?? operations.error,
    retry: () => {
      void waits.refetch()
      void operations.refetch()
    }
  }
}
