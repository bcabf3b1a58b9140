/**
 * Keeps a lease alive, whatever it is kept in: joins, beats, fences, and rejoins under a new name when
 * it has lapsed (L1 to L3).
 *
 * The deadline is the sender's: its view of the database's clock, which is never ahead of it, plus the
 * TTL. A beat that was delayed on its way therefore cannot promise more than was meant when it was sent.
 */
import { Data, Effect, PubSub, Stream } from "effect"
import { freshId } from "../seed.ts"
import { Lease, type LiveNode } from "./Lease.ts"

export interface LeaseOptions {
  /** The node's name: the same over restarts, different for each node. */
  readonly name: string
  /** Milliseconds; 5,000 unless given. */
  readonly ttl?: number
}

/** The node could not enter the list of nodes. */
export class LeaseRefused extends Data.TaggedError("LeaseRefused")<{ readonly cause: unknown }> {}

/** What a beat comes back with. */
export interface Pulse {
  /** The lease had not lapsed, and is renewed. */
  readonly alive: boolean
  /** The database's time. */
  readonly now: number
  readonly authRevision: number
  /** The live nodes without this one. */
  readonly others: ReadonlyArray<LiveNode>
}

/** Where leases are kept. Deadlines are milliseconds by the database's clock. */
export interface LeaseBook {
  /** Monotonic milliseconds. */
  readonly monotonic: () => number
  readonly now: () => Promise<number>
  readonly join: (incarnation: string, name: string, deadline: number) => Promise<Pulse>
  /** Undefined when it cannot be reached. */
  readonly beat: (incarnation: string, deadline: number) => Promise<Pulse | undefined>
  readonly leave: (incarnation: string) => Promise<void>
}

const byName = (a: LiveNode, b: LiveNode) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0

export const keepLease = Effect.fnUntraced(function*({ name, ttl = 5_000 }: LeaseOptions, book: LeaseBook) {
  const every = Math.min(1_000, ttl / 5)
  const authChanges = yield* PubSub.unbounded<number>()
  const rejoined = yield* PubSub.unbounded<string>()

  let incarnation = freshId("node")
  let nodes: ReadonlyArray<LiveNode> = []
  let revision: number | undefined
  let left = false
  /** Database time minus monotonic time, at its best known. */
  let offset = 0
  let latest = 0
  /** When the last beat that was answered had been sent. */
  let beatSent = -Infinity

  const now = () => latest = Math.max(latest, Math.floor(book.monotonic() + offset))

  const absorb = (pulse: Pulse, sent: number) => {
    // The database's time as of its answer's arrival: late by the way back, never ahead.
    offset = pulse.now - book.monotonic()
    beatSent = sent
    nodes = [{ incarnation, name }, ...pulse.others].sort(byName)
    if (pulse.authRevision === revision) return
    const first = revision === undefined
    revision = pulse.authRevision
    if (!first) PubSub.publishUnsafe(authChanges, revision)
  }

  const join = async () => {
    offset = await book.now() - book.monotonic()
    const sent = book.monotonic()
    absorb(await book.join(incarnation, name, sent + offset + ttl), sent)
  }

  /** A beat that did not arrive is noticed by the fence, and by the next one. */
  const beat = async () => {
    const sent = book.monotonic()
    const pulse = await book.beat(incarnation, sent + offset + ttl)
    if (left || pulse === undefined) return
    if (pulse.alive) return absorb(pulse, sent)
    // L1: what lapsed stays lapsed.
    incarnation = freshId("node")
    beatSent = -Infinity
    await join()
    PubSub.publishUnsafe(rejoined, incarnation)
  }

  yield* Effect.tryPromise({ try: join, catch: (cause) => new LeaseRefused({ cause }) })
  yield* Effect.tryPromise(beat).pipe(
    Effect.catch((error) => Effect.logWarning("a beat of the lease failed", error)),
    Effect.delay(every),
    Effect.forever,
    Effect.forkScoped
  )

  return Lease.of({
    incarnation: () => incarnation,
    now,
    fenced: () => left || book.monotonic() - beatSent > 0.8 * ttl,
    nodes: () => nodes,
    authRevision: () => revision ?? 0,
    authChanges: Stream.fromPubSub(authChanges),
    rejoined: Stream.fromPubSub(rejoined),
    leave: Effect.suspend(() => {
      left = true
      return Effect.ignore(Effect.tryPromise(() => book.leave(incarnation)))
    })
  })
})
