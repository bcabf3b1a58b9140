/**
 * A follower decides what one watcher of a thread is told, from hints as they come and from what is read of the log. It
 * reads nothing itself; `makeFollowThread` does, whenever it asks for it.
 *
 * It is behind first, and whenever an event or a status did not go straight through: the log is read until all that is
 * known to exist has been passed on, and the status is told. Then it is live, and hints go straight through.
 *
 * F2. An event from a hint is passed on only if its seq is the next; else the log is read from there.
 * F3. With a position to replay from, no event is left out however slow the watcher: what does not
 *     fit into its buffer is read again. Without one, what does not fit is left out and named by `gap`.
 */
import { record, streamGaps } from "../../src/telemetry/metrics.ts"
import { readStatus } from "../../src/threads/view.ts"
import * as frames from "./frames.ts"
import type { Outbox } from "./Outbox.ts"
import type { Wanted } from "./wanted.ts"

export interface Watched {
  readonly threadId: string
  readonly wanted: Wanted
  /** Replay from behind this seq; undefined begins with what comes. */
  readonly after: number | undefined
}

interface Head {
  readonly seq: number
  readonly status: string
}

/** Events of the log in their order, as texts: `seq` is the last one's, `lastSeq` the newest of the log. */
interface Page {
  readonly events: ReadonlyArray<string>
  readonly seq: number
  readonly lastSeq: number
}

type Status = Parameters<typeof frames.status>[0]

export class Follower {
  private state: "behind" | "live" = "behind"
  /** seq of the next event to pass on. */
  private next = 1
  /** Highest seq that is known to exist. */
  private newest = 0
  /** First event that was left out (F3). */
  private leftOut: number | undefined
  /** A status that is told once it is live. */
  private owed: Status | undefined
  /** The newest status that is known. */
  private known: string | undefined
  private readonly watched: Watched
  private readonly outbox: Pick<Outbox, "awaitRoom" | "hasRoom" | "offer">

  constructor(watched: Watched, outbox: Pick<Outbox, "awaitRoom" | "hasRoom" | "offer">) {
    this.watched = watched
    this.outbox = outbox
  }

  get isBehind() {
    return this.state === "behind"
  }

  /** Everything up to here has been passed on, or named by a gap. */
  get passed() {
    return this.next - 1
  }

  /** Hints may have come before. */
  begin(head: Head, streamId: string) {
    this.newest = Math.max(this.newest, head.seq)
    this.known ??= head.status
    this.next = (this.watched.after ?? head.seq) + 1
    this.outbox.offer({ text: frames.ready({ streamId, lastSeq: head.seq }) })
  }

  /** Whether it has fallen behind. */
  hear(hint: frames.ShownHint): boolean {
    const { wanted } = this.watched
    switch (hint.type) {
      case "events":
        return this.hearEvents(hint)
      case "status":
        this.known = hint.status
        return wanted.status && this.hearStatus(hint)
      default:
        if (this.state === "live" && wanted[hint.type]) this.offerAll(hint)
        return false
    }
  }

  private hearEvents({ events }: Extract<frames.ShownHint, { readonly type: "events" }>): boolean {
    let fell = false
    for (const event of events) {
      const { seq } = event
      if (seq > this.newest) this.newest = seq
      if (this.state === "behind" || seq < this.next) continue
      const frame = frames.broughtEvent(event)
      if (seq === this.next && frame !== undefined && this.pass(seq, frame)) continue
      this.state = "behind"
      fell = true
    }
    return fell
  }

  /** One that did not fit is owed: whoever is behind is told it once there is room. */
  private hearStatus(hint: Extract<frames.ShownHint, { readonly type: "status" }>): boolean {
    const isLive = this.state === "live"
    if (isLive && this.offerAll(hint)) return false
    this.owed = hint
    this.state = "behind"
    return isLive
  }

  private offerAll(hint: frames.ShownHint) {
    return frames.framesOf(hint).every((frame) => this.outbox.offer(frame))
  }

  /** Whether the event was passed on. */
  private pass(seq: number, frame: frames.QueuedFrame): boolean {
    if (this.watched.wanted.event && !this.outbox.offer(frame)) {
      if (this.watched.after === undefined) this.leftOut ??= seq
      return false
    }
    this.next = seq + 1
    return true
  }

  /** One step of who is behind: "read" asks for the log behind `passed`; to "wait" is all that is left, live or not. */
  step(): "read" | "wait" {
    if (!this.outbox.hasRoom) {
      this.outbox.awaitRoom()
      return "wait"
    }
    if (this.leftOut !== undefined) {
      const range = { fromSeq: this.leftOut, toSeq: this.newest }
      this.leftOut = undefined
      this.next = this.newest + 1
      record(streamGaps)
      this.outbox.offer({ text: frames.gap(range) })
    }
    if (this.newest >= this.next) return "read"
    this.state = "live"
    if (this.owed !== undefined) this.outbox.offer(frames.status(this.owed))
    this.owed = undefined
    return "wait"
  }

  /** What the log has behind `passed`. */
  read(page: Page | undefined) {
    if (page === undefined || page.events.length === 0) {
      this.newest = this.next - 1
      return
    }
    this.newest = Math.max(this.newest, page.lastSeq)
    // The log has no gaps, so the last one's seq tells all of them.
    const first = page.seq - page.events.length + 1
    for (const [i, text] of page.events.entries()) if (!this.pass(first + i, frames.event(first + i, text))) break
  }

  /** The head as it is now, where hints may have been lost: what it tells that no hint did. */
  look(head: Head | undefined) {
    if (head === undefined || head.seq < this.newest) return
    const { threadId, wanted } = this.watched
    if (head.status !== this.known && wanted.status) {
      const status = { threadId, status: readStatus(head.status), lastSeq: head.seq }
      if (head.seq > this.newest || this.state === "behind" || !this.outbox.offer(frames.status(status))) {
        this.owed = status
        this.state = "behind"
      }
    }
    this.known = head.status
    if (head.seq === this.newest) return
    this.newest = head.seq
    this.state = "behind"
  }
}
