/**
 * Actors that this node has, or may have, and that are not in its memory are owed two things by it: to be taken up
 * again, and to be told the outcomes of their jobs.
 *
 * O1. An actor enters on every way out of memory, and on every way into it that failed, as long as it may be this
 *     node's and may have something to do. It leaves when it is back in memory, when another node has it, or when there
 *     is nothing left to do: never because somebody looked.
 * O2. Its desk stays with it: jobs that still run, and outcomes in hand.
 * O3. An obligation that comes back again and again does so with growing pauses: where the journal does not answer a
 *     few seconds at most, where the actor breaks five minutes.
 */
import type { ActorRef } from "../src/journal/Journal.ts"
import { Desk } from "./Desk.ts"

/** How often an actor broke its host at one position of its journal. */
export interface Crashes {
  readonly pos: number
  readonly times: number
}

export interface Owed<Request> {
  readonly ref: ActorRef
  readonly desk: Desk<Request>
  readonly crashes: Crashes | undefined
  /**
   * It has been in memory here since this node took it over or bore it: what is on its desk is all that was started for
   * it. One whose claim got no answer may have been taken from a dead node; so may one that others could take
   * meanwhile, since its owner's lease has lapsed, or it was given back.
   */
  readonly held: boolean
  /** Milliseconds: a birth without an answer may still be on its way until then. */
  readonly unbornUntil: number | undefined
  /** Attempts to meet it that failed, one after the other. */
  readonly attempts: number
  /** Milliseconds: not before. */
  readonly at: number
}

/** The journal did not answer; or the actor's own code or data stopped it. */
type Why = "unanswered" | "broken"

type Whose = Pick<ActorRef, "id" | "workspace">

/** Longer than any statement takes, wherever it hangs. */
const unbornMs = 60_000

export const brokenAt = (before: Crashes | undefined, pos: number): Crashes => ({
  pos,
  times: before?.pos === pos ? before.times + 1 : 1
})

const unansweredMs = { first: 250, most: 2_000 }
const brokenMs = { first: 1_000, most: 300_000 }

const pause = (times: number, { first, most }: typeof brokenMs) => Math.min(most, first * 2 ** Math.max(0, times - 1))

export class Obligations<Request> {
  private readonly owed = new Map<string, Owed<Request>>()
  /** An id is unique, but who asks with one may be of another workspace. */
  private readonly key = ({ id, workspace }: Whose) => `${workspace}/${id}`
  private readonly now: () => number

  /** `now`: milliseconds. */
  constructor(now: () => number) {
    this.now = now
  }

  get size() {
    return this.owed.size
  }

  get(ref: Whose): Owed<Request> | undefined {
    // Most of the time nothing is owed, and each commit asks.
    return this.owed.size === 0 ? undefined : this.owed.get(this.key(ref))
  }

  /**
   * An actor has left memory with something to do: it is to be taken up again. `crashes` of one that broke, `unborn`
   * one whose birth has no answer.
   */
  owe(
    { crashes, desk, ref, unborn }: Pick<Owed<Request>, "ref" | "desk" | "crashes"> & { readonly unborn: boolean },
    why: Why,
    held = true
  ) {
    this.owed.set(
      this.key(ref),
      this.paused(
        { ref, desk, crashes, held, unbornUntil: unborn ? this.now() + unbornMs : undefined, attempts: 1 },
        why
      )
    )
  }

  /** An attempt to take it up came to nothing: it may be this node's by now. `pos`: where it broke. */
  failed(ref: ActorRef, why: Why, pos?: number) {
    const before = this.get(ref) ?? {
      ref,
      desk: new Desk<Request>(ref.id),
      crashes: undefined,
      held: false,
      unbornUntil: undefined,
      attempts: 0
    }
    const crashes = pos === undefined ? before.crashes : brokenAt(before.crashes, pos)
    this.owed.set(this.key(ref), this.paused({ ...before, crashes, attempts: before.attempts + 1 }, why))
  }

  /** The journal knows no such actor. Whether that settles it: not while its birth may still be on its way. */
  unknown(ref: ActorRef): boolean {
    const until = this.get(ref)?.unbornUntil
    if (until === undefined || until <= this.now()) return true
    this.failed(ref, "unanswered")
    return false
  }

  private paused(owed: Omit<Owed<Request>, "at">, why: Why): Owed<Request> {
    const wait =
      why === "broken" ? pause(owed.crashes?.times ?? owed.attempts, brokenMs) : pause(owed.attempts, unansweredMs)
    return { ...owed, at: this.now() + wait }
  }

  /** It is back in memory, another node has it, or nothing is left to do. */
  met(ref: Whose) {
    if (this.owed.size > 0) this.owed.delete(this.key(ref))
  }

  /** Others may take them from now on. */
  released() {
    for (const [key, owed] of this.owed) this.owed.set(key, { ...owed, held: false })
  }

  /** Milliseconds until one that broke is tried again; 0 for any other. */
  brokenFor(ref: Whose) {
    const owed = this.get(ref)
    return owed?.crashes === undefined ? 0 : Math.max(0, owed.at - this.now())
  }

  /** Aborts what runs for them. */
  cutOff() {
    for (const { desk } of this.owed.values()) desk.cutOff()
  }

  /** Ends what stands in line for them and can as well be done elsewhere. */
  withhold() {
    for (const { desk } of this.owed.values()) desk.withhold()
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
