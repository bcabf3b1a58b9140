/**
 * What the generated OpenAPI document does not say by itself: the schemes and scope of each operation, the operation
 * wrapper as a second 2xx, the headers of answers, whole numbers in queries, samples; and its shapes as generators of
 * clients read them: one name for each, open in answers and closed in bodies, unions with the property that tells their
 * members apart.
 */
import type { Scope } from "../../src/keys/apiKey.ts"
import { curlOf } from "./curl.ts"
import { examples, inPath, streamed } from "./examples.ts"
import { canonical } from "../headerName.ts"

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
  APIKeyBearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "trp_…",
    description: "An API key of the workspace. `npm start` prints one, and keeps it in the file `.troupe/dev-key`."
  },
  AgentLeaseBearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "trl_…",
    description: "A lease that the runtime gives to a running agent for 15 minutes."
  },
  DeliveryBearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "trd_…",
    description: "The `answerToken` of a hook's delivery: good for the answer to that delivery, and for nothing else."
  }
}

const text = { type: "string" }
const header = (description: string, schema: Json = text, required = true) => ({ description, required, schema })

/** Every header that an answer may have, beside those that HTTP itself needs: each is described once. */
const headers = {
  "Cache-Control": header("`no-store`; of a stream `no-cache`."),
  ETag: header("For `If-Match`."),
  "Idempotency-Replayed": header(
    "`true` when this is the answer of an earlier request with the same Idempotency-Key.",
    text,
    false
  ),
  RateLimit: header(
    'What is left of each limit and for how long, where the server limits rates: `"default";r=49;t=1`.',
    text,
    false
  ),
  "RateLimit-Policy": header(
    'The limits themselves: `"default";q=100;w=2` are 100 requests in two seconds.',
    text,
    false
  ),
  "Retry-After": header("Seconds; equals retryAfterSeconds.", { type: "integer" }),
  "WWW-Authenticate": header("RFC 6750 challenge."),
  "X-Accel-Buffering": header("`no`: asks proxies to pass frames on as they come."),
  "X-Content-Type-Options": header("`nosniff`."),
  "X-Request-Id": header("Id of this request.")
} as const
type Header = keyof typeof headers

