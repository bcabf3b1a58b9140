/** The conversation: messages, answers, calls with their results, and how each turn ended. Only what is seen is in the page. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useMemo, useRef } from "react"
import { Json } from "../parts/Json.tsx"
import { Markdown } from "../parts/Markdown.tsx"
import { Scroll } from "../parts/Scroll.tsx"
import { Time, duration } from "../parts/Time.tsx"
import { visible, visibleLine } from "../parts/visible.ts"
import { Other } from "./Other.tsx"
import { type CallRow, contentText, type Row, rowsOf } from "./rows.ts"
import type { ThreadLog, Window } from "./ThreadLog.ts"

const Call = ({ row: { beside, intent, result, toolCallId } }: { readonly row: CallRow }) => (
  <details className={result?.failureCode === undefined ? "call" : "call bad"} open={result === undefined}>
    <summary>
      <span aria-hidden="true">{result === undefined ? "…" : result.failureCode === undefined ? "✓" : "✕"}</span>{" "}
      <code>{intent?.toolName ?? toolCallId}</code>{" "}
      <span className="quiet">
        {result === undefined
          ? "no result yet"
          : (result.failureCode ?? (result.timing === undefined ? "done" : duration(result.timing.durationMs)))}
      </span>
    </summary>
    {intent?.toolInput === undefined ? null : <Json label={`Input of ${intent.toolName}`} value={intent.toolInput} />}
    {beside.map((event) => (
      <Other key={event.eventId} event={event} />
    ))}
    {result === undefined ? null : result.failureCode === undefined ? (
      <Json label="Output" value={result.toolOutput} />
    ) : (
      <p className="problem">
        {result.failureCode}: {visible(result.failureText ?? "")}
      </p>
    )}
  </details>
)

const RowView = ({ row }: { readonly row: Row }) => {
  switch (row.kind) {
    case "user": {
      const { content, occurredAt, principal, submitMode } = row.event
      return (
        <article className="message user" aria-label="Message">
          <header className="quiet">
            {visibleLine(principal.identity ?? principal.type)}
            {submitMode === "queue" ? "" : ` · ${submitMode}`} · <Time at={occurredAt} />
          </header>
          <p className="words">{visible(contentText(content))}</p>
        </article>
      )
    }
    case "assistant": {
      const { content, finishReason, modelId, occurredAt, truncated } = row.event
      return (
        <article className="message assistant" aria-label="Answer">
          <header className="quiet">
            {modelId} · <Time at={occurredAt} />
          </header>
          <Markdown text={contentText(content)} />
          {finishReason === undefined && truncated === undefined ? null : (
            <p className="quiet">The answer is cut{finishReason === undefined ? "" : `: ${finishReason}`}.</p>
          )}
        </article>
      )
    }
    case "writing":
      return (
        <article className="message assistant writing" aria-label="Answer that is being written" aria-busy="true">
          <Markdown text={row.text} />
        </article>
      )
    case "call":
      return <Call row={row} />
    case "other":
      return <Other event={row.event} />
  }
}

export const Transcript = ({
  log,
  seq,
  window
}: {
  readonly log: ThreadLog
  readonly window: Window
  /** The event that the address names. */
  readonly seq: number | undefined
}) => {
  const rows = useMemo(() => rowsOf(window.events, window.writing), [window.events, window.writing])
  const scroller = useRef<HTMLElement>(null)
  const sticks = useRef(seq === undefined)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => rows[index]?.key ?? index,
    estimateSize: () => 80,
    overscan: 8,
    paddingEnd: 16
  })

  // Whoever is at the end stays there, whatever comes.
  useEffect(() => {
    if (sticks.current && rows.length > 0) virtual.scrollToIndex(rows.length - 1, { align: "end" })
  }, [rows, virtual])

  const shown = useRef<number | undefined>(undefined)
  useEffect(() => {
    if (seq === undefined || shown.current === seq) return
    const place = rows.findLastIndex((row) => row.seq <= seq)
    if (place < 0) return
    shown.current = seq
    virtual.scrollToIndex(place, { align: "center" })
  }, [rows, seq, virtual])

  const onScroll = () => {
    const place = scroller.current
    if (place === null) return
    sticks.current = log.reachesEnd && place.scrollHeight - place.scrollTop - place.clientHeight < 80
    if (place.scrollTop < 400) log.earlier()
    if (place.scrollHeight - place.scrollTop - place.clientHeight < 400) log.later()
  }

  return (
    <Scroll className="scroller transcript" ref={scroller} onScroll={onScroll} label="Conversation">
      <div className="rows" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index]
          if (row === undefined) return null
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className={row.seq === seq ? "row named" : "row"}
              style={{ transform: `translateY(${start}px)` }}
            >
              <RowView row={row} />
            </div>
          )
        })}
      </div>
    </Scroll>
  )
}
