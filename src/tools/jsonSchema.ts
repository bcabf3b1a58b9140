/**
 * JSON Schema of tools (2020-12; draft 7 and older where `$schema` says so): whether a schema can be used, and what is
 * wrong with a value. Schemas and values are strangers': a client's, a tool server's, a model's.
 *
 * J1. Nothing is fetched: a `$ref` that does not lead into the schema itself makes it unusable.
 * J2. No schema and no value holds the event loop for more than `clockMs` of its own: what could is run under a clock.
 * J3. Every schema has a compiler of its own, so that no `$id` of one can stand in for another's.
 * J4. Values are judged by their own properties, and never changed: no defaults, no coercion.
 * J5. Compiled schemas are kept, the least recently used go first.
 */
import { Ajv } from "ajv"
import { type AnySchemaObject, Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { limits } from "../domain/limits.ts"
import { TooSlow, within } from "./clock.ts"
import { compilePattern, type Pattern } from "./patterns.ts"

const clockMs = 200
/** On a busy machine time goes by without any of it being ours: that says nothing about a schema. */
const tries = 5
/** Schema times value, in characters: below it nothing takes long that is not in `costly`. */
const shortWork = 4_000_000
/** Keywords whose work may grow faster than schema times value. */
const costly = /"(?:\$ref|\$dynamicRef|\$recursiveRef|uniqueItems|format)"/

const heldSchemas = 2_000
const heldChars = 8 * 1024 * 1024

interface Usable {
  readonly text: string
  readonly validate: ValidateFunction
  readonly isCostly: () => boolean
}
interface Unusable {
  readonly text: string
  readonly problem: string
}
type Compiled = Usable | Unusable

const isSchema = (value: unknown): value is AnySchemaObject => typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether a value nests deeper than so many levels. */
export const deeperThan = (value: unknown, levels: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (levels === 0) return true
  for (const inner of Array.isArray(value) ? value : Object.values(value)) if (deeperThan(inner, levels - 1)) return true
  return false
}

const cut = (text: string) => text.length <= 500 ? text : `${text.slice(0, 500)}…`

/** `/items/0/a~1b` -> `items[0]["a/b"]`. */
const pathText = (pointer: string) => {
  let path = ""
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~")
    path += /^\d+$/.test(key) ? `[${key}]` : !/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key) ? `[${JSON.stringify(key)}]` : path === "" ? key : `.${key}`
  }
  return path
}
const child = (pointer: string, key: string) => `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`

const param = (error: ErrorObject, name: string): string => {
  const value: unknown = error.params[name]
  return typeof value === "string" ? value : JSON.stringify(value) ?? ""
}

/** One sentence: where, and what. */
const sentence = (error: ErrorObject) => {
  const at = (pointer: string, what: string) => cut(pointer === "" ? what : `${pathText(pointer)}: ${what}`)
  const { instancePath, keyword, message = "does not fit" } = error
  switch (keyword) {
    case "required":
      return at(child(instancePath, param(error, "missingProperty")), "is missing")
    case "additionalProperties":
      return at(child(instancePath, param(error, "additionalProperty")), "is not a known property")
    case "unevaluatedProperties":
      return at(child(instancePath, param(error, "unevaluatedProperty")), "is not a known property")
    case "enum":
      return at(instancePath, `must be one of ${param(error, "allowedValues")}`)
    case "const":
      return at(instancePath, `must be ${param(error, "allowedValue")}`)
    default:
      return at(instancePath, message)
  }
}

/** Of a choice, that nothing fits says more than how one alternative failed. */
const problemOf = (errors: ReadonlyArray<ErrorObject> | null | undefined) => {
  const last = errors?.at(-1)
  const told = last !== undefined && (last.keyword === "anyOf" || last.keyword === "oneOf") ? last : errors?.[0]
  return told === undefined ? "does not fit the schema" : sentence(told)
}

/** What schemas themselves must fit; ours, so they need no clock to be compiled, once. */
const metaSchemas = {
  old: { compiler: new Ajv({ strict: false, logger: false }), id: "http://json-schema.org/draft-07/schema" },
  new: { compiler: new Ajv2020({ strict: false, logger: false }), id: "https://json-schema.org/draft/2020-12/schema" }
}
const isOld = (schema: AnySchemaObject) => typeof schema.$schema === "string" && /json-schema\.org\/draft-0\d\//.test(schema.$schema)

