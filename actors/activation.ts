/**
 * How an actor gets into this node's memory.
 *
 * V1. One live actor per id: concurrent first commands share one claim.
 * V2. A claim, a load or a fold that comes to nothing leaves the actor owed: it may be this node's by then.
 *     An actor that breaks is left alone until its pause is over: whoever asks for it is told how long.
 * V3. Work that is taken up again and again without progress is given up: its actor is told so, and if it breaks over
 *     that too, it is set aside in the journal by a statement that decides nothing, until a command wakes it. The head
 *     alone decides, so that an actor that cannot be loaded is set aside as well.
 */
import { Cause, Deferred, Effect, type Fiber, Semaphore } from "effect"
import type { ActorRef, Claimed, Head, Journal, Loaded, OwnedElsewhere } from "../src/journal/Journal.ts"
import type { Lease } from "../src/journal/Lease.ts"
import { shardOf } from "../src/journal/shard.ts"
import type { Monotonic } from "../src/monotonic.ts"
import { actorClaims, actorsQuarantined, record } from "../src/telemetry/metrics.ts"
import { type ActorError, Draining, Declined, Unreachable } from "./Actor.ts"
import { Desk } from "./Desk.ts"
import type { Item } from "./envelope.ts"
import type { Activation } from "./live.ts"
import type { Kind } from "./Kind.ts"
import type { Obligations } from "./obligations.ts"
import type { Residents } from "./residents.ts"

export interface ActivationOptions<Snapshot, Request> {
  readonly kind: Pick<Kind<Snapshot, Request, unknown, unknown>, "name" | "load" | "poison">
  readonly journal: Pick<Journal["Service"], "claim" | "load" | "quarantine">
  readonly lease: Pick<Lease["Service"], "fenced" | "incarnation">
  readonly monotonic: Monotonic
  readonly residents: Residents<Snapshot, Request>
  readonly obligations: Obligations<Request>
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
  /**
   * Performs what the state of an actor implies. `mine`: this node has owned it since it started what is on its desk.
   */
  readonly resume: (live: Activation<Snapshot, Request>, mine: boolean) => void
  readonly push: (live: Activation<Snapshot, Request>, item: Item<Request>) => void
  readonly drop: (live: Activation<Snapshot, Request>, why: "broken") => void
  /** The node takes nothing new. */
  readonly closed: () => boolean
  /** Takeovers without progress after which an actor's work is given up. */
  readonly takeoverLimit: number
}

/** Why an actor is wanted: its own work, or a command, which a node that leaves takes only for what it owns (J5). */
type WantedFor = "asked" | "due"

interface Loading<Actor> {
  readonly wanted: WantedFor
  readonly done: Deferred.Deferred<Actor, ActorError | OwnedElsewhere>
}

/** How often an actor is told that its work is given up before it is set aside (V3). */
const farewells = 2

/** Owed actors that are being taken up at once. */
const servedAtOnce = 50

const retryAfterSeconds = 2

/** Set aside with its work undone (V3): nothing is due, but for the facts of a turn that has not ended. */
export const isAside = ({ runnableAt, since }: Head) => runnableAt === null && since !== null

