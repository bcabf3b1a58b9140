/** A thread as its page needs it: where it stands, a window of its log, and which turn runs. */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react"
import { answerOf } from "../../../src/client/client.ts"
import { TroupeError } from "../../../src/client/errors.ts"
import type { components } from "../../../src/client/types.ts"
import { useLooking } from "../live/looking.ts"
import { whileSeen } from "../live/slots.ts"
import { useSession } from "../session/Session.tsx"
import { openTurn } from "./rows.ts"
import { ThreadLog } from "./ThreadLog.ts"
import { reachesEnd } from "./window.ts"

export type Detail = components["schemas"]["ThreadDetail"]

const restMs = 150
/** Before what failed, and may work the next time, is asked for again. */
const againMs = 5_000

const mayPass = (failure: unknown) =>
  !(failure instanceof TroupeError) || failure.status >= 500 || failure.status === 429

interface Place {
  readonly threadId: string
  readonly seq: number | undefined
  /** What is seen changes with every step: each is news. */
  readonly steps: boolean
}

/** The log, followed for as long as the page is seen. `lastSeq`: of the log as it was found; undefined before that. */
const useLog = ({ seq, steps, threadId }: Place, lastSeq: number | undefined) => {
  const { troupe } = useSession()
  const [isOpen, setOpen] = useState<boolean>()
  const log = useMemo(() => new ThreadLog(troupe, threadId), [troupe, threadId])
  const window = useSyncExternalStore(log.subscribe, log.snapshot)
  const isKnown = lastSeq !== undefined

  // biome-ignore lint/correctness/useExhaustiveDependencies: the page begins where the log and the address were then
  useEffect(() => {
    if (lastSeq === undefined) return
    log.begin(seq ?? 0, lastSeq)
    return whileSeen((signal) => void log.follow(signal, { onLine: setOpen, steps }))
  }, [log, isKnown, steps])

  useEffect(() => {
    if (isKnown) void log.show(seq ?? 0)
  }, [log, isKnown, seq])
  return { log, window, isOpen }
}

/** The newest turn: of a log whose end is not here. */
const useNewestTurn = (threadId: string, lastSeq: number, enabled: boolean) => {
  const { troupe } = useSession()
  const found = useQuery({
    queryKey: ["newest turn", threadId, lastSeq],
    enabled,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      answerOf(
        troupe.api.GET("/v1/threads/{threadId}/turns", {
          params: { path: { threadId }, query: { limit: 1 } },
          signal
        })
      )
  })
  const newest = enabled ? found.data?.turns[0] : undefined
  return newest?.outcome === undefined ? newest?.turnId : undefined
}

export const useThread = (place: Place) => {
  const { threadId } = place
  const { troupe } = useSession()
  const detail = useQuery<Detail>({
    queryKey: ["thread", threadId],
    refetchInterval: ({ state }) => (state.error !== null && mayPass(state.error) ? againMs : false),
    queryFn: ({ signal }): Promise<Detail> =>
      answerOf(troupe.api.GET("/v1/threads/{threadId}", { params: { path: { threadId } }, signal })).then((found) =>
        "operation" in found ? Promise.reject(new Error("Reading this thread waits for approval.")) : found
      )
  })
  const { data, refetch } = detail
  const { isOpen, log, window } = useLog(place, data?.lastSeq)
  // An answer that is on its way may be older than the news: it is waited for, and then asked for again.
  const look = useCallback(() => refetch({ cancelRefetch: false }), [refetch])
  useLooking(window.news, look, restMs)

  const isBusy = data?.status === "running" || data?.status === "awaiting"
  const isAtEnd = reachesEnd(window) && !window.isLoading
  const newest = useNewestTurn(threadId, data?.lastSeq ?? 0, isBusy && !isAtEnd)
  const running = isAtEnd ? openTurn(window.events) : newest
  return {
    detail,
    log,
    window,
    /** The line to the server: undefined where nothing was heard of one. */
    isOpen,
    isBusy,
    /** The turn that runs or waits, where one does and it is known which. */
    turnId: isBusy ? (data.pendingWaits[0]?.turnId ?? running) : undefined
  }
}
