/** The workspace's threads, newest change first. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useId, useRef } from "react"
import { answerOf } from "../../../src/client/client.ts"
import { Copy, curlOf } from "../parts/Copy.tsx"
import { Failure } from "../parts/Failure.tsx"
import { Scroll } from "../parts/Scroll.tsx"
import { Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { useSession } from "../session/Session.tsx"

const route = getRouteApi("/threads")
const rowHeight = 64
const statuses = ["running", "awaiting", "idle", "failed", "cancelled"] as const

export const ThreadList = () => {
  const { troupe } = useSession()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const ids = { agent: useId(), identity: useId(), state: useId() }
  const status = statuses.find((one) => one === search.state)
  const filter = {
    ...(search.agentId === undefined ? {} : { agentId: search.agentId }),
    ...(search.identity === undefined ? {} : { identity: search.identity }),
    ...(search.state === "waiting" ? { state: "waiting" as const } : {}),
    ...(status === undefined ? {} : { status })
  }
  const agents = useQuery({
    queryKey: ["agents"],
    queryFn: ({ signal }) => answerOf(troupe.api.GET("/v1/agents", { params: { query: { limit: 200 } }, signal }))
  })
  const names = new Map(agents.data?.agents.map(({ id, name }) => [id, name]))
  const pages = useInfiniteQuery({
    queryKey: ["threads", filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      answerOf(
        troupe.api.GET("/v1/threads", {
          params: { query: { ...filter, limit: 50, ...(pageParam === undefined ? {} : { cursor: pageParam }) } },
          signal
        })
      ),
    getNextPageParam: ({ nextCursor }) => nextCursor
  })
  const rows = pages.data?.pages.flatMap(({ threads }) => threads) ?? []
  const scroller = useRef<HTMLElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? -1
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = pages
  useEffect(() => {
    if (last >= rows.length - 5 && hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [last, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage])

  const look = (change: { readonly agentId?: string; readonly identity?: string; readonly state?: string }) =>
    navigate({ search: { ...search, ...change }, replace: true })

  return (
    <section className="tall">
      <h1>Threads</h1>
      <form className="filters" onSubmit={(event) => event.preventDefault()}>
        <label htmlFor={ids.agent}>Agent</label>
        <select
          id={ids.agent}
          value={search.agentId ?? ""}
          onChange={(event) => void look({ agentId: event.target.value })}
        >
          <option value="">all</option>
          {[...names].map(([id, name]) => (
            <option key={id} value={id}>
              {visibleLine(name)}
            </option>
          ))}
        </select>
        <label htmlFor={ids.identity}>Identity</label>
        <input
          id={ids.identity}
          defaultValue={search.identity ?? ""}
          onBlur={(event) => void look({ identity: event.target.value.trim() })}
          onKeyDown={(event) => {
            if (event.key === "Enter") void look({ identity: event.currentTarget.value.trim() })
          }}
        />
        <label htmlFor={ids.state}>State</label>
        <select
          id={ids.state}
          value={search.state ?? ""}
          onChange={(event) => void look({ state: event.target.value })}
        >
          <option value="">all</option>
          <option value="waiting">waiting for somebody</option>
          {statuses.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <Copy label="copy as curl" text={() => curlOf("GET", `/v1/threads?${new URLSearchParams(filter)}`)} />
      </form>
      {pages.error === null ? null : <Failure failure={pages.error} retry={() => void pages.refetch()} />}
      {rows.length === 0 && pages.isSuccess && !hasNextPage ? <p className="quiet">There is no such thread.</p> : null}
      <Scroll className="scroller" ref={scroller} label="Threads">
        <ul className="rows" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows[index]
            if (row === undefined) return null
            const { lastSeq, model, pendingWaits, status, thread, updatedAt } = row
            return (
              <li key={thread.id} style={{ transform: `translateY(${start}px)`, height: rowHeight }}>
                <Link to="/threads/$threadId" params={{ threadId: thread.id }}>
                  <span className="title">{thread.title === undefined ? thread.id : visibleLine(thread.title)}</span>
                  <Status status={status} />
                  {pendingWaits.length > 0 ? <span className="badge">{pendingWaits.length} waiting</span> : null}
                  <span className="quiet">
                    {visibleLine(names.get(thread.agentId) ?? thread.agentId)} · {model ?? "no model yet"} · {lastSeq}{" "}
                    events{thread.identity === undefined ? "" : ` · ${visibleLine(thread.identity)}`} ·{" "}
                    <Time at={updatedAt} />
                  </span>
                </Link>
              </li>
            )
          })}
        </ul>
      </Scroll>
    </section>
  )
}
