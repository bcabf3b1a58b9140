/** Values that fit a schema of the OpenAPI document (jsonSchema.ts), as arbitraries of fast-check. */
import fc from "fast-check"
import {
  checksOf,
  choicesOf,
  faults,
  isObject,
  listAt,
  numberAt,
  partsOf,
  resolve,
  type Schema,
  schemaAt,
  type Schemas
} from "./jsonSchema.ts"

/** What the arbitrary takes for texts of a pattern, such as ids that exist; undefined for those that need no help. */
export type TextOf = (pattern: string) => fc.Arbitrary<string> | undefined

/**
 * Texts as people write them and as nobody does, short and as long as they may be, as far as they fit; else texts made
 * from the pattern.
 */
const textsOf = (schema: Schema, schemas: Schemas): fc.Arbitrary<string> => {
  const least = numberAt(schema, "minLength", 0)
  const most = numberAt(schema, "maxLength", Infinity)
  const short = { minLength: Math.max(1, least), maxLength: Math.max(1, least, Math.min(most, 40)) }
  const longest =
    most <= 10_000 ? fc.constantFrom("x", "é", "😀").map((character) => character.repeat(most)) : fc.constant("")
  const written = fc.oneof(
    { weight: 6, arbitrary: fc.string({ ...short, unit: fc.constantFrom(...words) }) },
    { weight: 2, arbitrary: fc.string({ ...short, unit: fc.constantFrom(...oddities) }) },
    { weight: 1, arbitrary: longest }
  )
  const patterns = [schema, ...checksOf(schema)].flatMap(({ pattern }) =>
    typeof pattern === "string" ? [pattern] : []
  )
  if (patterns.length === 0) return written.filter((text) => faults(schema, text, schemas).length === 0)
  const made = fc.oneof(...patterns.map((pattern) => fc.stringMatching(new RegExp(pattern, "u"))))
  return fc
    .tuple(written, made)
    .filter((texts) => texts.some((text) => faults(schema, text, schemas).length === 0))
    .map((texts) => texts.find((text) => faults(schema, text, schemas).length === 0) ?? "")
}

/** Days of all centuries, in their time zone or in another, with a fraction or without one. */
const times = fc
  .tuple(
    fc
      .date({ min: new Date("0000-01-02"), max: new Date("9999-12-30"), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 19)),
    fc.constantFrom("", ".5", ".123", ".123456789"),
    fc.constantFrom("Z", "+05:30", "-23:59", "+00:00")
  )
  .map((parts) => parts.join(""))

/** Keywords that hold one property against another: what is made property by property may break them. */
const relating = ["if", "dependentSchemas", "dependentRequired", "not", "contains", "allOf"]

/** Values that fit a schema. */
export const fitting = (schema: Schema, schemas: Schemas, textOf: TextOf): fc.Arbitrary<unknown> => {
  const found = resolve(schema, schemas)
  const made = fittingParts(found, schemas, textOf)
  return relating.some((keyword) => keyword in found)
    ? made.filter((value) => faults(found, value, schemas).length === 0)
    : made
}

