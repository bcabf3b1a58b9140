import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { checkSchema, heldValidators, validate } from "../../src/tools/jsonSchema.ts"

const seed = Number(process.env["TROUPE_TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 31))

const nested = (levels: number): unknown => levels === 0 ? {} : { properties: { a: nested(levels - 1) } }
const deep = (levels: number): unknown => levels === 0 ? 1 : [deep(levels - 1)]

/** Milliseconds that the event loop was held. */
const took = (work: () => unknown) => {
  const began = performance.now()
  work()
  return performance.now() - began
}

describe("a value against a schema", () => {
  const order = {
    type: "object",
    properties: {
      items: { type: "array", prefixItems: [{ type: "string" }], items: { type: "integer", minimum: 1 }, minItems: 1 },
      kind: { enum: ["big", "small"] },
      "a/b ~": { const: 1 },
      when: { type: "string", format: "date-time" }
    },
    required: ["items"],
    dependentRequired: { kind: ["when"] },
    unevaluatedProperties: false
  }

  for (const [what, value, problem] of [
    ["fits", { items: ["a", 1, 2] }, undefined],
    ["lacks a property", {}, "items: is missing"],
    ["breaks a type deep inside", { items: ["a", 1, "2"] }, "items[2]: must be integer"],
    ["breaks a bound", { items: ["a", 0] }, "items[1]: must be >= 1"],
    ["breaks the type of its head", { items: [1] }, "items[0]: must be string"],
    ["is not of an enumeration", { items: ["a"], kind: "odd", when: "2026-01-01T00:00:00Z" }, `kind: must be one of ["big","small"]`],
    ["has a property that nobody knows", { items: ["a"], extra: 1 }, "extra: is not a known property"],
    ["has an odd name in its path", { items: ["a"], "a/b ~": 2 }, `["a/b ~"]: must be 1`],
    ["lacks what another property asks for", { items: ["a"], kind: "big" }, "must have property when when property kind is present"],
    ["breaks a format", { items: ["a"], when: "yesterday" }, `when: must match format "date-time"`],
    ["is of another type", "text", "must be object"],
    ["is nothing", undefined, "must be object"]
  ] as const) {
    it(`that ${what}`, () => assert.strictEqual(validate(order, value), problem))
  }

  it("names the choice that nothing fits, not how its last alternative failed", () => {
    assert.strictEqual(validate({ anyOf: [{ type: "string" }, { type: "object", required: ["a"] }] }, {}), "must match a schema in anyOf")
  })

  it("follows references inside of the schema: pointers, anchors, and to itself", () => {
    const tree = {
      $ref: "#/$defs/node",
      $defs: { node: { type: "object", properties: { value: { $ref: "#whole" }, next: { $ref: "#/$defs/node" } }, required: ["value"] }, whole: { $anchor: "whole", type: "integer" } }
    }
    assert.isUndefined(validate(tree, { value: 1, next: { value: 2 } }))
    assert.strictEqual(validate(tree, { value: 1, next: { value: "2" } }), "next.value: must be integer")
  })

  it("is read as draft 7 where the schema says that it is of then", () => {
    const tuple = { $schema: "http://json-schema.org/draft-07/schema#", type: "array", items: [{ type: "string" }], additionalItems: false }
    assert.isUndefined(checkSchema(tuple))
    assert.isUndefined(validate(tuple, ["a"]))
    assert.isDefined(validate(tuple, ["a", 2]))
    assert.isDefined(checkSchema({ type: "array", items: [{ type: "string" }] }))
    for (const year of ["2020-12", "2019-09"]) assert.isUndefined(checkSchema({ $schema: `https://json-schema.org/draft/${year}/schema`, type: "object" }))
  })

  it("is judged by its own properties only, and stays as it is", () => {
    const schema = JSON.parse(`{"type":"object","properties":{"__proto__":{"type":"string"},"a":{"default":1,"type":["integer","string"]}},"required":["toString"]}`)
    assert.strictEqual(validate(schema, {}), "toString: is missing")
    const value = JSON.parse(`{"toString":1,"__proto__":{"polluted":true}}`)
    assert.isUndefined(validate(schema, value))
    assert.strictEqual(JSON.stringify(value), `{"toString":1,"__proto__":{"polluted":true}}`)
    assert.notProperty({}, "polluted")
    assert.strictEqual(validate({ required: ["__proto__"] }, {}), "__proto__: is missing")
  })

  it("nests at most 64 levels", () => {
    assert.isUndefined(validate({}, deep(64)))
    assert.strictEqual(validate({}, deep(65)), "nests deeper than 64 levels")
    assert.strictEqual(validate({}, deep(5000)), "nests deeper than 64 levels")
  })
})

describe("a schema that cannot be used", () => {
  for (const [what, schema, problem] of [
    ["no object", [], "must be an object"],
    ["a text", "x", "must be an object"],
    ["an unknown type", { type: "text" }, "type: must match a schema in anyOf"],
    ["a bound that is none", { properties: { a: { minimum: "1" } } }, "properties.a.minimum: must be number"],
    ["a reference to another server", { $ref: "https://example.com/schema.json" }, /can't resolve reference/],
    ["a reference to a file", { $ref: "file:///etc/passwd" }, /can't resolve reference/],
    ["a reference to nowhere", { $ref: "#/$defs/none" }, /can't resolve reference/],
    ["a dynamic reference to elsewhere", { $dynamicRef: "other.json#node" }, /./],
    ["a pattern that is none", { pattern: "(" }, /Invalid regular expression/],
    ["a promise of an answer", { $async: true }, "$async: not a keyword of JSON Schema"],
    ["too many levels", nested(33), "nests deeper than 64 levels"]
  ] as const) {
    it(`${what}: says why, and fits nothing`, () => {
      const found = checkSchema(schema)
      if (typeof problem === "string") assert.strictEqual(found, problem)
      else assert.match(found ?? "", problem)
      assert.isDefined(validate(schema, {}))
    })
  }

  it("does not stand in for another that has the same $id", () => {
    const [one, two] = [{ $id: "https://example.com/x", type: "string" }, { $id: "https://example.com/x", type: "integer" }]
    assert.deepStrictEqual([validate(one, "a"), validate(two, "a"), validate(two, 1)], [undefined, "must be integer", undefined])
    assert.match(checkSchema({ $ref: "https://example.com/x" }) ?? "", /can't resolve reference/)
  })

  it("takes unknown keywords and formats as notes", () => {
    assert.isUndefined(checkSchema({ "x-order": 1, format: "colour", properties: { a: { "ui:widget": {} } } }))
    assert.isUndefined(validate({ format: "colour" }, "red"))
  })
})

describe("what would take for ever", () => {
  const long = `${"a".repeat(20_000)}!`

  it("is linear for a pattern that others go round in circles on", () => {
    for (const pattern of ["^(a+)+$", "^(a|a)*$", "(.*)*x", "^([a-z]+)*$"]) {
      assert.isBelow(took(() => assert.isDefined(validate({ pattern }, long))), 500, pattern)
    }
    assert.isUndefined(validate({ pattern: "^(a+)+$" }, "aaa"))
  })

  it("matches patterns as JavaScript does", () => {
    for (const [pattern, fits, not] of [
      ["^\\d{3}-\\w+$", "123-ab", "12-ab"], ["^[^\\/]+$", "ab", "a/b"], ["\\u00e9", "café", "cafe"], ["^\\p{Lu}", "Ä", "ä"], ["^.$", "😀", "ab"], ["^(?!no)", "yes", "no"], ["^(a)\\1$", "aa", "ab"]
    ] as const) {
      assert.deepStrictEqual([validate({ pattern }, fits), validate({ pattern }, not)], [undefined, `must match pattern "${pattern}"`], pattern)
    }
  })

  it("is stopped for a pattern that needs look-around", () => {
    const schema = { pattern: "^(?=(a+)+$)b" }
    assert.isBelow(took(() => assert.strictEqual(validate(schema, long), "takes too long to check against the schema")), 2_000)
    assert.isUndefined(validate({ pattern: "^(?=a)" }, "a"))
  })

  it("is stopped for references that double with every step", () => {
    const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`d${i}`, i === 39 ? { type: "integer" } : { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }]))
    assert.isBelow(took(() => assert.strictEqual(validate({ $ref: "#/$defs/d0", $defs }, 1), "takes too long to check against the schema")), 2_000)
  })

  it("is stopped for a reference that leads to itself", () => {
    assert.isBelow(took(() => assert.isDefined(validate({ $ref: "#" }, 1))), 2_000)
    assert.isBelow(took(() => assert.isDefined(validate({ allOf: [{ $ref: "#/$defs/a" }], $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }] } } }, 1))), 2_000)
  })

  it("is stopped for a large list of which each item is held against each", () => {
    const list = Array.from({ length: 60_000 }, (_, i) => ({ i }))
    assert.isBelow(took(() => validate({ type: "array", uniqueItems: true }, list)), 2_000)
  })

  it("is stopped for a large schema and a large value", () => {
    const schema = { items: { anyOf: Array.from({ length: 2_000 }, (_, i) => ({ const: { i } })) } }
    assert.isBelow(took(() => validate(schema, Array.from({ length: 20_000 }, () => ({ i: -1 })))), 2_000)
  })

  it("can be asked again afterwards", () => {
    const schema = { pattern: "^(?=(a+)+$)a" }
    assert.isDefined(validate(schema, long))
    assert.isUndefined(validate(schema, "aa"))
  })
})

