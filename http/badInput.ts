/**
 * How a schema's complaint becomes a refusal that says where and why. Values that a client sent are never repeated in a
 * message.
 */
import type { Schema } from "effect"
import type { HttpApiError } from "effect/http-api"
import { fieldsBeside, problemsOf, sentence } from "../src/domain/problems.ts"
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