const fittingParts = (found: Schema, schemas: Schemas, textOf: TextOf): fc.Arbitrary<unknown> => {
  const parts = found.type === undefined ? [...partsOf(found), ...choicesOf(found)] : partsOf(found)
  // What is named first is the usual.
  if (parts.length > 0)
    return fc.oneof(
      ...parts.map((part, index) => ({ weight: index === 0 ? 4 : 1, arbitrary: fitting(part, schemas, textOf) }))
    )
  if (Array.isArray(found.enum)) return fc.constantFrom<unknown>(...found.enum)
  switch (found.type) {
    case "string": {
      if (found.format === "date-time") return times.filter((text) => faults(found, text, schemas).length === 0)
      for (const { pattern } of [found, ...checksOf(found)]) {
        const texts = typeof pattern === "string" ? textOf(pattern) : undefined
        if (texts !== undefined) return texts
      }
      return textsOf(found, schemas)
    }
    case "integer":
    case "number": {
      const min = numberAt(found, "minimum", 0)
      const max = numberAt(found, "maximum", Number.MAX_SAFE_INTEGER)
      const [first, last] = [Math.ceil(min), Math.floor(Math.min(max, min + 1000))]
      if (last < first) return fc.double({ min, max, noNaN: true })
      const whole = fc.oneof(fc.constantFrom(first, Math.floor(max)), fc.integer({ min: first, max: last }))
      if (found.type === "integer") return whole
      return fc.oneof(
        { weight: 3, arbitrary: "exclusiveMinimum" in found ? whole.map((n) => n + 0.5) : whole },
        { weight: 1, arbitrary: fc.constantFrom(1e-300, 0.1, 1e300) }
      )
    }
    case "boolean":
      return fc.boolean()
    case "null":
      return fc.constant(null)
    case "array": {
      const items = fitting(schemaAt(found, "items") ?? {}, schemas, textOf)
      const length = {
        minLength: numberAt(found, "minItems", 0),
        maxLength: Math.min(numberAt(found, "maxItems", 4), 4)
      }
      return found.uniqueItems === true ? fc.uniqueArray(items, length) : fc.array(items, length)
    }
    case "object": {
      const choices = listAt(found, "oneOf")
        .filter(isObject)
        .map((choice) => listAt(choice, "required").map(String))
      const { oneOf: _, ...rest } = found
      // One choice, without what the others ask for.
      if (choices.length > 0) {
        return fc.oneof(
          ...choices.map((chosen) => {
            const kept = Object.entries(schemaAt(found, "properties") ?? {}).filter(
              ([name]) => chosen.includes(name) || !choices.some((choice) => choice.includes(name))
            )
            return fitting(
              { ...rest, properties: Object.fromEntries(kept), required: [...listAt(found, "required"), ...chosen] },
              schemas,
              textOf
            )
          })
        )
      }
      const properties = Object.entries(schemaAt(found, "properties") ?? {}).filter(
        (entry): entry is [string, Schema] => isObject(entry[1]) && JSON.stringify(entry[1].not) !== "{}"
      )
      const required = listAt(found, "required").map(String)
      const others = schemaAt(found, "additionalProperties")
      if (properties.length === 0 && others !== undefined) {
        const names = textsOf({ minLength: 1, maxLength: 12, ...schemaAt(found, "propertyNames") }, schemas)
        return fc.dictionary(names, fitting(others, schemas, textOf), {
          maxKeys: Math.min(3, numberAt(found, "maxProperties", 3))
        })
      }
      if ("minProperties" in found || "maxProperties" in found) {
        const count = {
          minLength: numberAt(found, "minProperties", 0),
          maxLength: Math.min(numberAt(found, "maxProperties", properties.length), properties.length)
        }
        return fc
          .subarray(properties, count)
          .chain((chosen) =>
            fc
              .tuple(...chosen.map(([, property]) => fitting(property, schemas, textOf)))
              .map((values) => Object.fromEntries(chosen.map(([name], index) => [name, values[index]])))
          )
      }
      return fc
        .tuple(
          ...properties.map(([name, property]) => {
            const value = fitting(property, schemas, textOf)
            return required.includes(name)
              ? value
              : fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
          })
        )
        .map((values) =>
          Object.fromEntries(
            properties.flatMap(([name], index) => (values[index] === undefined ? [] : [[name, values[index]]]))
          )
        )
    }
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

/** Pieces of text: plain, of several bytes, of two UTF-16 units. */
const words = ["a", "B", "7", " ", "-", "_", "é", "漢", "😀", "%", "'", '"']
/**
 * What stands in hardly any text, and is allowed in most: direction marks, spaces of other alphabets, marks that
 * combine, characters that are not assigned.
 */
const oddities = [
  "a",
  "\u202e",
  "\u200d",
  "\ufeff",
  "\u00a0",
  "\u3000",
  "\u2028",
  "\u0301",
  "\ufffd",
  "\u{e0001}",
  "\u{10ffff}",
  "\n",
  "\u0000",
  "\u0085"
]
