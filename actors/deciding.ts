/**
 * Decides commands of a live actor, before anything of them is written: one, those that have gathered behind it, or
 * rows of its inbox. H3, H4 of Host.ts.
 */
import { Cause, Effect, Exit, Option } from "effect"
import type { Lease } from "../src/journal/Lease.ts"
import { flatMapNow } from "../src/now.ts"
import { commands, record } from "../src/telemetry/metrics.ts"
import { type ActorError, Declined, type Unreachable } from "./Actor.ts"
import type { Envelope, Item } from "./envelope.ts"
import type { ActorView, Kind, WriteSet } from "./Kind.ts"
import { type Activation, mostTogether, type DecidedStep as StepOf } from "./live.ts"

/** Looks into the journal for what may have been taken before. */
const readsAtOnce = 8

/** Nothing of it is kept but what the command itself writes. */
const isPlain = ({ key, inboxRow }: Envelope<unknown>) => key === undefined && inboxRow === undefined

type Seeing = Pick<Activation<unknown, unknown>, "seen">

/** Milliseconds: many times what a command may be under way for (forwarding.ts) and wait here (H7). */
const seenFor = 60_000

/** H4. Remembers a command that came a second way, or as a row of the inbox: its first way may still bring it. */
export const cameAnotherWay = (live: Seeing, { sent }: Envelope<unknown>, now: number) => {
  if (sent === undefined) return
  live.seen ??= new Map()
  const { seen } = live
  for (const [oldest, at] of seen) {
    if (at > now - seenFor) break
    seen.delete(oldest)
  }
  // The oldest comes first.
  seen.delete(sent.id)
  seen.set(sent.id, now)
}

/** Whether the journal has to be asked for a command before it is decided: it came more than one way. */
export const mayBeKnown = ({ seen }: Seeing, { sent }: Envelope<unknown>) =>
  sent !== undefined && (sent.redelivered || seen?.has(sent.id) === true)

