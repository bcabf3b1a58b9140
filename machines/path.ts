/**
 * The way that an actor took through its chart in one command, found again from what was written of it: where it stood
 * before and after, the command, and the states that its facts tell of. Guards are not asked: what they would need is
 * not kept. A test holds it to the way that XState goes.
 */
import type { ChartDefinition, ChartTransition } from "./definition.ts"

export interface WayTaken {
  /** The innermost state, as a path. */
  readonly from: string
  readonly to: string
  /** The command's type; undefined where it was not kept. */
  readonly event: string | undefined
  /** States that facts tell of having been entered, in order; several may tell of the same time. */
  readonly entered: ReadonlyArray<string>
}

interface Place {
  readonly state: string
  /** How many of `entered` lie behind it. */
  readonly met: number
  readonly path: ReadonlyArray<string>
}

/** No way through a chart of ours enters more states in one command and between two facts that tell of one. */
const longest = 16

/** Ways whose path is kept. */
const remembered = 1_000

/** `enteredByFact`: states that are never entered without a fact that tells of it. */
export const makePaths = ({ states, transitions }: ChartDefinition, enteredByFact: ReadonlyArray<string> = []) => {
  const known = new Map(states.map((state) => [state.id, state]))
  const bySource = Map.groupBy(transitions, ({ source }) => source)

  /** The innermost state that entering a state leads to. */
  const leafOf = (id: string): string => {
    const initial = known.get(id)?.initial
    return initial === undefined ? id : leafOf(initial)
  }

  /** Those that may be taken in a state, its own before those of what it is a part of. */
  const tried = (state: string, event: string | undefined): ReadonlyArray<ChartTransition> => {
    const found: Array<ChartTransition> = []
    for (let id: string | undefined = state; id !== undefined; ) {
      for (const transition of bySource.get(id) ?? []) {
        if (transition.event !== event) continue
        found.push(transition)
        // What is behind one without a guard is never tried.
        if (transition.guard === undefined) return found
      }
      id = id === "" ? undefined : (known.get(id)?.parent ?? "")
    }
    return found
  }

  const reentered = new Set(
    transitions.flatMap(({ reenter, target }) => (reenter === true && target !== undefined ? [leafOf(target)] : []))
  )
  /** One that cannot follow itself was entered once, however many facts tell of it. */
  const each = (entered: WayTaken["entered"]) =>
    entered.filter((state, i) => state !== entered[i - 1] || reentered.has(state))

  const events = [...new Set(transitions.flatMap(({ event }) => (event === undefined ? [] : [event])))]

  /** None where it would enter a state of which no fact tells. */
  const take = (
    { met, path, state }: Place,
    { reenter, target }: ChartTransition,
    entered: WayTaken["entered"]
  ): ReadonlyArray<Place> => {
    const next = target === undefined ? state : leafOf(target)
    if (target === undefined || (next === state && reenter !== true)) return [{ state, met, path }]
    const isTold = entered[met] === next
    if (!isTold && enteredByFact.includes(next)) return []
    return [{ state: next, met: isTold ? met + 1 : met, path: [...path, next] }]
  }

  /** One that does nothing writes nothing. */
  const does = ({ actions, target }: ChartTransition) => actions.length > 0 || target !== undefined

  /** Where the command itself leads; what happens at once comes behind it. */
  const begin = ({ entered, event, from }: WayTaken): ReadonlyArray<Place> => {
    // It was entered before: what tells of that says nothing new.
    const here = { state: from, met: entered[0] === from && !enteredByFact.includes(from) ? 1 : 0, path: [] }
    const ways = (event === undefined ? events : [event]).flatMap((each) => tried(from, each)).filter(does)
    // Where the state does nothing about it, it is what follows at once that was written.
    return ways.length === 0 ? [here] : ways.flatMap((way) => take(here, way, entered))
  }

  const search = ({ entered: all, ...taken }: WayTaken): ReadonlyArray<string> => {
    const { from, to } = taken
    const entered = each(all)
    let places = begin({ ...taken, entered })
    const seen = new Set<string>()
    for (let length = 0; length <= longest && places.length > 0; length++) {
      const there = places.find(({ met, state }) => state === to && met === entered.length)
      if (there !== undefined) return there.path
      places = places.flatMap((place) => {
        const name = `${place.state} ${place.met}`
        if (seen.has(name)) return []
        seen.add(name)
        return tried(place.state, undefined).flatMap((way) => take(place, way, entered))
      })
    }
    return from === to ? [] : [to]
  }

  /** Actors of a kind take few ways, again and again. */
  const found = new Map<string, ReadonlyArray<string>>()

  /** The states entered, in order; the shortest way that fits. Where none fits, all that is known is where it led. */
  const find = ({ entered, event, from, to }: WayTaken): ReadonlyArray<string> => {
    const name = [from, to, event ?? "", ...entered].join(" ")
    const path = found.get(name) ?? search({ entered, event, from, to })
    if (found.size < remembered) found.set(name, path)
    return path
  }

  return { find, tried }
}
