/**
 * The actors of one kind that live on this node: activation, passivation, due moments, loss.
 *
 * R1. One live actor per id: concurrent first commands share one claim.
 * R2. An actor at rest leaves memory some time after its last command, keeping its owner: coming back
 *     costs a read. One that has something to do later is released, so that the sweep of any node
 *     finds it when the moment comes.
 * R3. An actor that was lost while it had something to do is claimed again by the next sweep.
 */
import { Cause, Deferred, Effect, type Fiber } from "effect"
import { type ActorRef, type Head, type InboxRow, Journal, type Loaded } from "../src/journal/Journal.ts"
import { Lease } from "../src/journal/Lease.ts"
import { actorClaims, record } from "../src/telemetry/metrics.ts"
import { type ActorError, type Answer, Draining, Refused, Unreachable } from "./Actor.ts"
import { type Envelope, type Live, makeHost } from "./Host.ts"
import type { Kind, Written } from "./Kind.ts"

export interface RegistryOptions {
  /** Milliseconds at rest after which an actor leaves memory. */
  readonly idleMs: number
  /** Fruitless claims after which an actor's work is given up. */
  readonly fruitlessLimit: number
}

interface Birth {
  readonly parent: string | null
  readonly attributes: string
}

/** What sweep and drain need of a registry, whatever its kind. */
export interface Wakeable {
  /** Claims and resumes an actor that is due; nothing when another node lives with it. */
  readonly wake: (ref: ActorRef) => Effect.Effect<void>
  /** Delivers a command that was stored while the owner could not be reached. */
  readonly accept: (row: InboxRow) => Effect.Effect<void>
  readonly isLive: (ref: ActorRef) => boolean
  /** Lost while something was to do (R3); forgotten by the call. */
  readonly takeOrphans: () => ReadonlyArray<ActorRef>
  /** Sends `due` to live actors whose moment has come. */
  readonly tick: Effect.Effect<void>
  /** R2. */
  readonly passivate: Effect.Effect<void>
  /** Drops every actor at once: the lease was lost. */
  readonly dropAll: Effect.Effect<void>
  /** Starts no job any more, waits at most so many milliseconds for those that run, then gives every actor back. */
  readonly drain: (ms: number) => Effect.Effect<void>
  readonly size: () => number
  readonly jobs: () => number
}

/** How long a reader waits for what is being written. */
const patienceMs = 50

const bornHead = (at: number): Head => ({
  pos: 0, seq: 0, rev: 0, status: "idle", runnableAt: null, since: null, carry: "{}", updatedAt: at
})

