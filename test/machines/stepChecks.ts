/** Steps found again from facts alone are those that the live machine took. */
import { assert } from "@effect/vitest"
import { type AnyMachineSnapshot, type AnyStateMachine, type EventObject, getMicrosteps } from "xstate"
import type { FactRow } from "../../src/journal/Journal.ts"
import { type Inspected, leafOf, type WrittenFact } from "../../machines/inspected.ts"
import { beginningAt, makeWalk, type LoggedStep } from "../../machines/steps.ts"

/** A state that is entered again right behind itself looks like one entry to whoever reads snapshots. */
export const collapsed = (from: string, path: ReadonlyArray<string>) =>
  path.filter((state, i) => state !== (path[i - 1] ?? from))

/** The states that XState enters, in order. */
export const livePath = (chart: AnyStateMachine, before: AnyMachineSnapshot, command: EventObject) => {
  const leaves = getMicrosteps(chart, before, command).map(([snapshot]) => leafOf(snapshot))
  return leaves.filter((leaf, i) => leaf !== (leaves[i - 1] ?? leafOf(before)))
}

/** Facts of one command behind a log, as the journal holds them. */
export const asLogged = (
  log: ReadonlyArray<WrittenFact>,
  rows: ReadonlyArray<FactRow>,
  cause: number
): ReadonlyArray<WrittenFact> => {
  let seq = log.filter((fact) => fact.seq !== null).length
  return rows.map((row, i) => ({
    ...row,
    pos: log.length + i + 1,
    seq: row.public ? ++seq : null,
    cause: i === 0 ? cause : null
  }))
}

export interface Took {
  readonly chart: AnyStateMachine
  readonly inspected: Inspected
  readonly before: AnyMachineSnapshot
  readonly next: AnyMachineSnapshot
  readonly command: EventObject
  /** The whole log, and how many of its facts are the command's. */
  readonly log: ReadonlyArray<WrittenFact>
  readonly written: number
}

/** The last steps of a log, from where a fold may begin before the last of them. */
export const stepsAtEnd = (
  inspected: Inspected,
  log: ReadonlyArray<WrittenFact>,
  written: number
): ReadonlyArray<LoggedStep> => {
  const first = log.length - written
  const begun = inspected.beginsAtTurns
    ? log.findLastIndex(({ n, turn }, i) => i < first && n === 0 && turn !== null)
    : -1
  const from = Math.max(0, begun)
  const behind = log.slice(0, from)
  const last = behind.findLast(({ turn }) => turn !== null)
  const seq = behind.filter(({ seq }) => seq !== null).length
  const walk = makeWalk(inspected, beginningAt(inspected, { pos: from, seq, before: last }))
  const steps = log.slice(from).flatMap((fact) => {
    const step = walk.before(fact)
    walk.tell(fact)
    return step ?? []
  })
  return [...steps, walk.end() ?? assert.fail("the last step has no end")]
}

/** What may come next of an actor whose whole log this is, by event: the guard that refuses it, else where it leads. */
export const possibleBehind = (inspected: Inspected, log: ReadonlyArray<WrittenFact>) => {
  const folding = inspected.fold({ pos: 0, seq: 0, before: undefined })
  for (const fact of log) folding.tell(fact)
  const { possible } = folding.now({ carry: "{}", inputs: [] })
  return Object.fromEntries(possible.map(({ event, refusedBy, targets }) => [event, refusedBy ?? targets]))
}

/** What did something had been told as possible. Of threads, which tell more, their walks say so. */
const checkPossible = ({ command, inspected, log, written }: Took) => {
  if (inspected.beginsAtTurns) return
  const told = possibleBehind(inspected, log.slice(0, log.length - written))[command.type]
  assert.isArray(told, `${command.type} was refused: ${told}`)
}

export const checkStep = (took: Took) => {
  const { before, chart, command, inspected, log, next, written } = took
  if (written === 0) return assert.strictEqual(leafOf(next), leafOf(before), "no state changes without a fact")
  checkPossible(took)
  const step = stepsAtEnd(inspected, log, written).at(-1) ?? assert.fail("no step")
  assert.deepStrictEqual(
    { cause: step.cause, from: step.from, to: step.to, path: collapsed(step.from, step.path), fromPos: step.fromPos },
    {
      cause: command.type,
      from: leafOf(before),
      to: leafOf(next),
      path: livePath(chart, before, command),
      fromPos: log.length - written + 1
    },
    JSON.stringify(log.slice(-written).map(({ type }) => type))
  )
}
