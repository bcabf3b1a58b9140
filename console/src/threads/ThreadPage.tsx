/** One thread: where it stands, what was said, what waits, and what to say next. */
import { useQueryClient } from "@tanstack/react-query"
import { getRouteApi } from "@tanstack/react-router"
import { lazy, memo, Suspense, useCallback } from "react"
import { WaitCard } from "../inbox/WaitCard.tsx"
import { Boundary } from "../parts/Boundary.tsx"
import { Failure } from "../parts/Failure.tsx"
import { Time } from "../parts/Time.tsx"
import { Composer } from "./Composer.tsx"
import { Controls, Views } from "./Controls.tsx"
import { Queue } from "./Queue.tsx"
import { RawEvents } from "./RawEvents.tsx"
import { ThreadHead } from "./ThreadHead.tsx"
import { Timeline } from "./Timeline.tsx"
import { Transcript } from "./Transcript.tsx"
import { Turns } from "./Turns.tsx"
import { type Detail, useThread } from "./useThread.ts"
import { reachesEnd } from "./window.ts"

const route = getRouteApi("/threads/$threadId")

/** With the drawings of all charts: for who looks at one. */
const ActorChart = lazy(() => import("../actors/ActorChart.tsx").then((module) => ({ default: module.ActorChart })))

/** What is asked of people, what waits its turn, and where to write. */
const Below = memo(
  ({
    detail: { lastSeq, pendingWaits, queued, status, thread, updatedAt, usage },
    isBusy,
    onChanged,
    turnId
  }: {
    readonly detail: Detail
    readonly isBusy: boolean
    readonly turnId: string | undefined
    readonly onChanged: () => void
  }) => (
    <>
      {pendingWaits.map((wait) => (
        <Boundary key={wait.id} what={wait.id} value={wait}>
          <WaitCard wait={wait} thread={{ thread, status, lastSeq, updatedAt, usage, pendingWaits }} isChosen={false} />
        </Boundary>
      ))}
      <Queue threadId={thread.id} queued={queued} onChanged={onChanged} />
      {thread.archivedAt === undefined ? (
        <Composer threadId={thread.id} isBusy={isBusy} turnId={turnId} onSent={onChanged} />
      ) : (
        <p className="quiet">
          Archived <Time at={thread.archivedAt} />: it takes no message any more.
        </p>
      )}
    </>
  )
)

/** The chosen way to look at the thread. */
const Look = ({
  log,
  threadId,
  window
}: Pick<ReturnType<typeof useThread>, "log" | "window"> & { readonly threadId: string }) => {
  const { pos, seq, view } = route.useSearch()
  const navigate = route.useNavigate()
  const onPos = useCallback(
    (to: number | undefined) =>
      void navigate({ search: { view: "chart", ...(to === undefined ? {} : { pos: to }) }, replace: true }),
    [navigate]
  )
  const onName = useCallback(
    (named: number) => void navigate({ search: { view: "events", seq: named }, replace: view === "events" }),
    [navigate, view]
  )
  switch (view) {
    case "chart":
      return (
        <Suspense fallback={<p className="quiet">Looking…</p>}>
          <ActorChart actorId={threadId} pos={pos} seq={seq} onPos={onPos} news={window.news} />
        </Suspense>
      )
    case "turns":
      return <Turns threadId={threadId} lastSeq={window.lastSeq} />
    case "events":
      return <RawEvents log={log} window={window} seq={seq} onName={onName} threadId={threadId} />
    case "timeline":
      return <Timeline log={log} window={window} seq={seq} onName={onName} />
    default:
      return <Transcript log={log} window={window} seq={seq} />
  }
}

export const ThreadPage = () => {
  const { threadId } = route.useParams()
  const { seq, view } = route.useSearch()
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  const { detail, isBusy, isOpen, log, turnId, window } = useThread({ threadId, seq, steps: view === "chart" })
  const { data, error, refetch } = detail
  const look = useCallback(() => {
    void refetch()
    void queries.invalidateQueries({ queryKey: ["inbox"] })
  }, [refetch, queries])
  if (data === undefined)
    return error === null ? (
      <p className="quiet">Looking…</p>
    ) : (
      <section>
        <h1>Thread</h1>
        <Failure failure={error} retry={() => void refetch()} />
      </section>
    )
  const isAtEnd = view === "turns" || view === "chart" || window.isLoading || reachesEnd(window)
  return (
    <section className="tall thread">
      <header>
        <ThreadHead detail={data} isOpen={isOpen} />
        <Controls detail={data} isBusy={isBusy} onDone={look} />
        <div className="buttons">
          <Views threadId={threadId} seq={seq} />
          {isAtEnd ? null : (
            <button
              type="button"
              className="link"
              onClick={() => void navigate({ search: view === undefined ? {} : { view } }).then(() => log.show(0))}
            >
              To the end of the log
            </button>
          )}
        </div>
        {error === null ? null : <Failure failure={error} retry={() => void refetch()} />}
        {window.failure === undefined ? null : <Failure failure={window.failure} retry={() => void log.again()} />}
      </header>
      <Look log={log} window={window} threadId={threadId} />
      <div className="below" hidden={view === "chart" || view === "timeline"}>
        <Below detail={data} isBusy={isBusy} turnId={turnId} onChanged={look} />
      </div>
    </section>
  )
}
