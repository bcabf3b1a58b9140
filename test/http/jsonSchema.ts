/**
 * The part of JSON Schema that the OpenAPI document uses: what is wrong with a value, and values that
 * fit. A keyword that stands here nowhere is an error, so that nothing is passed over in silence.
 */
import fc from "fast-check"

export type Schema = { readonly [keyword: string]: unknown }
export type Schemas = Readonly<Record<string, Schema>>

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null && !Array.isArray(value)

const known = new Set([
  "type", "properties", "required", "format", "items", "$ref", "additionalProperties", "maxLength", "minLength", "pattern", "minimum", "maximum",
  "exclusiveMinimum", "description", "maxItems", "minItems", "uniqueItems", "minProperties", "maxProperties", "allOf", "anyOf", "oneOf", "not", "enum", "propertyNames", "contentMediaType", "contentSchema"
])

export const resolve = (schema: Schema, schemas: Schemas): Schema => {
  if (typeof schema["$ref"] === "string") {
    const target = schemas[schema["$ref"].replace("#/components/schemas/", "")]
    if (target === undefined) throw new Error(`${schema["$ref"]} is nowhere`)
    return resolve(target, schemas)
  }
  for (const keyword in schema) if (!known.has(keyword)) throw new Error(`the document uses ${keyword}, which this test does not know`)
  return schema
}

export const schemaAt = (schema: Schema, keyword: string): Schema | undefined => {
  const found = schema[keyword]
  return isObject(found) ? found : undefined
}
export const listAt = (schema: Schema, keyword: string): ReadonlyArray<unknown> => {
  const found = schema[keyword]
  return Array.isArray(found) ? found : []
}
const numberAt = (schema: Schema, keyword: string, otherwise: number) => typeof schema[keyword] === "number" ? schema[keyword] : otherwise
const partsOf = (schema: Schema) => listAt(schema, "anyOf").filter(isObject)
const checksOf = (schema: Schema) => listAt(schema, "allOf").filter(isObject)

const isType = (value: unknown, type: unknown) =>
  type === "object" ? isObject(value)
    : type === "array" ? Array.isArray(value)
    : type === "null" ? value === null
    : type === "integer" ? Number.isInteger(value)
    : type === "number" ? typeof value === "number"
    : typeof value === type

/**
 * What is wrong with a value, each with its path; empty when it fits. `exact` also complains of
 * properties that the schema does not name: answers may grow, but not without the document.
 */
export const faults = (schema: Schema, value: unknown, schemas: Schemas, exact = false, path = "$"): ReadonlyArray<string> => {
  const found = resolve(schema, schemas)
  const parts = partsOf(found)
  if (parts.length > 0) {
    const each = parts.map((part) => faults(part, value, schemas, exact, path))
    return each.some((list) => list.length === 0) ? [] : each.flat()
  }
  if (found["type"] !== undefined && !isType(value, found["type"])) return [`${path}: is no ${found["type"]}`]
  const wrong: Array<string> = checksOf(found).flatMap((check) => faults(check, value, schemas, exact, path))
  const choices = listAt(found, "oneOf").filter(isObject)
  if (choices.length > 0 && choices.filter((choice) => faults(choice, value, schemas).length === 0).length !== 1) wrong.push(`${path}: is not one of its choices`)
  const excluded = schemaAt(found, "not")
  if (excluded !== undefined && faults(excluded, value, schemas).length === 0) wrong.push(`${path}: is not to be there`)
  const hold = (rule: boolean, what: string) => { if (!rule) wrong.push(`${path}: ${what}`) }
  if (Array.isArray(found["enum"])) hold(found["enum"].includes(value), `is none of ${found["enum"].join(", ")}`)
  if (typeof value === "string") {
    const { length } = [...value]
    hold(length <= numberAt(found, "maxLength", Infinity), "is too long")
    hold(length >= numberAt(found, "minLength", 0), "is too short")
    if (typeof found["pattern"] === "string") hold(new RegExp(found["pattern"], "u").test(value), `does not match ${found["pattern"]}`)
    if (found["format"] === "date-time") hold(!Number.isNaN(Date.parse(value)), "is no time")
    if (found["format"] === "uri") hold(URL.canParse(value), "is no URL")
    const content = schemaAt(found, "contentSchema")
    if (content !== undefined) wrong.push(...faults(content, JSON.parse(value), schemas, exact, `${path}, as JSON,`))
  }
  if (typeof value === "number") {
    hold(value >= numberAt(found, "minimum", -Infinity), "is too small")
    hold(value <= numberAt(found, "maximum", Infinity), "is too large")
    hold(value > numberAt(found, "exclusiveMinimum", -Infinity), "is too small")
  }
  if (Array.isArray(value)) {
    hold(value.length <= numberAt(found, "maxItems", Infinity), "has too many items")
    hold(value.length >= numberAt(found, "minItems", 0), "has too few items")
    if (found["uniqueItems"] === true) hold(new Set(value.map((item) => JSON.stringify(item))).size === value.length, "has an item twice")
    const items = schemaAt(found, "items")
    if (items !== undefined) wrong.push(...value.flatMap((item, index) => faults(items, item, schemas, exact, `${path}[${index}]`)))
  }
  if (isObject(value)) {
    const properties = schemaAt(found, "properties")
    const others = schemaAt(found, "additionalProperties")
    const names = schemaAt(found, "propertyNames")
    const many = Object.keys(value).length
    hold(many >= numberAt(found, "minProperties", 0) && many <= numberAt(found, "maxProperties", Infinity), "has too few or too many properties")
    for (const name of listAt(found, "required")) hold(Object.hasOwn(value, String(name)), `has no ${name}`)
    for (const [name, item] of Object.entries(value)) {
      const property = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
      const at = `${path}.${name}`
      if (isObject(property)) wrong.push(...faults(property, item, schemas, exact, at))
      else if (others !== undefined) wrong.push(...faults(others, item, schemas, exact, at))
      else if (found["additionalProperties"] === false || exact && properties !== undefined) wrong.push(`${at}: is unknown`)
      if (names !== undefined) wrong.push(...faults(names, name, schemas, exact, `${at} (its name)`))
    }
  }
  return wrong
}

