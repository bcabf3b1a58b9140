/** One actor in memory, and the way of its commands through it. */
import type { Exit } from "effect"
import type { Head } from "../src/journal/Journal.ts"
import { type ActorError, type Reply, Unreachable } from "./Actor.ts"
import type { Desk } from "./Desk.ts"
import type { Item } from "./envelope.ts"
import type { ActorView, WriteSet } from "./Kind.ts"

/**
 * Why an actor leaves memory: another owner has it; an append has no known outcome; a defect in its own code, or one
 * over a row of its inbox, for which the row is to blame; no beat of the lease in time, or the lease is over; the node
 * is leaving; its birth was refused; or nothing is wrong and it rests.
 */
export type DropReason =
  | "superseded"
  | "unavailable"
  | "broken"
  | "stumbled"
  | "fenced"
  | "lapsed"
  | "drained"
  | "unborn"
  | "rested"

/** One live actor. */
export interface Activation<Snapshot, Request> extends ActorView<Snapshot> {
  snapshot: Snapshot
  head: Head
  readonly epoch: number
  readonly shard: number
  /** Its birth is not written yet. */
  unborn: boolean
  /**
   * Commands that came another way than their first, which may still bring them (H4): their ids, and when they came, in
   * milliseconds, the oldest first.
   */
  seen?: Map<string, number>
  readonly mailbox: Array<Item<Request>>
  busy: boolean
  dropped: DropReason | undefined
  readonly desk: Desk<Request>
  /** Monotonic milliseconds of its last command. */
  lastUsedAt: number
  /** Called once, when what is in the mailbox now has been worked off. */
  readonly settling: Array<() => void>
}

/** What a command came to, before anything of it is written. */
export interface DecidedStep<Snapshot, Request, Job, W extends WriteSet> {
  readonly item: Item<Request>
  readonly exit: Exit.Exit<Reply, ActorError>
  readonly before: Snapshot
  readonly next: Snapshot
  readonly written?: W
  readonly jobs: ReadonlyArray<Job>
}

/** Commands of one append. */
export const mostTogether = 64

/** Nothing is known to have happened: whoever asked may ask again. */
export const unreachable = () => new Unreachable({ retryAfterSeconds: 2 })
