/**
 * The charts of docs/architecture.md, made from the machines that run: `npm run charts` writes them between their
 * marks, and a test holds the two to each other.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { AnyStateMachine, AnyStateNode } from "xstate"
import { chart as identity } from "../machines/identity/chart.ts"
import { chart as schedule } from "../machines/schedule/chart.ts"
import { chart as subscription } from "../machines/subscription/chart.ts"
import { callChart, hooksChart } from "../machines/thread/callChart.ts"
import { chart as thread } from "../machines/thread/chart.ts"

export const charts: Readonly<Record<string, AnyStateMachine>> = {
  thread,
  call: callChart,
  hooks: hooksChart,
  identity,
  schedule,
  subscription
}

const idOf = ({ path }: AnyStateNode) => path.join("_")

interface Edge {
  readonly from: AnyStateNode
  readonly to: AnyStateNode | undefined
  /** The event; empty where the state is left at once. */
  readonly on: string
  readonly guard: string
  readonly description: string
}

const statesOf = (node: AnyStateNode): ReadonlyArray<AnyStateNode> =>
  Object.values(node.states).flatMap((state: AnyStateNode) => [state, ...statesOf(state)])

/** Transitions in the order in which they are tried. */
const edgesOf = (node: AnyStateNode): ReadonlyArray<Edge> => {
  const own = [...(node.always ?? []), ...[...node.transitions.values()].flat()]
  return own.map(({ description = "", eventType, guard, target }) => ({
    from: node,
    to: target?.[0],
    on: eventType,
    guard: typeof guard === "string" ? guard : "",
    description
  }))
}

const diagramOf = (machine: AnyStateMachine) => {
  const states = statesOf(machine.root)
  const lines = (node: AnyStateNode, indent: string): ReadonlyArray<string> => {
    const inner: ReadonlyArray<AnyStateNode> = Object.values(node.states)
    if (inner.length === 0) return node.key === idOf(node) ? [] : [`${indent}state "${node.key}" as ${idOf(node)}`]
    const first = node.initial?.target[0]
    const body = [
      ...(first === undefined ? [] : [`${indent}  [*] --> ${idOf(first)}`]),
      ...inner.flatMap((state) => lines(state, `${indent}  `))
    ]
    return node.path.length === 0 ? body : [`${indent}state ${idOf(node)} {`, ...body, `${indent}}`]
  }
  const labels = new Map<string, Set<string>>()
  for (const { from, guard, on, to } of states.flatMap(edgesOf)) {
    if (to === undefined) continue
    const edge = `${idOf(from)} --> ${idOf(to)}`
    labels.set(edge, (labels.get(edge) ?? new Set()).add(on === "" ? guard : on))
  }
  const edges = [...labels].map(([edge, events]) => {
    const label = [...events].filter((event) => event !== "").join(", ")
    return `  ${edge}${label === "" ? "" : ` : ${label}`}`
  })
  return ["```mermaid", "stateDiagram-v2", ...lines(machine.root, ""), ...edges, "```"]
}

const row = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`

const tablesOf = (machine: AnyStateMachine) => {
  const name = (node: AnyStateNode) => `\`${node.path.join(".")}\``
  const states = statesOf(machine.root)
  const edges = [machine.root, ...states].flatMap(edgesOf)
  return [
    row(["State", "What it is"]),
    row(["-", "-"]),
    ...states.map((node) => row([name(node), node.description ?? ""])),
    "",
    row(["In", "On", "If", "To", "What happens"]),
    row(["-", "-", "-", "-", "-"]),
    ...edges.map(({ description, from, guard, on, to }) =>
      row([
        from.path.length === 0 ? "any state" : name(from),
        on === "" ? "at once" : `\`${on}\``,
        guard === "" ? "" : `\`${guard}\``,
        to === undefined ? "" : name(to),
        description
      ])
    )
  ]
}

/** The chart as architecture.md shows it. */
export const shown = (machine: AnyStateMachine) => [...diagramOf(machine), "", ...tablesOf(machine)].join("\n")

/** The document with its charts as they are now. */
export const withCharts = (document: string) =>
  Object.entries(charts).reduce(
    (text, [name, machine]) =>
      text.replace(
        new RegExp(`<!-- chart: ${name} -->.*?<!-- /chart -->`, "s"),
        () => `<!-- chart: ${name} -->\n\n${shown(machine)}\n\n<!-- /chart -->`
      ),
    document
  )

if (import.meta.main) {
  const path = join(import.meta.dirname, "architecture.md")
  writeFileSync(path, withCharts(readFileSync(path, "utf8")))
}
