/**
 * What waits to be written to one watcher: a bounded buffer between the bus and a socket.
 *
 * O1. Whatever the watcher does, it takes no frame beyond `capacity` bytes; except that any one frame
 *     is taken while it is at most half full, so that the largest event gets through. Frames leave
 *     in the order in which they came.
 * O2. Before a frame is refused, what waits is coalesced: of news that replaces older news only the
 *     newest is held (`key`), and a piece of text that follows a piece of the same text joins it.
 * O3. A frame that does not fit is refused, never cut; the caller says so later, once `onRoom` calls.
 * O4. Nothing is pushed before the socket asks for it: `stalledFor` tells how long it has not.
 * O5. Frames of one moment leave together: a commit's events and what follows from it are one write.
 * O6. While all watchers together hold more than their crowd may, each takes as if its capacity were `ahead`: one frame
 *     at a time, and what does not fit is refused as in O3.
 * O7. After a write `pauseMs` pass before the next: what comes meanwhile leaves together. A whole write's worth of
 *     bytes, the last words, and what has to leave so that a frame is not refused, do not wait.
 */
import { Readable, type ReadableOptions } from "node:stream"
import { Equal } from "effect"
import type { Monotonic } from "../../src/monotonic.ts"
import type { QueuedFrame } from "./frames.ts"

export const capacity = 1024 * 1024

/** Bytes that the socket's side may hold beside the buffer, and that leave together. */
const ahead = 16 * 1024

/** What waits for all watchers of a node (O6). */
export class Crowd {
  bytes = 0
  private readonly most: number
  constructor(most: number) {
    this.most = most
  }
  get full() {
    return this.bytes >= this.most
  }
}

interface Waiting {
  text: string
  bytes: number
  readonly key: string | undefined
}

export class Outbox {
  readonly readable: Readable
  /** Called when the buffer, having refused something, is at most half full again. */
  onRoom: (() => void) | undefined
  private queue: Array<Waiting> = []
  private readonly newest = new Map<string, Waiting>()
  private bytes = 0
  private asking = false
  private ending = false
  private closed = false
  private refused = false
  private scheduled = false
  /** Set from a write to the end of its pause (O7). */
  private pause: NodeJS.Timeout | undefined
  private movedAt: number

  private readonly crowd: Crowd
  private readonly monotonic: Monotonic
  private readonly pauseMs: () => number

  constructor(onClose: () => void, monotonic: Monotonic, crowd = new Crowd(Infinity), pauseMs = () => 0) {
    this.crowd = crowd
    this.monotonic = monotonic
    this.pauseMs = pauseMs
    this.movedAt = monotonic()
    const options: ReadableOptions = {
      highWaterMark: ahead,
      read: () => {
        this.asking = true
        this.movedAt = this.monotonic()
        if (this.mayWrite) this.flush()
      },
      destroy: (error, callback) => {
        this.closed = true
        clearTimeout(this.pause)
        this.queue = []
        this.newest.clear()
        this.grow(-this.bytes)
        callback(error)
        onClose()
      }
    }
    // By reference: a response that its client leaves becomes part of a cause, and what a cause holds is compared by
    // its contents. Through its socket that is all sockets of the process: seconds for each client, of a thousand.
    this.readable = Equal.byReferenceUnsafe(new Readable(options))
    // A client that goes away is no error of ours.
    this.readable.on("error", () => {})
  }

  get waitingBytes() {
    return this.bytes
  }

  get hasRoom() {
    return this.bytes <= this.capacity / 2
  }

  /** Milliseconds for which something has waited and the socket has not asked for it. */
  get stalledFor() {
    return this.bytes === 0 ? 0 : this.monotonic() - this.movedAt
  }

  /** Whether the frame was taken (O3). After the end everything is, and goes nowhere. */
  offer({ join, key, text }: QueuedFrame): boolean {
    if (this.closed || this.ending) return true
    if (this.bytes === 0) this.movedAt = this.monotonic()
    const bytes = Buffer.byteLength(text)
    if (this.pause !== undefined && this.asking && !this.fits(bytes)) this.flush()
    const held = key === undefined ? undefined : this.newest.get(key)
    if (held !== undefined && join !== undefined && held === this.queue.at(-1)) {
      const joined = join(held.text)
      const more = Buffer.byteLength(joined) - held.bytes
      if (!this.fits(more)) return this.refuse()
      this.grow(more)
      held.text = joined
      held.bytes += more
      return true
    }
    const replaced = join === undefined ? held : undefined
    if (!this.fits(bytes - (replaced?.bytes ?? 0))) return this.refuse()
    if (replaced !== undefined) {
      this.grow(-replaced.bytes)
      this.queue.splice(this.queue.indexOf(replaced), 1)
    }
    const waiting = { text, bytes, key }
    this.queue.push(waiting)
    this.grow(bytes)
    if (key !== undefined) this.newest.set(key, waiting)
    if (this.asking && !this.scheduled && this.mayWrite) {
      this.scheduled = true
      queueMicrotask(() => {
        this.scheduled = false
        this.flush()
      })
    }
    return true
  }

  /** Asks to be told of room, as if a frame had been refused. */
  awaitRoom() {
    this.refused = true
  }

  /** Says one last thing, whether there is room or not, and ends once it is written. */
  end(last?: string) {
    if (this.closed || this.ending) return
    if (last !== undefined) this.queue.push({ text: last, bytes: 0, key: undefined })
    this.ending = true
    if (this.asking) this.flush()
  }

  destroy() {
    this.readable.destroy()
  }

  private get capacity() {
    return this.crowd.full ? ahead : capacity
  }

  private grow(by: number) {
    this.bytes += by
    this.crowd.bytes += by
  }

  private fits(more: number) {
    return this.hasRoom || this.bytes + more <= this.capacity
  }

  private get mayWrite() {
    return this.pause === undefined || this.bytes >= ahead || this.ending
  }

  private startPause() {
    const ms = this.pauseMs()
    clearTimeout(this.pause)
    this.pause = undefined
    // A timer takes a millisecond at least, and is early by what is less than one.
    if (ms < 1) return
    this.pause = setTimeout(() => {
      this.pause = undefined
      this.flush()
    }, Math.ceil(ms))
  }

  private refuse() {
    this.refused = true
    return false
  }

  private flush() {
    while (this.asking && this.queue.length > 0) {
      let together = ""
      do {
        const waiting = this.queue.shift()!
        if (waiting.key !== undefined && this.newest.get(waiting.key) === waiting) this.newest.delete(waiting.key)
        this.grow(-waiting.bytes)
        together += waiting.text
      } while (this.queue.length > 0 && together.length < ahead)
      this.asking = this.readable.push(together)
      this.startPause()
    }
    if (this.closed) return
    if (this.ending) {
      if (this.asking && this.queue.length === 0) this.readable.push(null)
    } else if (this.refused && this.hasRoom) {
      this.refused = false
      this.onRoom?.()
    }
  }
}
