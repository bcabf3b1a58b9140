/**
 * Commits what was decided of a live actor: one append, then what follows from it, in the order of H1 of Host.ts. Also
 * the answers that are kept for idempotency keys.
 */
import { Data, Effect, Exit } from "effect"
import type { Append, FactRow, Head, IdempotencyRow, InboxRow, Journal } from "../src/journal/Journal.ts"
import { type ActorError, type Reply, KeyReused } from "./Actor.ts"
import type { Item, KeyOf } from "./envelope.ts"
import { replayed, rowOf } from "./kept.ts"
import type { Kind, WriteSet } from "./Kind.ts"
import { type Activation, type DecidedStep as StepOf, mostTogether, unreachable } from "./live.ts"
import { mergeWrites } from "./mergeWrites.ts"

/**
 * An input has to wait for those in the inbox (H5): the first of its rows that can be read here; none where none can.
 */
export class InboxFirst extends Data.TaggedError("InboxFirst")<{ readonly rows: ReadonlyArray<InboxRow> }> {}

export interface CommitOptions<Snapshot, Request, Command, Job, W extends WriteSet> {
  readonly kind: Kind<Snapshot, Request, Command, Job, W>
  readonly journal: Pick<Journal["Service"], "append" | "keep" | "key" | "inboxRows">
  /** Whether the command of a row of the inbox can be read here. */
  readonly isReadable: (row: InboxRow) => boolean
  /** Performs the jobs of what is committed. */
  readonly perform: (live: Activation<Snapshot, Request>, jobs: ReadonlyArray<Job>) => void
  /** Its head has changed. */
  readonly onMoved: (live: Activation<Snapshot, Request>) => void
  /** It is committed. */
  readonly onAppended: (append: Append, live: Activation<Snapshot, Request>) => void
  /** So is the answer to a command that changes nothing. */
  readonly onKept: (workspace: string, row: IdempotencyRow) => void
}

const publicOf = (facts: ReadonlyArray<FactRow>) => facts.reduce((n, fact) => (fact.public ? n + 1 : n), 0)

export const makeCommits = <Snapshot, Request, Command, Job, W extends WriteSet>({
  isReadable,
  journal,
  kind,
  onAppended,
  onKept,
  onMoved,
  perform
}: CommitOptions<Snapshot, Request, Command, Job, W>) => {
  type Actor = Activation<Snapshot, Request>
  type DecidedStep = StepOf<Snapshot, Request, Job, W>

  /** The kept answer of an earlier request with the key. */
  const stored = Effect.fnUntraced(function* (live: Actor, key: KeyOf) {
    const row = yield* Effect.mapError(journal.key(live.ref.workspace, key.scope), unreachable)
    if (row === undefined) return undefined
    if (row.fingerprint !== key.fingerprint) return yield* new KeyReused()
    return replayed(row)
  })

  /** The answer to a command that changes nothing, kept by itself; another's, where one was kept meanwhile. */
  const keep = Effect.fnUntraced(function* (live: Actor, key: KeyOf, exit: Exit.Exit<Reply, ActorError>) {
    if (Exit.isFailure(exit)) return exit
    const row = rowOf(key, exit.value)
    const isKept = yield* Effect.mapError(journal.keep(live.ref.workspace, row), unreachable)
    if (isKept) {
      onKept(live.ref.workspace, row)
      return exit
    }
    return Exit.succeed((yield* stored(live, key)) ?? (yield* unreachable()))
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

  /** The one append of what was decided. */
  const appendOf = (live: Actor, steps: ReadonlyArray<DecidedStep>, item: Item<Request>, at: number) => {
    const written = mergeWrites(steps.flatMap(({ written }) => written ?? []))
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
      settles: written?.settles,
      archives: written?.archives,
      announces: written?.announces,
      wakes: after.runnableAt === null || after.runnableAt === head.runnableAt ? undefined : after.runnableAt,
      keys: item.key === undefined || answer === undefined ? undefined : [rowOf(item.key, answer)],
      accepted: item.inboxRow === undefined ? undefined : steps.flatMap(({ item: { inboxRow } }) => inboxRow ?? []),
      requiresEmptyInbox:
        written?.requiresEmptyInbox === true && !live.unborn && item.inboxRow === undefined && item.skipsInbox !== true
    }
    return { append, next }
  }

  /** A portion of what is in the actor's inbox; undefined where it is empty. What cannot be read takes no place. */
  const goingFirst = Effect.fnUntraced(function* ({ ref }: Actor) {
    const except: Array<string> = []
    for (;;) {
      const rows = yield* journal.inboxRows(ref, { rows: mostTogether, except })
      const readable = rows.filter(isReadable)
      if (readable.length > 0) return readable
      except.push(...rows.map(({ id }) => id))
      if (rows.length < mostTogether) return except.length === 0 ? undefined : []
    }
  })

  /** A birth is refused when its idempotency key exists: the first request with it has won. */
  const appending = (live: Actor, append: Append) =>
    Effect.catchTag(journal.append(append), "Superseded", (superseded) =>
      live.unborn
        ? Effect.succeed("refused" as const)
        : append.requiresEmptyInbox === true
          ? Effect.flatMap(goingFirst(live), (rows) =>
              Effect.fail(rows === undefined ? superseded : new InboxFirst({ rows }))
            )
          : Effect.fail(superseded)
    )

  const apply = (live: Actor, append: Append, next: Snapshot) => {
    live.snapshot = next
    live.head = append.head
    live.unborn = false
    onAppended(append, live)
    onMoved(live)
  }

  const follow = (live: Actor, steps: ReadonlyArray<DecidedStep>, from: number) => {
    let seq = from
    for (const step of steps) {
      step.item.reply(step.exit)
      if (step.written === undefined) continue
      kind.committed(steps.length === 1 ? live : { ...live, snapshot: step.next }, step.before, step.written, seq)
      seq += publicOf(step.written.facts)
    }
    const [only] = steps
    perform(live, steps.length === 1 && only !== undefined ? only.jobs : stillWanted(steps.flatMap(({ jobs }) => jobs)))
  }

  /** A birth that was refused has the answer that is kept for its key. */
  const answerEarlier = Effect.fnUntraced(function* (live: Actor, { key, reply }: Item<Request>) {
    const earlier = key === undefined ? undefined : yield* stored(live, key)
    reply(Exit.succeed(earlier ?? (yield* unreachable())))
  })

  /** Appends what was decided, then applies, answers, publishes and performs it. */
  const commit = (live: Actor, steps: ReadonlyArray<DecidedStep>, item: Item<Request>, at: number) => {
    const { seq } = live.head
    const { append, next } = appendOf(live, steps, item, at)
    // Its lease has lapsed meanwhile: what would be born now would be this node's next life's, which knows nothing of
    // it.
    if (live.unborn && live.dropped !== undefined) return Effect.fail(unreachable())
    return Effect.flatMap(appending(live, append), (refused) => {
      if (refused !== undefined) return answerEarlier(live, item)
      apply(live, append, next)
      follow(live, steps, seq)
      return Effect.void
    })
  }

  return { commit, keep, stored }
}
