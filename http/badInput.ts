/**
 * Strict input: how a schema's complaint becomes a 400 that says where and why. Values that a client sent are never
 * repeated in a message.
 */
import { Result, Schema } from "effect"
import type { HttpApiEndpoint, HttpApiError } from "effect/http-api"
import { fieldsBeside, keyText, type Problem, problemsOf, sentence } from "../src/domain/problems.ts"
import { everyProblem } from "../src/domain/strict.ts"
import type { UrlProblem } from "../src/outbound/urls.ts"
import { Refused } from "./errors.ts"
import { canonical } from "./headerName.ts"

/** The refusal of a body that is no JSON, or not as JSON is allowed here. */
export const badJson = (why: string) =>
  new Refused({ error: "invalid_request", message: `the body: ${why}`, code: "invalid_json" })

/**
 * The refusal of a body that does not fit: the code is the first problem's. Where a field of its own is unknown, it
 * says which are known.
 */
export const refuseBody = (error: Schema.SchemaError) => {
  const problems = problemsOf(error.issue)
  const known = fieldsBeside(error.issue)
  return new Refused({
    error: "invalid_request",
    message: `${sentence(problems, "the body")}${known === undefined ? "" : `; this body takes ${known.join(", ")}`}`,
    code: problems[0]?.unknown === true ? "unknown_field" : "invalid_body"
  })
}

/** The refusal of a URL that this server would never ask: which rule it breaks is the code. */
export const refuseUrl = (path: string, { message, reason }: UrlProblem) =>
  new Refused({ error: "invalid_request", code: reason, message: `${path}: ${message}` })

/** Parameters of lists have codes of their own. */
const codesOfParameters: Readonly<Record<string, string | undefined>> = {
  limit: "limit_out_of_range",
  cursor: "invalid_cursor"
}

/**
 * The refusal of a request part that does not fit. A path whose ids do not have their form leads
 * nowhere: 404, which says so. What the server itself cannot encode is not the client's fault: undefined.
 * `every`: all that is wrong with the part, where it may be more than the error tells.
 */
export const refuseInput = (error: HttpApiError.HttpApiSchemaError, every: () => Schema.SchemaError) => {
  switch (error.kind) {
    case "Params":
      return new Refused({ error: "not_found", message: sentence(problemsOf(error.cause.issue), "the path") })
    case "Query":
    case "Headers": {
      const problems = problemsOf(every().issue)
      return new Refused({
        error: "invalid_request",
        message: sentence(
          error.kind === "Headers"
            ? problems.map((problem) => ({ ...problem, path: canonical(problem.path) }))
            : problems,
          "the request"
        ),
        code:
          error.kind === "Headers"
            ? "invalid_header"
            : (codesOfParameters[problems[0]?.path ?? ""] ?? "invalid_parameter")
      })
    }
    case "Payload":
      return error.cause.issue._tag === "InvalidValue" ? badJson("not valid JSON") : refuseBody(every())
    default:
      return undefined
  }
}

type Sent = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** A schema of which HttpApi keeps no type: it decodes what was sent, and needs nothing for it. */
const untyped = ({ ast }: Schema.Constraint) => Schema.make<Schema.ConstraintDecoder<unknown>>(ast)

/** All that is wrong with the body and the query of an endpoint. */
export const problemsAt = ({ payload, query }: Pick<HttpApiEndpoint.Top, "payload" | "query">) => {
  const [found] = payload.values()
  const ofBody =
    found === undefined || found.encoding._tag === "Stream"
      ? undefined
      : everyProblem(untyped(Schema.Union(found.schemas)))
  const ofQuery =
    query === undefined
      ? undefined
      : everyProblem(untyped(Schema.toCodecArrayFromSingle(query)), { onExcessProperty: "ignore" })
  return ({ cause, kind }: HttpApiError.HttpApiSchemaError, body: string, sent: Sent) =>
    kind === "Payload" && ofBody !== undefined
      ? ofBody(JSON.parse(body), cause)
      : kind === "Query" && ofQuery !== undefined
        ? ofQuery(sent, cause)
        : cause
}

/**
 * Refuses unknown and repeated query parameters of an endpoint: `after_seq` is not `afterSeq`. What is wrong with the
 * others is told with them; where they alone are wrong, HttpApi says so.
 */
export const refusingQuery = (schema: Schema.Constraint | undefined) => {
  const known = new Set(
    schema?.ast._tag === "Objects" ? schema.ast.propertySignatures.map((property) => String(property.name)) : []
  )
  const decode =
    schema === undefined ? undefined : Schema.decodeUnknownResult(untyped(Schema.toCodecArrayFromSingle(schema)))
  const every =
    schema === undefined
      ? undefined
      : everyProblem(untyped(Schema.toCodecArrayFromSingle(schema)), { onExcessProperty: "ignore" })
  const hint = known.size === 0 ? "this endpoint takes none" : `this endpoint takes ${[...known].join(", ")}`

  const problemsOfOthers = (sent: Sent): ReadonlyArray<Problem> => {
    const others = Object.fromEntries(
      Object.entries(sent).filter(([name, value]) => known.has(name) && !Array.isArray(value))
    )
    const fit = decode?.(others)
    return fit === undefined || every === undefined || Result.isSuccess(fit)
      ? []
      : problemsOf(every(others, fit.failure).issue)
  }

  return (sent: Sent) => {
    const strays: Array<Problem> = []
    for (const name in sent) {
      if (!known.has(name)) strays.push({ path: keyText(name), message: "unknown query parameter", unknown: true })
      else if (Array.isArray(sent[name])) strays.push({ path: name, message: "given more than once", unknown: false })
    }
    const [first] = strays
    if (first === undefined) return undefined
    const isUnknown = strays.some(({ unknown }) => unknown)
    return new Refused({
      error: "invalid_request",
      message: `${sentence([...strays, ...problemsOfOthers(sent)], "the query")}${isUnknown ? `; ${hint}` : ""}`,
      code: first.unknown ? "unknown_parameter" : "repeated_parameter"
    })
  }
}
