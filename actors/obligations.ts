/**
 * Actors that this node has, or may have, and that are not in its memory are owed two things by it: to be taken up
 * again, and to be told the outcomes of their jobs.
 *
 * O1. An actor enters on every way out of memory, and on every way into it that failed, as long as it may be this
 *     node's and may have something to do. It leaves when it is back in memory, when another node has it, or when there
 *     is nothing left to do: never because somebody looked.
 * O2. Its desk stays with it: jobs that still run, and outcomes in hand.
 * O3. An obligation that comes back again and again does so with growing pauses: where the journal does not answer a
 *     few seconds at most, where the actor breaks five minutes (Crashes.ts).
 */
import type { ActorRef } from "../src/journal/Journal.ts"
import { crashPauseMs, Crashes, growingPause } from "./Crashes.ts"
import { Desk } from "./Desk.ts"

export interface Owed<Request> {
  readonly ref: ActorRef
  readonly desk: Desk<Request>
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

const unansweredMs = { first: 250, most: 2_000 }

const unansweredPauseMs = (attempts: number) => growingPause(unansweredMs.first, unansweredMs.most, attempts)

export class Obligations<Request> {
  private readonly owed = new Map<string, Owed<Request>>()
  private readonly crashes: Crashes
  /** An id is unique, but who asks with one may be of another workspace. */
  private readonly key = ({ id, workspace }: Whose) => `${workspace}/${id}`
  private readonly now: () => number

  /** `now`: milliseconds. */
  constructor(now: () => number) {
    this.now = now
    this.crashes = new Crashes(now)
  }

  get size() {
    return this.owed.size
  }

  get(ref: Whose): Owed<Request> | undefined {
    // Most of the time nothing is owed, and each commit asks.
    return this.owed.size === 0 ? undefined : this.owed.get(this.key(ref))
  }

  /**
   * An actor has left memory with something to do: it is to be taken up again. `unborn`: one whose birth has no answer;
   * `brokeAt`: the position of its journal at which it broke.
   */
  owe(
    { desk, ref, unborn }: Pick<Owed<Request>, "ref" | "desk"> & { readonly unborn: boolean },
    { brokeAt, held }: { readonly brokeAt?: number; readonly held: boolean }
  ) {
    const unbornUntil = unborn ? this.now() + unbornMs : undefined
    const owed = { ref, desk, held, unbornUntil, attempts: 1 }
    const crashes = brokeAt === undefined ? undefined : this.crashes.add(this.key(ref), brokeAt)
    this.enter(owed, crashes === undefined ? unansweredPauseMs(1) : crashPauseMs(crashes))
  }

  /** An attempt to take it up came to nothing: it may be this node's by now. `brokeAt`: as above. */
  failed(ref: ActorRef, why: Why, brokeAt?: number) {
    const before = this.get(ref) ?? {
      ref,
      desk: new Desk<Request>(ref.id),
      held: false,
      unbornUntil: undefined,
      attempts: 0
    }
    const owed = { ...before, attempts: before.attempts + 1 }
    const times = brokeAt === undefined ? owed.attempts : this.crashes.add(this.key(ref), brokeAt)
    this.enter(owed, why === "broken" ? crashPauseMs(times) : unansweredPauseMs(owed.attempts))
  }

  /** An actor to which nothing is owed broke all the same: who asks for it is told to wait. */
  crashed(ref: ActorRef, pos: number) {
    this.crashes.add(this.key(ref), pos)
  }

  /** How often it broke at that position of its journal. */
  crashesAt(ref: Whose, pos: number) {
    return this.crashes.times(this.key(ref), pos)
  }

  /** The journal knows no such actor. Whether that settles it: not while its birth may still be on its way. */
  unknown(ref: ActorRef): boolean {
    const until = this.get(ref)?.unbornUntil
    if (until === undefined || until <= this.now()) return true
    this.failed(ref, "unanswered")
    return false
  }

  private enter(owed: Omit<Owed<Request>, "at">, pauseMs: number) {
    this.owed.set(this.key(owed.ref), { ...owed, at: this.now() + pauseMs })
  }

  /** It is back in memory, another node has it, or nothing is left to do. */
  met(ref: Whose) {
    if (this.owed.size > 0) this.owed.delete(this.key(ref))
  }

  /** Others may take them from now on. */
  released() {
    for (const [key, owed] of this.owed) this.owed.set(key, { ...owed, held: false })
  }

  /** Milliseconds for which one that broke is left alone; 0 for any other. */
  brokenFor(ref: Whose) {
    if (this.crashes.size === 0) return 0
    return Math.max(0, (this.crashes.until(this.key(ref)) ?? 0) - this.now())
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