const sentHeaders = (...names: ReadonlyArray<Header>): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** What an endpoint's access means for its operation. */
export const describeAccess =
  (rule: {
    readonly scopes: ReadonlyArray<Scope>
    readonly lease: boolean
    readonly parks: boolean
    readonly delivery: boolean
  }) =>
  (operation: Json): Json => {
    const responses = at(operation, "responses")
    if (rule.parks) {
      responses["202"] = {
        description: "Parked for approval: poll the operation for its result.",
        headers: {
          Location: header("Path of the operation."),
          "Retry-After": header("Seconds until a poll makes sense.", { type: "integer" })
        },
        content: { "application/json": { schema: { $ref: "#/components/schemas/OperationHandle" } } }
      }
    }
    return {
      ...operation,
      description: [operation.description, `Scope: ${rule.scopes.map((scope) => `\`${scope}\``).join(" or ")}.`]
        .filter((part) => part !== undefined)
        .join("\n\n"),
      security: [
        { APIKeyBearer: [] },
        ...(rule.lease ? [{ AgentLeaseBearer: [] }] : []),
        ...(rule.delivery ? [{ DeliveryBearer: [] }] : [])
      ],
      "x-required-scope": rule.scopes.join(" or ")
    }
  }

const integer = /^integer (\d+) (\d+)$/

/** `whole(1, 200)` reads digits, and is an integer to a client. */
const parameterSchema = (schema: Json): Json => {
  const [, minimum, maximum] = integer.exec(String(schema.format ?? "")) ?? []
  if (minimum !== undefined && maximum !== undefined)
    return { type: "integer", minimum: Number(minimum), maximum: Number(maximum) }
  return schema.format === "int64" ? { type: "integer", format: "int64", minimum: 0 } : schema
}

/**
 * An example that the reference shows, and sends only if it is asked to: it would send the first of an enumeration by
 * itself.
 */
const unsent = (value: unknown): Json => ({ default: { value, "x-disabled": true } })

/** The header that every POST may carry; `Idempotency.ts` reads it, and no endpoint declares it. */
const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "Sent again with the same body within 24 hours, the request takes effect once and gets the same answer.",
  schema: { type: "string", minLength: 1, maxLength: 255 }
}

/** The description stands at the parameter, where every reader looks for it. */
const speaking = (parameter: Json): Json => {
  const { description, ...schema } = at(parameter, "schema")
  return { ...parameter, ...(description !== undefined && { description }), schema: parameterSchema(schema) }
}

const parameters = (method: string, found: unknown) => {
  const list = (Array.isArray(found) ? found : []).filter(isJson).map(speaking)
  const kept = list
    .map((parameter) =>
      parameter.in === "header" ? { ...parameter, name: canonical(String(parameter.name)) } : parameter
    )
    .map(withExample(method))
  return method === "post" ? [...kept, idempotencyKey] : kept
}

const withExample =
  (method: string) =>
  (parameter: Json): Json => {
    const values = at(parameter, "schema").enum
    if (parameter.in === "path") {
      const value = inPath(method, parameter.name)
      return value === undefined ? parameter : { ...parameter, example: value }
    }
    const value = Array.isArray(values) ? values[0] : parameter.name === "Last-Event-ID" ? 0 : undefined
    return parameter.required === true || value === undefined ? parameter : { ...parameter, examples: unsent(value) }
  }

const isHeader = (parameter: unknown, name: string) =>
  isJson(parameter) && parameter.in === "header" && String(parameter.name).toLowerCase() === name

/** What a path of keys leads to; an empty object for nothing. */
const inside = (value: unknown, ...keys: ReadonlyArray<string>): Json =>
  keys.reduce<Json>((found, key) => (isJson(found[key]) ? found[key] : {}), isJson(value) ? value : {})

const operationsOf = (methods: unknown) => Object.values(inside(methods)).filter(isJson)
const answeredWith = (response: unknown) => inside(response, "content", "application/json", "schema").$ref

/**
 * Resources that can be changed under If-Match show their ETag wherever they are answered with, and where they are
 * made. An answer that is kept for its Idempotency-Key is sent again without it.
 */
const taggedIn = (paths: Json) => {
  const changed = Object.entries(paths).filter(([, methods]) =>
    operationsOf(methods).some(
      ({ parameters }) => Array.isArray(parameters) && parameters.some((parameter) => isHeader(parameter, "if-match"))
    )
  )
  const made = new Set(changed.map(([path]) => path.replace(/\/\{\w+\}$/, "")))
  const shown = new Set(
    changed.flatMap(([, methods]) =>
      operationsOf(methods).map((operation) => answeredWith(inside(operation, "responses", "200")))
    )
  )
  return (path: string, status: string, response: Json) =>
    (status === "201" && made.has(path)) ||
    (status === "200" && typeof answeredWith(response) === "string" && shown.has(answeredWith(response)))
}

interface Answered {
  readonly method: string
  readonly path: string
  readonly status: string
  readonly response: Json
}
type IsTagged = ReturnType<typeof taggedIn>

const answerHeaders = ({ method, path, response, status }: Answered, isTagged: IsTagged): Json => ({
  ...sentHeaders("Cache-Control", "RateLimit", "RateLimit-Policy", "X-Content-Type-Options", "X-Request-Id"),
  ...(status === "201" && { Location: header("Path of what was created.") }),
  ...(method === "post" && Number(status) < 300 && sentHeaders("Idempotency-Replayed")),
  ...(isTagged(path, status, response) &&
    (method === "post" ? { ETag: { ...headers.ETag, required: false } } : sentHeaders("ETag"))),
  ...(status === "401" && sentHeaders("WWW-Authenticate")),
  ...((status === "429" || status === "503") && sentHeaders("Retry-After")),
  ...(Number(status) < 300 && "text/event-stream" in inside(response, "content") && sentHeaders("X-Accel-Buffering"))
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
  [...new Set([...String(description).matchAll(/`([a-z_]+)`/g)].map((match) => match[1]!))].filter(
    (word) => only[word]?.(method, path) ?? true
  )

const streamOf = (response: Json): Json | undefined => {
  const { content } = response
  const stream = isJson(content) ? content["text/event-stream"] : undefined
  return isJson(stream) ? stream : undefined
}

/** What an answer is, by method and status: the library would say the name of its schema. */
const succeeded = (method: string, status: string, response: Json) => {
  if (status === "202") return response.description
  if (streamOf(response) !== undefined) return "The stream, until the client leaves or a frame `bye` ends it."
  return status === "201"
    ? "Created, as it is now."
    : status === "204"
      ? "Done; there is nothing to say."
      : method === "get"
        ? "What was asked for, as it is now."
        : "Done; this is how it stands now."
}

/** The one shape of errors, with the words that this status stands for here. */
const refusalOf = (words: ReadonlyArray<string>): Json => ({
  allOf: [
    { $ref: "#/components/schemas/ErrorResponse" },
    {
      type: "object",
      properties: {
        error: {
          type: "string",
          enum: words,
          description: "Which refusal it is: one of those that this status stands for here."
        }
      },
      required: ["error"]
    }
  ]
})

const answers = (method: string, path: string, responses: Json, isTagged: IsTagged) => {
  const kept: Json = {}
  for (const [status, response] of Object.entries(responses)) {
    if (!isJson(response)) continue
    const headers = { ...at(response, "headers"), ...answerHeaders({ method, path, status, response }, isTagged) }
    if (Number(status) < 400) {
      const stream = streamOf(response)
      kept[status] = {
        ...response,
        description: succeeded(method, status, response),
        headers,
        ...(stream !== undefined && { content: { "text/event-stream": { ...stream, examples: streamed(path) } } })
      }
      continue
    }
    const words = wordsOf(response.description, method, path)
    if (words.length === 0) continue
    // Every endpoint lists its own words and the common ones: one shape all the same.
    kept[status] = {
      description: words.map((word) => `\`${word}\``).join(", "),
      headers,
      content: { "application/json": { schema: refusalOf(words) } }
    }
  }
  return kept
}

