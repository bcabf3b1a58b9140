/**
 * Hosts live actors of one kind: takes one command at a time from each mailbox, and carries it down
 * the one path: decide, append, apply, answer, publish, perform.
 *
 * H1. Nothing is applied, answered, published or performed before the append is committed.
 * H2. An actor whose append was refused is lost for good: its jobs stop, what waits in its mailbox
 *     goes back to whoever finds its owner. One whose append has no known outcome leaves memory too, but
 *     its jobs run on: this node owes it, and whoever loads it finds the truth.
 * H3. What has gathered in a mailbox while an append was under way is decided one after the other and
 *     appended together: three results that come at once are one commit. None of them is answered before that.
 *     An outcome waits a moment for those of other jobs that are under way: nothing goes on without them.
 * H4. A command that may have been taken before is not taken a second time: it gets the first's answer.
 * H5. What waits in the inbox for an actor comes before an input that is asked of it directly.
 * H6. Without a lease nothing is decided: what is asked goes back to whoever finds the owner.
 * H7. A mailbox has a capacity. Above it commands of clients are refused; outcomes of jobs, the time, rows of the inbox
 *     and what may have been taken before never are.
 * H8. An actor is born by the command that brings its birth, or not at all: what waits behind a birth that came to
 *     nothing goes to whoever has the actor by then, or hears that nobody has it.
 */
import { Cause, Data, Effect, Exit, type Fiber, Option } from "effect"
import type { Append, FactRow, Head, IdempotencyRow, InboxRow, Journal } from "../src/journal/Journal.ts"
import type { Lease } from "../src/journal/Lease.ts"
import { goOn } from "../src/now.ts"
import { actorsLost, commands, mailboxesFull, record } from "../src/telemetry/metrics.ts"
import { type ActorError, type Answer, KeyReused, Refused, Unreachable } from "./Actor.ts"
import { type Envelope, type Item, type KeyOf, readPosted } from "./envelope.ts"
import type { Bulkheads } from "./Bulkheads.ts"
import { replayed, rowOf } from "./kept.ts"
import type { Being, Kind, Written } from "./Kind.ts"
import type { Desk } from "./Desk.ts"
import { makeJobs } from "./Jobs.ts"
import type { Breaks } from "./obligations.ts"
import { together } from "./together.ts"

/** An input has to wait for those in the inbox (H5). */
class Behind extends Data.TaggedError("Behind")<{ readonly rows: ReadonlyArray<InboxRow> }> {}

/**
 * Why an actor leaves memory before its work is done: another owner has it; an append has no known outcome; a defect in
 * its own code; no beat of the lease in time, or the lease is over; the node is leaving; its birth was refused.
 */
export type Loss = "superseded" | "unavailable" | "broken" | "fenced" | "lapsed" | "drained" | "unborn"

/** One live actor. */
export interface Live<Snapshot, Request> extends Being<Snapshot> {
  snapshot: Snapshot
  head: Head
  readonly epoch: number
  readonly shard: number
  /** Its birth is not written yet. */
  unborn: boolean
  /** Commands that came a second way: one that is still on the first may arrive late (H4). */
  heard?: Set<string>
  readonly mailbox: Array<Item<Request>>
  busy: boolean
  lost: Loss | undefined
  readonly desk: Desk<Request>
  /** At the position at which it was loaded. */
  readonly breaks: Breaks | undefined
  /** Monotonic milliseconds of its last command. */
  touched: number
  /** Called once, when what is in the mailbox now has been worked off. */
  readonly settling: Array<() => void>
}