const compile = (schema: AnySchemaObject, text: string): Compiled => {
  const old = isOld(schema)
  const meta = metaSchemas[old ? "old" : "new"]
  const fits = meta.compiler.getSchema(meta.id)
  const read = (): Compiled => {
    if (fits !== undefined && fits(schema) !== true) return { text, problem: problemOf(fits.errors) }
    const patterns: Array<Pattern> = []
    // Their `toString` is what a compiler tells patterns apart by.
    const regExp = Object.assign((source: string) => {
      const pattern = compilePattern(source)
      patterns.push(pattern)
      return { test: pattern.test, toString: () => source }
    }, { code: "pattern" })
    const options = {
      strict: false, logger: false, meta: false, validateSchema: false, addUsedSchema: false, inlineRefs: false, ownProperties: true,
      // Optimized code takes several times as long to make, and is hardly faster for values of this size.
      code: { regExp, optimize: false }
    } as const
    const validate = formats.default(old ? new Ajv(options) : new Ajv2020(options)).compile(schema)
    if ("$async" in validate) return { text, problem: "$async: not a keyword of JSON Schema" }
    return { text, validate, isCostly: costly.test(text) ? () => true : () => !patterns.every((pattern) => pattern.isLinear()) }
  }
  for (let tried = 1;; tried++) {
    try {
      return within(clockMs, read)
    } catch (error) {
      if (error instanceof TooSlow) {
        if (error.starved && tried < tries) continue
        return { text, problem: "takes too long to read" }
      }
      // Whatever the compiler cannot take: a reference to elsewhere (J1), a pattern that is none, an endless recursion.
      return { text, problem: cut(error instanceof Error ? error.message : "cannot be used") }
    }
  }
}

/** By text, the least recently used first (J5). */
const byText = new Map<string, Compiled>()
let chars = 0
/** The texts of those who ask with the same object again and again. */
const texts = new WeakMap<object, string>()

const drop = (text: string) => {
  if (byText.delete(text)) chars -= text.length
}

const tooDeep: Unusable = { text: "", problem: `nests deeper than ${limits.jsonDepth} levels` }

const textOf = (schema: AnySchemaObject): string | undefined => {
  const held = texts.get(schema)
  if (held !== undefined) return held
  if (deeperThan(schema, limits.jsonDepth)) return undefined
  const text = JSON.stringify(schema)
  texts.set(schema, text)
  return text
}

const compiled = (schema: AnySchemaObject): Compiled => {
  const text = textOf(schema)
  if (text === undefined) return tooDeep
  const found = byText.get(text) ?? compile(schema, text)
  drop(text)
  byText.set(text, found)
  chars += text.length
  for (const oldest of byText.keys()) {
    if (byText.size <= heldSchemas && chars <= heldChars) break
    drop(oldest)
  }
  return found
}

/** Why a schema cannot be used; undefined where it can. */
export const checkSchema = (schema: unknown): string | undefined => {
  if (!isSchema(schema)) return "must be an object"
  const found = compiled(schema)
  return "problem" in found ? found.problem : undefined
}

/** What is wrong with a value, with its path; undefined where it fits. */
export const validate = (schema: unknown, value: unknown): string | undefined => {
  if (!isSchema(schema)) return "the schema must be an object"
  if (deeperThan(value, limits.jsonDepth)) return tooDeep.problem
  for (let tried = 1;; tried++) {
    const found = compiled(schema)
    if ("problem" in found) return `the schema cannot be used: ${found.problem}`
    const { text, validate } = found
    const judge = () => validate(value) === true ? undefined : problemOf(validate.errors)
    try {
      const short = !found.isCostly() && text.length * (JSON.stringify(value) ?? "").length <= shortWork
      return short ? judge() : within(clockMs, judge)
    } catch (error) {
      // It was stopped in the middle (K1), or went round in circles until the stack was full.
      drop(text)
      if (error instanceof TooSlow && error.starved && tried < tries) continue
      if (error instanceof TooSlow || error instanceof RangeError) return "takes too long to check against the schema"
      throw error
    }
  }
}

/** How many compiled schemas are held: for tests (J5). */
export const heldValidators = () => byText.size
