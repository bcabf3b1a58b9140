/**
 * The actors of one kind that live on this node: activation, passivation, due moments, loss.
 *
 * R1. One live actor per id: concurrent first commands share one claim.
 * R2. An actor at rest leaves memory some time after its last command, keeping its owner: coming back
 *     costs a read. One that has something to do later is released, so that the sweep of any node
 *     finds it when the moment comes.
 * R3. An actor that was lost while it had something to do, or could not be loaded, is owed (`obligations.ts`): this node
 *     takes it up again, whatever else the sweep can or cannot read.
 * R4. A command for an actor that is not here goes to the node that has it, or is to have it. What only
 *     this node may ask (a job's outcome, the time) never leaves it.
 * R5. An actor at rest whose shard is another node's by now is released: that node gets it without a theft.
 * R6. Work that is taken up again and again without progress is given up: its actor is told so, and if it breaks over that
 *     too, it is set aside in the journal by a statement that decides nothing, until a command wakes it.
 */
import { Cause, Deferred, Effect, type Fiber } from "effect"
import { Bus } from "../src/bus/Bus.ts"
import { type ActorRef, type Claimed, type Head, type InboxRow, Journal, type Loaded, type OwnedElsewhere } from "../src/journal/Journal.ts"
import { Lease } from "../src/journal/Lease.ts"
import { hasShard, shardOf } from "../src/journal/shard.ts"
import { actorClaims, actorsQuarantined, record } from "../src/telemetry/metrics.ts"
import { type ActorError, type Answer, Draining, Refused, Unreachable } from "./Actor.ts"
import { Desk } from "./Desk.ts"
import type { Envelope } from "./envelope.ts"
import { makeForwarding } from "./forwarding.ts"
import { type Live, type Loss, makeHost } from "./Host.ts"
import type { Kind, Written } from "./Kind.ts"
import { answered, failed, type Question, type Reply } from "./messages.ts"
import { Moments } from "./moments.ts"
import { brokenAt, Obligations } from "./obligations.ts"
import { Placement } from "./Placement.ts"
import { Router } from "./Router.ts"

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
  /** Whether this version can read a row of the inbox. */
  readonly reads: (row: InboxRow) => boolean
  /** Delivers commands to one actor that were stored while its owner could not be reached, oldest first. */
  readonly accept: (ref: ActorRef, rows: ReadonlyArray<InboxRow>) => Effect.Effect<void>
  readonly isLive: (ref: ActorRef) => boolean
  /** Takes up what this node owes and whose pause is over (R3): so many at once. Cheap when there is nothing. */
  readonly serve: Effect.Effect<void>
  /** Sends `due` to live actors whose moment has come. */
  readonly tick: Effect.Effect<void>
  /** R2. */
  readonly passivate: Effect.Effect<void>
  /** Whether an actor of that shard is here. */
  readonly holds: (shard: number) => boolean
  /** Drops every actor at once: the lease was lost. */
  readonly dropAll: () => void
  /** Takes nothing new from now on; what is here goes on. */
  readonly close: () => void
  /** Withholds jobs that others can do, and gives every actor back as soon as its jobs have ended; all of them after so many milliseconds. */
  readonly drain: (ms: number) => Effect.Effect<void>
  readonly size: () => number
  readonly jobs: () => number
  /** Actors that this node owes to take up again. */
  readonly owed: () => number
}

/** How long a reader waits for what is being written. */
const patienceMs = 50

/** Milliseconds at rest after which an actor of another node's shard leaves (R5). */
const awayMs = 1_000

/** A process that was stopped for less than the lease lasts is fenced for the first tick, and has beaten by the next but one. */
const ticksToAbort = 3

/** Actors given back in a statement. */
const portion = 500

/** Owed actors that are taken up at once. */
const servedAtOnce = 50

/** How often an actor is told that its work is given up before it is set aside (R6). */
const farewells = 2

const bornHead = (at: number): Head => ({
  pos: 0, seq: 0, rev: 0, status: "idle", runnableAt: null, since: null, carry: "{}", updatedAt: at
})