/** What the arbitrary takes for texts of a pattern, such as ids that exist; undefined for those that need no help. */
export type TextOf = (pattern: string) => fc.Arbitrary<string> | undefined

/** Texts as people write them, as far as they fit the pattern; else texts made from it. */
const textsOf = (schema: Schema, schemas: Schemas): fc.Arbitrary<string> => {
  const maxLength = Math.min(numberAt(schema, "maxLength", 40), 40)
  const written = fc.string({ minLength: Math.max(1, numberAt(schema, "minLength", 1)), maxLength, unit: fc.constantFrom(...words) })
  if (typeof schema["pattern"] !== "string") return written
  return fc.tuple(written, fc.stringMatching(new RegExp(schema["pattern"], "u"))).map(([text, made]) => faults(schema, text, schemas).length === 0 ? text : made)
}

/** Values that fit a schema. */
export const fitting = (schema: Schema, schemas: Schemas, textOf: TextOf): fc.Arbitrary<unknown> => {
  const found = resolve(schema, schemas)
  const parts = partsOf(found)
  // What is named first is the usual.
  if (parts.length > 0) return fc.oneof(...parts.map((part, index) => ({ weight: index === 0 ? 4 : 1, arbitrary: fitting(part, schemas, textOf) })))
  if (Array.isArray(found["enum"])) return fc.constantFrom<unknown>(...found["enum"])
  switch (found["type"]) {
    case "string": {
      for (const { pattern } of [found, ...checksOf(found)]) {
        const texts = typeof pattern === "string" ? textOf(pattern) : undefined
        if (texts !== undefined) return texts
      }
      if (found["format"] === "date-time") return fc.date({ min: new Date(0), max: new Date("2200-01-01"), noInvalidDate: true }).map((date) => date.toISOString())
      return textsOf(found, schemas)
    }
    case "integer":
    case "number": {
      const min = numberAt(found, "minimum", 0)
      const max = numberAt(found, "maximum", Number.MAX_SAFE_INTEGER)
      const whole = fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max: Math.min(max, min + 1000) }))
      return "exclusiveMinimum" in found ? whole.map((n) => n + 0.5) : whole
    }
    case "boolean":
      return fc.boolean()
    case "null":
      return fc.constant(null)
    case "array": {
      const items = fitting(schemaAt(found, "items") ?? {}, schemas, textOf)
      const length = { minLength: numberAt(found, "minItems", 0), maxLength: Math.min(numberAt(found, "maxItems", 4), 4) }
      return found["uniqueItems"] === true ? fc.uniqueArray(items, length) : fc.array(items, length)
    }
    case "object": {
      const choices = listAt(found, "oneOf").filter(isObject).map((choice) => listAt(choice, "required").map(String))
      const { oneOf: _, ...rest } = found
      // One choice, without what the others ask for.
      if (choices.length > 0) {
        return fc.oneof(...choices.map((chosen) => {
          const kept = Object.entries(schemaAt(found, "properties") ?? {}).filter(([name]) => chosen.includes(name) || !choices.some((choice) => choice.includes(name)))
          return fitting({ ...rest, properties: Object.fromEntries(kept), required: [...listAt(found, "required"), ...chosen] }, schemas, textOf)
        }))
      }
      const properties = Object.entries(schemaAt(found, "properties") ?? {}).filter((entry): entry is [string, Schema] => isObject(entry[1]) && !("not" in entry[1]))
      const required = listAt(found, "required").map(String)
      const others = schemaAt(found, "additionalProperties")
      if (properties.length === 0 && others !== undefined) {
        return fc.dictionary(fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(...words) }), fitting(others, schemas, textOf), { maxKeys: 3 })
      }
      if ("minProperties" in found || "maxProperties" in found) {
        const count = { minLength: numberAt(found, "minProperties", 0), maxLength: Math.min(numberAt(found, "maxProperties", properties.length), properties.length) }
        return fc.subarray(properties, count).chain((chosen) =>
          fc.tuple(...chosen.map(([, property]) => fitting(property, schemas, textOf))).map((values) => Object.fromEntries(chosen.map(([name], index) => [name, values[index]]))))
      }
      return fc.tuple(...properties.map(([name, property]) => {
        const value = fitting(property, schemas, textOf)
        return required.includes(name) ? value : fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
      })).map((values) => Object.fromEntries(properties.flatMap(([name], index) => values[index] === undefined ? [] : [[name, values[index]]])))
    }
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

/** Pieces of text: plain, of several bytes, of two UTF-16 units. */
const words = ["a", "B", "7", " ", "-", "_", "é", "漢", "😀", "%", "'", "\""]
