/**
 * The charts of docs/architecture.md, made from the machines that run: `npm run charts` writes them between their
 * marks, and a test holds the two to each other.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { charts } from "../machines/charts.ts"
import { type ChartDefinition, definitionOf } from "../machines/definition.ts"

const nameOf = (id: string) => id.split(".").at(-1) ?? id
/** Diagrams know no dots in names. */
const drawn = (id: string) => id.replaceAll(".", "_")

const diagramOf = ({ initial, states, transitions }: ChartDefinition) => {
  const lines = (parent: string | undefined, indent: string): ReadonlyArray<string> =>
    states
      .filter((state) => state.parent === parent)
      .flatMap(({ id, initial }) => {
        if (initial === undefined)
          return nameOf(id) === drawn(id) ? [] : [`${indent}state "${nameOf(id)}" as ${drawn(id)}`]
        const inner = `${indent}  `
        return [`${indent}state ${drawn(id)} {`, `${inner}[*] --> ${drawn(initial)}`, ...lines(id, inner), `${indent}}`]
      })
  const labels = new Map<string, Set<string>>()
  for (const { event, guard = "", source, target } of transitions) {
    // Those of any state would be in the way of all others.
    if (target === undefined || source === "") continue
    const edge = `${drawn(source)} --> ${drawn(target)}`
    labels.set(edge, (labels.get(edge) ?? new Set()).add(event ?? guard))
  }
  const edges = [...labels].map(([edge, events]) => {
    const label = [...events].filter((event) => event !== "").join(", ")
    return `  ${edge}${label === "" ? "" : ` : ${label}`}`
  })
  return ["```mermaid", "stateDiagram-v2", `  [*] --> ${drawn(initial)}`, ...lines(undefined, "  "), ...edges, "```"]
}

const row = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`
const code = (name: string | undefined) => (name === undefined ? "" : `\`${name}\``)

const tablesOf = ({ states, transitions }: ChartDefinition) => [
  row(["State", "What it is"]),
  row(["-", "-"]),
  ...states.map(({ description, id }) => row([code(id), description])),
  "",
  row(["In", "On", "If", "To", "What happens"]),
  row(["-", "-", "-", "-", "-"]),
  ...transitions.map(({ description, event, guard, source, target }) =>
    row([
      source === "" ? "any state" : code(source),
      event === undefined ? "at once" : code(event),
      code(guard),
      code(target),
      description
    ])
  )
]

/** The chart as architecture.md shows it. */
export const shown = (chart: ChartDefinition) => [...diagramOf(chart), "", ...tablesOf(chart)].join("\n")

/** The document with its charts as they are now. */
export const withCharts = (document: string) =>
  Object.entries(charts).reduce(
    (text, [name, machine]) =>
      text.replace(
        new RegExp(`<!-- chart: ${name} -->.*?<!-- /chart -->`, "s"),
        () => `<!-- chart: ${name} -->\n\n${shown(definitionOf(machine))}\n\n<!-- /chart -->`
      ),
    document
  )

if (import.meta.main) {
  const path = join(import.meta.dirname, "architecture.md")
  writeFileSync(path, withCharts(readFileSync(path, "utf8")))
}