const references = (value: unknown, found: Set<string>, components: Json): Set<string> => {
  if (Array.isArray(value)) for (const item of value) references(item, found, components)
  else if (isJson(value)) {
    const name = typeof value.$ref === "string" ? value.$ref.replace("#/components/schemas/", "") : undefined
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

/**
 * How two checks that use one keyword are said in one schema. Of what stands here nowhere, a pattern above all, each is
 * said on its own.
 */
const both: { readonly [keyword: string]: (one: unknown, other: unknown) => unknown } = {
  description: (one, other) => (one === other ? one : `${one} ${other}`),
  minimum: (one, other) => Math.max(Number(one), Number(other)),
  maximum: (one, other) => Math.min(Number(one), Number(other)),
  enum: (one, other) =>
    Array.isArray(one) && Array.isArray(other) ? one.filter((value) => other.includes(value)) : other
}

/** What a property means (src/domain/described.ts): a check that only speaks. */
const isMeaning = (check: Json) => Object.keys(check).length === 1 && "description" in check

/**
 * What the checks say stands in the schema itself, as far as the schema has a place for it: first what it means, then
 * how it must be.
 */
const withChecks = ({ allOf: _, ...schema }: Json, checks: ReadonlyArray<Json>): Json => {
  const meanings = checks.filter(isMeaning).reverse()
  const { description, ...rest } = schema
  const made: Json = { ...rest }
  const apart: Array<Json> = []
  const own = description === undefined ? [] : [{ description }]
  for (const [keyword, value] of [...meanings, ...own, ...checks.filter((check) => !isMeaning(check))].flatMap(
    (check) => Object.entries(check)
  )) {
    const merge = both[keyword]
    if (!(keyword in made) || made[keyword] === value) made[keyword] = value
    else if (merge !== undefined) made[keyword] = merge(made[keyword], value)
    else apart.push({ [keyword]: value })
  }
  return apart.length === 0 ? made : { ...made, allOf: apart }
}

/**
 * A record whose keys have a pattern, in the words that generators of clients read: they know the values' type then.
 */
const recordOf = (schema: Json): Json => {
  const { additionalProperties, patternProperties, ...rest } = schema
  const [only, ...more] = Object.entries(isJson(patternProperties) ? patternProperties : {})
  if (only === undefined || more.length > 0 || additionalProperties !== false) return schema
  return { ...rest, propertyNames: { type: "string", pattern: only[0] }, additionalProperties: only[1] }
}

/**
 * What clients need not know: that answers have no other fields (they may grow), that a whole number fits a double, how
 * a check was written.
 */
const plain = (value: unknown, open: boolean): unknown => {
  if (Array.isArray(value)) return value.map((item) => plain(item, open))
  if (!isJson(value)) return value
  const { "x-effect-stream": _, ...rest } = value
  let made: Json = {}
  for (const [key, item] of Object.entries(rest)) made[key] = plain(item, open)
  const checks = Array.isArray(made.allOf) ? made.allOf.filter(isJson) : []
  const [target, ...meanings] = checks
  // A shape with a name keeps its own description, and what it means here stands beside its name.
  if (target !== undefined && Object.keys(made).length === 1 && "$ref" in target && meanings.every(isMeaning))
    made = withChecks(target, meanings)
  else if (checks.length > 0 && checks.every((check) => !("$ref" in check) && !("type" in check)))
    made = withChecks(made, checks)
  made = recordOf(made)
  if (open && made.additionalProperties === false) delete made.additionalProperties
  if (made.type === "integer" && made.maximum === Number.MAX_SAFE_INTEGER) {
    // Of what is sent the bounds are kept: they are held to.
    if (open) delete made.maximum
    if (open && made.minimum === Number.MIN_SAFE_INTEGER) delete made.minimum
    made.format = "int64"
  }
  if (made.type === "number" && !("format" in made)) made.format = "double"
  return made
}

/** A body without required fields may be left out: it counts as an empty object. */
const needed = (requestBody: Json, schemas: Json): boolean => {
  const schema = at(at(at(requestBody, "content"), "application/json"), "schema")
  const target =
    typeof schema.$ref === "string" ? at(schemas, schema.$ref.replace("#/components/schemas/", "")) : schema
  return (
    target.type !== "object" ||
    Number(target.minProperties ?? 0) > 0 ||
    (Array.isArray(target.required) && target.required.length > 0)
  )
}

const body = (requestBody: Json, schemas: Json): Json => {
  const made = at({ found: plain(requestBody, false) }, "found")
  const media = at(at(made, "content"), "application/json")
  const example = examples[String(at(media, "schema").$ref).replace("#/components/schemas/", "")]
  if (example !== undefined) media.examples = { default: { value: example } }
  return { ...made, required: needed(requestBody, schemas) }
}

const shapeOf = "#/components/schemas/"
const reference = /"#\/components\/schemas\/(\w+)"/g
const base = (name: string) => name.replace(/_\d+$/, "")

/**
 * One name for one shape. A shape that is read from text as well comes twice, the second time with a
 * number behind its name; and the text itself has a name that says nothing to a client.
 */
const named = (document: Json, schemas: Json): Json => {
  const text = (schema: unknown) =>
    JSON.stringify(schema).replace(reference, (_, name) => `"#/components/schemas/${base(name)}"`)
  const again = new Set(
    Object.keys(schemas).filter(
      (name) => base(name) in schemas && name !== base(name) && text(schemas[name]) === text(schemas[base(name)])
    )
  )
  const linked = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(linked)
    if (!isJson(value)) return value
    if (typeof value.$ref === "string" && value.$ref.startsWith(shapeOf)) {
      const name = value.$ref.slice(shapeOf.length)
      const target = schemas[name]
      const { $ref: _, ...beside } = value
      if (isJson(target) && "contentSchema" in target) return linked({ ...target, ...beside })
      return { ...value, $ref: `#/components/schemas/${again.has(name) ? base(name) : name}` }
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, linked(item)]))
  }
  const kept = Object.entries(schemas).filter(
    ([name, schema]) => !again.has(name) && !(isJson(schema) && "contentSchema" in schema)
  )
  return {
    ...document,
    paths: linked(document.paths),
    components: { ...at(document, "components"), schemas: linked(Object.fromEntries(kept)) }
  }
}