export const makeDeciding = <Snapshot, Request, Command, Job, W extends WriteSet>(
  kind: Kind<Snapshot, Request, Command, Job, W>,
  lease: Pick<Lease["Service"], "now">
) => {
  type Actor = Activation<Snapshot, Request>
  type DecidedStep = StepOf<Snapshot, Request, Job, W>

  /** The first fact says which command it was. */
  const caused = (written: W | undefined, command: Command): W | undefined => {
    const [first, ...rest] = written?.facts ?? []
    const type = first && kind.causeOf(command)
    const cause = type === undefined ? undefined : kind.inspected.causes[type]
    return written === undefined || first === undefined || cause === undefined
      ? written
      : { ...written, facts: [{ ...first, cause }, ...rest] }
  }

  const decided = commands.with({ kind: kind.name })

  const decide = (
    live: Actor,
    before: Snapshot,
    item: Item<Request>,
    at: number
  ): Effect.Effect<DecidedStep, Declined | Unreachable> => {
    const being: ActorView<Snapshot> =
      before === live.snapshot ? live : { ...live, snapshot: before, head: { updatedAt: at } }
    return flatMapNow(kind.prepare(being, item.request, at), (command) => {
      const decision = kind.decide(being, command)
      record(decided)
      if (decision instanceof Declined) return Effect.fail(decision)
      const { answer, jobs, next } = decision
      const written = caused(decision.written, command)
      return Effect.succeed<DecidedStep>({
        item,
        exit: Exit.succeed(answer),
        before,
        next,
        jobs,
        ...(written === undefined ? {} : { written })
      })
    })
  }

  /**
   * H3: what waits, decided on top of `first`. Each leaves the mailbox for `taken` before it is decided: what an actor
   * that is dropped has in its mailbox is sent on, and would be carried out twice. One over which a chart breaks, and
   * does not just refuse it, goes back to the head of the mailbox, and breaks alone.
   */
  const gather = Effect.fnUntraced(function* (
    live: Actor,
    first: DecidedStep,
    taken: Array<Item<Request>>,
    at: number
  ) {
    const steps = [first]
    for (
      let next = live.mailbox[0];
      next !== undefined &&
      live.dropped === undefined &&
      steps.length < mostTogether &&
      isPlain(next) &&
      !mayBeKnown(live, next);
      next = live.mailbox[0]
    ) {
      const item = next
      live.mailbox.shift()
      taken.push(item)
      const snapshot: Snapshot = steps.at(-1)!.next
      const exit: Exit.Exit<DecidedStep, ActorError> = yield* Effect.exit(
        // What preparing or deciding it throws is this command's alone.
        Effect.suspend(() => decide(live, snapshot, item, at))
      )
      const failure = Exit.isSuccess(exit) ? undefined : Option.getOrUndefined(Cause.findErrorOption(exit.cause))
      if (Exit.isFailure(exit) && failure === undefined) {
        taken.pop()
        live.mailbox.unshift(item)
        break
      }
      steps.push(
        Exit.isSuccess(exit)
          ? exit.value
          : { item, exit: Exit.failCause(exit.cause), before: snapshot, next: snapshot, jobs: [] }
      )
    }
    return steps
  })

  /**
   * Rows of the inbox that lie one behind the other. Those that were taken before get their answer, the others are
   * decided on top of one another, and one append takes all of them out of the inbox: also what is refused, since its
   * sender was told "queued" and is gone. Of one that breaks nothing is applied: it stays, and those behind it pass.
   */
  const decidePosted = Effect.fnUntraced(function* (
    live: Actor,
    taken: Array<Item<Request>>,
    suspects: ReadonlySet<string>,
    broke: (item: Item<Request>, cause: Cause.Cause<unknown>) => void
  ) {
    const isAlone = taken.some(({ inboxRow = "" }) => suspects.has(inboxRow))
    for (
      let item = live.mailbox[0];
      item?.inboxRow !== undefined && !isAlone && taken.length < mostTogether && !suspects.has(item.inboxRow);
      item = live.mailbox[0]
    ) {
      live.mailbox.shift()
      taken.push(item)
    }
    // What no other node can send has no first way.
    for (const item of taken) if (kind.forwardable(item.request) !== undefined) cameAnotherWay(live, item, lease.now())
    const at = Math.max(Math.floor(lease.now()), live.head.updatedAt)
    const answers = yield* Effect.forEach(taken, ({ request }) => Effect.exit(kind.priorReply(live, request)), {
      concurrency: readsAtOnce
    })
    const steps: Array<DecidedStep> = []
    for (const [i, item] of [...taken].entries()) {
      const before: Snapshot = steps.at(-1)?.next ?? live.snapshot
      const exit: Exit.Exit<DecidedStep, ActorError> = yield* Effect.exit(
        Effect.flatMap(answers[i] ?? Effect.undefined, (answer) =>
          answer === undefined
            ? decide(live, before, item, at)
            : Effect.succeed<DecidedStep>({ item, exit: Exit.succeed(answer), before, next: before, jobs: [] })
        )
      )
      if (Exit.isSuccess(exit)) {
        steps.push(exit.value)
        continue
      }
      const failure = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
      if (failure?._tag === "Refused") {
        steps.push({ item, exit: Exit.failCause(exit.cause), before, next: before, jobs: [] })
        continue
      }
      if (failure === undefined) {
        taken.splice(taken.indexOf(item), 1)
        broke(item, exit.cause)
        continue
      }
      // It fails alone, those behind it wait.
      const alone = steps.length === 0 ? 1 : 0
      live.mailbox.unshift(...taken.splice(taken.indexOf(item) + alone))
      if (alone === 1) return yield* Effect.failCause(exit.cause)
      break
    }
    return { steps, at }
  })

  return { decide, gather, decidePosted }
}
