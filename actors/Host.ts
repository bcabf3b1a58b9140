/**
 * Hosts live actors of one kind: takes one command at a time from each mailbox, and carries it down
 * the one path: decide, append, apply, answer, publish, perform.
 *
 * H1. Nothing is applied, answered, published or performed before the append is committed.
 * H2. An actor whose append was refused is lost for good: its jobs stop, what waits in its mailbox
 *     goes back to whoever finds its owner. An actor whose append has no known outcome leaves memory too, but its jobs
 *     run on: this node owes it, and whoever loads it finds the truth.
 * H3. Commands that have gathered in a mailbox while an append was under way are decided one after the other and
 *     appended together: three results that come at once are one commit. None of them is answered before that. An
 *     outcome waits a moment for those of other jobs that are under way: nothing goes on without them.
 * H4. A command that may have been taken before is not taken a second time: it gets the first's answer.
 * H5. Inputs that wait in the inbox for an actor come before an input that is asked of it directly.
 * H6. Without a lease nothing is decided but a birth, which has nobody else to go to: what is asked goes back to
 *     whoever finds the owner.
 * H7. A mailbox has a capacity. Above it commands of clients are refused; outcomes of jobs, the time, rows of the inbox
 *     and what may have been taken before never are.
 * H8. An actor is born by the command that brings its birth, or not at all: what waits behind a birth that came to
 *     nothing goes to whoever has the actor by then, or hears that nobody has it.
 * H9. Where an actor breaks over a row of its inbox, the row is to blame: it is passed over for a while that grows,
 *     and tried again after that, behind those that have not broken. It holds up nobody. Of rows that broke together,
 *     in one append, each is decided alone from then on.
 */
import { Cause, Effect, Exit, type Fiber, Option } from "effect"
import type { InboxRow, JournalUnavailable, Superseded } from "../src/journal/Journal.ts"
import type { Lease } from "../src/journal/Lease.ts"
import type { Monotonic } from "../src/monotonic.ts"
import { flatMapNow } from "../src/now.ts"
import { actorsLost, mailboxesFull, record } from "../src/telemetry/metrics.ts"
import { type ActorError, type Reply, Declined } from "./Actor.ts"
import { Crashes } from "./Crashes.ts"
import type { Bulkheads } from "./Bulkheads.ts"
import { type InboxFirst, type CommitOptions, makeCommits } from "./commits.ts"
import { cameAnotherWay, makeDeciding, mayBeKnown } from "./deciding.ts"
import type { Desk } from "./Desk.ts"
import { type Envelope, type Item, readInboxRow } from "./envelope.ts"
import { makeJobs } from "./Jobs.ts"
import type { WriteSet } from "./Kind.ts"
import { type Activation, type DropReason, unreachable } from "./live.ts"

export interface HostOptions<Snapshot, Request, Command, Job, W extends WriteSet>
  extends Omit<CommitOptions<Snapshot, Request, Command, Job, W>, "isReadable" | "perform"> {
  readonly lease: Lease["Service"]
  readonly monotonic: Monotonic
  readonly bulkheads: Bulkheads
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
  /** This node is on its way out. */
  readonly leaving: () => boolean
  /** The actor whose desk it is, while it is in memory. */
  readonly employer: (desk: Desk<Request>) => Activation<Snapshot, Request> | undefined
  /** The actor is gone from this node; what waited is told anew. */
  readonly onDropped: (live: Activation<Snapshot, Request>, why: DropReason) => void
  /** Tells the actor again, wherever it lives by now. */
  readonly retell: (
    live: Activation<Snapshot, Request>,
    envelope: Envelope<Request>
  ) => Effect.Effect<Reply, ActorError>
}

/**
 * Commands that wait in a mailbox (H7): four appends' worth, and a second's worth of several clients at their rates.
 */
const mailboxCapacity = 256

/**
 * How often a command follows its actor that is lost before it was taken: an actor that breaks again and again ends
 * that.
 */
const mostRedeliveries = 3

/** Rows that are decided alone: those that another node takes are never decided here. */
const mostSuspects = 10_000

/**
 * Milliseconds that a fenced node waits for its beat before it gives up what runs. A process that was stopped for less
 * than its lease lasts is fenced until that beat is answered. When the fence falls, a fifth of the TTL is left of the
 * lease: the pause between two beats, where that is shorter than a second.
 */
export const steadyMsOf = ({ beatEvery }: Pick<Lease["Service"], "beatEvery">) => Math.min(600, beatEvery)

type HandleFailure = ActorError | Superseded | InboxFirst | JournalUnavailable
type Handled = Effect.Effect<void, HandleFailure>

