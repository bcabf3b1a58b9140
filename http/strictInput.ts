/**
 * What an endpoint takes, held to its schemas more strictly than HttpApi does: no unknown or repeated parameter, and
 * all that is wrong told at once.
 */
import { Result, Schema } from "effect"
import type { HttpApiEndpoint, HttpApiError } from "effect/http-api"
import { keyText, type Problem, problemsOf, sentence } from "../src/domain/problems.ts"
import { everyProblem } from "../src/domain/strict.ts"
import { Refused } from "./errors.ts"

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
