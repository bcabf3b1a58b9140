/**
 * A window of a thread's log, and what comes.
 *
 * W1. seq has no gaps: what is held is one stretch, `from` to `to`, and any other stretch is one request.
 * W2. Where the window reaches the end of the log it follows it, by the stream or, without one, by long polls.
 * W3. Deltas are the text of an answer that is being written; they go when the answer is recorded, or discarded.
 */
import { answerOf, type Troupe } from "../../../src/client/client.ts"
import { followThread, type LogEvent } from "../../../src/client/follow.ts"
import { rest, withStream } from "../live/slots.ts"

export interface Window {
  readonly events: ReadonlyArray<LogEvent>
  /** seq of the last event of the log, as far as it is known. */
  readonly lastSeq: number
  /** Text that is being written, by the id that its event will have. */
  readonly writing: ReadonlyMap<string, { readonly turnId: string; readonly text: string }>
  readonly isLoading: boolean
  readonly failure: unknown
  /** Raised whenever something came that the thread's detail tells of. */
  readonly news: number
}

const portion = 200
/** How many events are held before those at the other end are let go. */
const mostHeld = 4_000

const empty: Window = { events: [], lastSeq: 0, writing: new Map(), isLoading: true, failure: undefined, news: 0 }

interface Delta {
  readonly turnId: string
  readonly eventId: string
  readonly text: string
}

export class ThreadLog {
  #window = empty
  readonly #listeners = new Set<() => void>()
  readonly #troupe: Troupe
  readonly #threadId: string
  #isAsking = false
  #frame: number | undefined

  constructor(troupe: Troupe, threadId: string) {
    this.#troupe = troupe
    this.#threadId = threadId
  }

  readonly subscribe = (listen: () => void) => {
    this.#listeners.add(listen)
    return () => void this.#listeners.delete(listen)
  }
  readonly snapshot = () => this.#window

  get #from() {
    return this.#window.events[0]?.seq ?? 1
  }
  get #to() {
    return this.#window.events.at(-1)?.seq ?? 0
  }

  /** Many changes are shown as one, with the browser's next frame. */
  #change(change: Partial<Window>) {
    this.#window = { ...this.#window, ...change }
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined
      for (const listen of this.#listeners) listen()
    })
  }

  async #page(afterSeq: number, limit: number, signal?: AbortSignal, waitSeconds = 0) {
    const { events } = await answerOf(
      this.#troupe.api.GET("/v1/threads/{threadId}/events", {
        params: {
          path: { threadId: this.#threadId },
          query: { afterSeq, limit, ...(waitSeconds === 0 ? {} : { waitSeconds }) }
        },
        ...(signal === undefined ? {} : { signal })
      })
    )
    return events
  }

  /** Shows what is around a seq; 0: the end of the log. */
  async show(seq: number, lastSeq: number) {
    const middle = seq === 0 ? lastSeq : Math.min(seq, lastSeq)
    const after = Math.max(0, seq === 0 ? lastSeq - portion : middle - portion / 2)
    try {
      this.#change({ events: await this.#page(after, portion), lastSeq, isLoading: false, failure: undefined })
    } catch (failure) {
      this.#change({ isLoading: false, failure })
    }
  }

  async #extend(ask: () => Promise<ReadonlyArray<LogEvent>>, join: (more: ReadonlyArray<LogEvent>) => void) {
    if (this.#isAsking) return
    this.#isAsking = true
    try {
      join(await ask())
    } catch (failure) {
      this.#change({ failure })
    } finally {
      this.#isAsking = false
    }
  }

  /** The portion before the window. */
  earlier() {
    const from = this.#from
    if (from <= 1) return
    const after = Math.max(0, from - 1 - portion)
    void this.#extend(
      () => this.#page(after, from - 1 - after),
      (more) => this.#change({ events: [...more, ...this.#window.events].slice(0, mostHeld) })
    )
  }

  /** The portion behind it. */
  later() {
    const to = this.#to
    if (to >= this.#window.lastSeq) return
    void this.#extend(
      () => this.#page(to, portion),
      (more) => this.#append(more)
    )
  }

  get reachesEnd() {
    return this.#to >= this.#window.lastSeq
  }
  get reachesStart() {
    return this.#from <= 1
  }

  #append(more: ReadonlyArray<LogEvent>) {
    const next = more.filter(({ seq }) => seq > this.#to)
    if (next.length === 0) return
    const writing = new Map(this.#window.writing)
    for (const event of next) {
      writing.delete(event.eventId)
      if (/^turn_/.test(event.type))
        for (const [id, { turnId }] of writing) if (turnId === event.turnId) writing.delete(id)
    }
    const events = [...this.#window.events, ...next]
    this.#change({
      events: events.slice(Math.max(0, events.length - mostHeld)),
      lastSeq: Math.max(this.#window.lastSeq, next.at(-1)?.seq ?? 0),
      writing,
      news: this.#window.news + 1
    })
  }

  #come(event: LogEvent) {
    // Whoever looks at an earlier stretch sees that there is more, and goes on looking.
    if (this.reachesEnd) this.#append([event])
    else this.#change({ lastSeq: Math.max(this.#window.lastSeq, event.seq), news: this.#window.news + 1 })
  }

  #write({ eventId, text, turnId }: Delta) {
    const writing = new Map(this.#window.writing)
    writing.set(eventId, { turnId, text: (writing.get(eventId)?.text ?? "") + text })
    this.#change({ writing })
  }

  /** W2, until the signal ends it. */
  async follow(signal: AbortSignal, onLine: (isOpen: boolean) => void) {
    while (!signal.aborted) {
      try {
        const had = await withStream(signal, () => this.#stream(signal, onLine))
        if (!had) await this.#poll(signal)
      } catch (failure) {
        if (signal.aborted) return
        this.#change({ failure })
        await rest(5_000, signal)
      }
    }
  }

  async #stream(signal: AbortSignal, onLine: (isOpen: boolean) => void) {
    const options = { afterSeq: this.#window.lastSeq, deltas: true, signal, onLine }
    for await (const { data, event } of followThread(this.#troupe, this.#threadId, options)) {
      if (event === "event") this.#come(data as LogEvent)
      else if (event === "delta") this.#write(data as Delta)
      else if (event === "discard") {
        const writing = new Map(this.#window.writing)
        writing.delete((data as Delta).eventId)
        this.#change({ writing })
      } else if (event === "status" || event === "queue" || event === "wait")
        this.#change({ news: this.#window.news + 1 })
    }
  }

  async #poll(signal: AbortSignal) {
    for (const event of await this.#page(this.#window.lastSeq, portion, signal, 20)) this.#come(event)
  }
}