export const makeHost = <Snapshot, Request, Command, Job, W extends WriteSet>(
  options: HostOptions<Snapshot, Request, Command, Job, W>
) => {
  const { bulkheads, retell, employer, fork, kind, lease, leaving, monotonic, onDropped } = options
  type Actor = Activation<Snapshot, Request>

  const { decide, decidePosted, gather } = makeDeciding(kind, lease)
  const { commit, keep, stored } = makeCommits({
    ...options,
    perform: (live, wanted) => jobs.perform(live, wanted),
    isReadable: (row) => !hasBroken(row) && readable(row) !== undefined
  })

  /** Rows of the inbox over each of which an actor broke: left alone for a while (H9). */
  const broken = new Crashes(lease.now)
  /** Rows of which one broke an actor: from then on each is decided alone. */
  const suspects = new Set<string>()

  /** The command of an inbox row; undefined of one that is passed over. */
  const readable = (row: InboxRow) => (broken.until(row.id) === undefined ? readInboxRow(kind, row) : undefined)

  const hasBroken = ({ id }: InboxRow) => broken.times(id, 0) > 0

  /** The commands of those that are not passed over, in the order in which they are to be decided. */
  const deliverable = (rows: ReadonlyArray<InboxRow>) =>
    [...rows.filter((row) => !hasBroken(row)), ...rows.filter(hasBroken)].flatMap((row) => readable(row) ?? [])

  /** Milliseconds until which a row is passed over: for ever what this version cannot read. */
  const passedOverUntil = (row: InboxRow) =>
    broken.until(row.id) ?? (readInboxRow(kind, row) === undefined ? Number.POSITIVE_INFINITY : undefined)

  /**
   * Its actor was lost before it was taken: it goes where the actor is now. Whoever sent it may have given it up, and
   * brought it another way to an activation that is gone by now: it may have been taken.
   */
  const redeliver = (live: Actor, { sent, ...envelope }: Envelope<Request>) => {
    const { timesLost = 0 } = envelope
    if (timesLost >= mostRedeliveries) return Effect.fail(unreachable())
    const known = sent === undefined ? {} : { sent: { ...sent, redelivered: true } }
    return retell(live, { ...envelope, ...known, timesLost: timesLost + 1 })
  }

  const drop = (live: Actor, why: DropReason) => {
    if (live.dropped === undefined) {
      live.dropped = why
      onDropped(live, why)
      jobs.settle(live.desk)
    }
    // Also of one that was lost before: a command whose append was refused only then is back in its mailbox.
    for (const { reply, task, ...envelope } of live.mailbox.splice(0)) {
      if (task !== undefined) jobs.takeBack(live.desk, task)
      // Its row is in the inbox still: whoever has the actor finds it there.
      else if (envelope.inboxRow !== undefined) reply(Exit.fail(unreachable()))
      else fork(Effect.onExit(redeliver(live, envelope), (exit) => Effect.sync(() => reply(exit))))
    }
  }

  /** Rows of the inbox. */
  const handlePosted = Effect.fnUntraced(function* (live: Actor, taken: Array<Item<Request>>) {
    const { at, steps } = yield* decidePosted(live, taken, suspects, (one, cause) => broke(live, one, cause))
    const [first] = steps
    if (first !== undefined) yield* commit(live, steps, first.item, at)
    if (suspects.size > 0) for (const step of steps) suspects.delete(step.item.inboxRow ?? "")
  })

  /** The answer to a command that was taken before. */
  const earlierReply = (live: Actor, item: Item<Request>): Effect.Effect<Reply | undefined, ActorError> => {
    if (item.key !== undefined) return stored(live, item.key)
    // With a key, the key's kept answer would have said so.
    if (!mayBeKnown(live, item)) return Effect.undefined
    return Effect.map(kind.priorReply(live, item.request), (answer) => {
      if (answer === undefined) cameAnotherWay(live, item, lease.now())
      return answer
    })
  }

  /** A command, and those that came meanwhile. */
  const handleFresh = (live: Actor, item: Item<Request>, taken: Array<Item<Request>>) => {
    // What is born with a command is as old as that command.
    const at = live.unborn ? live.createdAt : Math.max(Math.floor(lease.now()), live.head.updatedAt)
    return flatMapNow(decide(live, live.snapshot, item, at), (first): Handled => {
      if (first.written === undefined && !live.unborn)
        return Effect.map(
          item.key === undefined ? Effect.succeed(first.exit) : keep(live, item.key, first.exit),
          item.reply
        )
      if (live.unborn || live.mailbox.length === 0) return commit(live, [first], item, at)
      return Effect.flatMap(gather(live, first, taken, at), (steps) => commit(live, steps, item, at))
    })
  }

  /** Down the one path. What fails before the commit is the caller's to tell. */
  const handle = (live: Actor, item: Item<Request>, taken: Array<Item<Request>>) =>
    Effect.suspend(
      (): Handled =>
        item.inboxRow !== undefined
          ? handlePosted(live, taken)
          : flatMapNow(earlierReply(live, item), (answer) =>
              answer === undefined
                ? handleFresh(live, item, taken)
                : Effect.sync(() => item.reply(Exit.succeed(answer)))
            )
    )

  /**
   * What waits in the inbox goes first, a portion at a time, unless it does not get in, or cannot be read here (H5).
   */
  const letPass = (live: Actor, item: Item<Request>, taken: ReadonlyArray<Item<Request>>, { rows }: InboxFirst) => {
    const posted = rows.flatMap((row) => {
      const envelope = readable(row)
      return envelope === undefined ? [] : [{ ...envelope, reply: () => {} }]
    })
    const waitedFor = posted[0]?.inboxRow
    if (waitedFor !== undefined && item.waitedFor === waitedFor) {
      // It went first once, and did not get in: nor does this one, for now.
      for (const { reply } of taken) reply(Exit.fail(unreachable()))
      return
    }
    live.mailbox.unshift(
      ...posted,
      // Where none of them can be read here, they hold nobody up.
      ...taken.map((each) => (waitedFor === undefined ? { ...each, skipsInbox: true } : { ...each, waitedFor }))
    )
  }

  /** The row is to blame (H9). */
  const broke = (live: Actor, { inboxRow, reply }: Item<Request>, cause: Cause.Cause<unknown>) => {
    if (inboxRow !== undefined) broken.add(inboxRow, 0)
    fork(Effect.logError("an actor broke", cause).pipe(Effect.annotateLogs({ actorId: live.ref.id })))
    reply(Exit.die(Cause.squash(cause)))
  }

  /** Tells everybody of `taken` what became of them; why the actor leaves memory, if it does. */
  const failed = (
    live: Actor,
    item: Item<Request>,
    taken: Array<Item<Request>>,
    cause: Cause.Cause<HandleFailure>
  ): DropReason | undefined => {
    const failure = Option.getOrUndefined(Cause.findErrorOption(cause))
    if (failure === undefined) {
      fork(Effect.logError("an actor broke", cause).pipe(Effect.annotateLogs({ actorId: live.ref.id })))
      for (const { reply } of taken) reply(Exit.die(Cause.squash(cause)))
      if (item.inboxRow === undefined) return "broken"
      const [only, ...others] = taken
      if (others.length === 0 && only?.inboxRow !== undefined) broken.add(only.inboxRow, 0)
      else for (const { inboxRow = "" } of taken) suspects.add(inboxRow)
      for (const oldest of suspects) {
        if (suspects.size <= mostSuspects) break
        suspects.delete(oldest)
      }
      return "stumbled"
    }
    switch (failure._tag) {
      case "Superseded":
        // H2: none of these was taken; they go where the actor is now, ahead of what waits.
        record(actorsLost)
        live.mailbox.unshift(...taken)
        return "superseded"
      case "InboxFirst":
        letPass(live, item, taken, failure)
        return undefined
      case "JournalUnavailable":
        for (const { reply } of taken) reply(Exit.fail(unreachable()))
        return "unavailable"
      default: {
        // Those behind a row of the inbox that fails do not pass it.
        for (
          let next = live.mailbox[0];
          item.inboxRow !== undefined && next?.inboxRow !== undefined;
          next = live.mailbox[0]
        )
          taken.push(live.mailbox.shift() ?? next)
        for (const { reply } of taken) reply(Exit.fail(failure))
        if (live.unborn) return "unborn"
        jobs.settle(live.desk)
        return undefined
      }
    }
  }

  const steadyMs = steadyMsOf(lease)
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
      if (!live.unborn && (live.dropped !== undefined || lease.fenced())) {
        live.mailbox.unshift(item)
        drop(live, "fenced")
        break
      }
      const taken = [item]
      const exit = yield* Effect.exit(handle(live, item, taken))
      if (Exit.isSuccess(exit)) {
        if (live.unborn) {
          drop(live, "unborn")
          break
        }
        jobs.settle(live.desk)
        continue
      }
      const why = failed(live, item, taken, exit.cause)
      if (why === undefined) continue
      drop(live, why)
      break
    }
    live.busy = false
    live.lastUsedAt = monotonic()
    for (const settled of live.settling.splice(0)) settled()
    if (live.mailbox.length > 0 && live.dropped === undefined) wake(live)
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
    live.dropped !== undefined
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
    drop,
    push: (live, items) => push(live, ...items)
  })

  /** H7. What may have been taken before would be told that nothing has happened. */
  const isTooMany = ({ mailbox }: Actor, { inboxRow, request, sent }: Envelope<Request>) =>
    mailbox.length >= mailboxCapacity &&
    inboxRow === undefined &&
    sent?.redelivered !== true &&
    kind.forwardable(request) !== undefined

  /** Puts a command into the mailbox of an actor that lives here now; answered after its commit. */
  const tell = (live: Actor, envelope: Envelope<Request>): Effect.Effect<Reply, ActorError> => {
    if (live.dropped !== undefined) return redeliver(live, envelope)
    if (isTooMany(live, envelope)) {
      record(mailboxesFull.with({ kind: kind.name }))
      const full = `${mailboxCapacity} commands wait for this ${kind.name} already`
      const message = `${full}. Try again when some have been taken.`
      return Effect.fail(new Declined({ reason: "rate_limited", code: "mailbox_full", message, retryAfterSeconds: 1 }))
    }
    return Effect.callback<Reply, ActorError>((resume) => push(live, { ...envelope, reply: resume }))
  }

  return { tell, tellAll, push, drop, deliverable, passedOverUntil, resume: jobs.resume }
}
