/**
 * What the generated OpenAPI document does not say by itself: the schemes and scope of each
 * operation, the operation wrapper as a second 2xx, the headers of answers, whole numbers in queries.
 */
import type { Scope } from "../src/domain/apiKey.ts"

type Json = { [key: string]: unknown }

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** The object at a key, made when there is none. */
const at = (object: Json, key: string): Json => {
  const found = object[key]
  if (isJson(found)) return found
  const made: Json = {}
  object[key] = made
  return made
}

const schemes = {
  APIKeyBearer: { type: "http", scheme: "bearer", bearerFormat: "trp_…", description: "An API key of the workspace." },
  AgentLeaseBearer: { type: "http", scheme: "bearer", bearerFormat: "trl_…", description: "A lease that the runtime gives to a running agent for 15 minutes." }
}

const text = { type: "string" }
const header = (description: string, schema: Json = text) => ({ description, schema })

/** What an endpoint's access means for its operation. */
export const describeAccess = (rule: { readonly scope: Scope; readonly lease: boolean; readonly parks: boolean }) => (operation: Json): Json => {
  const responses = at(operation, "responses")
  if (rule.parks) {
    responses["202"] = {
      description: "Parked for approval: poll the operation for its result.",
      headers: {
        "Location": header("Path of the operation."),
        "Retry-After": header("Seconds until a poll makes sense.", { type: "integer" })
      },
      content: { "application/json": { schema: { $ref: "#/components/schemas/OperationHandle" } } }
    }
  }
  return {
    ...operation,
    "description": [operation["description"], `Scope: \`${rule.scope}\`.`].filter((part) => part !== undefined).join("\n\n"),
    "security": [{ APIKeyBearer: [] }, ...rule.lease ? [{ AgentLeaseBearer: [] }] : []],
    "x-required-scope": rule.scope
  }
}

const integer = /^integer (\d+) (\d+)$/

/** `whole(1, 200)` reads digits, and is an integer to a client. */
const parameterSchema = (schema: Json): Json => {
  const [, minimum, maximum] = integer.exec(String(schema["format"] ?? "")) ?? []
  if (minimum !== undefined && maximum !== undefined) return { type: "integer", minimum: Number(minimum), maximum: Number(maximum) }
  return schema["format"] === "int64" ? { type: "integer", format: "int64", minimum: 0 } : schema
}

const idempotencyKey = {
  name: "Idempotency-Key", in: "header", required: false,
  description: "Sent again with the same body within 24 hours, the request takes effect once and gets the same answer.",
  schema: { type: "string", minLength: 1, maxLength: 255 }
}

const parameters = (method: string, found: unknown) => {
  const list = (Array.isArray(found) ? found : []).filter(isJson).map((parameter): Json => ({ ...parameter, schema: parameterSchema(at(parameter, "schema")) }))
  const kept = list.filter((parameter) => String(parameter["name"]).toLowerCase() !== "idempotency-key")
  return method === "post" ? [...kept, idempotencyKey] : kept
}

const answerHeaders = (status: string): Json => ({
  "X-Request-Id": header("Id of this request."),
  ...status === "201" && { Location: header("Path of what was created.") },
  ...status === "401" && { "WWW-Authenticate": header("RFC 6750 challenge.") },
  ...(status === "429" || status === "503") && { "Retry-After": header("Seconds; equals retryAfterSeconds.", { type: "integer" }) }
})

/** The whole document, once it has been generated. */
export const finish = (document: Json): Json => {
  for (const path of Object.values(at(document, "paths")).filter(isJson)) {
    for (const [method, operation] of Object.entries(path)) {
      if (!isJson(operation)) continue
      operation["parameters"] = parameters(method, operation["parameters"])
      for (const [status, response] of Object.entries(at(operation, "responses"))) {
        if (!isJson(response)) continue
        response["headers"] = { ...at(response, "headers"), ...answerHeaders(status) }
        // Every endpoint lists its own words and the common ones: one shape all the same.
        if (Number(status) >= 400) response["content"] = { "application/json": { schema: { $ref: "#/components/schemas/ErrorResponse" } } }
      }
    }
  }
  at(document, "components")["securitySchemes"] = schemes
  return { ...document, security: [{ APIKeyBearer: [] }], servers: [{ url: "/" }] }
}
