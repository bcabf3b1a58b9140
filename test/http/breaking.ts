/**
 * What in a new OpenAPI document breaks a client that was made for an older one: `/v1` is additive only.
 *
 * K1. What is sent may be asked for less strictly, never more: no field, parameter or value goes, none becomes
 *     required, no bound gets narrower.
 * K2. What is answered may grow, never shrink: no status, field, value or header goes, and what was always there stays
 *     so.
 * K3. What cannot be compared, such as two patterns, has to be the same; but for a pattern that is a list of names, which
 *     may grow where it is sent.
 */
import { isObject, listAt, type Schema, schemaAt } from "./jsonSchema.ts"

type Side = "sent" | "answered"

const objectAt = (value: unknown, ...keys: ReadonlyArray<string>): Schema =>
  keys.reduce<Schema>((found, key) => schemaAt(found, key) ?? {}, isObject(value) ? value : {})
const partsOf = (schema: Schema) =>
  ["anyOf", "oneOf", "allOf"].flatMap((keyword) => listAt(schema, keyword)).filter(isObject)
const textsAt = (schema: Schema, keyword: string) => listAt(schema, keyword).map(String)
const json = (value: unknown) => JSON.stringify(value) ?? "nothing"

const upper = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"]
const lower = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"]
const nested = ["items", "additionalProperties", "propertyNames", "contentSchema"]
/** What is compared by a rule of its own, or says nothing of what fits. Every other keyword has to be the same (K3). */
const compared = new Set([
  ...upper,
  ...lower,
  ...nested,
  "$ref",
  "type",
  "enum",
  "uniqueItems",
  "properties",
  "required",
  "anyOf",
  "oneOf",
  "allOf",
  "title",
  "description",
  "default",
  "example",
  "examples",
  "deprecated"
])

/** Of a pattern for names with commas between them: the names. */
const namesIn = (pattern: unknown): ReadonlyArray<string> | undefined => {
  const [, names = ""] = /^\^\(\?:([\w|]+)\)\(\?:,\(\?:\1\)\)\*\$$/.exec(String(pattern)) ?? []
  return names === "" ? undefined : names.split("|")
}

const growsBy = (was: unknown, is: unknown) => {
  const names = namesIn(is)
  return names !== undefined && namesIn(was)?.every((name) => names.includes(name)) === true
}

/** Compares the schemas of two documents, each following its own references. */
class Comparison {
  readonly #seen = new Set<string>()
  readonly before: unknown
  readonly after: unknown
  constructor(before: unknown, after: unknown) {
    this.before = before
    this.after = after
  }

