/** Charts as data: that they hold all that their machines were written with, and nothing else. */
import { assert, describe, it } from "@effect/vitest"
import { and, not, or, setup } from "xstate"
import { charts } from "../../machines/charts.ts"
import { definitionOf, guardName } from "../../machines/definition.ts"

/** A machine as it was written, as far as it is looked at here. */
interface WrittenFact {
  readonly initial?: unknown
  readonly description?: unknown
  readonly states?: Readonly<Record<string, WrittenFact>>
  readonly on?: Readonly<Record<string, unknown>>
  readonly always?: unknown
}
interface Way {
  readonly guard?: unknown
  readonly target?: unknown
  readonly description?: unknown
}

const listOf = (ways: unknown): ReadonlyArray<Way> =>
  (Array.isArray(ways) ? ways : ways === undefined ? [] : [ways]).map((way: Way | string) =>
    typeof way === "string" ? { target: way } : way
  )

/** Each state by its path, and each way out of it: on what, by which guard, and whether it leads anywhere. */
const written = (
  node: WrittenFact,
  path: ReadonlyArray<string> = []
): { states: Array<string>; ways: Array<string> } => {
  const id = path.join(".")
  const of = (event: string, ways: unknown) =>
    listOf(ways).map(
      ({ guard, target }) => `${id} ${event} ${guardName(guard)} ${target === undefined ? "" : "leaves"}`
    )
  const own = [...of("", node.always), ...Object.entries(node.on ?? {}).flatMap(([event, ways]) => of(event, ways))]
  const inner = Object.entries(node.states ?? {}).map(([key, state]) => ({
    key,
    found: written(state, [...path, key])
  }))
  return {
    states: inner.flatMap(({ found, key }) => [[...path, key].join("."), ...found.states]),
    ways: [...own, ...inner.flatMap(({ found }) => found.ways)]
  }
}

describe.each(Object.entries(charts))("the chart of %s as data", (_, machine) => {
  const { initial, states, transitions } = definitionOf(machine)
  const all = written(machine.config as WrittenFact)

  it("has every state that was written, under its path, and its words", () => {
    assert.deepStrictEqual(
      states.map(({ id }) => id),
      all.states
    )
    for (const { description, id } of states) assert.notStrictEqual(description, "", id)
  })

  it("has every transition that was written, with its guard and words", () => {
    const found = transitions.map(
      ({ event = "", guard = "", source, target }) =>
        `${source} ${event} ${guard} ${target === undefined ? "" : "leaves"}`
    )
    assert.deepStrictEqual(found.toSorted(), all.ways.toSorted())
    assert.strictEqual(new Set(transitions.map(({ id }) => id)).size, transitions.length)
    for (const { description, id } of transitions) assert.notStrictEqual(description, "", id)
  })

  it("names nothing that is not there", () => {
    const ids = new Set(states.map(({ id }) => id))
    assert.isTrue(ids.has(initial))
    for (const { initial, parent } of states)
      for (const id of [initial, parent]) if (id !== undefined) assert.isTrue(ids.has(id), id)
    for (const { source, target } of transitions)
      for (const id of [source, target]) if (id !== undefined && id !== "") assert.isTrue(ids.has(id), id)
  })
})

describe("a guard", () => {
  it("that is composed is written out", () => {
    const toy = setup({ guards: { settled: () => true, fatal: () => true, stepsLeft: () => true } })
    const machine = toy.createMachine({
      initial: "a",
      states: {
        a: {
          on: {
            go: [
              { guard: and(["settled", "stepsLeft"]), target: "b" },
              { guard: not("fatal"), target: "b" },
              { guard: or(["settled", not(and(["fatal", "stepsLeft"]))]), target: "b", reenter: true }
            ]
          }
        },
        b: {}
      }
    })
    const { transitions } = definitionOf(machine)
    assert.deepStrictEqual(
      transitions.map(({ guard }) => guard),
      ["settled and stepsLeft", "not(fatal)", "settled or not(fatal and stepsLeft)"]
    )
    assert.strictEqual(transitions[2]?.reenter, true)
  })
})
