/**
 * The shapes of the document: one name for each, open in answers and closed in bodies, unions with the property that
 * tells their members apart.
 */
import { inside, isJson, type Json, mapped, referenceTo, referredBy } from "./json.ts"
import { plain } from "./plain.ts"

/** Adds the names of all shapes that a value refers to, directly and through other shapes. */
export const addReferences = (value: unknown, found: Set<string>, schemas: Json): Set<string> => {
  if (Array.isArray(value)) for (const item of value) addReferences(item, found, schemas)
  else if (isJson(value)) {
    const name = referredBy(value)
    if (name !== undefined && !found.has(name)) {
      found.add(name)
      addReferences(schemas[name], found, schemas)
    }
    for (const item of Object.values(value)) addReferences(item, found, schemas)
  }
  return found
}

/** The value with other names in its references. */
export const renamed = (value: unknown, names: ReadonlyMap<string, string>): unknown => {
  if (Array.isArray(value)) return value.map((item) => renamed(item, names))
  if (!isJson(value)) return value
  const name = referredBy(value)
  return mapped(value, (item, key) =>
    key === "$ref" && name !== undefined ? referenceTo(names.get(name) ?? name) : renamed(item, names)
  )
}

/** Objects that are closed wherever they stand, in answers too (contract C1.9). */
const closed = new Set(["TextBlock", "ImageBlock", "Origin", "ModelImageFormatUnsupportedDetails"])

/** The library numbers a name that it gives a second time. */
const base = (name: string) => name.replace(/_\d+$/, "")

/**
 * Every shape that is used: open where it is answered with, closed where it is sent. A shape that stands in bodies
 * and in answers alike comes twice then, in bodies as `…Input`; the names of those are given back.
 */
export const usedShapes = (schemas: Json, sent: ReadonlySet<string>, answered: ReadonlySet<string>) => {
  const isClosed = (name: string) => {
    const reached = addReferences(schemas[name], new Set([name]), schemas)
    return [...reached].some(
      (part) =>
        !closed.has(base(part)) &&
        JSON.stringify(plain(schemas[part], true)) !== JSON.stringify(plain(schemas[part], false))
    )
  }
  const twice = new Map(
    [...sent].filter((name) => answered.has(name) && isClosed(name)).map((name) => [name, `${name}Input`])
  )
  for (const name of twice.values()) if (name in schemas) throw new Error(`two shapes are called ${name}`)
  const kept: Record<string, unknown> = {}
  for (const name of answered) kept[name] = plain(schemas[name], !closed.has(base(name)))
  for (const name of sent)
    if (!(name in kept) || twice.has(name)) kept[twice.get(name) ?? name] = renamed(plain(schemas[name], false), twice)
  return { twice, kept: Object.fromEntries(Object.entries(kept).sort(([a], [b]) => (a < b ? -1 : 1))) }
}

const isText = (schema: unknown) => isJson(schema) && "contentSchema" in schema

/**
 * One name for one shape. A shape that is read from text as well comes twice, the second time with a
 * number behind its name; and the text itself has a name that says nothing to a client.
 */
export const namedOnce = (paths: unknown, schemas: Json): { readonly paths: unknown; readonly schemas: Json } => {
  const names = Object.keys(schemas)
  const bases = new Map(names.map((name) => [name, base(name)]))
  const text = (name: string) => JSON.stringify(renamed(schemas[name], bases))
  const duplicates = new Set(
    names.filter((name) => name !== base(name) && base(name) in schemas && text(name) === text(base(name)))
  )
  const linked = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(linked)
    if (!isJson(value)) return value
    const name = referredBy(value)
    if (name === undefined) return mapped(value, linked)
    const { $ref: _, ...beside } = value
    const target = inside(schemas, name)
    return isText(target)
      ? linked({ ...target, ...beside })
      : { ...value, $ref: referenceTo(duplicates.has(name) ? base(name) : name) }
  }
  const kept = Object.entries(schemas).filter(([name, schema]) => !duplicates.has(name) && !isText(schema))
  return { paths: linked(paths), schemas: mapped(Object.fromEntries(kept), linked) }
}

/**
 * The property by which the members of a union of named shapes are told apart: each has one value of its own for it.
 */
const tellingOf = (members: ReadonlyArray<Json>) =>
  ["type", "kind"]
    .map((property) => ({ property, values: members.map((member) => inside(member, "properties", property).enum) }))
    .find(({ values }) => values.every((value) => Array.isArray(value) && value.length === 1))

/** Unions of named shapes say by which property: clients are generated with a type for each. */
export const withDiscriminators = (schemas: Json): Json =>
  mapped(schemas, (schema) => {
    const { anyOf, ...rest } = inside(schema)
    const names = Array.isArray(anyOf) ? anyOf.map((member) => referredBy(member) ?? "") : []
    const telling = names.length === 0 ? undefined : tellingOf(names.map((name) => inside(schemas, name)))
    if (telling === undefined) return schema
    const mapping = Object.fromEntries(
      telling.values.flatMap((value, index) =>
        Array.isArray(value) ? [[String(value[0]), referenceTo(names[index] ?? "")]] : []
      )
    )
    return { ...rest, oneOf: anyOf, discriminator: { propertyName: telling.property, mapping } }
  })