export interface HostOptions<Snapshot, Request, Command, Job, W extends Written> {
  readonly kind: Kind<Snapshot, Request, Command, Job, W>
  readonly journal: Journal["Service"]
  readonly lease: Lease["Service"]
  readonly bulkheads: Bulkheads
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
  /** This node is on its way out. */
  readonly leaving: () => boolean
  /** The actor whose desk it is, while it is in memory. */
  readonly employer: (desk: Desk<Request>) => Live<Snapshot, Request> | undefined
  /** The actor is gone from this node; what waited is delivered anew. */
  readonly onLost: (live: Live<Snapshot, Request>, why: Loss) => void
  /** Its head has changed. */
  readonly onMoved: (live: Live<Snapshot, Request>) => void
  /** It is committed. */
  readonly onAppended: (append: Append) => void
  /** So is the answer to a command that changes nothing. */
  readonly onKept: (workspace: string, row: IdempotencyRow) => void
  /** Delivers to the actor, wherever it lives by now. */
  readonly deliver: (live: Live<Snapshot, Request>, envelope: Envelope<Request>) => Effect.Effect<Answer, ActorError>
}

const retryAfterSeconds = 2

/** Commands of one append. */
const mostTogether = 64

/**
 * Commands that wait in a mailbox (H7): four appends' worth, and a second's worth of several clients at their rates.
 */
const mailboxCapacity = 256

/**
 * How often a command follows its actor that is lost before it was taken: an actor that breaks again and again ends
 * that.
 */
const mostRedeliveries = 3

/** Looks into the journal for what may have been taken before. */
const readsAtOnce = 8

/** How long a beat may take that a stopped process owes. */
const steadyMs = 250

/** Nothing of it is kept but what the command itself writes. */
const isPlain = ({ key, posted }: Envelope<unknown>) => key === undefined && posted === undefined

const mayBeKnown = ({ heard }: Pick<Live<unknown, unknown>, "heard">, { sent }: Envelope<unknown>) =>
  sent !== undefined && (sent.again || heard?.has(sent.id) === true)

const publicOf = (facts: ReadonlyArray<FactRow>) => facts.reduce((n, fact) => (fact.public ? n + 1 : n), 0)

