/** The OpenAPI document says what the contract says, operation by operation and field by field. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { documentText, schemas as named } from "./document.ts"
import { listAt, type Schema as Json, schemaAt as at } from "./jsonSchema.ts"
import { statuses } from "../../http/errors.ts"
import { type Limit, limits, times } from "./specification/limits.ts"
import { type Operation, operations } from "./specification/operations.ts"
import { enumerations, events, type Shape, shapes, shown } from "./specification/shapes.ts"

const Any = Schema.Record(Schema.String, Schema.Unknown)
const Content = Schema.Record(Schema.String, Schema.Struct({ schema: Any }))
const Found = Schema.Struct({
  operationId: Schema.String,
  description: Schema.optionalKey(Schema.String),
  parameters: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      in: Schema.String,
      required: Schema.Boolean,
      description: Schema.String,
      schema: Any
    })
  ),
  security: Schema.Array(Schema.Record(Schema.String, Schema.Array(Schema.String))),
  requestBody: Schema.optionalKey(Schema.Struct({ required: Schema.Boolean, content: Content })),
  responses: Schema.Record(
    Schema.String,
    Schema.Struct({ description: Schema.String, content: Schema.optionalKey(Content), headers: Any })
  )
})
type Found = typeof Found.Type
const Component = Schema.Struct({
  type: Schema.optionalKey(Schema.Unknown),
  properties: Schema.optionalKey(Schema.Record(Schema.String, Any)),
  required: Schema.optionalKey(Schema.Array(Schema.String)),
  additionalProperties: Schema.optionalKey(Schema.Unknown)
})
const Document = Schema.Struct({
  openapi: Schema.String,
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Found)),
  components: Schema.Struct({
    schemas: Schema.Record(Schema.String, Component),
    securitySchemes: Schema.Record(Schema.String, Any)
  })
})

const nameOf = (schema: Readonly<Record<string, unknown>> | undefined) =>
  String(schema?.$ref ?? "").replace("#/components/schemas/", "")
const document = Schema.decodeUnknownSync(Schema.fromJsonString(Document))(documentText)
/**
 * A union of shapes as one: the fields of all, of which those are required that each requires; where they differ, the
 * values of all.
 */
const united = (schema: Json): Json => {
  const members = listAt(schema, "oneOf").map((member) => named[nameOf(Schema.decodeUnknownSync(Any)(member))] ?? {})
  if (members.length === 0 || schema.discriminator === undefined) return schema
  const properties: Record<string, Json> = {}
  for (const [field, found] of members.flatMap((member) => Object.entries(at(member, "properties") ?? {}))) {
    const other = Schema.decodeUnknownSync(Any)(found)
    properties[field] =
      "enum" in other && properties[field] !== undefined
        ? { ...other, enum: [...new Set([...listAt(properties[field], "enum"), ...listAt(other, "enum")])] }
        : other
  }
  return {
    type: "object",
    properties,
    required: Object.keys(properties).filter((field) =>
      members.every((member) => listAt(member, "required").includes(field))
    )
  }
}
const all = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, found]) => ({ method, path, found }))
)

const whole: Readonly<Record<string, Json>> = Object.fromEntries(
  Object.entries(named).map(([name, schema]) => [name, united(schema)])
)
const schemas = Schema.decodeUnknownSync(Schema.Record(Schema.String, Component))(whole)
const component = (schema: Readonly<Record<string, unknown>>) =>
  schemas[nameOf(schema)] ?? Schema.decodeUnknownSync(Component)(schema)
const find = ({ method, path }: Operation): Found => {
  const found = document.paths[path]?.[method]
  assert(found !== undefined, `${method} ${path} is not there`)
  return found
}
const body = (found: Found, status: string) => found.responses[status]?.content?.["application/json"]?.schema

const title = (operation: Operation) => `${operation.method.toUpperCase()} ${operation.path}`
const built = operations
  .filter((operation) => !operation.later)
  .map((operation) => [title(operation), operation] as const)

