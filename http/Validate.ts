/**
 * Strict input: schemas for parameters, and how a schema's complaint becomes a 400 that says where
 * and why (design, House rules). Values that a client sent are never repeated in a message.
 */
import { Schema, SchemaAST, SchemaIssue, SchemaTransformation } from "effect"
import type { HttpApiError } from "effect/http-api"
import type { UrlProblem } from "../src/outbound/urls.ts"
import { Refused } from "./errors.ts"

const digits = (what: string, format: string) =>
  Schema.String.check(Schema.isPattern(/^\d{1,19}$/, { expected: what })).annotate({ format })

/**
 * A whole number in a query, `minimum` to `maximum`: decimal digits only, so neither `1e2` nor ` 5`
 * nor `0x10`. The format becomes `type: integer` in OpenAPI (http/openapi.ts).
 */
export const whole = (minimum: number, maximum: number) => {
  const what = `a whole number from ${minimum} to ${maximum}`
  return digits(what, `integer ${minimum} ${maximum}`).pipe(
    Schema.decodeTo(
      Schema.Number.check(Schema.makeFilter((n) => n >= minimum && n <= maximum || what)),
      SchemaTransformation.transform({ decode: Number, encode: String })
    )
  )
}

const largest = 2n ** 63n - 1n

/**
 * An int64 from 0 up, such as afterSeq: to 2^63-1 on the wire. Beyond 2^53-1 it is held as 2^53-1:
 * no log is that long.
 */
export const int64 = digits("a whole number from 0 to 9223372036854775807", "int64").check(
  Schema.makeFilter((text) => text.length < 19 || BigInt(text) <= largest || "a whole number from 0 to 9223372036854775807")
).pipe(
  Schema.decodeTo(
    Schema.Number,
    SchemaTransformation.transform({ decode: (text) => Math.min(Number(text), Number.MAX_SAFE_INTEGER), encode: String })
  )
)

/** `true` or `false` in a query. */
export const flag = Schema.Literals(["true", "false"]).pipe(
  Schema.decodeTo(
    Schema.Boolean,
    SchemaTransformation.transform({ decode: (text): boolean => text === "true", encode: (value) => value ? "true" as const : "false" as const })
  )
)