  #resolve(document: unknown, schema: Schema): Schema {
    const { $ref } = schema
    return typeof $ref === "string"
      ? this.#resolve(document, objectAt(document, ...$ref.slice(2).split("/")))
      : this.#joined(document, schema)
  }

  /** A shape with more said of some of its fields is one shape. */
  #joined(document: unknown, schema: Schema): Schema {
    const { allOf, ...rest } = schema
    const parts = listAt(schema, "allOf").filter(isObject)
    if (!parts.some((part) => "$ref" in part) || !parts.every((part) => "$ref" in part || "properties" in part))
      return schema
    return parts
      .map((part) => this.#resolve(document, part))
      .reduce<Schema>(
        (whole, part) => ({
          ...whole,
          ...part,
          properties: { ...objectAt(whole, "properties"), ...objectAt(part, "properties") },
          required: [...new Set([...listAt(whole, "required"), ...listAt(part, "required")])]
        }),
        rest
      )
  }

  schemas(old: Schema, now: Schema, side: Side, path: string): ReadonlyArray<string> {
    // A shape that holds itself is compared once.
    if (typeof old.$ref === "string") {
      const pair = `${side} ${old.$ref} ${json(now)}`
      if (this.#seen.has(pair)) return []
      this.#seen.add(pair)
    }
    const was = this.#resolve(this.before, old)
    const is = this.#resolve(this.after, now)
    return [
      ...this.#types(was, is, side, path),
      ...this.#values(was, is, side, path),
      ...this.#properties(was, is, side, path),
      ...this.#parts(was, is, side, path),
      ...nested.flatMap((keyword) => {
        const [from, to] = [schemaAt(was, keyword), schemaAt(is, keyword)]
        if (from !== undefined && to !== undefined) return this.schemas(from, to, side, `${path}.${keyword}`)
        if (from === undefined && to !== undefined && side === "sent")
          return [`${path}: ${keyword} is held to a schema now`]
        return from !== undefined && to === undefined && side === "answered"
          ? [`${path}: ${keyword} is held to no schema any more`]
          : []
      })
    ]
  }

  #types(was: Schema, is: Schema, side: Side, path: string) {
    const [from, to] = [was.type, is.type]
    const [narrow, wide] = side === "sent" ? [from, to] : [to, from]
    const wider = wide === undefined || (narrow === "integer" && wide === "number")
    const wrong =
      from === to || (wider && partsOf(was).length === 0 && partsOf(is).length === 0)
        ? []
        : [`${path}: its type was ${json(from)} and is ${json(to)}`]
    // More may be sent where one is gone, and more is known of an answer where one has come.
    const same = Object.keys(side === "sent" ? is : was).filter(
      (keyword) =>
        !compared.has(keyword) &&
        json(was[keyword]) !== json(is[keyword]) &&
        !(keyword === "pattern" && side === "sent" && growsBy(was.pattern, is.pattern))
    )
    return [
      ...wrong,
      ...same.map((keyword) => `${path}: its ${keyword} was ${json(was[keyword])} and is ${json(is[keyword])}`)
    ]
  }

  #values(was: Schema, is: Schema, side: Side, path: string) {
    const values = textsAt(is, "enum")
    const gone = Array.isArray(is.enum) ? textsAt(was, "enum").filter((value) => !values.includes(value)) : []
    const wrong = gone.map((value) => `${path}: ${value} is no value of it any more`)
    if (side === "answered") return wrong
    if (Array.isArray(is.enum) && !Array.isArray(was.enum)) wrong.push(`${path}: it has only certain values now`)
    const narrower = [
      ...upper.filter((keyword) => Number(is[keyword] ?? Infinity) < Number(was[keyword] ?? Infinity)),
      ...lower.filter((keyword) => Number(is[keyword] ?? -Infinity) > Number(was[keyword] ?? -Infinity))
    ]
    wrong.push(
      ...narrower.map((keyword) => `${path}: its ${keyword} was ${json(was[keyword])} and is ${json(is[keyword])}`)
    )
    if (is.uniqueItems === true && was.uniqueItems !== true) wrong.push(`${path}: its items have to be unique now`)
    return wrong
  }

  #properties(was: Schema, is: Schema, side: Side, path: string) {
    const [from, to] = [objectAt(was, "properties"), objectAt(is, "properties")]
    const [stricter, looser] = side === "sent" ? [is, was] : [was, is]
    const asked = textsAt(looser, "required")
    const wrong = textsAt(stricter, "required")
      .filter((name) => !asked.includes(name))
      .map((name) => `${path}.${name}: ${side === "sent" ? "is required now" : "is no longer always there"}`)
    if (side === "sent" && is.additionalProperties === false && was.additionalProperties !== false)
      wrong.push(`${path}: takes no other fields now`)
    for (const name of Object.keys(from)) {
      if (name in to) wrong.push(...this.schemas(objectAt(from, name), objectAt(to, name), side, `${path}.${name}`))
      else wrong.push(`${path}.${name}: is gone`)
    }
    return wrong
  }

  /** Each choice that there was is one still; a check that stands apart was there before. */
  #parts(was: Schema, is: Schema, side: Side, path: string) {
    const [from, to] =
      side === "sent" ? [listAt(is, "allOf"), listAt(was, "allOf")] : [listAt(was, "allOf"), listAt(is, "allOf")]
    const wrong = from
      .filter((check) => !to.some((other) => json(other) === json(check)))
      .map((check) => `${path}: ${json(check)} is ${side === "sent" ? "asked of it now" : "true of it no more"}`)
    for (const keyword of ["anyOf", "oneOf"]) {
      const [choices, known] = [listAt(was, keyword).filter(isObject), listAt(is, keyword).filter(isObject)]
      if (choices.length === 0 && known.length > 0 && side === "sent")
        wrong.push(`${path}: has to be one of several now`)
      for (const [index, choice] of choices.entries()) {
        const each = known.map((other) =>
          new Comparison(this.before, this.after).schemas(choice, other, side, `${path}(${index + 1})`)
        )
        if (!each.some((list) => list.length === 0))
          wrong.push(
            ...(each.sort((a, b) => a.length - b.length)[0] ?? [`${path}(${index + 1}): is no choice any more`])
          )
      }
    }
    return wrong
  }
}

