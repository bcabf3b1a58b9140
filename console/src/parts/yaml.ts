/** Values as YAML for people to read and write. */
import { isMap, isNode, isScalar, isSeq, LineCounter, parse, parseDocument, stringify, YAMLParseError } from "yaml"

export const written = (value: unknown): string => stringify(value, { lineWidth: 0 })

export interface Problem {
  readonly problem: string
  /** From 1. */
  readonly line: number | undefined
}

export const read = (text: string): { readonly value: unknown } | Problem => {
  try {
    return { value: parse(text) }
  } catch (error) {
    return {
      problem: error instanceof Error ? error.message : String(error),
      line: error instanceof YAMLParseError ? error.linePos?.[0].line : undefined
    }
  }
}

/** What the server's refusals begin with: `rules[0].actions[1]: …`. */
const pathPattern = /^[\w$-]+(?:\[\d+\]|\.[\w$-]+)*(?=:| )/

/** Where a key or an item of `node` begins, and what is there. */
const within = (node: unknown, name: string) => {
  if (isSeq(node)) {
    const item = node.items[Number(name)]
    return isNode(item) ? { at: item.range?.[0], node: item } : undefined
  }
  if (!isMap(node)) return undefined
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === name)
  return pair === undefined || !isScalar(pair.key) ? undefined : { at: pair.key.range?.[0], node: pair.value }
}

/** The line, from 1, of the field that a refusal names; where that is missing, of what it is missing in. */
export const lineOf = (text: string, message: string): number | undefined => {
  const path = pathPattern.exec(message)?.[0]
  if (path === undefined) return undefined
  const lines = new LineCounter()
  let node: unknown = parseDocument(text, { lineCounter: lines }).contents
  let at: number | undefined
  for (const name of path.split(/[.[\]]+/).filter((part) => part !== "")) {
    const found = within(node, name)
    if (found?.at === undefined) break
    at = found.at
    node = found.node
  }
  return at === undefined ? undefined : lines.linePos(at).line
}

/** These fields of a value in this order, as far as it has them. */
export const only = (value: object, fields: ReadonlyArray<string>): Readonly<Record<string, unknown>> => {
  const found = new Map(Object.entries(value))
  return Object.fromEntries(fields.filter((name) => found.has(name)).map((name) => [name, found.get(name)]))
}