describe.each(built)("%s", (_, operation) => {
  it("takes the parameters of the contract", () => {
    const found = find(operation).parameters
    for (const { name, in: place, required, rules = {}, type } of operation.parameters ?? []) {
      const parameter = found.find((parameter) => parameter.name === name && parameter.in === place)
      assert(parameter !== undefined, `${name} in ${place}`)
      assert.strictEqual(parameter.required, required, name)
      assert.strictEqual(parameter.schema.type, type, name)
      assert.deepInclude(parameter.schema, rules, name)
    }
    const paths = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
    assert.deepStrictEqual(
      found.filter((parameter) => parameter.in === "path").map((parameter) => parameter.name),
      paths
    )
  })

  it("lists the security schemes of the contract", () => {
    const found = find(operation).security.map((scheme) => Object.keys(scheme).join())
    if (operation.schemes !== undefined) assert.deepStrictEqual(found, [...operation.schemes])
    else assert.include(found, "APIKeyBearer")
  })

  it("answers with the statuses and bodies of the contract", () => {
    const found = find(operation)
    for (const status of operation.statuses ?? []) assert.property(found.responses, String(status))
    const success = Object.keys(found.responses).find((status) => status === "200" || status === "201")
    assert(success !== undefined)
    const { answer } = operation
    const schema = body(found, success)
    if (typeof answer === "string") assert.strictEqual(nameOf(schema), answer)
    else if (answer !== undefined && "arrayOf" in answer) {
      assert.deepStrictEqual(schema, { type: "array", items: { $ref: `#/components/schemas/${answer.arrayOf}` } })
    } else if (answer !== undefined) {
      const { properties } = component(schema!)
      assert.deepStrictEqual(
        Object.entries(properties ?? {}).map(([name, property]) => [name, nameOf(property)]),
        [[answer.field, answer.of]]
      )
    }
    if (operation.stream) assert.property(found.responses["200"]?.content ?? {}, "text/event-stream")
    assert.strictEqual(nameOf(body(found, "202")), operation.wrapper ? "OperationHandle" : "")
  })

  if (operation.body !== undefined) {
    it("takes the body of the contract, and nothing else", () => {
      const request = find(operation).requestBody
      assert(request?.required === true)
      const schema = component(request.content["application/json"]!.schema)
      assert.deepStrictEqual(schema.required, [...operation.body!])
      for (const field of operation.mayHave ?? []) assert.property(schema.properties, field)
      assert.strictEqual(schema.additionalProperties, false)
    })
  }
})

it("what the contract names and is not built yet is not in the document", () => {
  const later = operations.filter((operation) => operation.later)
  assert.deepStrictEqual(later.map(title), [])
  for (const { method, path } of later)
    assert.isUndefined(document.paths[path]?.[method], `${path} is there: take "later" from the transcription`)
})

const itemsOf = ({ items }: Readonly<Record<string, unknown>>) => Schema.decodeUnknownSync(Any)(items ?? {})
const choicesOf = ({ anyOf }: Readonly<Record<string, unknown>>) =>
  Array.isArray(anyOf) ? anyOf.map((choice) => nameOf(Schema.decodeUnknownSync(Any)(choice))) : []

const typeOf = (schema: Readonly<Record<string, unknown>>): string => {
  if ("$ref" in schema) {
    const name = nameOf(schema)
    const target = whole[name] ?? {}
    // A named list or text is what it is.
    return target.type === "object" ? name : typeOf(target)
  }
  const { format, type } = schema
  if (format === "date-time" || format === "int64" || format === "double") return format
  if (type !== "array") return typeof type === "string" ? type : "any"
  if (choicesOf(itemsOf(schema)).join() === "TextBlock,ImageBlock") return "MessageContent"
  return `array of ${typeOf(itemsOf(schema))}`
}

/** More than was asked for is right too. */
const asAsked = (type: string, asked: string | undefined) =>
  (asked === "integer" && type === "int64") || (asked === "number" && type === "double") ? asked : type