const media = (value: unknown) => Object.entries(objectAt(value, "content"))

const parametersOf = (operation: Schema) =>
  new Map(
    listAt(operation, "parameters")
      .filter(isObject)
      .map((parameter) => [`${parameter.name} in ${parameter.in}`, parameter])
  )

const operationBreaks = (comparison: Comparison, was: Schema, is: Schema, path: string): ReadonlyArray<string> => {
  const wrong: Array<string> = []
  const [from, to] = [parametersOf(was), parametersOf(is)]
  for (const [name, parameter] of from) {
    const now = to.get(name)
    if (now === undefined) wrong.push(`${path}: the parameter ${name} is gone`)
    else
      wrong.push(
        ...comparison.schemas(objectAt(parameter, "schema"), objectAt(now, "schema"), "sent", `${path} ${name}`)
      )
  }
  for (const [name, parameter] of to) {
    if (parameter.required === true && from.get(name)?.required !== true)
      wrong.push(`${path}: the parameter ${name} is required now`)
  }
  if (was["x-required-scope"] !== is["x-required-scope"])
    wrong.push(`${path}: its scope was ${json(was["x-required-scope"])} and is ${json(is["x-required-scope"])}`)
  const schemes = json(is.security)
  if (listAt(was, "security").length === 0 && listAt(is, "security").length > 0)
    wrong.push(`${path}: a credential is required now`)
  for (const scheme of listAt(was, "security"))
    if (!schemes.includes(json(scheme))) wrong.push(`${path}: ${json(scheme)} is not taken any more`)
  if (objectAt(is, "requestBody").required === true && objectAt(was, "requestBody").required !== true)
    wrong.push(`${path}: a body is required now`)
  for (const [type, body] of media(was.requestBody)) {
    const now = objectAt(is, "requestBody", "content")[type]
    if (isObject(now))
      wrong.push(...comparison.schemas(objectAt(body, "schema"), objectAt(now, "schema"), "sent", `${path} body`))
    else wrong.push(`${path}: takes no ${type} any more`)
  }
  for (const [status, response] of Object.entries(objectAt(was, "responses"))) {
    const now = objectAt(is, "responses")[status]
    if (!isObject(now)) {
      wrong.push(`${path}: ${status} is gone`)
      continue
    }
    for (const name of Object.keys(objectAt(response, "headers")))
      if (!(name in objectAt(now, "headers"))) wrong.push(`${path} ${status}: the header ${name} is gone`)
    for (const [type, body] of media(response)) {
      const other = objectAt(now, "content")[type]
      if (isObject(other))
        wrong.push(
          ...comparison.schemas(objectAt(body, "schema"), objectAt(other, "schema"), "answered", `${path} ${status}`)
        )
      else wrong.push(`${path} ${status}: is no ${type} any more`)
    }
  }
  return wrong
}

/** Each with the operation and the field that it is about. */
export const breaks = (before: unknown, after: unknown): ReadonlyArray<string> => {
  const comparison = new Comparison(before, after)
  return Object.entries(objectAt(before, "paths")).flatMap(([path, methods]) =>
    Object.entries(objectAt(methods)).flatMap(([method, was]) => {
      const is = objectAt(after, "paths", path)[method]
      const title = `${method.toUpperCase()} ${path}`
      return isObject(is) ? operationBreaks(comparison, objectAt(was), is, title) : [`${title}: is gone`]
    })
  )
}
