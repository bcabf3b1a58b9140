/** One thread: where it stands, what was said, what waits, and what to say next. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { lazy, Suspense, useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react"
import { answerOf } from "../../../src/client/client.ts"
import { WaitCard } from "../inbox/WaitCard.tsx"
import { whileSeen } from "../live/slots.ts"
import { Copy, curlOf } from "../parts/Copy.tsx"
import { Failure } from "../parts/Failure.tsx"
import { Gated } from "../parts/Gated.tsx"
import { Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"
import { Composer } from "./Composer.tsx"
import { Download } from "./Download.tsx"
import { Queue } from "./Queue.tsx"
import { RawEvents } from "./RawEvents.tsx"
import { openTurn } from "./rows.ts"
import { ThreadLog } from "./ThreadLog.ts"
import { Transcript } from "./Transcript.tsx"
import { Turns } from "./Turns.tsx"

const route = getRouteApi("/threads/$threadId")

/** With the drawings of all charts: for who looks at one. */
const ActorChart = lazy(() => import("../actors/ActorChart.tsx").then((module) => ({ default: module.ActorChart })))

/** The way to the thread that this one was made for. */
const Caused = ({
  thread: { askedBy, reviews }
}: {
  readonly thread: {
    readonly askedBy?: { readonly threadId: string }
    readonly reviews?: { readonly threadId: string }
  }
}) => {
  const [what, by] = askedBy === undefined ? ["judges for", reviews] : ["asked for by", askedBy]
  return by === undefined ? null : (
    <>
      <Link to="/threads/$threadId" params={{ threadId: by.threadId }} search={{}}>
        {what} another thread
      </Link>{" "}
      ·{" "}
    </>
  )
}

type Control = "cancel" | "retry" | "compact" | "archive"

