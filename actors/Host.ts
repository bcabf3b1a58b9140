/**
 * Hosts live actors of one kind: takes one command at a time from each mailbox, and carries it down
 * the one path: decide, append, apply, answer, publish, perform.
 *
 * H1. Nothing is applied, answered, published or performed before the append is committed.
 * H2. An actor whose append was refused is lost for good: its jobs stop, what waits in its mailbox
 *     goes back to whoever finds its owner. One whose append has no known outcome is dropped the same
 *     way, and the next command loads the truth.
 * H3. A job never fails into the void: its outcome is told to the actor until that has committed or
 *     belongs to another node.
 */
import { Cause, Effect, Exit, type Fiber, Option } from "effect"
import type { Append, Head, Journal } from "../src/journal/Journal.ts"
import type { Lease } from "../src/journal/Lease.ts"
import { actorsLost, commands, record } from "../src/telemetry/metrics.ts"
import { type ActorError, type Answer, KeyReused, Refused, Unreachable } from "./Actor.ts"
import type { Being, Kind, Written } from "./Kind.ts"

export interface KeyOf {
  readonly scope: string
  readonly fingerprint: string
}

export interface Envelope<Request> {
  readonly request: Request
  readonly key?: KeyOf
  /** The inbox row that holds this command. */
  readonly posted?: string
}

interface Item<Request> extends Envelope<Request> {
  /** Called once, after the commit or the refusal. Must not throw. */
  readonly reply: (exit: Exit.Exit<Answer, ActorError>) => void
}

/** Why an actor leaves this node before its work is done: `broken` is a defect in its own code. */
export type Loss = "superseded" | "unavailable" | "broken" | "fenced" | "drained"

/** One live actor. */
export interface Live<Snapshot, Request> extends Being<Snapshot> {
  attributes: string
  snapshot: Snapshot
  head: Head
  readonly epoch: number
  /** Its birth is not written yet. */
  unborn: boolean
  readonly mailbox: Array<Item<Request>>
  busy: boolean
  lost: boolean
  readonly jobs: Map<string, Fiber.Fiber<void>>
  /** Monotonic milliseconds of its last command. */
  touched: number
  /** Called once, when what is in the mailbox now has been worked off. */
  readonly settling: Array<() => void>
}

export interface HostOptions<Snapshot, Request, Command, Job, W extends Written> {
  readonly kind: Kind<Snapshot, Request, Command, Job, W>
  readonly journal: Journal["Service"]
  readonly lease: Lease["Service"]
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
  /** This node is on its way out: it starts no job. */
  readonly leaving: () => boolean
  /** The actor is gone from this node; what waited is delivered anew. */
  readonly onLost: (live: Live<Snapshot, Request>, why: Loss) => void
  /** Its head has changed. */
  readonly onMoved: (live: Live<Snapshot, Request>) => void
  /** Delivers to the actor, wherever it lives by now. */
  readonly deliver: (live: Live<Snapshot, Request>, envelope: Envelope<Request>) => Effect.Effect<Answer, ActorError>
}

const retryAfterSeconds = 2