export const makeActivation = <Snapshot, Request>({
  closed,
  drop,
  fork,
  takeoverLimit,
  journal,
  kind,
  lease,
  monotonic,
  obligations,
  push,
  residents,
  resume
}: ActivationOptions<Snapshot, Request>) => {
  type Actor = Activation<Snapshot, Request>
  const loading = new Map<string, Loading<Actor>>()
  const nameOf = ({ id, workspace }: ActorRef) => `${workspace}/${id}`
  const claims = actorClaims.with({ kind: kind.name })

  const activate = (
    loaded: Pick<Loaded, "actor" | "parent" | "attributes" | "createdAt" | "epoch" | "head">,
    snapshot: Snapshot,
    unborn: boolean
  ) => {
    const owed = obligations.get(loaded.actor)
    const actor: Actor = {
      ref: loaded.actor,
      parent: loaded.parent,
      attributes: loaded.attributes,
      createdAt: loaded.createdAt,
      epoch: loaded.epoch,
      head: loaded.head,
      snapshot,
      unborn,
      shard: shardOf(loaded.actor.id),
      mailbox: [],
      busy: false,
      dropped: undefined,
      desk: owed?.desk ?? new Desk(loaded.actor.id),
      lastUsedAt: monotonic(),
      settling: []
    }
    residents.enter(actor)
    // A birth that is tried again may find that the first one has arrived: until it is committed, that one is owed.
    if (!unborn) obligations.met(actor.ref)
    return actor
  }

  /** Another node has it, or nothing is left to do: what is on its desk is nobody's. */
  const discharge = (ref: ActorRef) => {
    obligations.get(ref)?.desk.clear()
    obligations.met(ref)
  }

  const setAside = Effect.fnUntraced(function* ({ actor: ref, epoch }: Claimed, times: number) {
    yield* journal.quarantine(ref, epoch)
    record(actorsQuarantined)
    yield* Effect.logError("an actor breaks whatever is tried: it is set aside until a command wakes it").pipe(
      Effect.annotateLogs({ actorId: ref.id, count: times })
    )
  })

  /** Reads a claimed actor, unless it is set aside or nothing is to be done for it, and says how it goes on. */
  const read = Effect.fnUntraced(function* (claimed: Claimed, wanted: WantedFor, claimant: string) {
    const { actor: ref, head, mine } = claimed
    const hasMoment = head.runnableAt !== null
    const held = obligations.get(ref)?.held === true
    const times = claimed.takeovers + obligations.crashesAt(ref, head.pos)
    if (wanted === "due" && (!hasMoment || times >= takeoverLimit + farewells)) {
      if (hasMoment) yield* setAside(claimed, times)
      // Nobody wants what is on its desk: that ends, and with it what comes in late. What is set aside may go on.
      else if (!isAside(head)) obligations.get(ref)?.desk.endAll()
      discharge(ref)
      return yield* new Unreachable({ retryAfterSeconds })
    }
    const loaded = yield* journal.load(claimed)
    // This node's lease has lapsed since the claim: the actor belongs to whoever claimed it first.
    if (lease.incarnation() !== claimant) return yield* new Unreachable({ retryAfterSeconds })
    const poison = isAside(head) || (hasMoment && times >= takeoverLimit) ? kind.poison : undefined
    return { actor: activate(loaded, kind.load(loaded), false), hasMoment, poison, startedHere: mine && held }
  })

  /** It is in memory: what breaks from here on breaks as it does in Host.ts. */
  const begin = ({ actor, hasMoment, poison, startedHere }: Effect.Success<ReturnType<typeof read>>) =>
    Effect.sync(() => {
      if (poison === undefined && hasMoment) resume(actor, startedHere)
      else actor.desk.endAll()
      if (poison !== undefined) push(actor, { request: poison, reply: () => {} })
      return actor
    }).pipe(Effect.tapDefect(() => Effect.sync(() => drop(actor, "broken"))))

  const load = Effect.fnUntraced(function* (ref: ActorRef, wanted: WantedFor) {
    const owe = (why: "unanswered" | "broken", pos?: number) => Effect.sync(() => obligations.failed(ref, why, pos))
    const unreachable = Effect.andThen(owe("unanswered"), Effect.fail(new Unreachable({ retryAfterSeconds })))
    const onlyMine = wanted === "asked" && closed() && obligations.get(ref) === undefined
    const claimant = lease.incarnation()
    const claimed = yield* journal.claim(ref, onlyMine).pipe(
      Effect.tapDefect(() => owe("broken")),
      Effect.catchTags({
        NoSuchActor: () => {
          if (obligations.unknown(ref)) discharge(ref)
          return Effect.fail(new Declined({ reason: "not_found", message: `There is no such ${ref.kind}.` }))
        },
        OwnedElsewhere: (elsewhere) => {
          discharge(ref)
          return Effect.fail(elsewhere)
        },
        NotOwned: () => Effect.fail(new Draining()),
        JournalUnavailable: () => unreachable
      })
    )
    record(claims)
    const found = yield* read(claimed, wanted, claimant).pipe(
      Effect.tapDefect(() => owe("broken", claimed.head.pos)),
      Effect.catchTag("JournalUnavailable", () => unreachable)
    )
    return yield* begin(found)
  })

  /** V1. `owned`: so says the journal, or another node's memory. It may then come back even to a node that leaves. */
  const find = (
    ref: ActorRef,
    owned = false,
    wanted: WantedFor = "asked"
  ): Effect.Effect<Actor, ActorError | OwnedElsewhere> =>
    Effect.suspend(() => {
      const found = residents.get(ref.id)
      if (found !== undefined) {
        // An id is unique, but who asks must be of its workspace.
        return found.ref.workspace === ref.workspace
          ? Effect.succeed(found)
          : Effect.fail(new Declined({ reason: "not_found", message: `There is no such ${ref.kind}.` }))
      }
      if (closed() && !owned) return Effect.fail(new Draining())
      const pauseMs = wanted === "due" ? 0 : obligations.brokenFor(ref)
      if (pauseMs > 0) return Effect.fail(new Unreachable({ retryAfterSeconds: Math.ceil(pauseMs / 1_000) }))
      // Two nodes without a lease would take an actor from each other for ever.
      if (lease.fenced()) return Effect.fail(new Unreachable({ retryAfterSeconds }))
      const name = nameOf(ref)
      const pending = loading.get(name)
      if (pending !== undefined) {
        const joined = Deferred.await(pending.done)
        // It may come to nothing because nothing is due: who asks for it asks again.
        return wanted === "asked" && pending.wanted === "due"
          ? Effect.catchTag(joined, "Unreachable", () => find(ref, owned, wanted))
          : joined
      }
      const done = Deferred.makeUnsafe<Actor, ActorError | OwnedElsewhere>()
      loading.set(name, { wanted, done })
      fork(
        Effect.flatMap(Effect.exit(load(ref, wanted)), (exit) => {
          loading.delete(name)
          return Deferred.done(done, exit)
        })
      )
      return Deferred.await(done)
    })

  /** What nobody waits for: one that breaks must not take those behind it along. */
  const unasked = <A>(ref: ActorRef, effect: Effect.Effect<A, ActorError | OwnedElsewhere>) =>
    Effect.catchCause(Effect.asVoid(effect), (cause) =>
      Cause.hasDies(cause)
        ? Effect.logError("an actor could not be woken", cause).pipe(Effect.annotateLogs({ actorId: ref.id }))
        : Effect.void
    )

  const hands = Semaphore.makeUnsafe(servedAtOnce)
  const served = new Set<string>()
  /** Begins to take up what is owed and whose pause is over: one that takes long holds up no other. */
  const serve = Effect.sync(() => {
    if (lease.fenced()) return
    for (const ref of obligations.ready()) {
      const name = nameOf(ref)
      if (served.has(name)) continue
      served.add(name)
      fork(
        hands
          .withPermits(1)(unasked(ref, find(ref, true, "due")))
          .pipe(Effect.ensuring(Effect.sync(() => served.delete(name))))
      )
    }
  })

  return {
    activate,
    find,
    serve,
    unasked,
    /** Claims and resumes an actor that is due. */
    wake: (ref: ActorRef) => unasked(ref, find(ref, false, "due")),
    isLoading: (ref: ActorRef) => loading.size > 0 && loading.has(nameOf(ref)),
    loading: () => loading.size
  }
}