export const ThreadPage = () => {
  const { threadId } = route.useParams()
  const { pos, seq, view } = route.useSearch()
  const navigate = route.useNavigate()
  const { troupe } = useSession()
  const queries = useQueryClient()
  const [isOpen, setOpen] = useState<boolean>()
  const path = { threadId }
  const log = useMemo(() => new ThreadLog(troupe, threadId), [troupe, threadId])
  const window = useSyncExternalStore(log.subscribe, log.snapshot)
  const detail = useQuery({
    queryKey: ["thread", threadId],
    queryFn: ({ signal }) =>
      answerOf(troupe.api.GET("/v1/threads/{threadId}", { params: { path }, signal })).then((found) =>
        "operation" in found ? Promise.reject(new Error("Reading this thread waits for approval.")) : found
      )
  })
  const { refetch } = detail
  const isKnown = detail.data !== undefined
  const lastSeq = detail.data?.lastSeq ?? 0

  // biome-ignore lint/correctness/useExhaustiveDependencies: the end of the log is where the page begins, later ones come by the stream
  useEffect(() => {
    if (!isKnown) return
    let stop = () => {}
    void log.show(seq ?? 0, lastSeq).then(() => {
      stop = whileSeen((signal) => void log.follow(signal, setOpen))
    })
    return () => stop()
  }, [log, isKnown])

  // biome-ignore lint/correctness/useExhaustiveDependencies: every piece of news is a reason to look again
  useEffect(() => {
    const timer = setTimeout(() => void refetch(), 150)
    return () => clearTimeout(timer)
  }, [window.news, refetch])

  const onPos = useCallback(
    (to: number | undefined) =>
      void navigate({ search: { view: "chart", ...(to === undefined ? {} : { pos: to }) }, replace: true }),
    [navigate]
  )
  const look = () => {
    void refetch()
    void queries.invalidateQueries({ queryKey: ["inbox"] })
  }
  const control = useMutation({
    mutationFn: async (what: Control): Promise<void> => {
      if (what === "cancel")
        await troupe.api.POST("/v1/threads/{threadId}/cancel", { params: { path }, body: { clearQueue: false } })
      else await troupe.api.POST(`/v1/threads/{threadId}/${what}`, { params: { path } })
    },
    onSettled: look
  })

  if (detail.error !== null && detail.data === undefined)
    return (
      <section>
        <h1>Thread</h1>
        <Failure failure={detail.error} retry={() => void refetch()} />
      </section>
    )
  if (detail.data === undefined) return <p className="quiet">Looking…</p>
  const { budgetSpend, model, pendingWaits, queued, status, thread, updatedAt, usage, waitingFor } = detail.data
  const isBusy = status === "running" || status === "awaiting"
  const turnId = isBusy ? (openTurn(window.events) ?? pendingWaits[0]?.turnId) : undefined

  return (
    <section className="tall thread">
      <header>
        <h1>{thread.title === undefined ? threadId : visibleLine(thread.title)}</h1>
        <p>
          <Status status={status} />
          {waitingFor === undefined ? null : <span className="badge">stands in line ({waitingFor})</span>}{" "}
          {isOpen === false ? <span className="problem-mark">no line to the server</span> : null}{" "}
          <span className="quiet">
            {model ?? "no model yet"} · {usage.totalTokens.toLocaleString("en")} tokens
            {usage.estimatedCost === undefined ? "" : ` · $${usage.estimatedCost.toFixed(4)}`} · agent has spent $
            {budgetSpend.spent.toFixed(4)} ({budgetSpend.window}) · <Time at={updatedAt} /> ·{" "}
            <Copy label={threadId} text={() => threadId} /> · <Caused thread={thread} />
            <Copy label="copy as curl" text={() => curlOf("GET", `/v1/threads/${threadId}`)} />
          </span>
        </p>
        <div className="buttons">
          <Gated scope="run" disabled={!isBusy || control.isPending} onClick={() => control.mutate("cancel")}>
            Cancel the turn
          </Gated>
          <Gated
            scope="run"
            disabled={(status !== "failed" && status !== "cancelled") || control.isPending}
            onClick={() => control.mutate("retry")}
          >
            Retry
          </Gated>
          <Gated scope="run" disabled={control.isPending} onClick={() => control.mutate("compact")}>
            Compact
          </Gated>
          <Gated
            scope="run"
            disabled={isBusy || thread.archivedAt !== undefined || control.isPending}
            onClick={() => control.mutate("archive")}
          >
            Archive
          </Gated>
          <Download threadId={threadId} thread={thread} lastSeq={Math.max(lastSeq, window.lastSeq)} />
          <nav aria-label="Views" className="views">
            <Link
              to="/threads/$threadId"
              params={path}
              search={{}}
              activeOptions={{ exact: true, includeSearch: true }}
            >
              Conversation
            </Link>
            <Link to="/threads/$threadId" params={path} search={{ view: "events" }}>
              Events
            </Link>
            <Link to="/threads/$threadId" params={path} search={{ view: "turns" }}>
              Turns
            </Link>
            <Link to="/threads/$threadId" params={path} search={{ view: "chart" }}>
              Chart
            </Link>
          </nav>
        </div>
        {control.error === null ? null : <Failure failure={control.error} />}
        {window.failure === undefined ? null : (
          <Failure failure={window.failure} retry={() => void log.show(seq ?? 0, lastSeq)} />
        )}
      </header>
      {view === "chart" ? (
        <Suspense fallback={<p className="quiet">Looking…</p>}>
          <ActorChart actorId={threadId} pos={pos} seq={seq} onPos={onPos} news={window.news} />
        </Suspense>
      ) : view === "turns" ? (
        <Turns threadId={threadId} lastSeq={Math.max(lastSeq, window.lastSeq)} />
      ) : view === "events" ? (
        <RawEvents
          log={log}
          window={window}
          seq={seq}
          onName={(named) => void navigate({ search: { view: "events", seq: named }, replace: true })}
        />
      ) : (
        <Transcript log={log} window={window} seq={seq} />
      )}
      <div className="below" hidden={view === "chart"}>
        {pendingWaits.map((wait) => (
          <WaitCard
            key={wait.id}
            wait={wait}
            thread={{ thread, status, lastSeq, updatedAt, usage, pendingWaits }}
            isChosen={false}
            wish={undefined}
            onWished={() => {}}
          />
        ))}
        <Queue threadId={threadId} queued={queued} onChanged={look} />
        {thread.archivedAt === undefined ? (
          <Composer threadId={threadId} turnId={turnId} onSent={look} />
        ) : (
          <p className="quiet">
            Archived <Time at={thread.archivedAt} />: it takes no message any more.
          </p>
        )}
      </div>
    </section>
  )
}
