/**
 * People look at actors of a kind, now and at any past moment, by what the kind brings for that: its chart, the codes
 * of its commands, how a log becomes the state that it was in, and what is said of a state. No contents: neither words
 * nor inputs nor outputs are ever in it.
 */
import type { AnyMachineSnapshot, AnyStateMachine } from "xstate"
import { type ChartDefinition, type ChartTransition, definitionOf } from "./definition.ts"
import { makePaths } from "./path.ts"

/** A fact as the journal holds it. `event` and `detail` are JSON texts. */
export interface WrittenFact {
  readonly pos: number
  readonly seq: number | null
  readonly n: number
  /** Milliseconds. */
  readonly at: number
  readonly type: string
  readonly turn: string | null
  readonly event: string
  readonly detail: string | null
  /** Code of the command whose first fact it is. */
  readonly cause: number | null
}

/** Something that goes on in a state. */
export interface Doing {
  readonly type: string
  readonly [field: string]: unknown
}

/** What may come next. */
export interface PossibleEvent {
  readonly event: string
  readonly targets: ReadonlyArray<string>
  /** The guard, or the word of the error, that refuses it. */
  readonly refusedBy?: string
}

/** What is kept of an actor as it is now beside its log. `carry` and `body` are JSON texts. */
export interface Kept {
  readonly carry: string
  readonly inputs: ReadonlyArray<{
    readonly id: string
    readonly ord: number
    readonly state: "pending" | "cancelled"
    readonly body: string
  }>
}

/** What is said of an actor as it is now alone. */
export interface Now {
  readonly possible: ReadonlyArray<PossibleEvent>
  readonly context: Readonly<Record<string, unknown>>
}

/** A log on its way to a state. */
export interface Folding {
  readonly tell: (fact: WrittenFact) => void
  /** The innermost state, as a path. Right only where a command has ended. */
  readonly state: () => string
  readonly doing: () => ReadonlyArray<Doing>
  readonly context: () => Readonly<Record<string, unknown>>
  readonly now: (kept: Kept) => Now
  /** Another that goes on from here, whatever this one is told. */
  readonly copy: () => Folding
}

/** Where a fold may begin. `before`: the last fact in front of it that is of a turn, where there is one. */
export interface Beginning {
  readonly pos: number
  readonly seq: number
  readonly before: Pick<WrittenFact, "type" | "turn"> | undefined
}

export interface Inspected {
  readonly definition: ChartDefinition
  /** By command. Codes are kept in journals: they are added to, and never change. */
  readonly causes: Readonly<Record<string, number>>
  /** A fold may begin at the first fact of any turn; otherwise only at the first of all. */
  readonly beginsAtTurns: boolean
  readonly fold: (from: Beginning) => Folding
  /** States that a fact tells of having been entered, where the ends of its step do not tell. */
  readonly entered: (fact: WrittenFact) => ReadonlyArray<string>
  readonly pathOf: ReturnType<typeof makePaths>["find"]
}

/** `Folded`: what the facts so far make of an actor. */
interface InspectedDefinition<Fact extends object, Folded> {
  readonly chart: AnyStateMachine
  readonly causes: Readonly<Record<string, number>>
  readonly beginsAtTurns?: true
  readonly begin: (from: Beginning) => Folded
  readonly factOf: (written: WrittenFact) => Fact
  readonly evolve: (folded: Folded, fact: Fact) => Folded
  readonly stateOf: (folded: Folded) => string
  /** States that are never entered but where a fact tells of it. */
  readonly enteredByFact?: ReadonlyArray<string>
  readonly entered?: (fact: Fact) => ReadonlyArray<string>
  readonly doing: (folded: Folded) => ReadonlyArray<Doing>
  readonly context: (folded: Folded) => Readonly<Record<string, unknown>>
  /**
   * Of guards that ask the command: how they answer every command now. Undefined, as of guards that are not named:
   * that is the command's to say.
   */
  readonly answered?: Readonly<Record<string, (folded: Folded) => boolean | undefined>>
  /** Where more is known of what may come than the chart tells. */
  readonly now?: (folded: Folded, kept: Kept) => Now
}

/** What an event may come to, of the transitions that are tried for it in their order. */
const cameTo = (
  event: string,
  tried: ReadonlyArray<ChartTransition>,
  answerOf: (guard: string) => boolean | undefined
): PossibleEvent => {
  const targets = new Set<string>()
  let mayDo = false
  let refusedBy: string | undefined
  for (const { actions, guard, target } of tried) {
    const answer = guard === undefined ? true : answerOf(guard)
    const does = actions.length > 0 || target !== undefined
    // Nothing happens: it is never taken, or it is, and changes nothing.
    if (answer === false || !does) refusedBy ??= guard
    else mayDo = true
    if (does && answer !== false && target !== undefined) targets.add(target)
    if (answer === true) break
  }
  return { event, targets: [...targets], ...(mayDo || refusedBy === undefined ? {} : { refusedBy }) }
}

/** The events that a state takes, where they may lead, and what refuses those that lead nowhere now. */
const takenBy = (
  { transitions }: ChartDefinition,
  tried: ReturnType<typeof makePaths>["tried"],
  state: string,
  answerOf: (guard: string) => boolean | undefined
): ReadonlyArray<PossibleEvent> =>
  [...new Set(transitions.flatMap(({ event }) => event ?? []))].flatMap((event) => {
    const found = tried(state, event)
    return found.length === 0 ? [] : [cameTo(event, found, answerOf)]
  })

export const defineInspected = <Fact extends object, Folded>(kind: InspectedDefinition<Fact, Folded>): Inspected => {
  const definition = definitionOf(kind.chart)
  const { find, tried } = makePaths(definition, kind.enteredByFact)
  for (const name of Object.keys(kind.answered ?? {}))
    if (!definition.transitions.some(({ guard }) => guard === name)) throw new Error(`no guard is named ${name}`)
  /** Parsed once, whoever asks: a fold and the step that it is of. */
  const parsed = new WeakMap<WrittenFact, Fact>()
  const factOf = (written: WrittenFact) => {
    const fact = parsed.get(written) ?? kind.factOf(written)
    parsed.set(written, fact)
    return fact
  }
  const foldingOf = (begun: Folded): Folding => {
    let folded = begun
    return {
      tell: (fact) => {
        folded = kind.evolve(folded, factOf(fact))
      },
      state: () => kind.stateOf(folded),
      doing: () => kind.doing(folded),
      context: () => kind.context(folded),
      now: (kept) =>
        kind.now?.(folded, kept) ?? {
          possible: takenBy(definition, tried, kind.stateOf(folded), (guard) => kind.answered?.[guard]?.(folded)),
          context: kind.context(folded)
        },
      copy: () => foldingOf(folded)
    }
  }
  return {
    definition,
    causes: kind.causes,
    beginsAtTurns: kind.beginsAtTurns === true,
    fold: (from) => foldingOf(kind.begin(from)),
    entered: (fact) => kind.entered?.(factOf(fact)) ?? [],
    pathOf: find
  }
}

/** The innermost state of a snapshot, as a path. */
export const leafOf = ({ value }: Pick<AnyMachineSnapshot, "value">): string => {
  const path: Array<string> = []
  for (let rest: unknown = value; rest !== undefined; ) {
    if (typeof rest === "string") return [...path, rest].join(".")
    // Our charts have no parallel states: one entry.
    const [entry] = Object.entries(rest ?? {})
    if (entry === undefined) break
    path.push(entry[0])
    rest = entry[1]
  }
  return path.join(".")
}
