/**
 * A generated schema in the words that clients and generators of clients read: checks stand in the schema itself,
 * answers are open and bodies closed, records say the type of their values.
 */
import { isJson, type Json, mapped } from "./json.ts"

/**
 * How two checks that use one keyword are said in one schema. Of what stands here nowhere, a pattern above all, each is
 * said on its own.
 */
const both: { readonly [keyword: string]: (one: unknown, other: unknown) => unknown } = {
  description: (one, other) => (one === other ? one : `${one} ${other}`),
  minimum: (one, other) => Math.max(Number(one), Number(other)),
  maximum: (one, other) => Math.min(Number(one), Number(other)),
  enum: (one, other) =>
    Array.isArray(one) && Array.isArray(other) ? one.filter((value) => other.includes(value)) : other
}

/** What a property means (src/domain/described.ts): a check that only speaks. */
const isMeaning = (check: Json) => Object.keys(check).length === 1 && "description" in check

/**
 * What the checks say stands in the schema itself, as far as the schema has a place for it: first what it means, then
 * how it must be.
 */
const withChecks = ({ allOf: _, ...schema }: Json, checks: ReadonlyArray<Json>): Json => {
  const meanings = checks.filter(isMeaning).reverse()
  const { description, ...rest } = schema
  const made: Record<string, unknown> = { ...rest }
  const apart: Array<Json> = []
  const own = description === undefined ? [] : [{ description }]
  for (const [keyword, value] of [...meanings, ...own, ...checks.filter((check) => !isMeaning(check))].flatMap(
    (check) => Object.entries(check)
  )) {
    const merge = both[keyword]
    if (!(keyword in made) || made[keyword] === value) made[keyword] = value
    else if (merge !== undefined) made[keyword] = merge(made[keyword], value)
    else apart.push({ [keyword]: value })
  }
  return apart.length === 0 ? made : { ...made, allOf: apart }
}

/** Checks that stand in `allOf` move into the schema, where nothing else stands in the way. */
const checked = (schema: Json): Json => {
  const checks = Array.isArray(schema.allOf) ? schema.allOf.filter(isJson) : []
  const [target, ...meanings] = checks
  // A shape with a name keeps its own description, and what it means here stands beside its name.
  if (target !== undefined && Object.keys(schema).length === 1 && "$ref" in target && meanings.every(isMeaning))
    return withChecks(target, meanings)
  return checks.length > 0 && checks.every((check) => !("$ref" in check) && !("type" in check))
    ? withChecks(schema, checks)
    : schema
}

/**
 * A record whose keys have a pattern, in the words that generators of clients read: they know the values' type then.
 */
const recordOf = (schema: Json): Json => {
  const { additionalProperties, patternProperties, ...rest } = schema
  const [only, ...more] = Object.entries(isJson(patternProperties) ? patternProperties : {})
  if (only === undefined || more.length > 0 || additionalProperties !== false) return schema
  return { ...rest, propertyNames: { type: "string", pattern: only[0] }, additionalProperties: only[1] }
}

/** Answers may have other fields: they may grow. */
const opened = (schema: Json): Json => {
  const { additionalProperties, ...rest } = schema
  return additionalProperties === false ? rest : schema
}

/** That a whole number fits a double is nobody's concern, but of what is sent the bounds are kept: they are held to. */
const numberOf = (schema: Json, open: boolean): Json => {
  if (schema.type === "number" && !("format" in schema)) return { ...schema, format: "double" }
  if (schema.type !== "integer" || schema.maximum !== Number.MAX_SAFE_INTEGER) return schema
  if (!open) return { ...schema, format: "int64" }
  const { maximum: _, ...rest } = schema
  const { minimum: least, ...unbounded } = rest
  return { ...(least === Number.MIN_SAFE_INTEGER ? unbounded : rest), format: "int64" }
}

/** `open`: it is answered with; closed otherwise. */
export const plain = (value: unknown, open: boolean): unknown => {
  if (Array.isArray(value)) return value.map((item) => plain(item, open))
  if (!isJson(value)) return value
  const { "x-effect-stream": _, ...rest } = value
  const made = recordOf(checked(mapped(rest, (item) => plain(item, open))))
  return numberOf(open ? opened(made) : made, open)
}
