/**
 * JSON Schema of tools (2020-12; draft 7 and older where `$schema` says so): whether a schema can be used, and what is
 * wrong with a value. Schemas and values are strangers': a client's, a tool server's, a model's.
 *
 * It compiles what strangers wrote to code, and takes as long as that takes: it is meant for a thread of its own that
 * can be ended from outside (schemaThread.ts).
 *
 * J1. Nothing is fetched: a `$ref` that does not lead into the schema itself makes it unusable.
 * J2. Patterns are counted by the states of their programs: a schema has at most `mostStates` in all.
 * J3. Every schema has a compiler of its own, so that no `$id` of one can stand in for another's.
 * J4. Values are judged by their own properties, and never changed: no defaults, no coercion.
 * J5. Compiled schemas are kept, the least recently used go first.
 */
import { Ajv } from "ajv"
import { type AnySchemaObject, Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { LRUCache } from "lru-cache"
import { compilePattern } from "./patterns.ts"

const mostStates = 10_000

const heldSchemas = 1_000
/** Characters of schemas; a state counts as much as so many of them. */
const heldChars = 4 * 1024 * 1024
const charsPerState = 32

/** `weight` is what it holds, in characters. */
type Compiled = { readonly weight: number } & ({ readonly validate: ValidateFunction } | { readonly problem: string })

const isSchema = (value: unknown): value is AnySchemaObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const cut = (text: string) => (text.length <= 500 ? text : `${text.slice(0, 500)}…`)

/** `/items/0/a~1b` -> `items[0]["a/b"]`. */
const pathText = (pointer: string) => {
  let path = ""
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~")
    path += /^\d+$/.test(key)
      ? `[${key}]`
      : !/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key)
        ? `[${JSON.stringify(key)}]`
        : path === ""
          ? key
          : `.${key}`
  }
  return path
}
const child = (pointer: string, key: string) => `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`

const param = (error: ErrorObject, name: string): string => {
  const value: unknown = error.params[name]
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "")
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
  const telling = last !== undefined && (last.keyword === "anyOf" || last.keyword === "oneOf") ? last : errors?.[0]
  return telling === undefined ? "does not fit the schema" : sentence(telling)
}

/** What schemas themselves must fit. */
const metaSchemas = {
  old: { compiler: new Ajv({ strict: false, logger: false }), id: "http://json-schema.org/draft-07/schema" },
  new: { compiler: new Ajv2020({ strict: false, logger: false }), id: "https://json-schema.org/draft/2020-12/schema" }
}
const isOld = (schema: AnySchemaObject) =>
  typeof schema.$schema === "string" && /json-schema\.org\/draft-0\d\//.test(schema.$schema)

class TooManyStates extends Error {
  constructor() {
    super(`its patterns are too large: they have more than ${mostStates} states in all`)
  }
}

const compile = (schema: unknown, chars: number): Compiled => {
  if (!isSchema(schema)) return { weight: chars, problem: "must be an object" }
  const old = isOld(schema)
  const meta = metaSchemas[old ? "old" : "new"]
  const fits = meta.compiler.getSchema(meta.id)
  let states = 0
  // Their `toString` is what a compiler tells patterns apart by.
  const regExp = Object.assign(
    (source: string) => {
      const pattern = compilePattern(source)
      states += pattern.states
      if (states > mostStates) throw new TooManyStates()
      return { test: pattern.test, toString: () => source }
    },
    { code: "pattern" }
  )
  const options = {
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    inlineRefs: false,
    ownProperties: true,
    // Optimized code takes several times as long to make, and is hardly faster for values of this size.
    code: { regExp, optimize: false }
  } as const
  try {
    if (fits !== undefined && fits(schema) !== true) return { weight: chars, problem: problemOf(fits.errors) }
    const validate = formats.default(old ? new Ajv(options) : new Ajv2020(options)).compile(schema)
    if ("$async" in validate) return { weight: chars, problem: "$async: not a keyword of JSON Schema" }
    return { weight: chars + states * charsPerState, validate }
  } catch (error) {
    // Whatever the compiler cannot take: a reference to elsewhere (J1), a pattern that is none, a maze of references.
    if (error instanceof RangeError) return { weight: chars, problem: "its references lead too deep" }
    return { weight: chars, problem: cut(error instanceof Error ? error.message : "cannot be used") }
  }
}

/** Schemas are known by their JSON text. */
export class Validators {
  /** By text; the least recently used go first (J5). */
  private readonly compiled = new LRUCache<string, Compiled>({
    max: heldSchemas,
    maxSize: heldChars,
    sizeCalculation: ({ weight }) => weight
  })

  /** How many schemas are held. */
  get held() {
    return this.compiled.size
  }

  /** Why a schema cannot be used; undefined where it can. */
  unusable(schema: string): string | undefined {
    const found = this.find(schema)
    return "problem" in found ? found.problem : undefined
  }

  /** What is wrong with a value, with its path; undefined where it fits. */
  misfit(schema: string, value: unknown): string | undefined {
    const found = this.find(schema)
    if ("problem" in found) return `the schema cannot be used: ${found.problem}`
    try {
      return found.validate(value) === true ? undefined : problemOf(found.validate.errors)
    } catch (error) {
      // It went round in circles until the stack was full.
      if (error instanceof RangeError) return "the schema cannot be used: it refers to itself without end"
      throw error
    }
  }

  /** Forgets all that is held. */
  clear() {
    this.compiled.clear()
  }

  private find(text: string): Compiled {
    const held = this.compiled.get(text)
    if (held !== undefined) return held
    const made = compile(JSON.parse(text), text.length)
    this.compiled.set(text, made)
    return made
  }
}
