/**
 * A window of a thread's log, and what comes.
 *
 * W1. seq has no gaps: what is held is one stretch, and any other stretch is one request, or a few where its events are
 *     large.
 * W2. The end of the log is followed, by the stream or, without one, by a short question every few seconds: a tab
 *     without a stream holds no connection.
 * W3. Deltas are the text of an answer that is being written; they go when the answer is recorded, or discarded.
 * W4. Nothing is followed before a stretch was shown, and nothing behind the signal that ends it: a page that is left
 *     holds no stream.
 */
import { answerOf, type Troupe } from "../../../src/client/client.ts"
import { type FollowOptions, followThread, type LogEvent } from "../../../src/client/follow.ts"
import { rest, withStream } from "../live/slots.ts"
import { stretchOf } from "./stretch.ts"
import {
  appended,
  came,
  discarded,
  empty,
  firstOf,
  holds,
  lastOf,
  type Movable,
  prepended,
  reachesEnd,
  reachesStart,
  type Window,
  type Written,
  wrote
} from "./window.ts"

const portion = 200
const pollMs = 3_000
/** Before what failed is tried again. */
const againMs = 5_000

type Delta = Written & { readonly eventId: string }

type Following = Required<Pick<FollowOptions, "onLine" | "steps">>

export class ThreadLog implements Movable {
  #window = empty
  readonly #listeners = new Set<() => void>()
  readonly #troupe: Troupe
  readonly #threadId: string
  #isAsking = false
  #frame: number | undefined
  #wasShown = false
  /** Counts what was shown: an answer for an earlier window is of no use. */
  #shows = 0
  #place = { seq: 0, lastSeq: 0 }

  constructor(troupe: Troupe, threadId: string) {
    this.#troupe = troupe
    this.#threadId = threadId
  }

  readonly subscribe = (listen: () => void) => {
    this.#listeners.add(listen)
    return () => void this.#listeners.delete(listen)
  }
  readonly snapshot = () => this.#window

  /** Many changes are shown as one, with the browser's next frame. */
  #change(change: Partial<Window>) {
    this.#window = { ...this.#window, ...change }
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined
      for (const listen of this.#listeners) listen()
    })
  }

  #page(from: number, most: number, signal?: AbortSignal) {
    const ask = (afterSeq: number, limit: number) =>
      answerOf(
        this.#troupe.api.GET("/v1/threads/{threadId}/events", {
          params: { path: { threadId: this.#threadId }, query: { afterSeq, limit } },
          ...(signal === undefined ? {} : { signal })
        })
      )
    return stretchOf(ask, from, most)
  }

  /** Where the window begins: around a seq; 0 is the end of the log, which goes to `lastSeq` as far as is known. */
  begin(seq: number, lastSeq: number) {
    this.#place = { seq, lastSeq }
  }

  /** Moves the window to a seq, where it is not there already; 0 is the end of the log. */
  async show(seq: number) {
    this.#place = { seq, lastSeq: Math.max(this.#place.lastSeq, this.#window.lastSeq) }
    // What follows the log shows it first, and there.
    if (!this.#wasShown || (seq === 0 ? reachesEnd(this.#window) : holds(this.#window, seq))) return
    await this.again()
  }

  /** Asks once more for what could not be shown. */
  async again() {
    await this.#show().catch((failure: unknown) => this.#change({ isLoading: false, failure }))
  }

  async #show(signal?: AbortSignal) {
    for (let place: object | undefined; place !== this.#place; ) {
      place = this.#place
      const show = ++this.#shows
      const { lastSeq, seq } = this.#place
      const after = Math.max(0, seq === 0 ? lastSeq - portion : Math.min(seq, lastSeq) - portion / 2)
      const events = await this.#page(after, portion, signal)
      if (show !== this.#shows) return
      this.#wasShown = true
      this.#change({
        events,
        lastSeq: Math.max(lastSeq, this.#window.lastSeq, events.at(-1)?.seq ?? 0),
        isLoading: false,
        failure: undefined
      })
    }
  }

  async #extend(ask: () => Promise<ReadonlyArray<LogEvent>>, join: (more: ReadonlyArray<LogEvent>) => Window) {
    if (this.#isAsking) return
    this.#isAsking = true
    const show = this.#shows
    try {
      const more = await ask()
      if (show === this.#shows) this.#change({ ...join(more), failure: undefined })
    } catch (failure) {
      this.#change({ failure })
    } finally {
      this.#isAsking = false
    }
  }

  readonly earlier = () => {
    if (reachesStart(this.#window)) return
    const from = firstOf(this.#window)
    const after = Math.max(0, from - 1 - portion)
    void this.#extend(
      () => this.#page(after, from - 1 - after),
      (more) => prepended(this.#window, more)
    )
  }

  readonly later = () => {
    if (reachesEnd(this.#window)) return
    void this.#extend(
      () => this.#page(lastOf(this.#window), portion),
      (more) => appended(this.#window, more)
    )
  }

  readonly find: Movable["find"] = async (fits, direction, signal) => {
    if (direction === "earlier")
      for (let from = firstOf(this.#window); from > 1 && !signal.aborted; ) {
        const after = Math.max(0, from - 1 - portion)
        const found = (await this.#page(after, from - 1 - after, signal)).findLast(fits)
        if (found !== undefined) return found
        from = after + 1
      }
    else
      for (let to = lastOf(this.#window); to < this.#window.lastSeq && !signal.aborted; ) {
        const page = await this.#page(to, portion, signal)
        const found = page.find(fits)
        if (found !== undefined || page.length === 0) return found
        to = page.at(-1)?.seq ?? to
      }
    return undefined
  }

  /** W2 and W4, until the signal ends it. With `steps`, a step is news even where it writes no event. */
  async follow(signal: AbortSignal, { onLine, steps }: Following) {
    while (!signal.aborted) {
      try {
        if (!this.#wasShown) await this.#show(signal)
        const had = await withStream(signal, () => this.#stream(signal, { onLine, steps }))
        if (had) continue
        await this.#poll(signal)
        await rest(pollMs, signal)
      } catch (failure) {
        if (signal.aborted) return
        this.#change({ isLoading: false, failure })
        await rest(againMs, signal)
      }
    }
  }

  async #stream(signal: AbortSignal, following: Following) {
    const options = { ...following, afterSeq: this.#window.lastSeq, deltas: true, signal }
    for await (const { data, event } of followThread(this.#troupe, this.#threadId, options)) {
      if (event === "ready") this.#change({ failure: undefined })
      else if (event === "event") this.#change(came(this.#window, data as LogEvent))
      else if (event === "delta") this.#change({ writing: wrote(this.#window, data as Delta) })
      else if (event === "discard") this.#change({ writing: discarded(this.#window, (data as Delta).eventId) })
      else if (event === "status" || event === "queue" || event === "wait" || event === "step")
        this.#change({ news: this.#window.news + 1 })
    }
  }

  /** What the log has more. The queue and the waits have no event: they are asked for again each time. */
  async #poll(signal: AbortSignal) {
    for (let isMore = true; isMore; ) {
      const events = await this.#page(this.#window.lastSeq, portion, signal)
      for (const event of events) this.#change(came(this.#window, event))
      isMore = events.length === portion
    }
    this.#change({ failure: undefined, news: this.#window.news + 1 })
  }
}
