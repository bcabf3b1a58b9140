/**
 * The actors of one kind on this node: how commands reach them, and what follows when one is lost.
 * `activation.ts` brings them into memory, `leaving.ts` out of it, `residents.ts` holds them, `obligations.ts` what is
 * owed to the others, `answering.ts` answers other nodes, and `wakeable.ts` is what the sweep has of them.
 *
 * R1. An actor that was lost while it had something to do is owed: this node takes it up again, whatever else the sweep
 *     can or cannot read.
 * R2. A command for an actor that is not here goes to the node that has it, or is to have it. Commands that only this
 *     node may send (a job's outcome, the time) never leave it.
 */
import { Effect, type Exit, type Fiber } from "effect"
import { Bus } from "../src/bus/Bus.ts"
import { type ActorRef, type Append, type Head, Journal } from "../src/journal/Journal.ts"
import { Lease } from "../src/journal/Lease.ts"
import { makeMonotonic } from "../src/monotonic.ts"
import { Quotas } from "../src/quotas/Quotas.ts"
import { isAside, makeActivation } from "./activation.ts"
import { makeAnswering } from "./answering.ts"
import { type ActorError, type Reply, Draining, Unreachable } from "./Actor.ts"
import type { Bulkheads } from "./Bulkheads.ts"
import type { Envelope } from "./envelope.ts"
import { makeForwarding } from "./forwarding.ts"
import { makeHost } from "./Host.ts"
import type { Activation, DropReason } from "./live.ts"
import type { Kind, WriteSet } from "./Kind.ts"
import { makeLeaving } from "./leaving.ts"
import { Obligations } from "./obligations.ts"
import { Placement } from "./Placement.ts"
import { makeQueueing } from "./queueing.ts"
import { makeReaders } from "./readers.ts"
import { Registries } from "./Registries.ts"
import { Residents } from "./residents.ts"
import { Router } from "./Router.ts"
import { makeWakeable } from "./wakeable.ts"

export interface RegistryOptions {
  /** Milliseconds at rest after which an actor leaves memory. */
  readonly idleMs: number
  /** Takeovers without progress after which an actor's work is given up. */
  readonly takeoverLimit: number
  /** Actors in memory, as long as others rest (G4 of leaving.ts). */
  readonly mostActors: number
  readonly bulkheads: Bulkheads
}

/** Nobody has the actor: it was never born. */
export const isUnknown = (failure: ActorError) => failure._tag === "Refused" && failure.reason === "not_found"

export interface Birth {
  readonly parent: string | null
  readonly attributes: string
}

/** Nobody else can have had an actor that left memory so, and all that was started for it is on its desk. */
const kept: ReadonlySet<DropReason> = new Set(["broken", "stumbled", "fenced"])

