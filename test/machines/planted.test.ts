/** Bugs of what people are shown of actors, planted: the checks of charts and steps see each of them. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { shown } from "../../docs/charts.ts"
import { charts } from "../../machines/charts.ts"
import { type ChartDefinition, definitionOf } from "../../machines/definition.ts"
import type { WrittenFact } from "../../machines/inspected.ts"
import { Walk } from "./Walk.ts"

/** A journal that does not keep which command a fact was the first of. */
class Forgetful extends Walk {
  override get written(): ReadonlyArray<WrittenFact> {
    return super.written.map((fact) => ({ ...fact, cause: null }))
  }
}

const architecture = readFileSync(resolve(import.meta.dirname, "../../docs/architecture.md"), "utf8")

describe("is seen, when it is planted:", () => {
  it("a cause that is left out", () => {
    assert.doesNotThrow(() => new Walk().queue("A").reply())
    assert.throws(() => new Forgetful().queue("A"), /cause: 'submit'/)
  })

  it("a guard that was renamed", () => {
    const definition = definitionOf(charts.thread)
    const renamed: ChartDefinition = {
      ...definition,
      transitions: definition.transitions.map((each) =>
        each.guard === undefined ? each : { ...each, guard: `${each.guard}Renamed` }
      )
    }
    assert.include(architecture, shown(definition))
    assert.notInclude(architecture, shown(renamed))
  })
})