/** What a place of the transcription is about: a component and its fields, an operation, or a parameter of one. */
const schemaAt = (place: string): Readonly<Record<string, unknown>> => {
  if (place.includes(" ")) {
    const [method = "", path = "", parameter] = place.split(" ")
    const operation = document.paths[path]?.[method.toLowerCase()]
    if (parameter === undefined) return operation ?? {}
    const found = operation?.parameters.find(({ name }) => name === parameter)
    return { ...found?.schema, description: found?.description }
  }
  const [name = "", ...fields] = place.split(/\.|(?=\[\])/)
  const resolved = (schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
    "$ref" in schema ? (whole[nameOf(schema)] ?? {}) : schema
  return fields.reduce((schema, field) => {
    const within = resolved(schema)
    const found =
      field === "[]"
        ? itemsOf(within)
        : Schema.decodeUnknownSync(Any)(Schema.decodeUnknownSync(Any)(within.properties ?? {})[field] ?? {})
    return resolved(found)
  }, whole[name] ?? {})
}

describe.each(Object.entries(shapes))("%s", (name, shape: Shape) => {
  const found = schemas[name]
  it("has the fields of the contract with their types", () => {
    assert(found !== undefined, `no component ${name}`)
    const fields = { ...shape.required, ...shape.optional }
    const types = Object.fromEntries(
      Object.keys(fields).map((field) => [field, typeOf(found.properties?.[field] ?? { type: "missing" })])
    )
    assert.deepStrictEqual(
      Object.fromEntries(Object.entries(types).map(([field, type]) => [field, asAsked(type, fields[field])])),
      fields
    )
  })
  it("requires what the contract requires", () => {
    if (!shape.anyRequired)
      assert.deepStrictEqual([...(found?.required ?? [])].sort(), Object.keys(shape.required).sort())
  })
  it("is closed exactly where the contract closes it", () => {
    assert.strictEqual(found?.additionalProperties, shape.closed ? false : undefined)
  })
})

describe.each(Object.entries(events))("an event of type %s", (type, also) => {
  const found = Object.values(named).find(
    (schema) => listAt(at(at(schema, "properties") ?? {}, "type") ?? {}, "enum").join() === type
  )
  it("is one of the union, and carries what the contract says", () => {
    assert(found !== undefined)
    assert.include(JSON.stringify(named.ThreadEvent), type)
    assert.includeMembers(Object.keys(at(found, "properties") ?? {}), [
      ...Object.keys(shapes.ThreadEvent?.required ?? {}),
      ...also
    ])
  })
})

it("enumerations have the values of the contract", () => {
  for (const [place, values] of Object.entries(enumerations))
    assert.deepStrictEqual(schemaAt(place).enum, [...values], place)
  for (const [place, value] of Object.entries(shown)) assert.include(schemaAt(place).enum, value, place)
})

it.each(limits.map((limit) => [limit.at, limit.row, limit] as const))(
  "%s says: %s",
  (_, __, { at, says, tells }: Limit) => {
    const found = schemaAt(at)
    if (says !== undefined) assert.deepInclude(found, says)
    if (tells !== undefined) assert.include(found.description, tells)
  }
)

it("times are date-time strings wherever they are sent", () => {
  for (const at of times) assert.strictEqual(schemaAt(at).format, "date-time", at)
})

it("what is answered is open, but where the contract closes it; what is sent is closed", () => {
  const reach = (value: unknown, found: Set<string>): Set<string> => {
    for (const [, name = ""] of JSON.stringify(value ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (found.has(name)) continue
      found.add(name)
      reach(whole[name], found)
    }
    return found
  }
  const closed = Object.entries(shapes).flatMap(([name, shape]) => (shape.closed ? [name] : []))
  const answered = reach(
    all.map(({ found }) => found.responses),
    new Set()
  )
  const sent = reach(
    all.map(({ found }) => found.requestBody),
    new Set()
  )
  const strict = (names: Iterable<string>) =>
    [...names].filter((name) => JSON.stringify(whole[name]).includes(`"additionalProperties":false`)).sort()
  assert.deepStrictEqual(strict(answered), closed.sort())
  const objects = [...sent].filter((name) => named[name]?.type === "object")
  assert.deepStrictEqual(
    objects.filter((name) => schemas[name]?.additionalProperties !== false),
    []
  )
})

it("both security schemes are there, by the names of the contract", () => {
  const { securitySchemes } = document.components
  assert.sameMembers(Object.keys(securitySchemes), ["APIKeyBearer", "AgentLeaseBearer", "DeliveryBearer"])
  for (const scheme of Object.values(securitySchemes)) assert.deepInclude(scheme, { type: "http", scheme: "bearer" })
})

describe("every operation", () => {
  it("is under /v1, needs a credential, and says which scope", () => {
    for (const { found, path } of all) {
      assert.match(path, /^\/v1\//)
      assert.isAbove(found.security.length, 0, path)
      assert.match(
        found.description ?? "",
        /Scope: `(read|run|write|approve|admin)`( or `(read|run|write|approve|admin)`)?\./,
        path
      )
    }
  })
  it("refuses with ErrorResponse, and has X-Request-Id on every answer", () => {
    for (const { found, method, path } of all) {
      for (const [status, response] of Object.entries(found.responses)) {
        assert.property(response.headers, "X-Request-Id", `${method} ${path} ${status}`)
        if (Number(status) < 400) continue
        const [shape, words] = listAt(body(found, status) ?? {}, "allOf").map((part) =>
          Schema.decodeUnknownSync(Any)(part)
        )
        assert.strictEqual(nameOf(shape), "ErrorResponse", `${method} ${path} ${status}`)
        // The words of this status here, and no others.
        const known = listAt(at(at(words ?? {}, "properties") ?? {}, "error") ?? {}, "enum").map(String)
        assert.strictEqual(
          response.description,
          known.map((word) => `\`${word}\``).join(", "),
          `${method} ${path} ${status}`
        )
        for (const word of known) assert.propertyVal(statuses, word, Number(status))
      }
      for (const status of ["400", "401", "403", "429", "500", "503"])
        assert.property(found.responses, status, `${method} ${path}`)
    }
  })
  it("that is a POST takes an Idempotency-Key", () => {
    for (const { found, method, path } of all) {
      const keys = found.parameters.filter(
        (parameter) => parameter.in === "header" && parameter.name === "Idempotency-Key"
      )
      assert.lengthOf(keys, method === "post" ? 1 : 0, `${method} ${path}`)
    }
  })
  it("of a list that takes limit takes 1 to at most 200, and a cursor", () => {
    for (const { found, path } of all) {
      const limit = found.parameters.find((parameter) => parameter.name === "limit")
      // A search is no list.
      if (limit === undefined || path.endsWith("/search")) continue
      assert.deepStrictEqual([limit.schema.type, limit.schema.minimum], ["integer", 1], path)
      assert.isAtMost(Number(limit.schema.maximum), 200, path)
      assert.include(
        found.parameters.map((parameter) => parameter.name),
        // Messages of a feed are paged by their seq.
        path.endsWith("/feeds/{feedId}/messages") ? "startSeq" : "cursor",
        path
      )
    }
  })
})

it("the document lints without an error", { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "openapi-"))
  try {
    const file = join(folder, "openapi.json")
    await writeFile(file, documentText)
    const cli = join(import.meta.dirname, "../../node_modules/@redocly/cli/bin/cli.js")
    const { stdout } = await promisify(execFile)(process.execPath, [cli, "lint", "--format=json", file], {
      env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" }
    })
    assert.deepInclude(JSON.parse(stdout), { totals: { ...JSON.parse(stdout).totals, errors: 0 } })
  } finally {
    await rm(folder, { recursive: true })
  }
})
