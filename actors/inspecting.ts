/**
 * Looks at actors of any kind, live or not, now and at any past moment, by their logs alone: nothing of it asks the
 * actor, and nothing is written.
 *
 * N1. A fold begins where nothing is under way: at a turn's first fact, or at the first of all.
 * N2. A long log is read piece by piece, and others have the thread in between; so many logs are read at once.
 * N3. A reader that goes on where a fold has come by lately pays only for the log behind that place.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import type { Inspected, Now } from "../machines/inspected.ts"
import { beginningAt, isFirst, makeWalk, type Since, type LoggedStep } from "../machines/steps.ts"
import { Database, type DatabaseUnavailable } from "../src/database/Database.ts"
import { type InspectedHead, type LogOf, makeActorLog } from "../src/inspection/log.ts"
import { makeMilestones } from "./milestones.ts"
import { Registries } from "./Registries.ts"

/** Facts of one read, and of the first where a single step is looked for. */
const piece = 500
const fewFacts = 50
const fewMarks = 16
/** Facts between the milestones that a long walk leaves behind it. */
const keptEvery = 5_000
const readAtOnce = 4

export interface FoundActor {
  readonly head: InspectedHead
  readonly inspected: Inspected
}

/** What an actor is after one of its steps. */
export interface Moment {
  readonly step: LoggedStep | undefined
  readonly state: string
  readonly doing: ReadonlyArray<Since>
  readonly context: Readonly<Record<string, unknown>>
}

export interface StepsQuery {
  /** Steps that end behind it. */
  readonly after?: number
  /** Steps that end before it. */
  readonly before?: number
  readonly order: "asc" | "desc"
  readonly limit: number
}

export class Inspecting extends Context.Service<
  Inspecting,
  {
    /** Undefined where the workspace has no such actor, or this version does not know its kind. */
    readonly find: (workspace: string, id: string) => Effect.Effect<FoundActor | undefined, DatabaseUnavailable>
    /** One more than the limit where there are more. */
    readonly steps: (
      workspace: string,
      found: FoundActor,
      query: StepsQuery
    ) => Effect.Effect<ReadonlyArray<LoggedStep>, DatabaseUnavailable>
    /** After the step that wrote that fact. Of 0: at birth. */
    readonly at: (workspace: string, found: FoundActor, pos: number) => Effect.Effect<Moment, DatabaseUnavailable>
    /** As it is now: head, log and what waits are of one moment. Undefined where it has gone meanwhile. */
    readonly now: (
      workspace: string,
      found: FoundActor
    ) => Effect.Effect<(Moment & Now & { readonly head: InspectedHead }) | undefined, DatabaseUnavailable>
    /** The position of an event. */
    readonly positionOf: (
      workspace: string,
      found: FoundActor,
      seq: number
    ) => Effect.Effect<number | undefined, DatabaseUnavailable>
  }
