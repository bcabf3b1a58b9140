/** The events as they stand in the log. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { useId, useMemo, useRef, useState } from "react"
import type { LogEvent } from "../../../src/client/follow.ts"
import { Copy } from "../parts/Copy.tsx"
import { Json } from "../parts/Json.tsx"
import { Scroll } from "../parts/Scroll.tsx"
import { Time } from "../parts/Time.tsx"
import type { ThreadLog, Window } from "./ThreadLog.ts"

const isFailure = (event: LogEvent) =>
  event.type === "turn_failed" || ("failureCode" in event && event.failureCode !== undefined)

export const RawEvents = ({
  log,
  onName,
  seq,
  window
}: {
  readonly log: ThreadLog
  readonly window: Window
  readonly seq: number | undefined
  readonly onName: (seq: number) => void
}) => {
  const [type, setType] = useState("")
  const [words, setWords] = useState("")
  const [failures, setFailures] = useState(false)
  const ids = { type: useId(), words: useId() }
  const types = useMemo(() => [...new Set(window.events.map((event) => event.type))].sort(), [window.events])
  const rows = useMemo(
    () =>
      window.events.filter(
        (event) =>
          (type === "" || event.type === type) &&
          (!failures || isFailure(event)) &&
          (words === "" || JSON.stringify(event).toLowerCase().includes(words.toLowerCase()))
      ),
    [window.events, type, failures, words]
  )
  const scroller = useRef<HTMLElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => rows[index]?.seq ?? index,
    estimateSize: () => 40,
    overscan: 12
  })
  const onScroll = () => {
    const place = scroller.current
    if (place === null) return
    if (place.scrollTop < 400) log.earlier()
    if (place.scrollHeight - place.scrollTop - place.clientHeight < 400) log.later()
  }
  return (
    <>
      <form className="filters" onSubmit={(event) => event.preventDefault()}>
        <label htmlFor={ids.type}>Type</label>
        <select id={ids.type} value={type} onChange={(event) => setType(event.target.value)}>
          <option value="">all</option>
          {types.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        <label htmlFor={ids.words}>Text</label>
        <input id={ids.words} value={words} onChange={(event) => setWords(event.target.value)} />
        <label className="check">
          <input type="checkbox" checked={failures} onChange={(event) => setFailures(event.target.checked)} /> failures
        </label>
        <span className="quiet">
          {rows.length} of #{window.events[0]?.seq ?? 0} to #{window.events.at(-1)?.seq ?? 0}, {window.lastSeq} in all
        </span>
      </form>
      <Scroll className="scroller" ref={scroller} onScroll={onScroll} label="Events">
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
                <details className="event" open={event.seq === seq}>
                  <summary>
                    #{event.seq} <code className={isFailure(event) ? "bad" : ""}>{event.type}</code>{" "}
                    <span className="quiet">
                      <Time at={event.occurredAt} />
                    </span>
                  </summary>
                  <p className="buttons">
                    <button type="button" className="link" onClick={() => onName(event.seq)}>
                      Put this event into the address
                    </button>
                    <Copy label="copy" text={() => JSON.stringify(event)} />
                  </p>
                  <Json label={`Event ${event.seq}`} value={event} />
                </details>
              </div>
            )
          })}
        </div>
      </Scroll>
    </>
  )
}
