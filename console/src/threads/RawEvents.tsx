/** The events as they stand in the log. */
import { memo, useMemo, useState } from "react"
import type { LogEvent } from "../../../src/client/follow.ts"
import { Boundary } from "../parts/Boundary.tsx"
import { Copy, curlOf } from "../parts/Copy.tsx"
import { Json } from "../parts/Json.tsx"
import { Scroll } from "../parts/Scroll.tsx"
import { Time } from "../parts/Time.tsx"
import { EventFilters } from "./EventFilters.tsx"
import { everything, fitting, isFailure, isFiltered } from "./filter.ts"
import { useRows } from "./useRows.ts"
import { type Movable, reachesEnd, type Window } from "./window.ts"

const EventRow = memo(
  ({
    event,
    isNamed,
    onName,
    threadId
  }: {
    readonly event: LogEvent
    readonly isNamed: boolean
    readonly onName: (seq: number) => void
    /** Of a log that a server has. */
    readonly threadId: string | undefined
  }) => (
    <details className="event" open={isNamed}>
      <summary>
        #{event.seq} <code className={isFailure(event) ? "bad" : ""}>{event.type}</code>{" "}
        <span className="quiet">
          <Time at={event.occurredAt} />
        </span>
      </summary>
      <p className="buttons">
        <Copy label="copy" text={() => JSON.stringify(event)} />
        {threadId === undefined ? null : (
          <>
            <button type="button" className="link" onClick={() => onName(event.seq)}>
              Put this event into the address
            </button>
            <Copy
              label="copy as curl"
              text={() => curlOf("GET", `/v1/threads/${threadId}/events?afterSeq=${event.seq - 1}&limit=1`)}
            />
          </>
        )}
      </p>
      <Json label={`Event ${event.seq}`} value={event} />
    </details>
  )
)

const keyOf = ({ seq }: LogEvent) => seq

export const RawEvents = ({
  log,
  onName,
  seq,
  threadId,
  window
}: {
  readonly log: Movable
  readonly window: Window
  readonly seq: number | undefined
  readonly onName: (seq: number) => void
  readonly threadId?: string
}) => {
  const [filter, setFilter] = useState(everything)
  const fits = useMemo(() => fitting(filter), [filter])
  const rows = useMemo(() => window.events.filter(fits), [window.events, fits])
  const { onScroll, scroller, virtual } = useRows({
    rows,
    keyOf,
    log,
    seq,
    isLive: reachesEnd(window),
    estimate: 40
  })
  return (
    <>
      <EventFilters
        filter={filter}
        onFilter={setFilter}
        fits={fits}
        found={rows.length}
        log={log}
        window={window}
        onName={onName}
      />
      <Scroll
        className="scroller"
        ref={scroller}
        // Rows that a filter leaves out are no reason to load more: the search does that.
        {...(isFiltered(filter) ? {} : { onScroll })}
        label="Events"
      >
        <div className="rows" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const event = rows[index]
            if (event === undefined) return null
            return (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className={event.seq === seq ? "row named" : "row"}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Boundary what={`event ${event.seq}`} value={event}>
                  <EventRow event={event} isNamed={event.seq === seq} onName={onName} threadId={threadId} />
                </Boundary>
              </div>
            )
          })}
        </div>
      </Scroll>
    </>
  )
}
