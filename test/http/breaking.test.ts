/**
 * docs/openapi.json is the interface as it is, and `/v1` is additive only: each change that breaks a client is seen,
 * and none that does not.
 */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { breaks } from "./breaking.ts"
import { committed, document, documentText } from "./document.ts"

describe("the committed document", () => {
  it("is not broken by the code: /v1 is additive only", () => {
    assert.deepStrictEqual(breaks(JSON.parse(readFileSync(committed, "utf8")), document), [])
  })
  it("is what the code says: `npm run openapi` writes it", () => {
    assert.isTrue(readFileSync(committed, "utf8") === documentText, "docs/openapi.json is stale: run `npm run openapi`")
  })
})

interface Small {
  readonly sent?: object
  readonly answered?: object
  readonly query?: object
  readonly operation?: object
  readonly statuses?: object
}
const json = (schema: object) => ({ content: { "application/json": { schema } } })
/** A document of one operation. */
const small = ({ answered = {}, operation = {}, query, sent, statuses = {} }: Small) => ({
  paths: {
    "/v1/things": {
      post: {
        parameters: query === undefined ? [] : [query],
        security: [{ APIKeyBearer: [] }, { AgentLeaseBearer: [] }],
        "x-required-scope": "write",
        ...(sent === undefined ? {} : { requestBody: { required: false, ...json(sent) } }),
        responses: { 200: { headers: { ETag: {} }, ...json(answered) }, 404: json({}), ...statuses },
        ...operation
      }
    }
  },
  components: {
    schemas: {
      Thing: {
        type: "object",
        required: ["id"],
        properties: { id: { type: "string" }, parts: { type: "array", items: { $ref: "#/components/schemas/Thing" } } }
      }
    }
  }
})
const thing = (fields: object, required: ReadonlyArray<string> = [], more: object = {}) => ({
  type: "object",
  properties: fields,
  required,
  ...more
})
const text = { type: "string" }
const limit = { name: "limit", in: "query", required: false, schema: { type: "integer", minimum: 1, maximum: 200 } }

