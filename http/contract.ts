/**
 * What every API of this server has in common: the gate before each endpoint, /v1 before each path, one shape of error.
 */
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { OperationHandle } from "../src/operations/operation.ts"
import { Authenticate } from "./Authenticate.ts"
import { ErrorResponse } from "./errors.ts"
import { finish } from "./openapi/document.ts"
import { factsOf } from "./openapi/facts.ts"

/** Puts the groups of an API behind the gate and under /v1. Its bodies refuse what they do not know. */
export const contract = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
) => {
  const made = api
    .middleware(Authenticate)
    .prefix("/v1")
    .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error" })
    .annotate(HttpApi.AdditionalSchemas, [OperationHandle, ErrorResponse])
  return made.annotate(OpenApi.Transform, (document) => finish(document, factsOf(made)))
}
