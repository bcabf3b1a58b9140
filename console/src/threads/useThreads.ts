/** The workspace's threads as far as they are here: page by page, kept current by the first page alone (listed.ts). */
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query"
import { useCallback, useMemo } from "react"
import { answerOf } from "../../../src/client/client.ts"
import type { operations } from "../../../src/client/types.ts"
import { changedThreads } from "../live/changed.ts"
import { firstPage } from "../parts/firstPage.ts"
import { useSession } from "../session/Session.tsx"
import { joined } from "./listed.ts"

export type ThreadFilter = Pick<
  NonNullable<operations["threads.list"]["parameters"]["query"]>,
  "agentId" | "identity" | "state" | "status"
>

const limit = 50

export const useThreads = (filter: ThreadFilter) => {
  const { troupe } = useSession()
  const queries = useQueryClient()
  const ask = (cursor: string | undefined, signal: AbortSignal) =>
    answerOf(
      troupe.api.GET("/v1/threads", {
        params: { query: { ...filter, limit, ...(cursor === undefined ? {} : { cursor }) } },
        signal
      })
    )
  const key = JSON.stringify(filter)
  const pages = useInfiniteQuery({
    queryKey: ["thread pages", key],
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    ...firstPage,
    queryFn: async ({ pageParam, signal }) => {
      if (pageParam !== undefined) return await ask(pageParam, signal)
      changedThreads.clear()
      const page = await ask(undefined, signal)
      queries.setQueryData(["threads", key], page)
      return page
    },
    getNextPageParam: ({ nextCursor }) => nextCursor
  })
  const first = useQuery({
    queryKey: ["threads", key],
    enabled: pages.isSuccess,
    queryFn: ({ signal }) => ask(undefined, signal)
  })
  const [data, page] = [pages.data, first.data]
  const known = useMemo(() => data?.pages.flatMap(({ threads }) => threads) ?? [], [data])
  const rows = useMemo(() => (page === undefined ? known : joined(known, page, changedThreads)), [known, page])
  const showNewest = useCallback(() => {
    if (page === undefined) return
    changedThreads.clear()
    queries.setQueryData(["thread pages", key], { pages: [page], pageParams: [undefined] })
  }, [page, key, queries])
  return {
    pages,
    /** As they were where so much has changed that the newest ones do not follow on these. */
    rows: rows ?? known,
    hasNewer: rows === undefined,
    showNewest,
    failure: pages.error ?? first.error
  }
}