export const makeRegistry = Effect.fn("Registry.make")(function*<Snapshot, Request, Command, Job, W extends Written>(
  kind: Kind<Snapshot, Request, Command, Job, W>,
  options: RegistryOptions
) {
  const journal = yield* Journal
  const lease = yield* Lease
  const services = yield* Effect.context()
  const run = Effect.runForkWith(services)
  const fork = <A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> => run(effect)

  type Actor = Live<Snapshot, Request>
  const live = new Map<string, Actor>()
  const loading = new Map<string, Deferred.Deferred<Actor, ActorError>>()
  const orphans = new Map<string, ActorRef>()
  /** How often an actor broke at one position of its journal: a turn that breaks its host again and again is given up. */
  const breakages = new Map<string, { readonly pos: number; readonly times: number }>()
  const claims = actorClaims.with({ kind: kind.name })
  /** Actors that want to be told the time. */
  const timed = new Set<Actor>()
  let draining = false

  const host = makeHost<Snapshot, Request, Command, Job, W>({
    kind, journal, lease, fork,
    leaving: () => draining,
    onLost: (actor, why) => {
      const { head, ref, unborn } = actor
      if (live.get(ref.id) === actor) live.delete(ref.id)
      kind.left(actor)
      if (why === "superseded" || why === "drained") return
      // An append without an answer may have happened: the head that is known says nothing of what it began.
      if (why === "unavailable" || (!unborn && head.runnableAt !== null)) orphans.set(ref.id, ref)
      if (why !== "broken") return
      const before = breakages.get(ref.id)
      breakages.set(ref.id, { pos: head.pos, times: before?.pos === head.pos ? before.times + 1 : 1 })
    },
    onMoved: (actor) => {
      if (actor.head.runnableAt !== null) timed.add(actor)
    },
    deliver: (actor, envelope) => deliver(actor.ref, envelope)
  })

  const enlive = (loaded: Pick<Loaded, "actor" | "parent" | "attributes" | "createdAt" | "epoch" | "head">, snapshot: Snapshot, unborn: boolean) => {
    const actor: Actor = {
      ref: loaded.actor, parent: loaded.parent, attributes: loaded.attributes, createdAt: loaded.createdAt,
      epoch: loaded.epoch, head: loaded.head, snapshot, unborn,
      mailbox: [], busy: false, lost: false, jobs: new Map(), touched: performance.now(), settling: []
    }
    live.set(actor.ref.id, actor)
    return actor
  }

  const load = Effect.fnUntraced(function*(ref: ActorRef) {
    const loaded = yield* journal.claim(ref).pipe(
      Effect.catchTags({
        NoSuchActor: () => Effect.fail(new Refused({ reason: "not_found", message: `There is no such ${ref.kind}.` })),
        OwnedElsewhere: () => Effect.fail(new Unreachable({ retryAfterSeconds: 2, elsewhere: true })),
        JournalUnavailable: () => {
          // It may be mine by now all the same, and have something to do.
          orphans.set(ref.id, ref)
          return Effect.fail(new Unreachable({ retryAfterSeconds: 2 }))
        }
      })
    )
    record(claims)
    const actor = enlive(loaded, kind.load(loaded), false)
    if (actor.head.runnableAt !== null) timed.add(actor)
    const broken = breakages.get(ref.id)
    if (broken !== undefined && broken.pos !== loaded.head.pos) breakages.delete(ref.id)
    const fruitless = loaded.fruitless + (broken?.pos === loaded.head.pos ? broken.times : 0)
    if (loaded.head.runnableAt === null) breakages.delete(ref.id)
    else if (fruitless >= options.fruitlessLimit) fork(Effect.ignore(host.tell(actor, { request: kind.poison })))
    else host.perform(actor, kind.again(actor.snapshot))
    return actor
  })

  /** R1. */
  const find = (ref: ActorRef): Effect.Effect<Actor, ActorError> =>
    Effect.suspend(() => {
      const found = live.get(ref.id)
      if (found !== undefined) {
        // An id is unique, but who asks must be of its workspace.
        return found.ref.workspace === ref.workspace
          ? Effect.succeed(found)
          : Effect.fail(new Refused({ reason: "not_found", message: `There is no such ${ref.kind}.` }))
      }
      if (draining) return Effect.fail(new Draining())
      // Two nodes without a lease would take an actor from each other for ever.
      if (lease.fenced()) return Effect.fail(new Unreachable({ retryAfterSeconds: 2 }))
      const pending = loading.get(`${ref.workspace}/${ref.id}`)
      if (pending !== undefined) return Deferred.await(pending)
      const deferred = Deferred.makeUnsafe<Actor, ActorError>()
      const name = `${ref.workspace}/${ref.id}`
      loading.set(name, deferred)
      fork(Effect.flatMap(Effect.exit(load(ref)), (exit) => {
        loading.delete(name)
        return Deferred.done(deferred, exit)
      }))
      return Deferred.await(deferred)
    })

  const deliver = (ref: ActorRef, envelope: Envelope<Request>): Effect.Effect<Answer, ActorError> =>
    Effect.flatMap(find(ref), (actor) => host.tell(actor, envelope))

  /** A new actor: its first command brings its birth with it. */
  const create = (ref: ActorRef, birth: Birth, envelope: Envelope<Request>): Effect.Effect<Answer, ActorError> =>
    Effect.suspend(() => {
      if (draining) return Effect.fail(new Draining())
      const at = Math.floor(lease.now())
      const actor = enlive({ actor: ref, ...birth, createdAt: at, epoch: 1, head: bornHead(at) }, kind.blank, true)
      return Effect.callback<Answer, ActorError>((resume) =>
        // The reply decides, not the caller, who may have left: what is born has to be known here.
        host.push(actor, {
          ...envelope,
          reply: (exit) => {
            // Refused or replayed: nobody was born.
            if (actor.unborn && live.get(ref.id) === actor) live.delete(ref.id)
            resume(exit)
          }
        }))
    })

  /** The same for one that may have been born before: where it is here already, or on its way, nothing is delivered. */
  const ensure = (ref: ActorRef, birth: Birth, envelope: Envelope<Request>): Effect.Effect<void, ActorError> =>
    Effect.suspend(() => live.has(ref.id) || loading.has(`${ref.workspace}/${ref.id}`) ? Effect.void : Effect.asVoid(create(ref, birth, envelope)))

  /** The snapshot of an actor that lives here, as of its last commit; undefined also while this node might have lost it. */
  const current = (ref: ActorRef): Snapshot | undefined => {
    const actor = live.get(ref.id)
    return actor === undefined || actor.unborn || actor.ref.workspace !== ref.workspace || lease.fenced() ? undefined : actor.snapshot
  }

  /** Attributes are rows of their own, edited past the actor. */
  const amend = (ref: ActorRef, attributes: string) => {
    const actor = live.get(ref.id)
    if (actor !== undefined && actor.ref.workspace === ref.workspace) actor.attributes = attributes
  }

  /** The same, after what is being written now: a reader at the log's end need not come twice. Waits a moment at most. */
  const settled = (ref: ActorRef): Effect.Effect<Snapshot | undefined> => {
    const actor = live.get(ref.id)
    if (actor === undefined || !actor.busy || actor.ref.workspace !== ref.workspace) return Effect.succeed(current(ref))
    return Effect.callback((resume) => {
      const done = () => {
        clearTimeout(timer)
        resume(Effect.succeed(current(ref)))
      }
      const timer = setTimeout(done, patienceMs)
      actor.settling.push(done)
    })
  }

  const isResting = (actor: Actor) => !actor.busy && actor.mailbox.length === 0 && actor.jobs.size === 0 && !actor.unborn

  const tick = Effect.sync(() => {
    const now = lease.now()
    // L2: what runs is aborted. Those actors leave, and come back with their work by the sweep if the lease does.
    if (lease.fenced()) for (const actor of [...live.values()]) if (actor.jobs.size > 0) host.lose(actor, "fenced")
    for (const actor of timed) {
      const due = kind.nextDue(actor.snapshot)
      if (due === null || actor.lost) timed.delete(actor)
      else if (due <= now && !actor.busy) fork(Effect.ignore(host.tell(actor, { request: kind.due })))
    }
  })

  const passivate = Effect.gen(function*() {
    const idleSince = performance.now() - options.idleMs
    const later: Array<{ readonly actor: ActorRef; readonly epoch: number }> = []
    for (const actor of live.values()) {
      if (actor.touched >= idleSince || !isResting(actor)) continue
      live.delete(actor.ref.id)
      timed.delete(actor)
      kind.left(actor)
      if (actor.head.runnableAt !== null) later.push({ actor: actor.ref, epoch: actor.epoch })
    }
    if (later.length === 0) return
    // What could not be given back stays this node's, and no other's sweep looks for it: this one's does.
    yield* journal.release(later).pipe(
      Effect.catch(() => Effect.sync(() => {
        for (const { actor } of later) orphans.set(actor.id, actor)
      }))
    )
  })

  /** What nobody waits for: one that breaks must not take those behind it along. */
  const unasked = <A>(ref: ActorRef, effect: Effect.Effect<A, ActorError>) =>
    Effect.catchCause(Effect.asVoid(effect), (cause) =>
      Cause.hasDies(cause) ? Effect.logError("an actor could not be woken", cause).pipe(Effect.annotateLogs({ actor: ref.id })) : Effect.void)

  const wakeable: Wakeable = {
    wake: (ref) => unasked(ref, find(ref)),
    accept: ({ actor, command, id }) => unasked(actor, Effect.suspend(() => deliver(actor, { request: kind.revive(command), posted: id }))),
    isLive: (ref) => live.has(ref.id),
    takeOrphans: () => {
      const refs = [...orphans.values()]
      orphans.clear()
      return refs
    },
    tick,
    passivate,
    dropAll: Effect.sync(() => {
      for (const actor of [...live.values()]) host.lose(actor, "superseded")
    }),
    drain: Effect.fnUntraced(function*(ms) {
      draining = true
      const until = performance.now() + ms
      const working = () => [...live.values()].some((actor) => actor.busy || actor.mailbox.length > 0 || actor.jobs.size > 0)
      while (working() && performance.now() < until) yield* Effect.sleep(20)
      const held = [...live.values()].filter((actor) => !actor.unborn)
      for (const actor of held) host.lose(actor, "drained")
      yield* Effect.ignore(journal.release(held.map(({ epoch, ref }) => ({ actor: ref, epoch }))))
    }),
    size: () => live.size,
    jobs: () => [...live.values()].reduce((sum, actor) => sum + actor.jobs.size, 0)
  }

  return { deliver, create, ensure, wakeable, amend, current, settled, peek: (id: string) => live.get(id)?.snapshot }
})
