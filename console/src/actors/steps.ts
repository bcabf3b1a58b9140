/** The steps of an actor, as far as they are here: asked for page by page, and behind the last one when there is news. */
import { useInfiniteQuery } from "@tanstack/react-query"
import { useEffect, useMemo } from "react"
import { answerOf } from "../../../src/client/client.ts"
import type { components } from "../../../src/client/types.ts"
import { useSession } from "../session/Session.tsx"

export type ActorStep = components["schemas"]["ActorStep"]

/** `pos`: of the actor's log, as far as is known; where it has grown, what is new is asked for. */
export const useSteps = (actorId: string, pos: number) => {
  const { troupe } = useSession()
  const found = useInfiniteQuery({
    queryKey: ["steps", actorId],
    initialPageParam: 0,
    queryFn: ({ pageParam: afterPos, signal }) =>
      answerOf(
        troupe.api.GET("/v1/actors/{actorId}/steps", { params: { path: { actorId }, query: { afterPos } }, signal })
      ),
    // A page without steps says how far the log went when it was asked for: behind it may be more by now.
    getNextPageParam: (page, _, last) => {
      const end = page.steps.at(-1)?.pos ?? last
      return end < pos ? end : undefined
    },
    staleTime: Number.POSITIVE_INFINITY
  })
  const { fetchNextPage, hasNextPage, isFetching } = found
  useEffect(() => {
    if (hasNextPage && !isFetching && found.error === null) void fetchNextPage()
  }, [hasNextPage, isFetching, fetchNextPage, found.error])
  const steps = useMemo(() => found.data?.pages.flatMap((page) => page.steps) ?? [], [found.data])
  return { steps, failure: found.error, isWhole: found.data !== undefined && !hasNextPage, retry: found.refetch }
}

/** The last step that ends at a position or before it. */
export const stepAt = (steps: ReadonlyArray<ActorStep>, pos: number): ActorStep | undefined => {
  let [low, high] = [0, steps.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const step = steps[middle]
    if (step !== undefined && step.pos <= pos) low = middle + 1
    else high = middle
  }
  return steps[low - 1]
}