export const makeHost = <Snapshot, Request, Command, Job, W extends Written>(options: HostOptions<Snapshot, Request, Command, Job, W>) => {
  const { deliver, fork, journal, kind, lease, leaving, onLost, onMoved } = options
  type Actor = Live<Snapshot, Request>
  const decided = commands.with({ kind: kind.name })

  const lose = (live: Actor, why: Loss) => {
    if (!live.lost) {
      live.lost = true
      for (const fiber of live.jobs.values()) fiber.interruptUnsafe()
      live.jobs.clear()
      onLost(live, why)
    }
    // Also of one that was lost before: a command whose append was refused only then is back in its mailbox.
    for (const { reply, ...envelope } of live.mailbox.splice(0)) {
      fork(Effect.onExit(deliver(live, envelope), (exit) => Effect.sync(() => reply(exit))))
    }
  }

  /** H3: told again, with growing pauses, while the journal does not answer. */
  const report = (live: Actor, request: Request, pauseMs = 100): Effect.Effect<void> =>
    deliver(live, { request }).pipe(
      Effect.asVoid,
      Effect.catchTag("Unreachable", ({ elsewhere }) =>
        lease.fenced() || elsewhere === true
          ? Effect.void
          : Effect.delay(Effect.suspend(() => report(live, request, Math.min(pauseMs * 2, 5000))), pauseMs)),
      Effect.catch(() => Effect.void)
    )

  const perform = (live: Actor, jobs: ReadonlyArray<Job>) => {
    for (const job of jobs) {
      const run = kind.run(job)
      if ("stop" in run) {
        for (const [key, fiber] of live.jobs) {
          if (!key.startsWith(run.stop)) continue
          live.jobs.delete(key)
          fiber.interruptUnsafe()
        }
        continue
      }
      if (live.lost) return
      if (lease.fenced()) return lose(live, "fenced")
      // Whoever takes the actor over finds the job in its state.
      if (leaving()) return
      const key = run.start
      let outcome: Request | undefined
      const fiber = fork(kind.perform(live, job).pipe(
        Effect.flatMap((request) => {
          outcome = request
          return Effect.void
        }),
        Effect.catchCause((cause) => {
          if (Cause.hasInterruptsOnly(cause)) return Effect.void
          // Its outcome will never come: the actor leaves, and whoever takes it up performs the job again.
          lose(live, "broken")
          return Effect.logError("a job broke", cause).pipe(Effect.annotateLogs({ job: key }))
        })
      ))
      live.jobs.set(key, fiber)
      fiber.addObserver(() => {
        if (live.jobs.get(key) === fiber) live.jobs.delete(key)
        // Outside of the job's own fiber: the outcome may well stop that fiber's siblings.
        if (outcome !== undefined) tellQuietly(live, outcome)
      })
    }
  }

  /** An outcome goes straight into the mailbox while the actor lives here. */
  const tellQuietly = (live: Actor, request: Request) => {
    if (live.lost) {
      fork(report(live, request))
      return
    }
    push(live, {
      request,
      reply: (exit) => {
        const failure = Exit.isSuccess(exit) ? undefined : Option.getOrUndefined(Cause.findErrorOption(exit.cause))
        if (failure?._tag === "Unreachable" && failure.elsewhere !== true) fork(report(live, request))
      }
    })
  }

  const stored = Effect.fnUntraced(function*(live: Actor, key: KeyOf) {
    const row = yield* Effect.mapError(journal.key(live.ref.workspace, key.scope), () => new Unreachable({ retryAfterSeconds }))
    if (row === undefined) return undefined
    if (row.fingerprint !== key.fingerprint) return yield* new KeyReused()
    const answer: Answer = { status: row.status === 201 ? 201 : row.status === 204 ? 204 : 200, body: row.body, replayed: true }
    return answer
  })

  /** One command down the one path. What fails before the commit is the caller's to tell. */
  const handle = Effect.fnUntraced(function*(live: Actor, item: Item<Request>) {
    if (item.key !== undefined) {
      const answer = yield* stored(live, item.key)
      if (answer !== undefined) return item.reply(Exit.succeed(answer))
    }
    // What is born with a command is as old as that command.
    const at = live.unborn ? live.createdAt : Math.max(Math.floor(lease.now()), live.head.updatedAt)
    const command = yield* kind.prepare(live, item.request, at)
    const decision = kind.decide(live, command)
    record(decided)
    if (decision instanceof Refused) {
      if (item.posted === undefined || live.unborn) return yield* decision
      // The sender was told "queued" and is gone: the row that would come back for ever is taken away.
      yield* write(live, live.snapshot, undefined, item, at, undefined)
      return yield* decision
    }
    const { answer, jobs, next, written } = decision
    if (written === undefined && item.key === undefined && item.posted === undefined && !live.unborn) return item.reply(Exit.succeed(answer))
    const before = live.snapshot
    const { seq } = live.head
    const earlier = yield* write(live, next, written, item, at, answer)
    item.reply(Exit.succeed(earlier ?? answer))
    if (earlier !== undefined) return
    if (written !== undefined) kind.committed(live, before, written, seq)
    perform(live, jobs)
  })

  const write = Effect.fnUntraced(function*(
    live: Actor, next: Snapshot, written: Written | undefined, item: Item<Request>, at: number, answer: Answer | undefined
  ) {
    const facts = written?.facts ?? []
    const { head } = live
    const after: Head = {
      pos: head.pos + facts.length,
      seq: head.seq + facts.reduce((n, fact) => fact.public ? n + 1 : n, 0),
      rev: head.rev + 1,
      status: written?.status ?? head.status,
      runnableAt: written === undefined ? head.runnableAt : written.runnableAt,
      since: written === undefined ? head.since : written.since,
      carry: written?.carry ?? head.carry,
      updatedAt: at
    }
    const append: Append = {
      actor: live.ref, epoch: live.epoch, rev: head.rev, head: after, facts,
      ...(live.unborn ? { birth: { parent: live.parent, attributes: live.attributes } } : {}),
      ...(written?.inputs === undefined ? {} : { inputs: written.inputs }),
      ...(written?.waits === undefined ? {} : { waits: written.waits }),
      ...(written?.spent === undefined ? {} : { spent: written.spent }),
      ...(after.runnableAt === null || after.runnableAt === head.runnableAt ? {} : { wakes: after.runnableAt }),
      ...(item.key === undefined || answer === undefined
        ? {}
        : { keys: [{ ...item.key, status: answer.status, body: answer.body }] }),
      ...(item.posted === undefined ? {} : { accepted: item.posted })
    }
    // A birth is refused when its idempotency key exists: the first request with it has won.
    const refused = yield* journal.append(append).pipe(
      Effect.as(false),
      Effect.catchTag("Superseded", (superseded) => live.unborn ? Effect.succeed(true) : Effect.fail(superseded))
    )
    if (refused) return (item.key === undefined ? undefined : yield* stored(live, item.key)) ?? (yield* new Unreachable({ retryAfterSeconds }))
    live.snapshot = next
    live.head = after
    live.unborn = false
    onMoved(live)
    return undefined
  })

  const drain = Effect.fnUntraced(function*(live: Actor) {
    for (let item = live.mailbox.shift(); item !== undefined; item = live.mailbox.shift()) {
      const exit = yield* Effect.exit(handle(live, item))
      if (Exit.isSuccess(exit)) continue
      const failure = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
      let why: Loss = "broken"
      if (failure === undefined) {
        yield* Effect.logError("an actor broke", exit.cause).pipe(Effect.annotateLogs({ actor: live.ref.id }))
        item.reply(Exit.die(Cause.squash(exit.cause)))
      } else if (failure._tag === "Superseded") {
        // H2: this command was not taken either; it goes where the actor is now, ahead of what waits.
        record(actorsLost)
        why = "superseded"
        live.mailbox.unshift(item)
      } else if (failure._tag === "JournalUnavailable") {
        why = "unavailable"
        item.reply(Exit.fail(new Unreachable({ retryAfterSeconds })))
      } else {
        item.reply(Exit.fail(failure))
        continue
      }
      lose(live, why)
      break
    }
    live.busy = false
    live.touched = performance.now()
    for (const settled of live.settling.splice(0)) settled()
    if (live.mailbox.length > 0 && !live.lost) wake(live)
  })

  const wake = (live: Actor) => {
    if (live.busy) return
    live.busy = true
    fork(drain(live))
  }

  /** Replied to once, whoever still listens. */
  const push = (live: Actor, item: Item<Request>) => {
    live.mailbox.push(item)
    wake(live)
  }

  /** Puts a command into the mailbox of an actor that lives here; answered after its commit. */
  const tell = (live: Actor, envelope: Envelope<Request>): Effect.Effect<Answer, ActorError> =>
    Effect.suspend(() =>
      live.lost
        ? deliver(live, envelope)
        : Effect.callback<Answer, ActorError>((resume) => push(live, { ...envelope, reply: resume })))

  return { tell, push, lose, perform }
}
