/**
 * What waits to be written to one watcher: a bounded buffer between the bus and a socket.
 *
 * O1. It never holds more than `capacity` bytes, whatever the watcher does; frames leave in order.
 * O2. Of news that replaces older news, the older one goes (`offer` with a key), and pieces of one
 *     text become one piece: only then is anything refused.
 * O3. A frame that does not fit is refused, never cut; the caller says so later with `gap`.
 * O4. Nothing is pushed before the socket asks for it: `stalledFor` tells how long it has not.
 */
import { Readable } from "node:stream"

export interface Frame {
  readonly text: string
  /** Replaces the waiting frame with the same key. */
  readonly key?: string
  /** What the waiting frame with the same key and this one amount to together. */
  readonly join?: (waiting: string) => string
}

export const capacity = 1024 * 1024

/** Bytes that the socket's side may hold beside the buffer. */
const ahead = 16 * 1024

interface Waiting {
  text: string
  bytes: number
  readonly key: string | undefined
}

export class Outbox {
  readonly readable: Readable
  private queue: Array<Waiting> = []
  private bytes = 0
  private asking = false
  private ended = false
  private askedAt = performance.now()
  /** Called when the buffer is at most half full again after it refused something. */
  onRoom: (() => void) | undefined
  private refused = false

  constructor(onClose: () => void) {
    this.readable = new Readable({
      highWaterMark: ahead,
      read: () => {
        this.asking = true
        this.askedAt = performance.now()
        this.flush()
      },
      destroy: (error, callback) => {
        this.ended = true
        this.queue = []
        this.bytes = 0
        callback(error)
        onClose()
      }
    })
    // A client that goes away is no error of ours.
    this.readable.on("error", () => {})
  }

  get waitingBytes() {
    return this.bytes
  }

  get hasRoom() {
    return this.bytes <= capacity / 2
  }

  /** Milliseconds for which something has waited and the socket has not taken it. */
  get stalledFor() {
    return this.queue.length === 0 ? 0 : performance.now() - this.askedAt
  }

  /** Whether the frame was taken (O3). */
  offer(frame: Frame): boolean {
    if (this.ended) return true
    const held = frame.key === undefined || this.queue.length === 0 ? undefined : this.replaceable(frame)
    const text = held === undefined ? frame.text : frame.join?.(held.text) ?? frame.text
    const bytes = Buffer.byteLength(text)
    if (this.bytes - (held?.bytes ?? 0) + bytes > capacity) {
      this.refused = true
      return false
    }
    if (held === undefined) {
      this.queue.push({ text, bytes, key: frame.key })
      this.bytes += bytes
    } else {
      this.bytes += bytes - held.bytes
      held.text = text
      held.bytes = bytes
    }
    if (this.asking) this.flush()
    return true
  }

  /** Says one last thing, whether there is room or not, and ends once it is written. */
  end(last?: string) {
    if (this.ended) return
    if (last !== undefined) this.queue.push({ text: last, bytes: Buffer.byteLength(last), key: undefined })
    this.ended = true
    if (this.asking) this.flush()
  }

  destroy() {
    this.readable.destroy()
  }

  /** News that replaces older news keeps its place; a piece of text must be the newest of its kind to grow. */
  private replaceable(frame: Frame): Waiting | undefined {
    for (let i = this.queue.length - 1; i >= 0; i--) if (this.queue[i]!.key === frame.key) return this.queue[i]
    return undefined
  }

  private flush() {
    while (this.asking && this.queue.length > 0) {
      const { bytes, text } = this.queue.shift()!
      this.bytes = Math.max(0, this.bytes - bytes)
      this.asking = this.readable.push(text)
    }
    if (this.queue.length === 0) this.askedAt = performance.now()
    if (this.ended && this.queue.length === 0) return void this.readable.push(null)
    if (this.refused && this.hasRoom) {
      this.refused = false
      this.onRoom?.()
    }
  }
}
