/**
 * Keeps a lease alive, whatever it is kept in: joins, beats, fences, and rejoins under a new name when
 * it has lapsed (L1 to L3).
 *
 * The deadline is the sender's: its view of the database's clock, which is never ahead of it, plus the
 * TTL. A beat that was delayed on its way therefore cannot promise more than was meant when it was sent.
 */
import { Data, Effect, PubSub, Semaphore, Stream } from "effect"
import { freshId } from "../seed.ts"
import { leaseLapses, record } from "../telemetry/metrics.ts"
import { Lease, type LiveNode, type NodeStatus } from "./Lease.ts"

export interface LeaseOptions {
  /** The node's name: the same over restarts, different for each node. */
  readonly name: string
  /** Milliseconds; 5,000 unless given. */
  readonly ttl?: number
  /** What the row says from its first moment on: names of the keys of this node's messages, the first of them signs. */
  readonly signs?: ReadonlyArray<string>
}

/** What a row says of its node. */
export type RowStatus = NodeStatus & Pick<LiveNode, "signs" | "webhooks">

/** A node of the list as another one sees it. */
export interface Neighbour extends LiveNode {
  /** Milliseconds by the database's clock. */
  readonly deadline: number
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
  readonly others: ReadonlyArray<Neighbour>
}

/** Where leases are kept. Deadlines are milliseconds by the database's clock. */
export interface LeaseBook {
  /** Monotonic milliseconds. */
  readonly monotonic: () => number
  readonly now: () => Promise<number>
  readonly join: (incarnation: string, name: string, deadline: number, status: RowStatus) => Promise<Pulse>
  /** Undefined when it cannot be reached. */
  readonly beat: (incarnation: string, deadline: number, status: RowStatus) => Promise<Pulse | undefined>
  readonly leave: (incarnation: string) => Promise<void>
}

const byName = (a: LiveNode, b: LiveNode) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

export const keepLease = Effect.fnUntraced(function* ({ name, signs, ttl = 5_000 }: LeaseOptions, book: LeaseBook) {
  const beatEvery = Math.min(1_000, ttl / 5)
  const authChanges = yield* PubSub.unbounded<number>()
  const rejoined = yield* PubSub.unbounded<string>()
  const services = yield* Effect.context<never>()
  const onLapse = new Set<() => void>()
  const oneBeat = Semaphore.makeUnsafe(1)

  let incarnation = freshId("node")
  let described: () => NodeStatus = () => ({ actors: 0, births: 0, draining: false, bus: "" })
  let webhooks = 0
  const status = (): RowStatus => ({ ...described(), ...(signs === undefined ? {} : { signs }), webhooks })
  let others: ReadonlyArray<Neighbour> = []
  let nodes: ReadonlyArray<LiveNode> = []
  /** When the first of the others lapses, should it not beat again. */
  let firstLapse = Infinity
  let revision: number | undefined
  let left = false
  /** Database time minus monotonic time, at its best known. */
  let offset = 0
  let latest = 0
  /** When the last beat that was answered had been sent. */
  let beatSent = -Infinity
  /** Deadlines of others with this node's name as they were first seen; undefined once that was said. */
  const namesakes = new Map<string, number | undefined>()

  const now = () => (latest = Math.max(latest, Math.floor(book.monotonic() + offset)))

  const look = () => {
    const at = now()
    others = others.filter(({ deadline }) => deadline > at)
    firstLapse = Math.min(...others.map(({ deadline }) => deadline))
    nodes = [{ incarnation, name, ...status() }, ...others].sort(byName)
  }

  /**
   * The life before this one may still be on the list after a crash: only one that goes on beating is a second node.
   */
  const warnOfNamesakes = () => {
    for (const other of others) {
      if (other.name !== name) continue
      const seen = namesakes.get(other.incarnation)
      if (!namesakes.has(other.incarnation)) namesakes.set(other.incarnation, other.deadline)
      else if (seen !== undefined && other.deadline > seen) {
        namesakes.set(other.incarnation, undefined)
        Effect.runForkWith(services)(
          Effect.logWarning("another live node has this node's name: give each its own TROUPE_NODE_ID").pipe(
            Effect.annotateLogs({ node: name })
          )
        )
      }
    }
  }

  /**
   * Whoever looks for the reason of what follows finds it here: nothing of this node's actors is left, and streams
   * begin anew.
   */
  const warnOfLapse = (silentMs: number) => {
    record(leaseLapses)
    Effect.runForkWith(services)(
      Effect.logWarning(
        "this node's lease has lapsed: it was silent for longer than the TTL. Its actors go on elsewhere, and it " +
          "joins again"
      ).pipe(Effect.annotateLogs({ incarnation, ms: Math.round(silentMs) }))
    )
  }

  const absorb = (pulse: Pulse, sent: number) => {
    // The database's time as of its answer's arrival: late by the way back, never ahead.
    offset = pulse.now - book.monotonic()
    beatSent = sent
    others = pulse.others
    look()
    warnOfNamesakes()
    if (pulse.authRevision === revision) return
    const first = revision === undefined
    revision = pulse.authRevision
    if (!first) PubSub.publishUnsafe(authChanges, revision)
  }

  const join = async () => {
    offset = (await book.now()) - book.monotonic()
    const sent = book.monotonic()
    absorb(await book.join(incarnation, name, sent + offset + ttl, status()), sent)
  }

  /** A beat that did not arrive is noticed by the fence, and by the next one. */
  const beat = async () => {
    if (left) return
    const sent = book.monotonic()
    const pulse = await book.beat(incarnation, sent + offset + ttl, status())
    if (left || pulse === undefined) return
    if (pulse.alive) return absorb(pulse, sent)
    // L1: what lapsed stays lapsed. The fence is closed until the next life has begun.
    warnOfLapse(book.monotonic() - beatSent)
    for (const drop of onLapse) drop()
    incarnation = freshId("node")
    beatSent = -Infinity
    await join()
    PubSub.publishUnsafe(rejoined, incarnation)
  }

  yield* Effect.tryPromise({ try: join, catch: (cause) => new LeaseRefused({ cause }) })
  const beating = oneBeat
    .withPermits(1)(Effect.tryPromise(beat))
    .pipe(Effect.catch((error) => Effect.logWarning("a beat of the lease failed", error)))
  yield* beating.pipe(Effect.delay(beatEvery), Effect.forever, Effect.forkScoped)

  return Lease.of({
    incarnation: () => incarnation,
    now,
    fenced: () => left || book.monotonic() - beatSent > 0.8 * ttl,
    nodes: () => {
      if (now() >= firstLapse) look()
      return nodes
    },
    describe: (give) => {
      described = give
    },
    beat: beating,
    beatEvery,
    authRevision: () => revision ?? 0,
    authChanges: Stream.fromPubSub(authChanges),
    knowWebhooks: (revision) =>
      Effect.suspend(() => {
        webhooks = Math.max(webhooks, revision)
        return beating
      }),
    onLapse: (listener) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => onLapse.add(listener)),
          () => Effect.sync(() => onLapse.delete(listener))
        )
      ),
    rejoined: Stream.fromPubSub(rejoined),
    leave: Effect.suspend(() => {
      left = true
      return Effect.ignore(Effect.tryPromise(() => book.leave(incarnation)))
    })
  })
})
