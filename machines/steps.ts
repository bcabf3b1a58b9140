/**
 * The steps of an actor: what each of its commands did that wrote facts, made of the log alone. A state is shown only
 * where a command has ended, since a fold in the middle of an append passes states that never were.
 */
import type { Beginning, Doing, Folding, Inspected, Kept, WrittenFact } from "./inspected.ts"

export interface LoggedStep {
  /** Of its last fact, and of its first. */
  readonly pos: number
  readonly fromPos: number
  /** Milliseconds. */
  readonly at: number
  /** The command's type; `unknown` of facts from before commands were kept. */
  readonly cause: string
  readonly from: string
  readonly to: string
  /** The states entered, in order. */
  readonly path: ReadonlyArray<string>
  readonly turnId?: string
  readonly fromSeq?: number
  readonly toSeq?: number
  readonly facts: ReadonlyArray<{ readonly type: string; readonly seq?: number }>
}

/** A command's first fact; of those whose commands were not kept, the first of a moment. */
export const isFirst = (
  { at, cause }: Pick<WrittenFact, "at" | "cause">,
  before: Pick<WrittenFact, "at" | "cause"> | undefined
): boolean => cause !== null || before === undefined || before.at !== at

/** Where a fold of a kind that begins at turns may begin. */
export const isTurnFirst = ({ n, turn }: Pick<WrittenFact, "n" | "turn">) => n === 0 && turn !== null

const unknown = "unknown"

/** The command of a code. A newer version may know more. */
export const causeOf = ({ causes }: Pick<Inspected, "causes">, code: number | null): string =>
  Object.entries(causes).find(([, other]) => other === code)?.[0] ?? unknown

/** One step, of the facts of one command. */
export const stepOf = (
  inspected: Inspected,
  from: string,
  to: string,
  facts: ReadonlyArray<WrittenFact>
): LoggedStep => {
  const [first] = facts
  const last = facts.at(-1)
  if (first === undefined || last === undefined) throw new Error("a step without facts")
  const cause = causeOf(inspected, first.cause)
  const seqs = facts.flatMap(({ seq }) => seq ?? [])
  const [fromSeq] = seqs
  const toSeq = seqs.at(-1)
  const turnId = facts.find(({ turn }) => turn !== null)?.turn
  return {
    pos: last.pos,
    fromPos: first.pos,
    at: first.at,
    cause,
    from,
    to,
    path: inspected.pathOf({
      from,
      to,
      event: cause === unknown ? undefined : cause,
      entered: facts.flatMap(inspected.entered)
    }),
    ...(turnId === undefined || turnId === null ? {} : { turnId }),
    ...(fromSeq === undefined || toSeq === undefined ? {} : { fromSeq, toSeq }),
    facts: facts.map(({ seq, type }) => ({ type, ...(seq === null ? {} : { seq }) }))
  }
}

/** What goes on, and since when: what went on before goes on since then. */
export interface Since {
  readonly doing: Doing
  readonly at: number
}

const named = (doing: Doing) => JSON.stringify(doing)

const goingOn = (before: ReadonlyMap<string, Since>, doing: ReadonlyArray<Doing>, at: number) =>
  new Map(doing.map((each) => [named(each), before.get(named(each)) ?? { doing: each, at }]))

/** Between two steps of a log: all that a walk which goes on from there has to know of what lies before. */
export interface Milestone {
  readonly pos: number
  readonly folding: Folding
  readonly state: string
  readonly going: ReadonlyMap<string, Since>
  /** Characters of facts that the state may hold. */
  readonly held: number
}

export const beginningAt = (inspected: Inspected, from: Beginning): Milestone => {
  const folding = inspected.fold(from)
  return { pos: from.pos, folding, state: folding.state(), going: new Map(), held: 0 }
}

/** Takes a log's facts one by one, from a place on, and keeps where the actor stands after the last step. */
export const makeWalk = (inspected: Inspected, from: Milestone) => {
  const folding = from.folding.copy()
  let { going, held, pos, state } = from
  let open: Array<WrittenFact> = []

  /** Ends the step that is open: no further fact is of it. */
  const end = (): LoggedStep | undefined => {
    const last = open.at(-1)
    if (last === undefined) return undefined
    const to = folding.state()
    const step = stepOf(inspected, state, to, open)
    state = to
    pos = last.pos
    open = []
    going = goingOn(going, folding.doing(), last.at)
    return step
  }

  return {
    /** The step that ends with the fact before this one, where this one begins another. */
    before: (fact: WrittenFact): LoggedStep | undefined => (isFirst(fact, open.at(-1)) ? end() : undefined),
    tell: (fact: WrittenFact) => {
      if (inspected.beginsAtTurns) {
        const length = fact.event.length + (fact.detail?.length ?? 0)
        held = isTurnFirst(fact) ? length : held + length
      }
      open.push(fact)
      folding.tell(fact)
    },
    end,
    /** After the last step that has ended. */
    state: () => state,
    doing: (): ReadonlyArray<Since> => [...going.values()],
    context: () => folding.context(),
    now: (kept: Kept) => folding.now(kept),
    /** Where it stands: asked for between two steps, when no fact is told that is of none yet. */
    milestone: (): Milestone => ({ pos, folding: folding.copy(), state, going, held })
  }
}