export const makeHost = <Snapshot, Request, Command, Job, W extends Written>(
  options: HostOptions<Snapshot, Request, Command, Job, W>
) => {
  const { bulkheads, deliver, employer, fork, journal, kind, lease, leaving, onAppended, onKept, onLost, onMoved } =
    options
  type Actor = Live<Snapshot, Request>
  const decided = commands.with({ kind: kind.name })

  /** Rows of the inbox over which an actor broke: they are passed over from then on. */
  const broken = new Set<string>()
  /** Rows of which one broke an actor: from then on each is decided alone. */
  const suspects = new Set<string>()

  /** The command of an inbox row; undefined where this version cannot read it, or broke over it before. */
  const readable = (row: InboxRow) => (broken.has(row.id) ? undefined : readPosted(kind, row))

  /** Its actor was lost before it was taken: it goes where the actor is now. */
  const redeliver = (live: Actor, envelope: Envelope<Request>) => {
    const { redelivered = 0 } = envelope
    return redelivered < mostRedeliveries
      ? deliver(live, { ...envelope, redelivered: redelivered + 1 })
      : Effect.fail(new Unreachable({ retryAfterSeconds }))
  }

  const lose = (live: Actor, why: Loss) => {
    if (live.lost === undefined) {
      live.lost = why
      onLost(live, why)
      jobs.settle(live.desk)
    }
    // Also of one that was lost before: a command whose append was refused only then is back in its mailbox.
    for (const { reply, task, ...envelope } of live.mailbox.splice(0)) {
      if (task !== undefined) jobs.takeBack(live.desk, task)
      // Its row is in the inbox still: whoever has the actor finds it there.
      else if (envelope.posted !== undefined) reply(Exit.fail(new Unreachable({ retryAfterSeconds })))
      else fork(Effect.onExit(redeliver(live, envelope), (exit) => Effect.sync(() => reply(exit))))
    }
  }

  const stored = Effect.fnUntraced(function* (live: Actor, key: KeyOf) {
    const row = yield* Effect.mapError(
      journal.key(live.ref.workspace, key.scope),
      () => new Unreachable({ retryAfterSeconds })
    )
    if (row === undefined) return undefined
    if (row.fingerprint !== key.fingerprint) return yield* new KeyReused()
    return replayed(row)
  })

  /** The answer to a command that changes nothing, kept by itself; another's, where one was kept meanwhile. */
  const keep = Effect.fnUntraced(function* (live: Actor, key: KeyOf, exit: Exit.Exit<Answer, ActorError>) {
    if (Exit.isFailure(exit)) return exit
    const row = rowOf(key, exit.value)
    const isKept = yield* Effect.mapError(
      journal.keep(live.ref.workspace, row),
      () => new Unreachable({ retryAfterSeconds })
    )
    if (isKept) {
      onKept(live.ref.workspace, row)
      return exit
    }
    return Exit.succeed((yield* stored(live, key)) ?? (yield* new Unreachable({ retryAfterSeconds })))
  })

  /** What a command came to, before anything of it is written. */
  interface Step {
    readonly item: Item<Request>
    readonly exit: Exit.Exit<Answer, ActorError>
    readonly before: Snapshot
    readonly next: Snapshot
    readonly written?: W
    readonly jobs: ReadonlyArray<Job>
  }

  const decide = (
    live: Actor,
    before: Snapshot,
    item: Item<Request>,
    at: number
  ): Effect.Effect<Step, Refused | Unreachable> => {
    const being: Being<Snapshot> =
      before === live.snapshot ? live : { ...live, snapshot: before, head: { updatedAt: at } }
    return goOn(kind.prepare(being, item.request, at), (command) => {
      const decision = kind.decide(being, command)
      record(decided)
      if (decision instanceof Refused) return Effect.fail(decision)
      const { answer, jobs, next, written } = decision
      return Effect.succeed<Step>({
        item,
        exit: Exit.succeed(answer),
        before,
        next,
        jobs,
        ...(written === undefined ? {} : { written })
      })
    })
  }

  /** H3: what waits, decided on top of `first`. What would break stays where it is, and breaks alone. */
  const gather = Effect.fnUntraced(function* (live: Actor, first: Step, at: number) {
    const steps = [first]
    for (
      let item = live.mailbox[0];
      item !== undefined && steps.length < mostTogether && isPlain(item) && !mayBeKnown(live, item);
      item = live.mailbox[0]
    ) {
      const snapshot: Snapshot = steps.at(-1)!.next
      const exit: Exit.Exit<Step, ActorError> = yield* Effect.exit(decide(live, snapshot, item, at))
      const failure = Exit.isSuccess(exit) ? undefined : Option.getOrUndefined(Cause.findErrorOption(exit.cause))
      if (Exit.isFailure(exit) && failure === undefined) break
      live.mailbox.shift()
      steps.push(
        Exit.isSuccess(exit)
          ? exit.value
          : { item, exit: Exit.failCause(exit.cause), before: snapshot, next: snapshot, jobs: [] }
      )
    }
    return steps
  })

  /**
   * One command down the one path, and those that came meanwhile. What fails before the commit is the caller's to tell.
   */
  const handle = Effect.fnUntraced(function* (live: Actor, item: Item<Request>, taken: Array<Item<Request>>) {
    if (item.posted !== undefined) return yield* handlePosted(live, taken)
    if (item.key !== undefined) {
      const answer = yield* stored(live, item.key)
      if (answer !== undefined) return item.reply(Exit.succeed(answer))
    }
    // What is born with a command is as old as that command.
    const at = live.unborn ? live.createdAt : Math.max(Math.floor(lease.now()), live.head.updatedAt)
    const { sent } = item
    // With a key, the key's kept answer would have said so.
    if (sent !== undefined && item.key === undefined && mayBeKnown(live, item)) {
      const answer = yield* kind.recall(live, item.request)
      if (answer !== undefined) return item.reply(Exit.succeed(answer))
      live.heard = (live.heard ?? new Set()).add(sent.id)
    }
    const first = yield* decide(live, live.snapshot, item, at)
    if (first.written === undefined && !live.unborn)
      return item.reply(item.key === undefined ? first.exit : yield* keep(live, item.key, first.exit))
    const steps = live.unborn || live.mailbox.length === 0 ? [first] : yield* gather(live, first, at)
    for (const { item } of steps.slice(1)) taken.push(item)
    yield* commit(live, steps, item, at)
  })

  /**
   * Rows of the inbox that lie one behind the other. Those that were taken before get their answer, the others are
   * decided on top of one another, and one append takes all of them out of the inbox: also what is refused, since its
   * sender was told "queued" and is gone.
   */
  const handlePosted = Effect.fnUntraced(function* (live: Actor, taken: Array<Item<Request>>) {
    const isAlone = taken.some(({ posted = "" }) => suspects.has(posted))
    for (
      let item = live.mailbox[0];
      item?.posted !== undefined && !isAlone && taken.length < mostTogether && !suspects.has(item.posted);
      item = live.mailbox[0]
    ) {
      live.mailbox.shift()
      taken.push(item)
    }
    const at = Math.max(Math.floor(lease.now()), live.head.updatedAt)
    const answers = yield* Effect.forEach(taken, ({ request }) => kind.recall(live, request), {
      concurrency: readsAtOnce
    })
    const steps: Array<Step> = []
    for (const [i, item] of taken.entries()) {
      const before: Snapshot = steps.at(-1)?.next ?? live.snapshot
      const answer = answers[i]
      const exit: Exit.Exit<Step, ActorError> =
        answer === undefined
          ? yield* Effect.exit(decide(live, before, item, at))
          : Exit.succeed({ item, exit: Exit.succeed(answer), before, next: before, jobs: [] })
      const failure = Exit.isSuccess(exit) ? undefined : Option.getOrUndefined(Cause.findErrorOption(exit.cause))
      if (Exit.isFailure(exit) && failure?._tag !== "Refused") {
        // It fails or breaks alone, those behind it wait.
        if (i === 0) return yield* Effect.failCause(exit.cause)
        live.mailbox.unshift(...taken.splice(i))
        break
      }
      steps.push(
        Exit.isSuccess(exit) ? exit.value : { item, exit: Exit.failCause(exit.cause), before, next: before, jobs: [] }
      )
    }
    const [first] = steps
    if (first !== undefined) yield* commit(live, steps, first.item, at)
  })

  /** Appends what was decided, then applies, answers, publishes and performs it. */
  const commit = Effect.fnUntraced(function* (
    live: Actor,
    steps: ReadonlyArray<Step>,
    item: Item<Request>,
    at: number
  ) {
    let { seq } = live.head
    const earlier = yield* write(live, steps, item, at)
    if (earlier !== undefined) return item.reply(Exit.succeed(earlier))
    for (const step of steps) {
      step.item.reply(step.exit)
      if (step.written === undefined) continue
      kind.committed(steps.length === 1 ? live : { ...live, snapshot: step.next }, step.before, step.written, seq)
      seq += publicOf(step.written.facts)
    }
    const [only] = steps
    jobs.perform(
      live,
      steps.length === 1 && only !== undefined ? only.jobs : stillWanted(steps.flatMap(({ jobs }) => jobs))
    )
  })

  /** Without what starts only to be stopped. */
  const stillWanted = (jobs: ReadonlyArray<Job>) =>
    jobs.filter((job, i) => {
      const run = kind.run(job)
      return (
        "stop" in run ||
        !jobs.slice(i + 1).some((later) => {
          const other = kind.run(later)
          return "stop" in other && run.start.startsWith(other.stop)
        })
      )
    })

  const write = Effect.fnUntraced(function* (live: Actor, steps: ReadonlyArray<Step>, item: Item<Request>, at: number) {
    const written = together(steps.flatMap(({ written }) => written ?? []))
    const kept = steps[0]?.exit
    const answer = kept !== undefined && Exit.isSuccess(kept) ? kept.value : undefined
    const facts = written?.facts ?? []
    const { head } = live
    const next: Snapshot = steps.at(-1)?.next ?? live.snapshot
    const { carry, runnableAt, since, status } = written === undefined ? head : kind.standing(next)
    const after: Head = {
      pos: head.pos + facts.length,
      seq: head.seq + publicOf(facts),
      rev: head.rev + 1,
      status,
      runnableAt,
      since,
      carry,
      updatedAt: at
    }
    const append: Append = {
      actor: live.ref,
      epoch: live.epoch,
      rev: head.rev,
      head: after,
      facts,
      birth: live.unborn ? { parent: live.parent, attributes: live.attributes } : undefined,
      inputs: written?.inputs,
      waits: written?.waits,
      spent: written?.spent,
      wakes: after.runnableAt === null || after.runnableAt === head.runnableAt ? undefined : after.runnableAt,
      keys: item.key === undefined || answer === undefined ? undefined : [rowOf(item.key, answer)],
      accepted: item.posted === undefined ? undefined : steps.flatMap(({ item: { posted } }) => posted ?? []),
      behindInbox: written?.takesInput === true && !live.unborn && item.posted === undefined && item.passes !== true
    }
    // Its lease has lapsed meanwhile: what would be born now would be this node's next life's, which knows nothing of
    // it.
    if (live.unborn && live.lost !== undefined) return yield* new Unreachable({ retryAfterSeconds })
    // A birth is refused when its idempotency key exists: the first request with it has won.
    const refused = yield* Effect.catchTag(journal.append(append), "Superseded", (superseded) =>
      live.unborn
        ? Effect.succeed("refused" as const)
        : append.behindInbox === true
          ? Effect.flatMap(journal.posted(live.ref), (rows) =>
              Effect.fail(rows.length > 0 ? new Behind({ rows }) : superseded)
            )
          : Effect.fail(superseded)
    )
    if (refused !== undefined)
      return (
        (item.key === undefined ? undefined : yield* stored(live, item.key)) ??
        (yield* new Unreachable({ retryAfterSeconds }))
      )
    live.snapshot = next
    live.head = after
    live.unborn = false
    onAppended(append)
    onMoved(live)
    return undefined
  })

  /**
   * A process that was stopped for less than the lease lasts is fenced only until its next beat, which is under way: it
   * is waited for.
   */
  const steady = Effect.gen(function* () {
    for (let waited = 0; lease.fenced() && waited < steadyMs; waited += steadyMs / 10)
      yield* Effect.sleep(steadyMs / 10)
  })

  const drain = Effect.fnUntraced(function* (live: Actor) {
    for (let item = live.mailbox.shift(); item !== undefined; item = live.mailbox.shift()) {
      // A birth has nobody else to go to.
      if (!live.unborn && lease.fenced()) yield* steady
      // It may have been lost while it waited, though the node has a lease again.
      if (!live.unborn && (live.lost !== undefined || lease.fenced())) {
        live.mailbox.unshift(item)
        lose(live, "fenced")
        break
      }
      const taken = [item]
      const exit = yield* Effect.exit(handle(live, item, taken))
      if (Exit.isSuccess(exit)) {
        if (live.unborn) {
          lose(live, "unborn")
          break
        }
        jobs.settle(live.desk)
        continue
      }
      const failure = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
      let why: Loss = "broken"
      if (failure === undefined) {
        yield* Effect.logError("an actor broke", exit.cause).pipe(Effect.annotateLogs({ actorId: live.ref.id }))
        if (item.posted !== undefined)
          for (const { posted = "" } of taken) (taken.length === 1 ? broken : suspects).add(posted)
        for (const { reply } of taken) reply(Exit.die(Cause.squash(exit.cause)))
      } else if (failure._tag === "Superseded") {
        // H2: none of these was taken; they go where the actor is now, ahead of what waits.
        record(actorsLost)
        why = "superseded"
        live.mailbox.unshift(...taken)
      } else if (failure._tag === "Behind") {
        const posted = failure.rows.flatMap((row) => {
          const envelope = readable(row)
          return envelope === undefined ? [] : [{ ...envelope, reply: () => {} }]
        })
        if (posted.length > 0 && item.waited === true) {
          // They went first once, and did not get in: nor does this one, for now.
          for (const { reply } of taken) reply(Exit.fail(new Unreachable({ retryAfterSeconds })))
          continue
        }
        // None of them can be read here: they hold nobody up.
        const passes = posted.length === 0
        live.mailbox.unshift(
          ...posted,
          ...taken.map((each) => (passes ? { ...each, passes } : { ...each, waited: true }))
        )
        continue
      } else if (failure._tag === "JournalUnavailable") {
        why = "unavailable"
        for (const { reply } of taken) reply(Exit.fail(new Unreachable({ retryAfterSeconds })))
      } else {
        // Those behind a row of the inbox that fails do not pass it.
        for (
          let next = live.mailbox[0];
          item.posted !== undefined && next?.posted !== undefined;
          next = live.mailbox[0]
        )
          taken.push(live.mailbox.shift() ?? next)
        for (const { reply } of taken) reply(Exit.fail(failure))
        if (!live.unborn) {
          jobs.settle(live.desk)
          continue
        }
        why = "unborn"
      }
      lose(live, why)
      break
    }
    live.busy = false
    live.touched = performance.now()
    for (const settled of live.settling.splice(0)) settled()
    if (live.mailbox.length > 0 && live.lost === undefined) wake(live)
  })

  const wake = (live: Actor) => {
    if (live.busy) return
    live.busy = true
    fork(drain(live))
  }

  /** Replied to once, whoever still listens. */
  const push = (live: Actor, ...items: ReadonlyArray<Item<Request>>) => {
    live.mailbox.push(...items)
    wake(live)
  }

  /** Puts commands into the mailbox, one behind the other; ends when each has its answer, whatever that is. */
  const tellAll = (live: Actor, envelopes: ReadonlyArray<Envelope<Request>>): Effect.Effect<void> =>
    live.lost !== undefined
      ? Effect.void
      : Effect.callback((resume) => {
          let open = envelopes.length
          push(
            live,
            ...envelopes.map(
              (envelope): Item<Request> => ({
                ...envelope,
                reply: () => {
                  if (--open === 0) resume(Effect.void)
                }
              })
            )
          )
        })

  const jobs = makeJobs<Actor, Snapshot, Request, Command, Job, W>({
    kind,
    lease,
    bulkheads,
    fork,
    leaving,
    employer,
    lose,
    push: (live, items) => push(live, ...items)
  })

  /** H7. What may have been taken before would be told that nothing has happened. */
  const isTooMany = ({ mailbox }: Actor, { posted, request, sent }: Envelope<Request>) =>
    mailbox.length >= mailboxCapacity &&
    posted === undefined &&
    sent?.again !== true &&
    kind.travels(request) !== undefined

  /** Puts a command into the mailbox of an actor that lives here; answered after its commit. */
  const tell = (live: Actor, envelope: Envelope<Request>): Effect.Effect<Answer, ActorError> =>
    Effect.suspend(() => {
      if (live.lost !== undefined) return redeliver(live, envelope)
      if (isTooMany(live, envelope)) {
        record(mailboxesFull.with({ kind: kind.name }))
        const message = `${mailboxCapacity} commands wait for this ${kind.name} already. Try again when some have been taken.`
        return Effect.fail(new Refused({ reason: "rate_limited", code: "mailbox_full", message, retryAfterSeconds: 1 }))
      }
      return Effect.callback<Answer, ActorError>((resume) => push(live, { ...envelope, reply: resume }))
    })

  return { tell, tellAll, push, lose, readable, resume: jobs.resume }
}