describe("a change of the document", () => {
  it.each<[string, Small, Small, ReadonlyArray<string>]>([
    [
      "a field that is required to be sent",
      { sent: thing({ a: text }) },
      { sent: thing({ a: text, b: text }, ["b"]) },
      ["body.b: is required now"]
    ],
    [
      "a field that can no longer be sent",
      { sent: thing({ a: text, b: text }) },
      { sent: thing({ a: text }) },
      ["body.b: is gone"]
    ],
    [
      "a body that takes no other fields",
      { sent: thing({}) },
      { sent: thing({}, [], { additionalProperties: false }) },
      ["body: takes no other fields now"]
    ],
    [
      "a body where none was needed",
      { sent: text },
      { sent: text, operation: { requestBody: { required: true, ...json(text) } } },
      ["a body is required now"]
    ],
    [
      "a value that can no longer be sent",
      { sent: { enum: ["a", "b"] } },
      { sent: { enum: ["a"] } },
      ["body: b is no value of it any more"]
    ],
    [
      "values where any was taken",
      { sent: text },
      { sent: { type: "string", enum: ["a"] } },
      ["body: it has only certain values now"]
    ],
    [
      "a shorter text",
      { sent: { type: "string", maxLength: 9 } },
      { sent: { type: "string", maxLength: 8 } },
      ["body: its maxLength was 9 and is 8"]
    ],
    [
      "a longer list",
      { sent: { type: "array" } },
      { sent: { type: "array", minItems: 1 } },
      ["body: its minItems was nothing and is 1"]
    ],
    [
      "another pattern",
      { sent: { type: "string", pattern: "a" } },
      { sent: { type: "string", pattern: "b" } },
      ['body: its pattern was "a" and is "b"']
    ],
    [
      "a name less in a pattern of names",
      { sent: { type: "string", pattern: "^(?:a|b)(?:,(?:a|b))*$" } },
      { sent: { type: "string", pattern: "^(?:a)(?:,(?:a))*$" } },
      ['body: its pattern was "^(?:a|b)(?:,(?:a|b))*$" and is "^(?:a)(?:,(?:a))*$"']
    ],
    [
      "a check beside the pattern",
      { sent: text },
      { sent: { type: "string", allOf: [{ pattern: "b" }] } },
      ['body: {"pattern":"b"} is asked of it now']
    ],
    [
      "a check of a kind that is not known here",
      { sent: text },
      { sent: { type: "string", not: { enum: ["a"] } } },
      ['body: its not was nothing and is {"enum":["a"]}']
    ],
    [
      "one value where any was taken",
      { sent: text },
      { sent: { type: "string", const: "a" } },
      ['body: its const was nothing and is "a"']
    ],
    [
      "a choice that is gone",
      { sent: { anyOf: [text, { type: "null" }] } },
      { sent: { anyOf: [text] } },
      ['body(2): its type was "null" and is "string"']
    ],
    [
      "whole numbers only",
      { sent: { type: "number" } },
      { sent: { type: "integer" } },
      ['body: its type was "number" and is "integer"']
    ],
    ["a parameter that is gone", { query: limit }, {}, ["the parameter limit in query is gone"]],
    [
      "a parameter that is required",
      {},
      { query: { ...limit, required: true } },
      ["the parameter limit in query is required now"]
    ],
    [
      "a lower limit",
      { query: limit },
      { query: { ...limit, schema: { type: "integer", minimum: 1, maximum: 100 } } },
      ["limit in query: its maximum was 200 and is 100"]
    ],
    ["another scope", {}, { operation: { "x-required-scope": "admin" } }, ['its scope was "write" and is "admin"']],
    [
      "a credential that is not taken",
      {},
      { operation: { security: [{ APIKeyBearer: [] }] } },
      ['{"AgentLeaseBearer":[]} is not taken any more']
    ],
    ["a field that is not answered", { answered: thing({ a: text }) }, { answered: thing({}) }, ["200.a: is gone"]],
    [
      "a field that was always there",
      { answered: thing({ a: text }, ["a"]) },
      { answered: thing({ a: text }) },
      ["200.a: is no longer always there"]
    ],
    [
      "a field of another type",
      { answered: thing({ a: text }) },
      { answered: thing({ a: { type: "integer" } }) },
      ['200.a: its type was "string" and is "integer"']
    ],
    [
      "a field that may be null",
      { answered: thing({ a: text }) },
      { answered: thing({ a: { anyOf: [text, { type: "null" }] } }) },
      ['200.a: its type was "string" and is nothing']
    ],
    [
      "a time that is any text",
      { answered: { type: "string", format: "date-time" } },
      { answered: text },
      ['200: its format was "date-time" and is nothing']
    ],
    [
      "a list of anything",
      { answered: { type: "array", items: text } },
      { answered: { type: "array" } },
      ["200: items is held to no schema any more"]
    ],
    ["a credential where none was needed", { operation: { security: [] } }, {}, ["a credential is required now"]],
    [
      "a value that is gone",
      { answered: { enum: ["a", "b"] } },
      { answered: { enum: ["a"] } },
      ["200: b is no value of it any more"]
    ],
    [
      "a status that is gone",
      {},
      { operation: { responses: { 200: { headers: { ETag: {} }, ...json({}) } } } },
      ["404 is gone"]
    ],
    ["a header that is gone", {}, { statuses: { 200: json({}) } }, ["200: the header ETag is gone"]],
    [
      "a field deep within",
      { answered: { $ref: "#/components/schemas/Thing" } },
      { answered: thing({ id: text, parts: { type: "array", items: thing({}) } }, ["id"]) },
      ["200.parts.items.id: is no longer always there", "200.parts.items.id: is gone", "200.parts.items.parts: is gone"]
    ]
  ])("%s breaks clients", (_, before, after, expected) => {
    const found = breaks(small(before), small(after))
    assert.deepStrictEqual(
      found.map((one) => one.replace(/^POST \/v1\/things:? /, "")),
      expected
    )
  })

  it("that removes a path or an operation breaks clients", () => {
    assert.deepStrictEqual(breaks(small({}), { paths: {} }), ["POST /v1/things: is gone"])
    assert.deepStrictEqual(breaks(small({}), { paths: { "/v1/things": { get: {} } } }), ["POST /v1/things: is gone"])
  })

  it.each<[string, Small, Small]>([
    [
      "nothing",
      { sent: thing({ a: text }), answered: { $ref: "#/components/schemas/Thing" }, query: limit },
      { sent: thing({ a: text }), answered: { $ref: "#/components/schemas/Thing" }, query: limit }
    ],
    ["a field that may be sent", { sent: thing({ a: text }) }, { sent: thing({ a: text, b: text }) }],
    ["a field that need not be sent any more", { sent: thing({ a: text }, ["a"]) }, { sent: thing({ a: text }) }],
    ["a value more to send", { sent: { enum: ["a"] } }, { sent: { enum: ["a", "b"] } }],
    ["a longer text to send", { sent: { type: "string", maxLength: 8 } }, { sent: { type: "string", maxLength: 9 } }],
    [
      "a name more in a pattern of names",
      { sent: { type: "string", pattern: "^(?:a|b)(?:,(?:a|b))*$" } },
      { sent: { type: "string", pattern: "^(?:a|c|b)(?:,(?:a|c|b))*$" } }
    ],
    ["any text where a pattern was asked for", { sent: { type: "string", pattern: "a" } }, { sent: text }],
    ["a check that is not asked for any more", { sent: { type: "string", not: { enum: ["a"] } } }, { sent: text }],
    [
      "another description",
      { sent: { type: "string", description: "a" }, answered: { type: "string" } },
      { sent: { type: "string", description: "b" }, answered: { type: "string", description: "c" } }
    ],
    ["a choice more to send", { sent: { anyOf: [text] } }, { sent: { anyOf: [text, { type: "null" }] } }],
    ["a parameter more", {}, { query: limit }],
    [
      "a field more in answers",
      { answered: thing({ a: text }, ["a"]) },
      { answered: thing({ a: text, b: text }, ["a", "b"]) }
    ],
    ["a value more in answers", { answered: { enum: ["a"] } }, { answered: { enum: ["a", "b"] } }],
    ["a status more", {}, { statuses: { 409: json({}) } }],
    [
      "a credential more",
      {},
      { operation: { security: [{ APIKeyBearer: [] }, { AgentLeaseBearer: [] }, { DeliveryBearer: [] }] } }
    ]
  ])("%s breaks nobody", (_, before, after) => {
    assert.deepStrictEqual(breaks(small(before), small(after)), [])
  })
})