interface Problem {
  /** `content[1].text`; empty for the whole. */
  readonly path: string
  readonly message: string
  readonly unknown: boolean
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const expected = (message: string) => {
  const text = message.replace(/^Expected /, "")
  return text === message && /^(must|is|may|cannot)\b/.test(text) ? text : `expected ${text}`
}

/** Keys are the client's own words: shortened, and without what a terminal would act on. */
const keyText = (key: PropertyKey) => {
  const text = String(key).replace(/[\p{Cc}\p{Cs}]/gu, "\uFFFD")
  return text.length > 64 ? `${text.slice(0, 64)}…` : text
}

const append = (path: string, key: PropertyKey) =>
  typeof key === "number" ? `${path}[${key}]` : path === "" ? keyText(key) : `${path}.${keyText(key)}`

const article = { String: "a string", Number: "a number", Boolean: "true or false", Arrays: "an array", Objects: "an object" } as const

const isArticle = (tag: string): tag is keyof typeof article => Object.hasOwn(article, tag)

const typeText = (ast: SchemaAST.AST): string | undefined => {
  // HttpApi holds every body against a union, be it of one.
  if (ast._tag === "Union" && ast.types.length === 1) return typeText(ast.types[0]!)
  return isArticle(ast._tag) ? article[ast._tag] : undefined
}

const discriminators = ["type", "kind"]

/** The values of a property by which the members of a union differ, such as `type`. */
const discriminator = (union: SchemaAST.Union): string | undefined => {
  const [only] = union.types
  if (union.types.length === 1 && only?._tag === "Union") return discriminator(only)
  for (const by of discriminators) {
    const names = union.types.map((type) => {
      if (type._tag !== "Objects") return undefined
      const tag = type.propertySignatures.find((property) => property.name === by)
      return tag?.type._tag === "Literal" ? JSON.stringify(tag.type.literal) : undefined
    })
    if (names.length > 0 && names.every((name) => name !== undefined)) return `an object whose ${by} is ${names.join(" or ")}`
  }
  return undefined
}

const walk = (issue: SchemaIssue.Issue, path: string): Problem => {
  switch (issue._tag) {
    case "Pointer":
      return walk(issue.issue, issue.path.reduce<string>(append, path))
    case "Composite":
      return walk(issue.issues[0], path)
    case "Encoding":
      return walk(issue.issue, path)
    case "MissingKey":
      return { path, message: "is required", unknown: false }
    case "UnexpectedKey":
      return { path, message: "unknown field", unknown: true }
    case "AnyOf": {
      const only = issue.issues[0]
      if (only !== undefined && issue.issues.length === 1) return walk(only, path)
      const named = typeText(issue.ast) ?? discriminator(issue.ast)
      if (named !== undefined) return { path, message: `expected ${named}`, unknown: false }
      break
    }
    case "InvalidType": {
      const named = typeText(issue.ast)
      if (named !== undefined) return { path, message: `expected ${named}`, unknown: false }
      break
    }
    case "Filter":
      if (issue.issue._tag === "Pointer" || issue.issue._tag === "Composite") return walk(issue.issue, path)
      break
  }
  const [first] = format(issue).issues
  return { path, message: expected(first?.message ?? "another value"), unknown: false }
}

/** Where and why a value does not fit its schema: the first problem. */
export const describe = (issue: SchemaIssue.Issue) => walk(issue, "")

const sentence = (problem: Problem) => problem.path === "" ? `the body: ${problem.message}` : `${problem.path}: ${problem.message}`

/** The refusal of a body that is no JSON, or not as JSON is allowed here. */
export const badJson = (why: string) => new Refused({ error: "invalid_request", message: `the body: ${why}`, code: "invalid_json" })

/** The refusal of a body that does not fit. */
export const refuseBody = (error: Schema.SchemaError) => {
  const problem = describe(error.issue)
  return new Refused({
    error: "invalid_request",
    message: sentence(problem),
    code: problem.unknown ? "unknown_field" : "invalid_body"
  })
}

/** The refusal of a URL that this server would never ask: which rule it breaks is the code. */
export const refuseUrl = (path: string, { message, reason }: UrlProblem) =>
  new Refused({ error: "invalid_request", code: reason, message: `${path}: ${message}` })

/** Parameters of lists have codes of their own. */
const codesOfParameters: Readonly<Record<string, string | undefined>> = { limit: "limit_out_of_range", cursor: "invalid_cursor" }

/**
 * The refusal of a request part that does not fit. A path whose ids do not have their form leads
 * nowhere: 404. What the server itself cannot encode is not the client's fault: undefined.
 */
export const refuseInput = (error: HttpApiError.HttpApiSchemaError) => {
  switch (error.kind) {
    case "Params":
      return new Refused({ error: "not_found", message: "no such resource" })
    case "Query":
    case "Headers": {
      const problem = describe(error.cause.issue)
      return new Refused({
        error: "invalid_request",
        message: sentence(problem),
        code: error.kind === "Headers" ? "invalid_header" : codesOfParameters[problem.path] ?? "invalid_parameter"
      })
    }
    case "Payload":
      return error.cause.issue._tag === "InvalidValue" ? badJson("not valid JSON") : refuseBody(error.cause)
    default:
      return undefined
  }
}

/** Names of a parameter schema's properties. */
export const parameterNames = (schema: Schema.Constraint | undefined): ReadonlySet<string> =>
  new Set(schema?.ast._tag === "Objects" ? schema.ast.propertySignatures.map((property) => String(property.name)) : [])

/** Refuses unknown and repeated query parameters: `after_seq` is not `afterSeq`. */
export const refuseQuery = (known: ReadonlySet<string>, sent: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>) => {
  for (const name in sent) {
    if (!known.has(name)) {
      const hint = known.size === 0 ? "this endpoint takes none" : `this endpoint takes ${[...known].join(", ")}`
      return new Refused({ error: "invalid_request", message: `${keyText(name)}: unknown query parameter; ${hint}`, code: "unknown_parameter" })
    }
    if (Array.isArray(sent[name])) {
      return new Refused({ error: "invalid_request", message: `${name}: given more than once`, code: "repeated_parameter" })
    }
  }
  return undefined
}
