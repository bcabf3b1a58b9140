/**
 * A chart as data, made from the machine that runs: what diagrams, tables and inspectors draw. Ids are paths, such as
 * `running.sampling`; the root, whose transitions are those of any state, has the empty one.
 */
import type { AnyStateMachine, AnyStateNode } from "xstate"

export interface ChartState {
  readonly id: string
  /** The state that it is a part of; absent of those at the top. */
  readonly parent?: string
  /** Of one that has parts: the part that it begins in. */
  readonly initial?: string
  readonly description: string
}

export interface ChartTransition {
  /** The same as long as its source, its event and its place among those do not change. */
  readonly id: string
  readonly source: string
  /** Absent where no state is left. */
  readonly target?: string
  /** Absent where it is taken at once. */
  readonly event?: string
  readonly guard?: string
  readonly actions: ReadonlyArray<string>
  /** The state is left and entered again though it is the target's own. */
  readonly reenter?: true
  readonly description: string
}

export interface ChartDefinition {
  /** The state that everything begins in. */
  readonly initial: string
  /** Each behind the one that it is a part of. */
  readonly states: ReadonlyArray<ChartState>
  /** Those of a state in the order in which they are tried. */
  readonly transitions: ReadonlyArray<ChartTransition>
}

const idOf = ({ path }: AnyStateNode) => path.join(".")

const below = (node: AnyStateNode): ReadonlyArray<AnyStateNode> =>
  Object.values(node.states).flatMap((state: AnyStateNode) => [state, ...below(state)])

const words = { and: " and ", or: " or " } as const
const isJoining = (name: string): name is keyof typeof words => Object.hasOwn(words, name)

/** A guard by its name; one that is composed and has none of its own is written out. */
export const guardName = (guard: unknown): string => {
  if (typeof guard === "string") return guard
  if (typeof guard === "object" && guard !== null && "type" in guard) return String(guard.type)
  if (typeof guard !== "function") return ""
  const parts = "guards" in guard && Array.isArray(guard.guards) ? guard.guards.map(guardName) : []
  if (isJoining(guard.name)) return parts.join(words[guard.name])
  return guard.name === "not" && parts.length === 1 ? `not(${parts.join("")})` : guard.name
}

/** Of actions that are ours: what only emits is said by the facts. */
const actionNames = (actions: ReadonlyArray<unknown>) =>
  actions.flatMap((action) =>
    typeof action === "string"
      ? [action]
      : typeof action === "object" && action !== null && "type" in action
        ? [String(action.type)]
        : []
  )

const transitionsOf = (node: AnyStateNode): ReadonlyArray<ChartTransition> => {
  const source = idOf(node)
  const places = new Map<string, number>()
  return [...(node.always ?? []), ...[...node.transitions.values()].flat()].map(
    ({ actions, description = "", eventType, guard, reenter, target }) => {
      const place = places.get(eventType) ?? 0
      places.set(eventType, place + 1)
      const name = guardName(guard)
      const [to] = target ?? []
      return {
        id: `${source}/${eventType}/${place}`,
        source,
        ...(to === undefined ? {} : { target: idOf(to) }),
        ...(eventType === "" ? {} : { event: eventType }),
        ...(name === "" ? {} : { guard: name }),
        actions: actionNames(actions),
        ...(reenter === true ? { reenter } : {}),
        description
      }
    }
  )
}

const initialOf = (node: AnyStateNode): string | undefined => {
  const [first] = node.initial?.target ?? []
  return first && idOf(first)
}

const stateOf = (node: AnyStateNode): ChartState => {
  const initial = initialOf(node)
  const parent = node.parent === undefined ? "" : idOf(node.parent)
  return {
    id: idOf(node),
    ...(parent === "" ? {} : { parent }),
    ...(initial === undefined ? {} : { initial }),
    description: node.description ?? ""
  }
}

export const definitionOf = ({ root }: AnyStateMachine): ChartDefinition => {
  const states = below(root)
  return {
    initial: initialOf(root) ?? "",
    states: states.map(stateOf),
    transitions: [root, ...states].flatMap(transitionsOf)
  }
}
