/**
 * Rows of a log in a place that scrolls: only those that are seen are in the page. What is read stays where it is
 * while rows come before it, a row that is named is brought into view, and who is at the end of a log that goes on
 * stays at its end.
 */
import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useRef } from "react"
import type { Movable } from "./window.ts"

const nearPx = 400

export const useRows = <Row extends { readonly seq: number }>({
  estimate,
  isLive,
  keyOf,
  log,
  rows,
  seq
}: {
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string | number
  readonly log: Movable
  /** The event that is named, if one is. */
  readonly seq: number | undefined
  /** The rows reach the end of the log. */
  readonly isLive: boolean
  /** Of a row's height, in pixels. */
  readonly estimate: number
}) => {
  const scroller = useRef<HTMLElement>(null)
  // Rows that are loaded because somebody comes near them are no reason to go to their end.
  const wasLive = useRef(isLive)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => {
      const row = rows[index]
      return row === undefined ? index : keyOf(row)
    },
    estimateSize: () => estimate,
    overscan: 10,
    paddingEnd: 16,
    anchorTo: "end",
    followOnAppend: wasLive.current && isLive,
    scrollEndThreshold: 80
  })
  // What is above the place that is read grows and shrinks out of sight, also while one scrolls back: rows that come
  // before others change what those say.
  virtual.shouldAdjustScrollPositionOnItemSizeChange = ({ end, key, start }, _, { itemSizeCache, scrollOffset }) =>
    itemSizeCache.has(key) ? end <= (scrollOffset ?? 0) : start < (scrollOffset ?? 0)
  useEffect(() => {
    wasLive.current = isLive
  }, [isLive])

  const shown = useRef<number | undefined>(undefined)
  const held = useRef({ from: 0, to: 0 })
  useEffect(() => {
    const wanted = seq ?? 0
    const last = rows.at(-1)
    if (last === undefined) return
    const from = rows[0]?.seq ?? 0
    // Another stretch of the log was asked for: its place is to be found again.
    if (from > held.current.to || last.seq < held.current.from) shown.current = undefined
    held.current = { from, to: last.seq }
    if (shown.current === wanted) return
    if (seq === undefined) {
      if (!isLive) return
      shown.current = wanted
      return virtual.scrollToIndex(rows.length - 1, { align: "end" })
    }
    if (from > seq || (seq > last.seq && !isLive)) return
    shown.current = wanted
    virtual.scrollToIndex(
      Math.max(
        0,
        rows.findLastIndex((row) => row.seq <= seq)
      ),
      { align: "center" }
    )
  }, [isLive, rows, seq, virtual])

  const onScroll = () => {
    const place = scroller.current
    if (place === null) return
    if (place.scrollTop < nearPx) log.earlier()
    if (place.scrollHeight - place.scrollTop - place.clientHeight < nearPx) log.later()
  }
  return { scroller, virtual, onScroll }
}