>()("troupe/Inspecting") {
  static readonly layer = Layer.effect(
    Inspecting,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const log = makeActorLog(yield* Database)
  const registries = yield* Registries
  const permits = yield* Semaphore.make(readAtOnce)
  const milestones = makeMilestones()

  /** The first fact of the step that a fact is of. */
  const firstOf = Effect.fnUntraced(function* (of: LogOf, pos: number) {
    for (let upTo = pos, rows = fewMarks; ; rows = Math.min(piece, rows * 8)) {
      const marks = yield* log.marksUpTo(of, upTo, rows)
      // The last of them has its predecessor in the next piece.
      const place = marks.findIndex(
        (mark, i) => (i + 1 < marks.length || marks.length < rows) && isFirst(mark, marks[i + 1])
      )
      const found = marks[place]
      if (found !== undefined) return found.pos
      const oldest = marks.at(-1)
      if (oldest === undefined || marks.length < rows) return 1
      upTo = oldest.pos
    }
  })

  /** N1, N3: where to begin in a log in which the step that begins at `first` is to be seen. */
  const milestoneBefore = Effect.fnUntraced(function* (of: LogOf, inspected: Inspected, first: number) {
    const before = Math.max(0, first - 1)
    const known = milestones.find(of, before)
    if (known !== undefined && (known.pos === before || !inspected.beginsAtTurns)) return known
    const begun = !inspected.beginsAtTurns || first <= 1 ? undefined : yield* log.begunUpTo(of, before)
    if (known !== undefined && (begun === undefined || known.pos >= begun.pos)) return known
    return beginningAt(
      inspected,
      begun === undefined ? { pos: 0, seq: 0, before: undefined } : { ...begun, pos: begun.pos - 1 }
    )
  })

  /** Walks the log from where the step with `first` can be seen, up to `upTo`, as long as `isWanted` says of a step. */
  const walk = Effect.fnUntraced(function* (
    of: LogOf,
    inspected: Inspected,
    { first, upTo, rows }: { readonly first: number; readonly upTo: number; readonly rows: number },
    isWanted: (step: LoggedStep) => boolean
  ) {
    const from = yield* milestoneBefore(of, inspected, first)
    const walked = makeWalk(inspected, from)
    let last = from
    let kept = from
    for (let after = from.pos, limit = rows; after < upTo; limit = piece) {
      const facts = yield* log.factsBehind(of, { after, upTo, limit })
      for (const fact of facts) {
        const step = walked.before(fact)
        if (step !== undefined) {
          last = walked.milestone()
          if (step.pos >= first && !isWanted(step)) {
            milestones.keep(of, last)
            return walked
          }
        }
        walked.tell(fact)
      }
      const { pos } = facts.at(-1) ?? {}
      if (pos === undefined) break
      after = pos
      if (last.pos - kept.pos >= keptEvery) {
        milestones.keep(of, last)
        kept = last
      }
      yield* Effect.yieldNow
    }
    // Where the last step ends is known when the next one begins: that of an older node may go on.
    if (last !== from) milestones.keep(of, last)
    const step = walked.end()
    if (step !== undefined && step.pos >= first) isWanted(step)
    return walked
  })

  const ascending = Effect.fnUntraced(function* (
    of: LogOf,
    { head, inspected }: FoundActor,
    after: number,
    limit: number
  ) {
    const steps: Array<LoggedStep> = []
    if (after >= head.pos) return steps
    const first = milestones.find(of, after)?.pos === after ? after + 1 : yield* firstOf(of, after + 1)
    yield* walk(of, inspected, { first, upTo: head.pos, rows: piece }, (step) => {
      if (step.pos > after) steps.push(step)
      return steps.length < limit
    })
    return steps
  })

  /** The positions at which the last steps up to one begin, newest first. */
  const lastBeginnings = Effect.fnUntraced(function* (of: LogOf, upTo: number, after: number, limit: number) {
    const found: Array<number> = []
    for (let below = upTo; below > after; ) {
      const marks = yield* log.marksUpTo(of, below, piece)
      const isAll = marks.length < piece
      for (const [i, mark] of marks.entries()) {
        if (!isAll && i + 1 === marks.length) break
        if (isFirst(mark, marks[i + 1])) found.push(mark.pos)
        if (found.length === limit) return found
      }
      const oldest = marks.at(-1)
      if (isAll || oldest === undefined) return found
      below = oldest.pos
    }
    return found
  })

  const descending = Effect.fnUntraced(function* (
    of: LogOf,
    { head, inspected }: FoundActor,
    { after = 0, before = head.pos + 1, limit }: StepsQuery
  ) {
    const upTo = Math.min(head.pos, before - 1)
    const first = (yield* lastBeginnings(of, upTo, after, limit)).at(-1)
    const steps: Array<LoggedStep> = []
    if (first === undefined) return steps
    yield* walk(of, inspected, { first, upTo, rows: piece }, (step) => {
      if (step.pos > after) steps.push(step)
      return true
    })
    return steps.toReversed()
  })

  const look = Effect.fnUntraced(function* (of: LogOf, { head, inspected }: FoundActor, pos: number) {
    const first = pos === 0 ? 0 : yield* firstOf(of, pos)
    let step: LoggedStep | undefined
    const walked = yield* walk(of, inspected, { first, upTo: pos === 0 ? 0 : head.pos, rows: fewFacts }, (each) => {
      if (each.pos < pos) return true
      // It ends where the next one begins.
      step ??= each
      return false
    })
    const moment: Moment = { step, state: walked.state(), doing: walked.doing(), context: walked.context() }
    return { moment, walked }
  })

  return Inspecting.of({
    find: Effect.fnUntraced(function* (workspace, id) {
      const head = yield* log.head({ workspace, id })
      const inspected = head && registries.of(head.kind)?.inspected
      return head === undefined || inspected === undefined ? undefined : { head, inspected }
    }),

    steps: (workspace, found, query) => {
      const of = { workspace, id: found.head.id }
      return permits.withPermit(
        query.order === "asc"
          ? ascending(of, found, query.after ?? 0, query.limit + 1)
          : descending(of, found, { ...query, limit: query.limit + 1 })
      )
    },

    at: (workspace, found, pos) =>
      permits.withPermit(Effect.map(look({ workspace, id: found.head.id }, found, pos), ({ moment }) => moment)),

    now: (workspace, { head: { id }, inspected }) =>
      permits.withPermit(
        Effect.gen(function* () {
          const of = { workspace, id }
          const seen = yield* log.now(of)
          if (seen === undefined) return undefined
          const { head, inputs } = seen
          // The log up to there is as it was at that moment.
          const { moment, walked } = yield* look(of, { head, inspected }, head.pos)
          return { head, ...moment, ...walked.now({ carry: head.carry, inputs }) }
        })
      ),

    positionOf: (workspace, { head }, seq) => log.positionOf({ workspace, id: head.id }, seq)
  })
})
