/**
 * What the generated OpenAPI document does not say by itself: the schemes and scope of each
 * operation, the operation wrapper as a second 2xx, the headers of answers, whole numbers in queries.
 */
import type { Scope } from "../src/domain/apiKey.ts"
import { examples } from "./examples.ts"

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
  AgentLeaseBearer: { type: "http", scheme: "bearer", bearerFormat: "trl_…", description: "A lease that the runtime gives to a running agent for 15 minutes." },
  DeliveryBearer: { type: "http", scheme: "bearer", bearerFormat: "trd_…", description: "The `answerToken` of a hook's delivery: good for the answer to that delivery, and for nothing else." }
}

const text = { type: "string" }
const header = (description: string, schema: Json = text, required = true) => ({ description, required, schema })

/** What an endpoint's access means for its operation. */
export const describeAccess = (rule: { readonly scopes: ReadonlyArray<Scope>; readonly lease: boolean; readonly parks: boolean; readonly delivery: boolean }) => (operation: Json): Json => {
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
    "description": [operation["description"], `Scope: ${rule.scopes.map((scope) => `\`${scope}\``).join(" or ")}.`].filter((part) => part !== undefined).join("\n\n"),
    "security": [{ APIKeyBearer: [] }, ...rule.lease ? [{ AgentLeaseBearer: [] }] : [], ...rule.delivery ? [{ DeliveryBearer: [] }] : []],
    "x-required-scope": rule.scopes.join(" or ")
  }
}

const integer = /^integer (\d+) (\d+)$/

/** `whole(1, 200)` reads digits, and is an integer to a client. */
const parameterSchema = (schema: Json): Json => {
  const [, minimum, maximum] = integer.exec(String(schema["format"] ?? "")) ?? []
  if (minimum !== undefined && maximum !== undefined) return { type: "integer", minimum: Number(minimum), maximum: Number(maximum) }
  return schema["format"] === "int64" ? { type: "integer", format: "int64", minimum: 0 } : schema
}

/** An example that the reference shows, and sends only if it is asked to: it would send the first of an enumeration by itself. */
const unsent = (value: unknown): Json => ({ default: { value, "x-disabled": true } })

/** The header that every POST may carry (design, section 18); `Idempotency.ts` reads it, and no endpoint declares it. */
const idempotencyKey = {
  name: "Idempotency-Key", in: "header", required: false,
  description: "Sent again with the same body within 24 hours, the request takes effect once and gets the same answer.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
  examples: unsent("order-4711")
}

const parameters = (method: string, found: unknown) => {
  const list = (Array.isArray(found) ? found : []).filter(isJson).map((parameter): Json => ({ ...parameter, schema: parameterSchema(at(parameter, "schema")) }))
  const kept = list.map((parameter) =>
    parameter["in"] === "header" ? { ...parameter, name: canonical(String(parameter["name"])) } : parameter).map(withExample)
  return method === "post" ? [...kept, idempotencyKey] : kept
}

const withExample = (parameter: Json): Json => {
  const values = at(parameter, "schema")["enum"]
  const value = Array.isArray(values) ? values[0] : parameter["name"] === "If-Match" ? `"1"` : parameter["name"] === "Last-Event-ID" ? 0 : undefined
  return parameter["required"] === true || value === undefined ? parameter : { ...parameter, examples: unsent(value) }
}

const isHeader = (parameter: unknown, name: string) =>
  isJson(parameter) && parameter["in"] === "header" && String(parameter["name"]).toLowerCase() === name

/** Names of headers as they are written: if-match is If-Match. */
const canonical = (name: string) => name.toLowerCase().replace(/(^|-)id$/, "$1ID").replace(/(^|-)[a-z]/g, (start) => start.toUpperCase())

/** Resources that can be changed under If-Match show their ETag wherever they are answered with. */
const isTagged = (methods: Json) =>
  Object.values(methods).some((operation) => isJson(operation) && Array.isArray(operation["parameters"]) && operation["parameters"].some((parameter) => isHeader(parameter, "if-match")))

const answerHeaders = (method: string, status: string, tagged: boolean): Json => ({
  "X-Request-Id": header("Id of this request."),
  ...status === "201" && { Location: header("Path of what was created.") },
  ...method === "post" && Number(status) < 300 && { "Idempotency-Replayed": header("`true` when this is the answer of an earlier request with the same Idempotency-Key.", text, false) },
  ...tagged && status === "200" && { ETag: header("For `If-Match`.") },
  ...status === "401" && { "WWW-Authenticate": header("RFC 6750 challenge.") },
  ...(status === "429" || status === "503") && { "Retry-After": header("Seconds; equals retryAfterSeconds.", { type: "integer" }) }
})

/** Words that every endpoint may refuse with in theory, and the requests that they can happen to. */
const only: { readonly [word: string]: (method: string, path: string) => boolean } = {
  idempotency_in_progress: (method) => method === "post",
  idempotency_key_reused: (method) => method === "post",
  // A DELETE takes no body, but one that comes is read, to say so.
  payload_too_large: (method) => method !== "get",
  unsupported_media_type: (method) => method !== "get",
  not_found: (_, path) => path.includes("{")
}

/** The words of a refusal that this operation can meet, from the descriptions that `refuses` wrote. */
const wordsOf = (description: unknown, method: string, path: string) =>
  [...new Set([...String(description).matchAll(/`([a-z_]+)`/g)].map((match) => match[1]!))].filter((word) => only[word]?.(method, path) ?? true)

const answers = (method: string, path: string, responses: Json, tagged: boolean) => {
  const kept: Json = {}
  for (const [status, response] of Object.entries(responses)) {
    if (!isJson(response)) continue
    const headers = { ...at(response, "headers"), ...answerHeaders(method, status, tagged) }
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

/** How two checks that use one keyword are said in one schema. Of what stands here nowhere, a pattern above all, each is said on its own. */
const both: { readonly [keyword: string]: (one: unknown, other: unknown) => unknown } = {
  description: (one, other) => `${one} ${other}`,
  minimum: (one, other) => Math.max(Number(one), Number(other)),
  maximum: (one, other) => Math.min(Number(one), Number(other))
}

/** What the checks say stands in the schema itself, as far as the schema has a place for it. */
const withChecks = ({ allOf: _, ...schema }: Json, checks: ReadonlyArray<Json>): Json => {
  const made: Json = { ...schema }
  const apart: Array<Json> = []
  for (const [keyword, value] of checks.flatMap(Object.entries)) {
    const merge = both[keyword]
    if (!(keyword in made) || made[keyword] === value) made[keyword] = value
    else if (merge !== undefined) made[keyword] = merge(made[keyword], value)
    else apart.push({ [keyword]: value })
  }
  return apart.length === 0 ? made : { ...made, allOf: apart }
}

/** What clients need not know: that answers have no other fields (they may grow), that a whole number fits a double, how a check was written. */
const plain = (value: unknown, open: boolean): unknown => {
  if (Array.isArray(value)) return value.map((item) => plain(item, open))
  if (!isJson(value)) return value
  const { "x-effect-stream": _, ...rest } = value
  let made: Json = {}
  for (const [key, item] of Object.entries(rest)) made[key] = plain(item, open)
  const checks = Array.isArray(made["allOf"]) ? made["allOf"].filter(isJson) : []
  if (checks.length > 0 && checks.every((check) => !("$ref" in check) && !("type" in check))) made = withChecks(made, checks)
  if (open && made["additionalProperties"] === false) delete made["additionalProperties"]
  if (made["type"] === "integer" && made["maximum"] === Number.MAX_SAFE_INTEGER) {
    delete made["maximum"]
    if (made["minimum"] === Number.MIN_SAFE_INTEGER) delete made["minimum"]
    made["format"] = "int64"
  }
  if (made["type"] === "number" && !("format" in made)) made["format"] = "double"
  return made
}

/** A body without required fields may be left out: it counts as an empty object. */
const needed = (requestBody: Json, schemas: Json): boolean => {
  const schema = at(at(at(requestBody, "content"), "application/json"), "schema")
  const target = typeof schema["$ref"] === "string" ? at(schemas, schema["$ref"].replace("#/components/schemas/", "")) : schema
  return target["type"] !== "object" || Number(target["minProperties"] ?? 0) > 0 || Array.isArray(target["required"]) && target["required"].length > 0
}

const body = (requestBody: Json, schemas: Json): Json => {
  const made = at({ found: plain(requestBody, false) }, "found")
  const media = at(at(made, "content"), "application/json")
  const example = examples[String(at(media, "schema")["$ref"]).replace("#/components/schemas/", "")]
  if (example !== undefined) media["examples"] = { default: { value: example } }
  return { ...made, required: needed(requestBody, schemas) }
}

const reference = /"#\/components\/schemas\/(\w+)"/g
const base = (name: string) => name.replace(/_\d+$/, "")

/**
 * One name for one shape. A shape that is read from text as well comes twice, the second time with a
 * number behind its name; and the text itself has a name that says nothing to a client.
 */
const named = (document: Json, schemas: Json): Json => {
  const text = (schema: unknown) => JSON.stringify(schema).replace(reference, (_, name) => `"#/components/schemas/${base(name)}"`)
  const again = new Set(Object.keys(schemas).filter((name) => base(name) in schemas && name !== base(name) && text(schemas[name]) === text(schemas[base(name)])))
  const linked = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(linked)
    if (!isJson(value)) return value
    if (typeof value["$ref"] === "string") {
      const name = value["$ref"].replace("#/components/schemas/", "")
      const target = schemas[name]
      if (isJson(target) && "contentSchema" in target) return linked(target)
      return { ...value, $ref: `#/components/schemas/${again.has(name) ? base(name) : name}` }
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, linked(item)]))
  }
  const kept = Object.entries(schemas).filter(([name, schema]) => !again.has(name) && !(isJson(schema) && "contentSchema" in schema))
  return { ...document, paths: linked(document["paths"]), components: { ...at(document, "components"), schemas: linked(Object.fromEntries(kept)) } }
}