describe("compiled schemas", () => {
  it("are kept, but not for ever", () => {
    for (let i = 0; i < 2_300; i++) assert.isUndefined(checkSchema({ const: i }))
    assert.isAtMost(heldValidators(), 2_000)
    assert.isUndefined(validate({ const: 0 }, 0))
  })

  it("take microseconds the second time", () => {
    const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] }
    validate(schema, { text: "x" })
    assert.isBelow(took(() => { for (let i = 0; i < 10_000; i++) validate(schema, { text: "x" }) }) / 10_000, 0.1)
  })
})

it(`never throws, whatever the schema and the value are (seed ${seed})`, { timeout: 60_000 }, () => {
  const keyword = fc.constantFrom(
    "type", "properties", "items", "prefixItems", "anyOf", "allOf", "not", "$ref", "$id", "$defs", "$anchor", "enum", "const", "required", "pattern", "format", "minimum",
    "uniqueItems", "additionalProperties", "unevaluatedProperties", "dependentSchemas", "if", "then", "contains", "propertyNames", "__proto__", "constructor", "$async", "$schema"
  )
  const leaf = fc.oneof(fc.constantFrom("object", "string", "#", "#/$defs/a", "(", "date-time", "", true, false, 0, -1, null), fc.string(), fc.double())
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof({ depthSize: "small" }, leaf, fc.array(tie("schema"), { maxLength: 3 }), fc.dictionary(keyword, tie("schema"), { maxKeys: 4 }))
  }))
  fc.assert(fc.property(schema, fc.jsonValue(), (schema, value) => {
    const [problem, wrong] = [checkSchema(schema), validate(schema, value)]
    if (problem !== undefined) assert.isString(wrong)
  }), { seed, numRuns: 1_000 })
})
