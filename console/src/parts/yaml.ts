/** Values as YAML for people to read and write. */
import { parse, stringify } from "yaml"

export const written = (value: unknown): string => stringify(value, { lineWidth: 0 })

export const read = (text: string): { readonly value: unknown } | { readonly problem: string } => {
  try {
    return { value: parse(text) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** These fields of a value in this order, as far as it has them. */
export const only = (value: object, fields: ReadonlyArray<string>): Readonly<Record<string, unknown>> => {
  const found = new Map(Object.entries(value))
  return Object.fromEntries(fields.filter((name) => found.has(name)).map((name) => [name, found.get(name)]))
}