const shapeOf = "#/components/schemas/"

/** The value with other names in its references. */
const renamed = (value: unknown, names: ReadonlyMap<string, string>): unknown => {
  if (Array.isArray(value)) return value.map((item) => renamed(item, names))
  if (!isJson(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) =>
    [key, key === "$ref" && typeof item === "string" ? shapeOf + (names.get(item.slice(shapeOf.length)) ?? item.slice(shapeOf.length)) : renamed(item, names)]))
}

/**
 * Every shape that is used: open where it is answered with, closed where it is sent. A shape that stands in bodies
 * and in answers alike comes twice then, in bodies as `…Input`; the names of those are given back.
 */
const shapes = (schemas: Json, sent: ReadonlySet<string>, answered: ReadonlySet<string>) => {
  const isClosed = (name: string) => {
    const reached = references(schemas[name], new Set([name]), schemas)
    return [...reached].some((part) => !closed.has(part) && JSON.stringify(plain(schemas[part], true)) !== JSON.stringify(plain(schemas[part], false)))
  }
  const twice = new Map([...sent].filter((name) => answered.has(name) && isClosed(name)).map((name) => [name, `${name}Input`]))
  for (const name of twice.values()) if (name in schemas) throw new Error(`two shapes are called ${name}`)
  const kept: Json = {}
  for (const name of answered) kept[name] = plain(schemas[name], !closed.has(name))
  for (const name of sent) if (!(name in kept) || twice.has(name)) kept[twice.get(name) ?? name] = renamed(plain(schemas[name], false), twice)
  return { twice, kept: Object.fromEntries(Object.entries(kept).sort(([a], [b]) => a < b ? -1 : 1)) }
}

