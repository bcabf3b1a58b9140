/**
 * What is held of a log: one stretch of it without gaps, how far the log goes, and text that is being written. Plain
 * values, made of each other.
 */
import type { LogEvent } from "../../../src/client/follow.ts"

export interface Written {
  readonly turnId: string
  readonly text: string
}

export interface Window {
  readonly events: ReadonlyArray<LogEvent>
  /** seq of the last event of the log, as far as it is known. */
  readonly lastSeq: number
  /** Text that is being written, by the id that its event will have. */
  readonly writing: ReadonlyMap<string, Written>
  readonly isLoading: boolean
  readonly failure: unknown
  /** Raised whenever something came that the thread's detail tells of. */
  readonly news: number
}

/** Where a window can be moved: what pages need of a log, whether it is a server's or a file's. */
export interface Movable {
  /** Holds the events before the first one too. */
  readonly earlier: () => void
  /** Holds the events behind the last one too. */
  readonly later: () => void
  /**
   * The nearest event outside of the window that fits, before it or behind it; undefined where there is none, or where
   * the signal has ended the search.
   */
  readonly find: (
    fits: (event: LogEvent) => boolean,
    direction: "earlier" | "later",
    signal: AbortSignal
  ) => Promise<LogEvent | undefined>
}

/** How many events are held before those at the other end are let go. */
export const mostHeld = 4_000

export const empty: Window = {
  events: [],
  lastSeq: 0,
  writing: new Map(),
  isLoading: true,
  failure: undefined,
  news: 0
}

export const firstOf = ({ events }: Window) => events[0]?.seq ?? 1
export const lastOf = ({ events }: Window) => events.at(-1)?.seq ?? 0
export const reachesStart = (window: Window) => firstOf(window) <= 1
export const reachesEnd = (window: Window) => lastOf(window) >= window.lastSeq
export const holds = (window: Window, seq: number) => firstOf(window) <= seq && seq <= lastOf(window)

const isTurnEnd = ({ type }: LogEvent) => /^turn_/.test(type)

/** With events behind the last one. Those that are held already are left out; text of what is recorded goes. */
export const appended = (window: Window, more: ReadonlyArray<LogEvent>): Window => {
  const next = more.filter(({ seq }) => seq > lastOf(window))
  if (next.length === 0) return window
  const writing = new Map(window.writing)
  for (const event of next) {
    writing.delete(event.eventId)
    if (isTurnEnd(event)) for (const [id, { turnId }] of writing) if (turnId === event.turnId) writing.delete(id)
  }
  const events = [...window.events, ...next]
  return {
    ...window,
    events: events.slice(Math.max(0, events.length - mostHeld)),
    lastSeq: Math.max(window.lastSeq, next.at(-1)?.seq ?? 0),
    writing,
    news: window.news + 1
  }
}

/** With the events that stand right before the first one. */
export const prepended = (window: Window, more: ReadonlyArray<LogEvent>): Window => ({
  ...window,
  events: [...more, ...window.events].slice(0, mostHeld)
})

/** With an event of the log's end. A window on an earlier stretch stays there, and knows that there is more. */
export const came = (window: Window, event: LogEvent): Window =>
  reachesEnd(window)
    ? appended(window, [event])
    : { ...window, lastSeq: Math.max(window.lastSeq, event.seq), news: window.news + 1 }

export const wrote = (
  window: Window,
  { eventId, text, turnId }: Written & { readonly eventId: string }
): ReadonlyMap<string, Written> =>
  new Map(window.writing).set(eventId, { turnId, text: (window.writing.get(eventId)?.text ?? "") + text })

export const discarded = (window: Window, eventId: string): ReadonlyMap<string, Written> => {
  const writing = new Map(window.writing)
  writing.delete(eventId)
  return writing
}
