/** The workspace's threads, newest change first. */
import { getRouteApi, Link } from "@tanstack/react-router"
import { useVirtualizer } from "@tanstack/react-virtual"
import { useCallback, useEffect, useId, useRef, useState } from "react"
import type { components } from "../../../src/client/types.ts"
import { AgentChoice } from "../parts/AgentChoice.tsx"
import { type Agents, useAgents } from "../parts/agents.ts"
import { Copy, curlOf } from "../parts/Copy.tsx"
import { Failure } from "../parts/Failure.tsx"
import { Scroll } from "../parts/Scroll.tsx"
import { Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"
import { useThreads } from "./useThreads.ts"

const route = getRouteApi("/threads")
const rowHeight = 64
const statuses = ["running", "awaiting", "idle", "failed", "cancelled"] as const

interface Search {
  readonly agentId?: string | undefined
  readonly identity?: string | undefined
  readonly state?: string | undefined
}

/** Keeps the typed text until the page looks for another identity: by this box, or by another way to the page. */
const IdentityBox = ({
  id,
  identity,
  onIdentity
}: {
  readonly id: string
  readonly identity: string
  readonly onIdentity: (identity: string) => void
}) => {
  const [{ over, text }, setTyped] = useState({ text: identity, over: identity })
  if (over !== identity) setTyped({ text: identity, over: identity })
  return (
    <input
      id={id}
      value={text}
      onChange={(event) => setTyped({ text: event.target.value, over: identity })}
      onBlur={() => onIdentity(text.trim())}
      onKeyDown={(event) => {
        if (event.key === "Enter") onIdentity(text.trim())
      }}
    />
  )
}

const ThreadFilters = ({
  agents,
  curl,
  onLook,
  search
}: {
  readonly search: Search
  readonly agents: Agents
  readonly onLook: (change: Search) => unknown
  /** The request that lists the same. */
  readonly curl: string
}) => {
  const ids = { identity: useId(), state: useId() }
  return (
    <form className="filters" onSubmit={(event) => event.preventDefault()}>
      <AgentChoice
        all="all"
        of={agents}
        value={search.agentId ?? ""}
        onChosen={(agentId) => void onLook({ agentId })}
      />
      <label htmlFor={ids.identity}>Identity</label>
      <IdentityBox
        id={ids.identity}
        identity={search.identity ?? ""}
        onIdentity={(identity) => void onLook({ identity })}
      />
      <label htmlFor={ids.state}>State</label>
      <select
        id={ids.state}
        value={search.state ?? ""}
        onChange={(event) => void onLook({ state: event.target.value })}
      >
        <option value="">all</option>
        <option value="waiting">waiting for somebody</option>
        {statuses.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      <Copy label="copy as curl" text={() => curlOf("GET", curl)} />
    </form>
  )
}

const ThreadRow = ({
  name,
  row: { lastSeq, model, pendingWaits, status, thread, updatedAt },
  top
}: {
  readonly row: components["schemas"]["ThreadSummary"]
  /** Of its agent, where that is known. */
  readonly name: string | undefined
  readonly top: number
}) => (
  <li style={{ transform: `translateY(${top}px)`, height: rowHeight }}>
    <Link to="/threads/$threadId" params={{ threadId: thread.id }}>
      <span className="title">{thread.title === undefined ? thread.id : visibleLine(thread.title)}</span>
      <Status status={status} />
      {pendingWaits.length > 0 ? <span className="badge">{pendingWaits.length} waiting</span> : null}
      <span className="quiet">
        {visibleLine(name ?? thread.agentId)} · {model ?? "no model yet"} · {lastSeq} events
        {thread.identity === undefined ? "" : ` · ${visibleLine(thread.identity)}`} · <Time at={updatedAt} />
      </span>
    </Link>
  </li>
)

export const ThreadList = () => {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const status = statuses.find((one) => one === search.state)
  const filter = {
    ...(search.agentId === undefined ? {} : { agentId: search.agentId }),
    ...(search.identity === undefined ? {} : { identity: search.identity }),
    ...(search.state === "waiting" ? { state: "waiting" as const } : {}),
    ...(status === undefined ? {} : { status })
  }
  const agents = useAgents()
  const names = new Map(agents.agents.map(({ id, name }) => [id, name]))
  const { failure, hasNewer, pages, rows, showNewest } = useThreads(filter)
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

  const toNewest = useCallback(() => {
    showNewest()
    if (scroller.current !== null) scroller.current.scrollTop = 0
  }, [showNewest])
  // Whoever is at the top sees the newest ones anyway.
  useEffect(() => {
    if (hasNewer && (scroller.current?.scrollTop ?? 0) < rowHeight) showNewest()
  }, [hasNewer, showNewest])

  const look = (change: Search) => navigate({ search: { ...search, ...change }, replace: true })

  return (
    <section className="tall">
      <h1>Threads</h1>
      <p>
        <Link to="/open">Open a downloaded thread</Link>
      </p>
      <ThreadFilters
        agents={agents}
        search={search}
        onLook={look}
        curl={`/v1/threads?${new URLSearchParams(filter)}`}
      />
      {agents.error === null ? null : <Failure failure={agents.error} retry={agents.retry} />}
      {failure === null ? null : <Failure failure={failure} retry={() => void pages.refetch()} />}
      {hasNewer ? (
        <p>
          <button type="button" onClick={toNewest}>
            Much has changed: show the newest
          </button>
        </p>
      ) : null}
      {rows.length === 0 && pages.isSuccess && !hasNextPage ? <p className="quiet">There is no such thread.</p> : null}
      <Scroll className="scroller" ref={scroller} label="Threads">
        <ul className="rows" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows[index]
            if (row === undefined) return null
            return <ThreadRow key={row.thread.id} row={row} name={names.get(row.thread.agentId)} top={start} />
          })}
        </ul>
      </Scroll>
    </section>
  )
}
