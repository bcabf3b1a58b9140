/** The conversation: messages, answers, calls with their results, and how each turn ended. */
import { memo, useMemo } from "react"
import { Boundary } from "../parts/Boundary.tsx"
import { Json } from "../parts/Json.tsx"
import { Markdown } from "../parts/Markdown.tsx"
import { Scroll } from "../parts/Scroll.tsx"
import { duration } from "../parts/duration.ts"
import { Time } from "../parts/Time.tsx"
import { visible, visibleLine } from "../parts/visible.ts"
import { Other } from "./Other.tsx"
import { type CallRow, contentText, type Row, rowsMaker, type TurnRow, writingRows } from "./rows.ts"
import { useRows } from "./useRows.ts"
import { lastOf, type Movable, reachesEnd, type Window } from "./window.ts"

const Turn = ({ row: { begunBy, turnId } }: { readonly row: TurnRow }) => (
  <h2 className="turn" title={turnId}>
    Turn
    {begunBy === undefined ? null : (
      <span className="quiet">
        {" "}
        of {visibleLine(begunBy.principal.identity ?? begunBy.principal.type)} · <Time at={begunBy.occurredAt} />
      </span>
    )}
  </h2>
)

const Call = ({ row: { begins, beside, intent, result, toolCallId } }: { readonly row: CallRow }) => (
  <>
    {begins && intent !== undefined ? (
      <p className="quiet">
        {intent.modelId} · <Time at={intent.occurredAt} />
      </p>
    ) : null}
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
  </>
)

type Of<Kind extends Row["kind"]> = Extract<Row, { readonly kind: Kind }>

const Message = ({ row }: { readonly row: Of<"user"> }) => {
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

const Answer = ({ row }: { readonly row: Of<"assistant"> }) => {
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

/** Drawn again only where its row is another (rows.ts, R1): a delta leaves all Markdown but its own alone. */
const RowView = memo(({ row }: { readonly row: Row }) => {
  switch (row.kind) {
    case "turn":
      return <Turn row={row} />
    case "user":
      return <Message row={row} />
    case "assistant":
      return <Answer row={row} />
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
})

const isOfResponse = ({ kind }: Row) => kind === "assistant" || kind === "call" || kind === "writing"

const classOf = (row: Row, named: number | undefined) =>
  `row${row.seq === named && row.kind !== "turn" ? " named" : ""}${isOfResponse(row) ? " of-response" : ""}`
const keyOf = ({ key }: Row) => key

export const Transcript = ({
  log,
  seq,
  window
}: {
  readonly log: Movable
  readonly window: Window
  /** The event that the address names. */
  readonly seq: number | undefined
}) => {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another log has other rows
  const rowsOf = useMemo(rowsMaker, [log])
  const { events, writing } = window
  const recorded = useMemo(() => rowsOf(events), [rowsOf, events])
  const isLive = reachesEnd(window)
  const last = lastOf(window)
  const rows = useMemo(
    () => (isLive && writing.size > 0 ? [...recorded, ...writingRows(writing, last)] : recorded),
    [recorded, writing, isLive, last]
  )
  const { onScroll, scroller, virtual } = useRows({ rows, keyOf, log, seq, isLive, estimate: 80 })
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
              className={classOf(row, seq)}
              style={{ transform: `translateY(${start}px)` }}
            >
              <Boundary what={`event ${row.seq}`} value={row}>
                <RowView row={row} />
              </Boundary>
            </div>
          )
        })}
      </div>
    </Scroll>
  )
}
