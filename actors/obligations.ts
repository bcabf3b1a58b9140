/**
 * What this node owes to actors of one kind that it has, or may have, and that are not in its memory: to take each up
 * again, and to tell it the outcomes of its jobs.
 *
 * O1. An actor enters on every way out of memory, and on every way into it that failed, as long as it may be this node's
 *     and may have something to do. It leaves when it is back in memory, when another node has it, or when there is
 *     nothing left to do: never because somebody looked.
 * O2. Its desk stays with it: jobs that still run, and outcomes in hand.
 * O3. What comes back again and again does so with growing pauses: where the journal does not answer a few seconds at most,
 *     where the actor breaks five minutes.
 */
import type { ActorRef } from "../src/journal/Journal.ts"
import type { Desk } from "./Desk.ts"

/** How often an actor broke its host at one position of its journal. */
export interface Breaks {
  readonly pos: number
  readonly times: number
}

export interface Owed<Request> {
  readonly ref: ActorRef
  readonly desk: Desk<Request>
  readonly breaks: Breaks | undefined
  /** Attempts to meet it that failed, one after the other. */
  readonly attempts: number
  /** Milliseconds: not before. */
  readonly at: number
}

const unansweredMs = { first: 250, most: 2_000 }
const brokenMs = { first: 1_000, most: 300_000 }

const pause = (times: number, { first, most }: typeof brokenMs) => Math.min(most, first * 2 ** Math.max(0, times - 1))

export class Obligations<Request> {
  private readonly owed = new Map<string, Owed<Request>>()
  private readonly now: () => number

  /** `now`: milliseconds. */
  constructor(now: () => number) {
    this.now = now
  }

  get size() {
    return this.owed.size
  }

  get(id: string): Owed<Request> | undefined {
    return this.owed.get(id)
  }

  /** To be taken up again soon: `broken` where its own code or its own data stopped it. */
  owe(ref: ActorRef, desk: Desk<Request>, breaks: Breaks | undefined, why: "unanswered" | "broken") {
    const before = this.owed.get(ref.id)
    const attempts = (before?.attempts ?? 0) + 1
    const wait = why === "broken" ? pause(breaks?.times ?? attempts, brokenMs) : pause(attempts, unansweredMs)
    this.owed.set(ref.id, { ref, desk, breaks, attempts, at: this.now() + wait })
  }

  /** It is back in memory, another node has it, or nothing is left to do. */
  met(id: string) {
    this.owed.delete(id)
  }

  /** Aborts what runs for them. */
  cutOff() {
    for (const { desk } of this.owed.values()) desk.cutOff()
  }

  /** Those whose pause is over, in the order in which they came. */
  ready(): ReadonlyArray<ActorRef> {
    if (this.owed.size === 0) return []
    const now = this.now()
    const ready: Array<ActorRef> = []
    for (const { at, ref } of this.owed.values()) if (at <= now) ready.push(ref)
    return ready
  }
}
