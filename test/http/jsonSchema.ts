/**
 * The part of JSON Schema that the OpenAPI document uses: what is wrong with a value, and values that
 * fit. A keyword that stands here nowhere is an error, so that nothing is passed over in silence.
 */
import fc from "fast-check"

export type Schema = { readonly [keyword: string]: unknown }
export type Schemas = Readonly<Record<string, Schema>>

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const known = new Set([
  "type",
  "properties",
  "required",
  "format",
  "items",
  "$ref",
  "additionalProperties",
  "maxLength",
  "minLength",
  "pattern",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "description",
  "maxItems",
  "minItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "enum",
  "propertyNames",
  "contentMediaType",
  "contentSchema",
  "if",
  "then",
  "else",
  "dependentSchemas",
  "dependentRequired",
  "contains",
  "minContains",
  "maxContains",
  // For people, and for generators of clients.
  "title",
  "examples",
  "default",
  "deprecated",
  "discriminator"
])

export const resolve = (schema: Schema, schemas: Schemas): Schema => {
  if (typeof schema.$ref === "string") {
    const target = schemas[schema.$ref.replace("#/components/schemas/", "")]
    if (target === undefined) throw new Error(`${schema.$ref} is nowhere`)
    return resolve(target, schemas)
  }
  for (const keyword in schema)
    if (!known.has(keyword)) throw new Error(`the document uses ${keyword}, which this test does not know`)
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
const numberAt = (schema: Schema, keyword: string, otherwise: number) =>
  typeof schema[keyword] === "number" ? schema[keyword] : otherwise
const partsOf = (schema: Schema) => listAt(schema, "anyOf").filter(isObject)
const choicesOf = (schema: Schema) => listAt(schema, "oneOf").filter(isObject)
const checksOf = (schema: Schema) => listAt(schema, "allOf").filter(isObject)

const isType = (value: unknown, type: unknown) =>
  type === "object"
    ? isObject(value)
    : type === "array"
      ? Array.isArray(value)
      : type === "null"
        ? value === null
        : type === "integer"
          ? Number.isInteger(value)
          : type === "number"
            ? typeof value === "number"
            : typeof value === type

const rfc3339 =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

/** RFC 3339, with days that are in the calendar. */
const isDateTime = (text: string) => {
  const [, day] = rfc3339.exec(text) ?? []
  if (day === undefined) return false
  const midnight = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
}

/** Names of the properties that a schema speaks of, for this value. */
const namesOf = (schema: Schema, value: unknown, schemas: Schemas): ReadonlyArray<string> => {
  const found = resolve(schema, schemas)
  const fit = [...partsOf(found), ...choicesOf(found)].filter((part) => faults(part, value, schemas).length === 0)
  return [
    ...Object.keys(schemaAt(found, "properties") ?? {}),
    ...[...checksOf(found), ...fit].flatMap((part) => namesOf(part, value, schemas))
  ]
}

/** What is wrong where a value has to fit one of several. */
const faultsOfAll = (parts: ReadonlyArray<Schema>, value: unknown, schemas: Schemas, exact: boolean, path: string) => {
  const each = parts.map((part) => faults(part, value, schemas, exact, path))
  return each.some((list) => list.length === 0) ? [] : (each.sort((a, b) => a.length - b.length)[0] ?? [])
}

/**
 * What is wrong with a value, each with its path; empty when it fits. `exact` also complains of
 * properties that the schema does not name: answers may grow, but not without the document.
 */
export const faults = (
  schema: Schema,
  value: unknown,
  schemas: Schemas,
  exact = false,
  path = "$"
): ReadonlyArray<string> => {
  const found = resolve(schema, schemas)
  if (found.type !== undefined && !isType(value, found.type)) return [`${path}: is no ${found.type}`]
  // A part names some of the properties only: whether all are named is seen from the whole.
  const parts = partsOf(found)
  const choices = choicesOf(found)
  const whole =
    schemaAt(found, "properties") === undefined &&
    checksOf(found).length === 0 &&
    (parts.length === 0 || choices.length === 0)
  const wrong: Array<string> = checksOf(found).flatMap((check) => faults(check, value, schemas, false, path))
  if (parts.length > 0) wrong.push(...faultsOfAll(parts, value, schemas, exact && whole, path))
  if (choices.length > 0) {
    const fit = choices.filter((choice) => faults(choice, value, schemas).length === 0)
    if (fit.length > 1) wrong.push(`${path}: is several of its choices`)
    else wrong.push(...faultsOfAll(fit.length === 1 ? fit : choices, value, schemas, exact && whole, path))
  }
  const condition = schemaAt(found, "if")
  const branch = condition && schemaAt(found, faults(condition, value, schemas).length === 0 ? "then" : "else")
  if (branch !== undefined) wrong.push(...faults(branch, value, schemas, false, path))
  const excluded = schemaAt(found, "not")
  if (excluded !== undefined && faults(excluded, value, schemas).length === 0) wrong.push(`${path}: is not to be there`)
  const hold = (rule: boolean, what: string) => {
    if (!rule) wrong.push(`${path}: ${what}`)
  }
  if (Array.isArray(found.enum)) hold(found.enum.includes(value), `is none of ${found.enum.join(", ")}`)
  if (typeof value === "string") {
    const { length } = [...value]
    hold(length <= numberAt(found, "maxLength", Infinity), "is too long")
    hold(length >= numberAt(found, "minLength", 0), "is too short")
    if (typeof found.pattern === "string")
      hold(new RegExp(found.pattern, "u").test(value), `does not match ${found.pattern}`)
    if (found.format === "date-time") hold(isDateTime(value), "is no time")
    if (found.format === "date") hold(isDateTime(`${value}T00:00:00Z`), "is no day")
    if (found.format === "uri") hold(URL.canParse(value), "is no URL")
    const content = schemaAt(found, "contentSchema")
    if (content !== undefined) wrong.push(...faults(content, JSON.parse(value), schemas, exact, `${path}, as JSON,`))
  }
  if (typeof value === "number") {
    hold(value >= numberAt(found, "minimum", -Infinity), "is too small")
    hold(value <= numberAt(found, "maximum", Infinity), "is too large")
    hold(value > numberAt(found, "exclusiveMinimum", -Infinity), "is too small")
    hold(value < numberAt(found, "exclusiveMaximum", Infinity), "is too large")
  }
  if (Array.isArray(value)) {
    hold(value.length <= numberAt(found, "maxItems", Infinity), "has too many items")
    hold(value.length >= numberAt(found, "minItems", 0), "has too few items")
    if (found.uniqueItems === true)
      hold(new Set(value.map((item) => JSON.stringify(item))).size === value.length, "has an item twice")
    const contained = schemaAt(found, "contains")
    if (contained !== undefined) {
      const many = value.filter((item) => faults(contained, item, schemas).length === 0).length
      hold(
        many >= numberAt(found, "minContains", 1) && many <= numberAt(found, "maxContains", Infinity),
        "has too few or too many of a kind"
      )
    }
    const items = schemaAt(found, "items")
    if (items !== undefined)
      wrong.push(...value.flatMap((item, index) => faults(items, item, schemas, exact, `${path}[${index}]`)))
  }
  if (isObject(value)) {
    const properties = schemaAt(found, "properties")
    const others = schemaAt(found, "additionalProperties")
    const names = schemaAt(found, "propertyNames")
    const many = Object.keys(value).length
    hold(
      many >= numberAt(found, "minProperties", 0) && many <= numberAt(found, "maxProperties", Infinity),
      "has too few or too many properties"
    )
    for (const name of listAt(found, "required")) hold(Object.hasOwn(value, String(name)), `has no ${name}`)
    for (const [name, others] of Object.entries(schemaAt(found, "dependentRequired") ?? {})) {
      if (Object.hasOwn(value, name) && Array.isArray(others))
        for (const other of others) hold(Object.hasOwn(value, String(other)), `has ${name} without ${other}`)
    }
    for (const [name, dependent] of Object.entries(schemaAt(found, "dependentSchemas") ?? {})) {
      if (Object.hasOwn(value, name) && isObject(dependent))
        wrong.push(...faults(dependent, value, schemas, false, path))
    }
    const named = exact && !whole ? new Set(namesOf(found, value, schemas)) : undefined
    for (const [name, item] of Object.entries(value)) {
      const property = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
      const at = `${path}.${name}`
      if (isObject(property)) wrong.push(...faults(property, item, schemas, exact, at))
      else if (others !== undefined) wrong.push(...faults(others, item, schemas, exact, at))
      else if (
        found.additionalProperties === false ||
        (named !== undefined && others === undefined && found.additionalProperties !== true && !named.has(name))
      )
        wrong.push(`${at}: is unknown`)
      if (names !== undefined) wrong.push(...faults(names, name, schemas, exact, `${at} (its name)`))
    }
  }
  return wrong
}

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
