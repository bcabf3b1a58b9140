/**
 * Where the states and transitions of each chart are drawn, found when the console is built: a browser only draws.
 * Transitions between the same two states share a line; those that leave no state stand in it.
 */
import elk from "elkjs/lib/elk.bundled.js"
import type { ElkExtendedEdge, ElkNode } from "elkjs/lib/elk-api.js"
import { versionOf } from "../http/charts/version.ts"
import { charts } from "../machines/charts.ts"
import { type ChartDefinition, type ChartTransition, definitionOf } from "../machines/definition.ts"
import { type ChartKind, chartKinds } from "../src/domain/chartKinds.ts"
import type { Drawing } from "./src/actors/drawn.ts"

/** The frame around all states: its transitions are those of any of them. */
export const anyState = "any state"

const nameOf = (id: string) => id.split(".").at(-1) ?? id
const textWidth = (text: string, size: number) => Math.ceil(text.length * size * 0.62)
const mostWords = 2

const labelOf = (transitions: ReadonlyArray<ChartTransition>) => {
  const words = [...new Set(transitions.flatMap(({ event, guard }) => event ?? guard ?? []))]
  return words.length > mostWords ? `${words.slice(0, mostWords).join(", ")}, …` : words.join(", ")
}

const options = {
  "elk.algorithm": "layered",
  "elk.direction": "DOWN",
  "elk.hierarchyHandling": "INCLUDE_CHILDREN",
  "elk.layered.spacing.nodeNodeBetweenLayers": "44",
  "elk.spacing.nodeNode": "36",
  "elk.spacing.edgeNode": "18",
  "elk.spacing.edgeEdge": "12",
  "elk.edgeRouting": "ORTHOGONAL",
  "elk.json.edgeCoords": "ROOT",
  "elk.json.shapeCoords": "ROOT"
}

/** What a transition means: on what, if what, and then. */
const meaning = ({ description, event, guard }: ChartTransition) =>
  [
    [event ?? "at once", ...(guard === undefined ? [] : [`if ${guard}`])].join(" "),
    ...(description === "" ? [] : [description])
  ].join(": ")

const nodesOf = ({ states }: ChartDefinition) => {
  const below = (parent: string | undefined): Array<ElkNode> =>
    states
      .filter((state) => state.parent === parent)
      .map(({ id }) => {
        const children = below(id)
        return {
          id,
          width: textWidth(nameOf(id), 20) + 36,
          height: 48,
          children,
          ...(children.length === 0 ? {} : { layoutOptions: { "elk.padding": "[top=52,left=20,bottom=20,right=20]" } })
        }
      })
  return below(undefined)
}

/** Transitions that leave a state, by the line that they share. */
const groupsOf = ({ transitions }: ChartDefinition) => {
  const leaving = transitions.filter(({ source, target }) => source !== "" && target !== undefined && target !== source)
  return Map.groupBy(leaving, ({ source, target }) => `${source} ${target}`)
}

const edgesOf = (groups: ReturnType<typeof groupsOf>) =>
  [...groups].flatMap(([id, group]): ReadonlyArray<ElkExtendedEdge> => {
    const [first] = group
    if (first?.target === undefined) return []
    const text = labelOf(group)
    return [
      {
        id,
        sources: [first.source],
        targets: [first.target],
        labels: text === "" ? [] : [{ text, width: textWidth(text, 15), height: 18 }]
      }
    ]
  })

const statesOf = ({ states, transitions }: ChartDefinition, laid: ElkNode): Drawing["states"] => {
  const words = new Map(states.map(({ description, id }) => [id, description]))
  const stays = (id: string) =>
    transitions.flatMap((each) =>
      each.source === id && (id === "" || each.target === undefined || each.target === id) ? [each.id] : []
    )
  const drawn = (node: ElkNode): Drawing["states"] => [
    {
      id: node.id,
      name: nameOf(node.id),
      description: words.get(node.id) ?? "",
      x: node.x ?? 0,
      y: node.y ?? 0,
      width: node.width ?? 0,
      height: node.height ?? 0,
      hasParts: (node.children ?? []).length > 0,
      stays: stays(node.id === anyState ? "" : node.id)
    },
    ...(node.children ?? []).flatMap(drawn)
  ]
  return drawn(laid)
}

const linesOf = (groups: ReturnType<typeof groupsOf>, laid: ElkNode): Drawing["lines"] =>
  (laid.edges ?? []).map(({ id, labels, sections, sources, targets }) => {
    const group = groups.get(id) ?? []
    const [section] = sections ?? []
    const [label] = labels ?? []
    const points = section === undefined ? [] : [section.startPoint, ...(section.bendPoints ?? []), section.endPoint]
    return {
      source: sources[0] ?? "",
      target: targets[0] ?? "",
      transitions: group.map((transition) => transition.id),
      points: points.map(({ x, y }) => [x, y] as const),
      description: group.map(meaning).join("\n"),
      label: label?.text ?? "",
      labelAt: [label?.x ?? 0, (label?.y ?? 0) + 14] as const
    }
  })

export const drawingOf = async (definition: ChartDefinition): Promise<Drawing> => {
  const groups = groupsOf(definition)
  const graph = { id: anyState, layoutOptions: options, children: nodesOf(definition), edges: edgesOf(groups) }
  const laid: ElkNode = await new elk.default().layout(graph)
  return {
    version: versionOf(definition),
    width: Math.ceil(laid.width ?? 0),
    height: Math.ceil(laid.height ?? 0),
    states: statesOf(definition, laid),
    lines: linesOf(groups, laid)
  }
}

export const drawings = async (): Promise<Readonly<Record<ChartKind, Drawing>>> => {
  const all = await Promise.all(chartKinds.map(async (kind) => [kind, await drawingOf(definitionOf(charts[kind]))]))
  return Object.fromEntries(all)
}
