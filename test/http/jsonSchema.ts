/**
 * The part of JSON Schema that the OpenAPI document uses, and what is wrong with a value. A keyword that stands here
 * nowhere is an error, so that nothing is passed over in silence.
 */
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
export const numberAt = (schema: Schema, keyword: string, otherwise: number) =>
  typeof schema[keyword] === "number" ? schema[keyword] : otherwise
export const partsOf = (schema: Schema) => listAt(schema, "anyOf").filter(isObject)
export const choicesOf = (schema: Schema) => listAt(schema, "oneOf").filter(isObject)
export const checksOf = (schema: Schema) => listAt(schema, "allOf").filter(isObject)

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