export const makeRegistry = Effect.fn("Registry.make")(function*<Snapshot, Request, Command, Job, W extends Written>(
  kind: Kind<Snapshot, Request, Command, Job, W>,
  options: RegistryOptions
) {
  const bus = yield* Bus
  const journal = yield* Journal
  const lease = yield* Lease
  const placement = yield* Placement
  const router = yield* Router
  const services = yield* Effect.context()
  const run = Effect.runForkWith(services)
  const fork = <A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> => run(effect)

  type Actor = Live<Snapshot, Request>
  const live = new Map<string, Actor>()
  const loading = new Map<string, Deferred.Deferred<Actor, ActorError | OwnedElsewhere>>()
  const obligations = new Obligations<Request>(lease.now)
  const employers = new WeakMap<Desk<Request>, Actor>()
  const claims = actorClaims.with({ kind: kind.name })
  const moments = new Moments<Actor>()
  /** How many actors of a shard are here. */
  const shards = new Map<number, number>()
  let closed = false
  let leaving = false
  let fencedTicks = 0

  /** Out of memory. */
  const leave = (actor: Actor) => {
    employers.delete(actor.desk)
    moments.forget(actor)
    if (live.get(actor.ref.id) !== actor) return
    live.delete(actor.ref.id)
    const left = (shards.get(actor.shard) ?? 1) - 1
    if (left === 0) shards.delete(actor.shard)
    else shards.set(actor.shard, left)
  }

  /** Another node has it, or nothing is left to do: what is on its desk is nobody's. */
  const settle = (id: string) => {
    obligations.get(id)?.desk.endAll()
    obligations.met(id)
  }

  const onLost = (actor: Actor, why: Loss) => {
    const { breaks, desk, head } = actor
    leave(actor)
    // An append without an answer may have happened: the head that is known says nothing of what it began. Its jobs go on.
    if (why === "unavailable") return obligations.lost(actor, "unanswered")
    if (why === "drained") return desk.endAll()
    desk.cutOff()
    // Of a lapsed lease others may take the actors over; only an outcome in hand is worth a claim.
    const owes = why === "lapsed" ? desk.hasOutcomes : head.runnableAt !== null || !desk.isClear
    if (!owes) return desk.endAll()
    if (why === "broken") obligations.lost({ ...actor, breaks: brokenAt(breaks, head.pos) }, "broken")
    else obligations.lost(actor, "unanswered")
  }

  const host = makeHost<Snapshot, Request, Command, Job, W>({
    kind, journal, lease, fork, onLost,
    leaving: () => leaving,
    employer: (desk) => employers.get(desk),
    onMoved: (actor) => note(actor),
    deliver: (actor, envelope) => deliver(actor.ref, envelope)
  })

  /** The actor wants to be told the time when its moment comes. */
  const note = (actor: Actor) => {
    if (actor.head.runnableAt === null) return
    const due = kind.nextDue(actor.snapshot)
    if (due !== null) moments.by(actor, due)
  }

  const enlive = (loaded: Pick<Loaded, "actor" | "parent" | "attributes" | "createdAt" | "epoch" | "head">, snapshot: Snapshot, unborn: boolean) => {
    const owed = obligations.get(loaded.actor.id)
    const actor: Actor = {
      ref: loaded.actor, parent: loaded.parent, attributes: loaded.attributes, createdAt: loaded.createdAt,
      epoch: loaded.epoch, head: loaded.head, snapshot, unborn, shard: shardOf(loaded.actor.id),
      mailbox: [], busy: false, lost: false, desk: owed?.desk ?? new Desk(), touched: performance.now(), settling: [],
      breaks: owed?.breaks?.pos === loaded.head.pos ? owed.breaks : undefined
    }
    live.set(actor.ref.id, actor)
    employers.set(actor.desk, actor)
    shards.set(actor.shard, (shards.get(actor.shard) ?? 0) + 1)
    obligations.met(actor.ref.id)
    return actor
  }

  /** Nothing of the head says that the actor has something to do: at rest, or set aside (R6). */
  const isDone = ({ runnableAt }: Head) => runnableAt === null

  /** It was set aside with its work undone: at rest, but for the facts of a turn that has not ended. */
  const isQuarantined = ({ runnableAt, since }: Head) => runnableAt === null && since !== null

  /** Takes a claimed actor into memory. `asked`: for a command, not for its work's sake. */
  const activate = Effect.fnUntraced(function*(claimed: Claimed, asked: boolean) {
    const { actor: ref, epoch, head } = claimed
    const owed = obligations.get(ref.id)
    const fruitless = claimed.fruitless + (owed?.breaks?.pos === head.pos ? owed.breaks.times : 0)
    const givenUp = fruitless >= options.fruitlessLimit && (!isDone(head) || isQuarantined(head))
    if (givenUp && !asked && fruitless >= options.fruitlessLimit + farewells) {
      if (!isDone(head)) {
        yield* journal.quarantine(ref, epoch)
        record(actorsQuarantined)
        yield* Effect.logError("an actor breaks whatever is tried: it is set aside until a command wakes it").pipe(Effect.annotateLogs({ actor: ref.id, takenUp: fruitless }))
      }
      settle(ref.id)
      return yield* new Unreachable({ retryAfterSeconds: 2 })
    }
    const loaded = yield* journal.load(claimed)
    const actor = enlive(loaded, kind.load(loaded), false)
    note(actor)
    if (givenUp && kind.poison !== undefined) {
      actor.desk.endAll()
      fork(Effect.ignore(host.tell(actor, { request: kind.poison })))
    } else if (!isDone(head)) host.resume(actor, claimed.mine && owed?.held === true)
    else actor.desk.endAll()
    return actor
  })

  const load = Effect.fnUntraced(function*(ref: ActorRef, asked: boolean) {
    /** It may be mine by now, and have something to do. */
    const owe = (why: "unanswered" | "broken", pos?: number) => Effect.sync(() => obligations.failed(ref, why, pos))
    const unreachable = Effect.fail(new Unreachable({ retryAfterSeconds: 2 }))
    const claimed = yield* journal.claim(ref).pipe(
      Effect.tapDefect(() => owe("broken")),
      Effect.catchTags({
        NoSuchActor: () => {
          if (obligations.unknown(ref)) settle(ref.id)
          return Effect.fail(new Refused({ reason: "not_found", message: `There is no such ${ref.kind}.` }))
        },
        OwnedElsewhere: (elsewhere) => {
          settle(ref.id)
          return Effect.fail(elsewhere)
        },
        JournalUnavailable: () => Effect.andThen(owe("unanswered"), unreachable)
      })
    )
    record(claims)
    return yield* activate(claimed, asked).pipe(
      Effect.tapDefect(() => owe("broken", claimed.head.pos)),
      Effect.catchTag("JournalUnavailable", () => Effect.andThen(owe("unanswered"), unreachable))
    )
  })

  /**
   * R1. `owned`: the journal has said that this node owns it, which may then come back even to a node that leaves.
   * `asked`: for a command.
   */
  const find = (ref: ActorRef, owned = false, asked = true): Effect.Effect<Actor, ActorError | OwnedElsewhere> =>
    Effect.suspend(() => {
      const found = live.get(ref.id)
      if (found !== undefined) {
        // An id is unique, but who asks must be of its workspace.
        return found.ref.workspace === ref.workspace
          ? Effect.succeed(found)
          : Effect.fail(new Refused({ reason: "not_found", message: `There is no such ${ref.kind}.` }))
      }
      if (closed && !owned) return Effect.fail(new Draining())
      // Two nodes without a lease would take an actor from each other for ever.
      if (lease.fenced()) return Effect.fail(new Unreachable({ retryAfterSeconds: 2 }))
      const name = `${ref.workspace}/${ref.id}`
      const pending = loading.get(name)
      if (pending !== undefined) return Deferred.await(pending)
      const deferred = Deferred.makeUnsafe<Actor, ActorError | OwnedElsewhere>()
      loading.set(name, deferred)
      fork(Effect.flatMap(Effect.exit(load(ref, asked)), (exit) => {
        loading.delete(name)
        return Deferred.done(deferred, exit)
      }))
      return Deferred.await(deferred)
    })

  const tell = (ref: ActorRef, envelope: Envelope<Request>, owned?: boolean) => Effect.flatMap(find(ref, owned), (actor) => host.tell(actor, envelope))

  const elsewhere = () => new Unreachable({ retryAfterSeconds: 2, elsewhere: true })
  const local = (ref: ActorRef, envelope: Envelope<Request>): Effect.Effect<Answer, ActorError> =>
    Effect.catchTag(tell(ref, envelope), "OwnedElsewhere", () => Effect.fail(elsewhere()))

  const forward = makeForwarding<Request>({ lease, placement, router, tell })

  /** R4. */
  const deliver = (ref: ActorRef, envelope: Envelope<Request>): Effect.Effect<Answer, ActorError> =>
    Effect.suspend(() => {
      const travel = live.has(ref.id) || envelope.posted !== undefined ? undefined : kind.travels(envelope.request)
      if (travel === undefined) return local(ref, envelope)
      return forward(ref, { sent: { id: travel.id, at: lease.now(), again: false }, ...envelope }, travel.storable)
    })

  /** What another node asks. */
  const answer = ({ again = false, at, command, id, key, owned = false, request: sent, workspace }: Question): Effect.Effect<Reply> =>
    Effect.suspend(() => {
      const request = kind.revive(sent)
      if (request === undefined) return Effect.succeed<Reply>({ v: 1, unwilling: "malformed" })
      const ref: ActorRef = { workspace, kind: kind.name, id }
      if (!live.has(id) && !owned) {
        if (closed) return Effect.succeed<Reply>({ v: 1, unwilling: "draining" })
        const node = placement.of(shardOf(id))
        if (node !== undefined && node !== lease.incarnation()) return Effect.succeed<Reply>({ v: 1, elsewhere: node, owned: false })
      }
      return tell(ref, { request, sent: { id: command, at, again }, ...(key === undefined ? {} : { key }) }, owned).pipe(
        Effect.map(answered),
        Effect.catch((error) => Effect.succeed<Reply>(error._tag === "OwnedElsewhere" ? { v: 1, elsewhere: error.node, owned: true } : failed(error))),
        Effect.catchDefect((defect) => Effect.as(Effect.logError("an actor broke over another node's question", defect), { v: 1, broken: true } as const))
      )
    })
  router.answer(kind.name, answer)

  /** A new actor: its first command brings its birth with it. */
  const create = (ref: ActorRef, birth: Birth, envelope: Envelope<Request>): Effect.Effect<Answer, ActorError> =>
    Effect.suspend(() => {
      if (closed) return Effect.fail(new Draining())
      const at = Math.floor(lease.now())
      const actor = enlive({ actor: ref, ...birth, createdAt: at, epoch: 1, head: bornHead(at) }, kind.blank, true)
      return Effect.callback<Answer, ActorError>((resume) =>
        // The reply decides, not the caller, who may have left: what is born has to be known here.
        host.push(actor, {
          ...envelope,
          reply: (exit) => {
            // Refused or replayed: nobody was born.
            if (actor.unborn) leave(actor)
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

  /**
   * The same, after what is being written now: a reader at the log's end need not come twice. Waits a moment at most; by then it
   * may be written without this node's knowing, and there is no answer from memory.
   */
  const settled = (ref: ActorRef): Effect.Effect<Snapshot | undefined> => {
    const actor = live.get(ref.id)
    if (actor === undefined || !actor.busy || actor.ref.workspace !== ref.workspace) return Effect.succeed(current(ref))
    return Effect.callback((resume) => {
      const done = () => {
        clearTimeout(timer)
        resume(Effect.succeed(current(ref)))
      }
      const timer = setTimeout(() => resume(Effect.succeed(undefined)), patienceMs)
      actor.settling.push(done)
    })
  }

  const isResting = (actor: Actor) => !actor.busy && actor.mailbox.length === 0 && actor.desk.isClear && !actor.unborn

  const tick = Effect.sync(() => {
    const now = lease.now()
    // L2: what runs is aborted, once no beat has come to its rescue. Those actors are owed, and taken up again if the lease comes back.
    fencedTicks = lease.fenced() ? fencedTicks + 1 : 0
    if (fencedTicks >= ticksToAbort) {
      for (const actor of [...live.values()]) if (actor.desk.running > 0) host.lose(actor, "fenced")
      obligations.cutOff()
    }
    const waiting: Array<Actor> = []
    for (let actor = moments.next(now); actor !== undefined; actor = moments.next(now)) {
      const due = kind.nextDue(actor.snapshot)
      if (due === null || actor.lost) continue
      waiting.push(actor)
      if (due <= now && !actor.busy && kind.due !== undefined) fork(Effect.ignore(host.tell(actor, { request: kind.due })))
    }
    // Told again with the next tick, should it not have been taken.
    for (const actor of waiting) note(actor)
  })

  type Given = Pick<Actor, "ref" | "epoch" | "shard" | "head">

  /** Gives actors back, and wakes those who are to have the ones that are due. */
  const giveBack = Effect.fnUntraced(function*(given: ReadonlyArray<Given>) {
    for (let i = 0; i < given.length; i += portion) yield* journal.release(given.slice(i, i + portion).map(({ epoch, ref }) => ({ actor: ref, epoch })))
    const now = lease.now()
    for (const shard of new Set(given.flatMap(({ head, shard }) => head.runnableAt !== null && head.runnableAt <= now ? [shard] : []))) bus.wake(shard)
  })

  const passivate = Effect.gen(function*() {
    const now = performance.now()
    const mine = placement.mine()
    const later: Array<Actor> = []
    for (const actor of live.values()) {
      const away = !hasShard(mine, actor.shard)
      if (now - actor.touched <= (away ? Math.min(options.idleMs, awayMs) : options.idleMs) || !isResting(actor)) continue
      leave(actor)
      if (away || actor.head.runnableAt !== null) later.push(actor)
    }
    // What could not be given back stays this node's, and no other's sweep looks for it: this one's does.
    yield* giveBack(later).pipe(
      Effect.catch(() => Effect.sync(() => {
        for (const actor of later) if (actor.head.runnableAt !== null) obligations.lost(actor, "unanswered")
      }))
    )
  })

  /** What nobody waits for: one that breaks must not take those behind it along. */
  const unasked = <A>(ref: ActorRef, effect: Effect.Effect<A, ActorError | OwnedElsewhere>) =>
    Effect.catchCause(Effect.asVoid(effect), (cause) =>
      Cause.hasDies(cause) ? Effect.logError("an actor could not be woken", cause).pipe(Effect.annotateLogs({ actor: ref.id })) : Effect.void)

  let serving = false
  const serve = Effect.suspend(() => {
    const ready = serving || lease.fenced() ? [] : obligations.ready()
    if (ready.length === 0) return Effect.void
    serving = true
    return Effect.forEach(ready, (ref) => unasked(ref, find(ref, true, false)), { concurrency: servedAtOnce, discard: true }).pipe(
      Effect.ensuring(Effect.sync(() => { serving = false }))
    )
  })

  const wakeable: Wakeable = {
    wake: (ref) => unasked(ref, find(ref, false, false)),
    reads: (row) => host.readable(row) !== undefined,
    accept: (ref, rows) => Effect.forEach(rows, (row) => {
      const envelope = host.readable(row)
      return envelope === undefined
        ? Effect.logError("a row of the inbox cannot be read").pipe(Effect.annotateLogs({ actor: ref.id, row: row.id }))
        : unasked(ref, local(ref, envelope))
    }, { discard: true }),
    isLive: (ref) => live.has(ref.id),
    serve,
    tick,
    passivate,
    holds: (shard) => shards.has(shard),
    dropAll: () => {
      for (const actor of [...live.values()]) host.lose(actor, "lapsed")
      obligations.cutOff()
    },
    close: () => { closed = true },
    drain: Effect.fnUntraced(function*(ms) {
      closed = true
      leaving = true
      const until = performance.now() + ms
      for (;;) {
        const over = performance.now() >= until
        const given = [...live.values()].filter((actor) => !actor.unborn && (over || isResting(actor)))
        for (const actor of given) host.lose(actor, "drained")
        yield* Effect.ignore(giveBack(given))
        if (live.size === 0 || over) return
        yield* Effect.sleep(10)
      }
    }),
    size: () => live.size,
    jobs: () => [...live.values()].reduce((sum, actor) => sum + actor.desk.running, 0),
    owed: () => obligations.size
  }

  return { deliver, create, ensure, freshId: placement.freshId, wakeable, current, settled, peek: (id: string) => live.get(id)?.snapshot }
})