/** The value with other names in its references. */
const renamed = (value: unknown, names: ReadonlyMap<string, string>): unknown => {
  if (Array.isArray(value)) return value.map((item) => renamed(item, names))
  if (!isJson(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === "$ref" && typeof item === "string"
        ? shapeOf + (names.get(item.slice(shapeOf.length)) ?? item.slice(shapeOf.length))
        : renamed(item, names)
    ])
  )
}

/**
 * Every shape that is used: open where it is answered with, closed where it is sent. A shape that stands in bodies
 * and in answers alike comes twice then, in bodies as `…Input`; the names of those are given back.
 */
const shapes = (schemas: Json, sent: ReadonlySet<string>, answered: ReadonlySet<string>) => {
  const isClosed = (name: string) => {
    const reached = references(schemas[name], new Set([name]), schemas)
    return [...reached].some(
      (part) =>
        !closed.has(base(part)) &&
        JSON.stringify(plain(schemas[part], true)) !== JSON.stringify(plain(schemas[part], false))
    )
  }
  const twice = new Map(
    [...sent].filter((name) => answered.has(name) && isClosed(name)).map((name) => [name, `${name}Input`])
  )
  for (const name of twice.values()) if (name in schemas) throw new Error(`two shapes are called ${name}`)
  const kept: Json = {}
  for (const name of answered) kept[name] = plain(schemas[name], !closed.has(base(name)))
  for (const name of sent)
    if (!(name in kept) || twice.has(name)) kept[twice.get(name) ?? name] = renamed(plain(schemas[name], false), twice)
  return { twice, kept: Object.fromEntries(Object.entries(kept).sort(([a], [b]) => (a < b ? -1 : 1))) }
}

