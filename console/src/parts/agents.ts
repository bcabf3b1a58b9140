/** The workspace's agents by name, to choose of and to name by: a page, and more pages when they are wanted. */
import { useInfiniteQuery } from "@tanstack/react-query"
import { answerOf } from "../../../src/client/client.ts"
import { useSession } from "../session/Session.tsx"
import { firstPage } from "./firstPage.ts"

const limit = 200

export const useAgents = ({ includeArchived = false }: { readonly includeArchived?: boolean } = {}) => {
  const { troupe } = useSession()
  const pages = useInfiniteQuery({
    queryKey: ["agents", "names", includeArchived],
    ...firstPage,
    queryFn: ({ pageParam: cursor, signal }) =>
      answerOf(
        troupe.api.GET("/v1/agents", {
          params: {
            query: {
              limit,
              includeArchived: includeArchived ? "true" : "false",
              ...(cursor === undefined ? {} : { cursor })
            }
          },
          signal
        })
      ),
    getNextPageParam: ({ nextCursor }) => nextCursor
  })
  return {
    agents: pages.data?.pages.flatMap(({ agents }) => agents) ?? [],
    error: pages.error,
    hasMore: pages.hasNextPage,
    isAsking: pages.isFetching,
    isKnown: pages.isSuccess,
    more: () => void pages.fetchNextPage(),
    retry: () => void pages.refetch()
  }
}

export type Agents = ReturnType<typeof useAgents>