export const makeRegistry = Effect.fn("Registry.make")(function* <Snapshot, Request, Command, Job, W extends WriteSet>(
  kind: Kind<Snapshot, Request, Command, Job, W>,
  options: RegistryOptions
) {
  const bus = yield* Bus
  const journal = yield* Journal
  const lease = yield* Lease
  const placement = yield* Placement
  const quotas = yield* Quotas
  const router = yield* Router
  const registries = yield* Registries
  const services = yield* Effect.context()
  const run = Effect.runForkWith(services)
  const fork = <A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> => run(effect)

  type Actor = Activation<Snapshot, Request>
  const residents = new Residents<Snapshot, Request>(kind.nextDue)
  const obligations = new Obligations<Request>(lease.now)
  const to = { bus, journal, lease, monotonic: yield* makeMonotonic, placement, residents, obligations, fork }
  const ground = { ...options, ...to, name: kind.name, kind }
  let closed = false
  let leaving = false

  const onDropped = (actor: Actor, why: DropReason) => {
    const { desk } = actor
    residents.leave(actor)
    if (why === "rested") return
    // An append without an answer may have happened: the head that is known says nothing of what it began. Its jobs go
    // on.
    if (why === "unavailable") return obligations.owe(actor, { held: true })
    if (why === "drained") return desk.clear()
    // Another owner may perform them, or nobody may; what only broke goes on.
    if (why !== "broken" && why !== "stumbled") desk.cutOff()
    owe(actor, why)
  }

  /** O1: what one that has left memory, as it is known, leaves to be done. */
  const owe = (actor: Actor, why: DropReason) => {
    const { desk, head, ref } = actor
    // Of a lapsed lease others may take the actors over; only an outcome in hand is worth a claim.
    const owes = why === "lapsed" ? desk.hasOutcomes : head.runnableAt !== null || !desk.isClear
    const brokeAt = why === "broken" ? { brokeAt: head.pos } : {}
    if (owes) return obligations.owe(actor, { held: kept.has(why), ...brokeAt })
    desk.clear()
    // It broke over being given up (V3 of activation.ts).
    if (why === "broken" && isAside(head)) obligations.crashed(ref, head.pos)
  }

  /** For those who follow steps: events of threads are told of by their kind. */
  const tellMoved = ({ actor: { id, workspace }, facts }: Append, parent: string | null) => {
    if (facts.length === 0 || facts.some((fact) => fact.public && fact.turn !== null)) return
    const about = { workspace, agentId: parent ?? "", threadId: kind.nouns.id === "thread" ? id : "" }
    if (bus.watched(about)) bus.publish({ ...about, type: "moved", actorId: id })
  }

  const host = makeHost<Snapshot, Request, Command, Job, W>({
    ...ground,
    onDropped,
    leaving: () => leaving,
    employer: (desk) => residents.employer(desk),
    onMoved: (actor) => {
      if (actor.dropped !== undefined) {
        // Lost while its append was on its way, which has arrived: what that began nobody knew of, and is owed as well.
        // One that has been read again since knows it.
        if (obligations.get(actor.ref) === undefined && !residents.has(actor.ref.id)) owe(actor, actor.dropped)
        return
      }
      obligations.met(actor.ref)
      residents.note(actor)
    },
    onAppended: (append, { parent }) => {
      quotas.appended(append)
      tellMoved(append, parent)
    },
    onKept: (workspace, { body }) => quotas.add(workspace, "stored_bytes", Buffer.byteLength(body)),
    retell: (actor, envelope) => tell(actor.ref, envelope)
  })
  const { drop, push, resume } = host
  const isClosed = () => closed
  const activation = makeActivation<Snapshot, Request>({ ...ground, drop, push, resume, closed: isClosed })
  const { activate, find, isLoading, loading, serve, unasked, wake } = activation
  const { drain, evict, isEmpty, passivate } = makeLeaving({ ...ground, loading, drop })
  const { current, settled } = makeReaders(residents, lease)
  const queueing = makeQueueing<Snapshot, Request>({ kind: kind.name, lease, residents, router })

  const tellHere = (ref: ActorRef, envelope: Envelope<Request>, owned?: boolean) =>
    Effect.flatMap(find(ref, owned), (actor) => host.tell(actor, envelope))

  const elsewhere = () => new Unreachable({ retryAfterSeconds: 2, elsewhere: true })
  const local = (ref: ActorRef, envelope: Envelope<Request>): Effect.Effect<Reply, ActorError> =>
    Effect.catchTag(tellHere(ref, envelope), "OwnedElsewhere", () => Effect.fail(elsewhere()))

  const forward = makeForwarding<Request>({ lease, placement, router, tell: tellHere })

  /** R2. */
  const tell = (ref: ActorRef, envelope: Envelope<Request>): Effect.Effect<Reply, ActorError> =>
    Effect.suspend(() => {
      const actor = residents.get(ref.id)
      if (actor?.ref.workspace === ref.workspace) return host.tell(actor, envelope)
      const isHere = actor !== undefined || envelope.inboxRow !== undefined
      const travel = isHere ? undefined : kind.forwardable(envelope.request)
      if (travel === undefined) return local(ref, envelope)
      return forward(
        ref,
        { sent: { id: travel.id, at: lease.now(), redelivered: false }, ...envelope },
        travel.storable
      )
    })

  router.answer(kind, makeAnswering({ ...ground, closed: isClosed, queueing, tell: tellHere }))

  /**
   * A new actor: its first command brings its birth with it. Where one of that id is here already, being born as well,
   * or is on its way, the command is that one's (V1 of activation.ts). It is begun by the call itself.
   */
  const bear = (ref: ActorRef, birth: Birth, envelope: Envelope<Request>): Effect.Effect<Reply, ActorError> => {
    if (residents.has(ref.id)) return local(ref, envelope)
    if (isLoading(ref)) return Effect.catchIf(local(ref, envelope), isUnknown, () => bear(ref, birth, envelope))
    const at = Math.floor(lease.now())
    const head: Head = { pos: 0, seq: 0, rev: 0, ...kind.standing(kind.blank), updatedAt: at }
    const actor = activate({ actor: ref, ...birth, createdAt: at, epoch: 1, head }, kind.blank, true)
    let answer: Exit.Exit<Reply, ActorError> | undefined
    let tellCaller = () => {}
    // The reply decides, not the caller, who may have left: what is born has to be known here.
    host.push(actor, {
      ...envelope,
      reply: (exit) => {
        // Refused or replayed: nobody was born (H8 of Host.ts), and whoever asks from now on does not find this one.
        if (actor.unborn) residents.leave(actor)
        answer = exit
        tellCaller()
      }
    })
    return Effect.callback<Reply, ActorError>((resume) => {
      tellCaller = () => {
        if (answer !== undefined) resume(answer)
      }
      tellCaller()
    })
  }

  /** For a client, who tries again elsewhere while this node leaves. */
  const create = (ref: ActorRef, birth: Birth, envelope: Envelope<Request>): Effect.Effect<Reply, ActorError> =>
    Effect.suspend(() => (closed && !residents.has(ref.id) ? Effect.fail(new Draining()) : bear(ref, birth, envelope)))

  /**
   * For a job of this node. The actor may have been born before: where it is here already, or on its way, nothing is
   * delivered, and nothing answered. A node that leaves bears it too: the job would wait in vain.
   */
  const ensure = (
    ref: ActorRef,
    birth: Birth,
    envelope: Envelope<Request>
  ): Effect.Effect<Reply | undefined, ActorError> =>
    Effect.suspend(() =>
      residents.has(ref.id) || isLoading(ref) ? Effect.succeed(undefined) : bear(ref, birth, envelope)
    )

  const wakeable = makeWakeable({
    ...ground,
    host,
    drain,
    evict,
    find,
    isEmpty,
    passivate,
    serve,
    unasked,
    wake,
    close: () => {
      closed = true
    },
    leave: () => {
      closed = true
      leaving = true
    }
  })
  journal.know(kind.name, kind.nouns)
  registries.add(kind.name, wakeable)

  const { waitingFor } = queueing
  return {
    wakeable,
    tell,
    create,
    ensure,
    freshId: placement.freshId,
    current,
    settled,
    waitingFor,
    peek: (id: string) => residents.get(id)?.snapshot
  }
})