/** What a client would type, as tools that show OpenAPI take it. */
const sampleOf = (method: string, path: string, operation: Json) => {
  const body = at(at(at(at(operation, "requestBody"), "content"), "application/json"), "examples").default
  const success = at(at(operation, "responses"), "200")
  const found = Array.isArray(operation.parameters) ? operation.parameters.filter(isJson) : []
  const prefixOf = (name: string) =>
    /^\^([a-z]+_)/.exec(
      String(at(found.find((parameter) => parameter.in === "path" && parameter.name === name) ?? {}, "schema").pattern)
    )?.[1]
  return [
    {
      lang: "shell",
      label: "curl",
      source: curlOf({
        method,
        path,
        known: (name) => inPath(method, name),
        prefixOf,
        streams: streamOf(success) !== undefined,
        ...(isJson(body) && { body: body.value })
      })
    }
  ]
}

/**
 * The property by which the members of a union of named shapes are told apart: each has one value of its own for it.
 */
const tellingOf = (members: ReadonlyArray<Json>) =>
  ["type", "kind"]
    .map((property) => ({ property, values: members.map((member) => inside(member, "properties", property).enum) }))
    .find(({ values }) => values.every((value) => Array.isArray(value) && value.length === 1))

/** Unions of named shapes say by which property: clients are generated with a type for each. */
const withDiscriminators = (schemas: Json): Json =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const { anyOf, ...rest } = inside(schema)
      const references = Array.isArray(anyOf) ? anyOf.map((member) => String(inside(member).$ref ?? "")) : []
      const telling =
        references.length === 0
          ? undefined
          : tellingOf(references.map((reference) => inside(schemas[reference.slice(shapeOf.length)])))
      if (telling === undefined) return [name, schema]
      const mapping = Object.fromEntries(
        telling.values.flatMap((value, index) => (Array.isArray(value) ? [[String(value[0]), references[index]]] : []))
      )
      return [name, { ...rest, oneOf: anyOf, discriminator: { propertyName: telling.property, mapping } }]
    })
  )

/** The whole document, once it has been generated. */
export const finish = (document: Json): Json => {
  const components = at(document, "components")
  const schemas = at(components, "schemas")
  const sent = new Set<string>()
  const answered = new Set<string>()
  const paths: Json = {}
  const isTagged = taggedIn(at(document, "paths"))
  for (const [path, methods] of Object.entries(at(document, "paths"))) {
    const kept: Json = {}
    if (!isJson(methods)) continue
    for (const [method, operation] of Object.entries(methods)) {
      if (!isJson(operation)) continue
      const { requestBody } = operation
      const described = {
        parameters: parameters(method, plain(operation.parameters, true)),
        responses: plain(answers(method, path, at(operation, "responses"), isTagged), true)
      }
      references(requestBody, sent, schemas)
      references(described, answered, schemas)
      const made = {
        ...operation,
        ...described,
        ...(isJson(requestBody) && { requestBody: body(requestBody, schemas) })
      }
      kept[method] = { ...made, "x-codeSamples": sampleOf(method, path, structuredClone(made)) }
    }
    paths[path] = kept
  }
  const { kept, twice } = shapes(schemas, sent, answered)
  for (const methods of Object.values(paths)) {
    for (const operation of Object.values(at({ methods }, "methods"))) {
      if (isJson(operation) && isJson(operation.requestBody))
        operation.requestBody = renamed(operation.requestBody, twice)
    }
  }
  const finished = named(
    {
      ...document,
      paths,
      components: { ...components, schemas: kept, headers, securitySchemes: schemes },
      security: [{ APIKeyBearer: [] }],
      servers: [{ url: "/" }]
    },
    kept
  )
  const whole = at(finished, "components")
  whole.schemas = withDiscriminators(at(whole, "schemas"))
  return finished
}
