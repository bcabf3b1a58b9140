/**
 * What is wrong with a value that came from outside, in words: the one formatter, for requests, answers of hooks and
 * the operator's files.
 *
 * P1. A problem says where and what, and never repeats a value: only the names of fields, which are shortened.
 * P2. A place has one problem, the first of it; at most five are named.
 */
import { type SchemaAST, SchemaIssue } from "effect"

export interface Problem {
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
export const keyText = (key: PropertyKey) => {
  const text = String(key).replace(/[\p{Cc}\p{Cs}]/gu, "\uFFFD")
  return text.length > 64 ? `${text.slice(0, 64)}…` : text
}

const append = (path: string, key: PropertyKey) =>
  typeof key === "number" ? `${path}[${key}]` : path === "" ? keyText(key) : `${path}.${keyText(key)}`

const article = {
  String: "a string",
  Number: "a number",
  Boolean: "true or false",
  Arrays: "an array",
  Objects: "an object"
} as const

const isArticle = (tag: string): tag is keyof typeof article => Object.hasOwn(article, tag)

const discriminators = ["type", "kind", "mode"]

/** The values of a property by which the members of a union differ, such as `type`. */
const discriminator = ({ types }: SchemaAST.Union): string | undefined => {
  for (const by of discriminators) {
    const names = types.map((type) => {
      if (type._tag !== "Objects") return undefined
      const tag = type.propertySignatures.find((property) => property.name === by)
      return tag?.type._tag === "Literal" ? JSON.stringify(tag.type.literal) : undefined
    })
    if (names.length > 0 && names.every((name) => name !== undefined))
      return `an object whose ${by} is ${names.join(" or ")}`
  }
  return undefined
}

/** What would fit, in words: the name of a schema says nothing to whoever is to send something else. */
const typeText = (ast: SchemaAST.AST): string | undefined => {
  if (ast._tag === "Null") return "null"
  if (ast._tag !== "Union") return isArticle(ast._tag) ? article[ast._tag] : undefined
  const { types } = ast
  const [only] = types
  // HttpApi holds every body against a union, be it of one.
  if (only !== undefined && types.length === 1) return typeText(only)
  const literals = types.flatMap((type) => (type._tag === "Literal" ? [JSON.stringify(type.literal)] : []))
  if (literals.length === types.length) return literals.join(" | ")
  const byTag = discriminator(ast)
  if (byTag !== undefined) return byTag
  const parts = types.map(typeText)
  return parts.every((part) => part !== undefined) ? [...new Set(parts)].join(" or ") : undefined
}

const walk = (issue: SchemaIssue.Issue, path: string): ReadonlyArray<Problem> => {
  const one = (message: string, unknown = false): ReadonlyArray<Problem> => [{ path, message, unknown }]
  switch (issue._tag) {
    case "Pointer":
      return walk(issue.issue, issue.path.reduce<string>(append, path))
    case "Composite":
      return issue.issues.flatMap((each) => walk(each, path))
    case "Encoding":
      return walk(issue.issue, path)
    case "MissingKey":
      return one("is required")
    case "UnexpectedKey":
      return one("unknown field", true)
    case "AnyOf": {
      const only = issue.issues[0]
      if (only !== undefined && issue.issues.length === 1) return walk(only, path)
      const named = typeText(issue.ast)
      if (named !== undefined) return one(`expected ${named}`)
      break
    }
    case "InvalidType": {
      const { expected: said } = issue.ast.annotations ?? {}
      const named = typeof said === "string" ? said : typeText(issue.ast)
      if (named !== undefined) return one(`expected ${named}`)
      break
    }
    case "Filter":
      if (issue.issue._tag === "Pointer" || issue.issue._tag === "Composite") return walk(issue.issue, path)
      break
  }
  const [first] = format(issue).issues
  return one(expected(first?.message ?? "another value"))
}

/** Where and why a value does not fit its schema; never empty. `under`: the path of the value itself. */
export const problemsOf = (issue: SchemaIssue.Issue, under = ""): ReadonlyArray<Problem> => {
  const byPath = new Map<string, Problem>()
  for (const problem of walk(issue, under)) if (!byPath.has(problem.path)) byPath.set(problem.path, problem)
  return [...byPath.values()]
}

/**
 * The fields that a value may have, where it has one beside them; undefined where it has none, or only a value within
 * it has.
 */
export const fieldsBeside = (issue: SchemaIssue.Issue): ReadonlyArray<string> | undefined => {
  switch (issue._tag) {
    case "Pointer": {
      const found = issue.path.length === 1 && issue.issue._tag === "UnexpectedKey" ? issue.issue.ast : undefined
      return found?._tag === "Objects" && found.propertySignatures.length > 0
        ? found.propertySignatures.map(({ name }) => String(name))
        : undefined
    }
    case "Composite":
      return issue.issues.map(fieldsBeside).find((fields) => fields !== undefined)
    case "AnyOf":
      return issue.issues.length === 1 ? fieldsBeside(issue.issues[0]!) : undefined
    case "Encoding":
    case "Filter":
      return fieldsBeside(issue.issue)
    default:
      return undefined
  }
}

const mostNamed = 5

/** What people read at once. */
const mostChars = 600

/**
 * The first five problems, fewer where they are long, and how many more there are. `whole`: what the value is called
 * where it is wrong as a whole.
 */
export const sentence = (problems: ReadonlyArray<Problem>, whole: string) => {
  const named: Array<string> = []
  let chars = 0
  for (const { message, path } of problems.slice(0, mostNamed)) {
    const words = `${path === "" ? whole : path}: ${message}`
    chars += words.length
    if (named.length > 0 && chars > mostChars) break
    named.push(words)
  }
  const more = problems.length - named.length
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join("; ")
}

/** What is wrong with a value, in one sentence. */
export const wordsOf = (issue: SchemaIssue.Issue, whole: string) => sentence(problemsOf(issue), whole)
