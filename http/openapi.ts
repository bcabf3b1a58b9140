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

/** Words that every endpoint may refuse with in theory, and the requests that they can happen to. */
const only: { readonly [word: string]: (method: string, path: string) => boolean } = {
  idempotency_in_progress: (method) => method === "post",
  idempotency_key_reused: (method) => method === "post",
  payload_too_large: (method) => method !== "get" && method !== "delete",
  unsupported_media_type: (method) => method !== "get" && method !== "delete",
  not_found: (_, path) => path.includes("{")
}

/** The words of a refusal that this operation can meet, from the descriptions that `refuses` wrote. */
const wordsOf = (description: unknown, method: string, path: string) =>
  [...new Set([...String(description).matchAll(/`([a-z_]+)`/g)].map((match) => match[1]!))].filter((word) => only[word]?.(method, path) ?? true)

const answers = (method: string, path: string, responses: Json) => {
  const kept: Json = {}
  for (const [status, response] of Object.entries(responses)) {
    if (!isJson(response)) continue
    const headers = { ...at(response, "headers"), ...answerHeaders(status) }
    if (Number(status) < 400) {
      kept[status] = { ...response, headers }
      continue
    }
    const words = wordsOf(response["description"], method, path)
    if (words.length === 0) continue
    // Every endpoint lists its own words and the common ones: one shape all the same.
    kept[status] = {
      description: words.map((word) => `\`${word}\``).join(", "), headers,
      content: { "application/json": { schema: { $ref: "#/components/schemas/ErrorResponse" } } }
    }
  }
  return kept
}

const references = (value: unknown, found: Set<string>, components: Json): Set<string> => {
  if (Array.isArray(value)) for (const item of value) references(item, found, components)
  else if (isJson(value)) {
    const name = typeof value["$ref"] === "string" ? value["$ref"].replace("#/components/schemas/", "") : undefined
    if (name !== undefined && !found.has(name)) {
      found.add(name)
      references(components[name], found, components)
    }
    for (const item of Object.values(value)) references(item, found, components)
  }
  return found
}

/** Objects that the specification closes wherever they stand. */
const closed = new Set(["TextBlock", "ImageBlock", "Origin", "ModelImageFormatUnsupportedDetails"])

/** What clients need not know: that answers have no other fields (they may grow), that a whole number fits a double, how a check was written. */
const plain = (value: unknown, open: boolean): unknown => {
  if (Array.isArray(value)) return value.map((item) => plain(item, open))
  if (!isJson(value)) return value
  const { "x-effect-stream": _, ...rest } = value
  const made: Json = {}
  for (const [key, item] of Object.entries(rest)) made[key] = plain(item, open)
  if (Array.isArray(made["allOf"]) && made["allOf"].every((part) => isJson(part) && !("$ref" in part) && !("type" in part))) {
    const parts: ReadonlyArray<Json> = made["allOf"].filter(isJson)
    delete made["allOf"]
    for (const part of parts) Object.assign(made, part)
  }
  if (open && made["additionalProperties"] === false) delete made["additionalProperties"]
  if (made["type"] === "integer" && made["maximum"] === Number.MAX_SAFE_INTEGER) {
    delete made["maximum"]
    if (made["minimum"] === Number.MIN_SAFE_INTEGER) delete made["minimum"]
    made["format"] = "int64"
  }
  return made
}

/** A body without required fields may be left out: it counts as an empty object. */
const needed = (requestBody: Json, schemas: Json): boolean => {
  const schema = at(at(at(requestBody, "content"), "application/json"), "schema")
  const target = typeof schema["$ref"] === "string" ? at(schemas, schema["$ref"].replace("#/components/schemas/", "")) : schema
  return target["type"] !== "object" || Array.isArray(target["required"]) && target["required"].length > 0
}

/** The whole document, once it has been generated. */
export const finish = (document: Json): Json => {
  const components = at(document, "components")
  const schemas = at(components, "schemas")
  const sent = new Set<string>()
  const paths: Json = {}
  for (const [path, methods] of Object.entries(at(document, "paths"))) {
    const kept: Json = {}
    for (const [method, operation] of Object.entries(isJson(methods) ? methods : {})) {
      if (!isJson(operation)) continue
      references(operation["requestBody"], sent, schemas)
      const { requestBody } = operation
      kept[method] = {
        ...operation,
        parameters: parameters(method, plain(operation["parameters"], true)),
        ...isJson(requestBody) && { requestBody: { ...at({ found: plain(requestBody, false) }, "found"), required: needed(requestBody, schemas) } },
        responses: plain(answers(method, path, at(operation, "responses")), true)
      }
    }
    paths[path] = kept
  }
  const used = references(paths, new Set(), schemas)
  const kept: Json = {}
  for (const name of Object.keys(schemas).filter((name) => used.has(name)).sort()) {
    kept[name] = plain(schemas[name], !sent.has(name) && !closed.has(name))
  }
  return {
    ...document, paths, components: { ...components, schemas: kept, securitySchemes: schemes },
    security: [{ APIKeyBearer: [] }], servers: [{ url: "/" }]
  }
}