/** The whole document, once it has been generated. */
export const finish = (document: Json): Json => {
  const components = at(document, "components")
  const schemas = at(components, "schemas")
  const sent = new Set<string>()
  const answered = new Set<string>()
  const paths: Json = {}
  for (const [path, methods] of Object.entries(at(document, "paths"))) {
    const kept: Json = {}
    if (!isJson(methods)) continue
    const tagged = isTagged(methods)
    for (const [method, operation] of Object.entries(methods)) {
      if (!isJson(operation)) continue
      const { requestBody } = operation
      const described = {
        parameters: parameters(method, plain(operation["parameters"], true)),
        responses: plain(answers(method, path, at(operation, "responses"), tagged), true)
      }
      references(requestBody, sent, schemas)
      references(described, answered, schemas)
      kept[method] = { ...operation, ...described, ...isJson(requestBody) && { requestBody: body(requestBody, schemas) } }
    }
    paths[path] = kept
  }
  const { kept, twice } = shapes(schemas, sent, answered)
  for (const methods of Object.values(paths)) {
    for (const operation of Object.values(at({ methods }, "methods"))) {
      if (isJson(operation) && isJson(operation["requestBody"])) operation["requestBody"] = renamed(operation["requestBody"], twice)
    }
  }
  return named({
    ...document, paths, components: { ...components, schemas: kept, securitySchemes: schemes },
    security: [{ APIKeyBearer: [] }], servers: [{ url: "/" }]
  }, kept)
}
