import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Validators } from "../../src/tools/jsonSchema.ts"

const seed = Number(process.env.TROUPE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))

const validators = new Validators()
const checkSchema = (schema: unknown) => validators.unusable(JSON.stringify(schema))
const validate = (schema: unknown, value: unknown) => validators.misfit(JSON.stringify(schema), value)

/** Milliseconds that it took. */
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
    [
      "is not of an enumeration",
      { items: ["a"], kind: "odd", when: "2026-01-01T00:00:00Z" },
      `kind: must be one of ["big","small"]`
    ],
    ["has a property that nobody knows", { items: ["a"], extra: 1 }, "extra: is not a known property"],
    ["has an odd name in its path", { items: ["a"], "a/b ~": 2 }, `["a/b ~"]: must be 1`],
    [
      "lacks what another property asks for",
      { items: ["a"], kind: "big" },
      "must have property when when property kind is present"
    ],
    ["breaks a format", { items: ["a"], when: "yesterday" }, `when: must match format "date-time"`],
    ["is of another type", "text", "must be object"],
    ["is nothing", undefined, "must be object"]
  ] as const) {
    it(`that ${what}`, () => assert.strictEqual(validate(order, value), problem))
  }

  it("names the choice that nothing fits, not how its last alternative failed", () => {
    assert.strictEqual(
      validate({ anyOf: [{ type: "string" }, { type: "object", required: ["a"] }] }, {}),
      "must match a schema in anyOf"
    )
  })

  it("follows references inside of the schema: pointers, anchors, and to itself", () => {
    const tree = {
      $ref: "#/$defs/node",
      $defs: {
        node: {
          type: "object",
          properties: { value: { $ref: "#whole" }, next: { $ref: "#/$defs/node" } },
          required: ["value"]
        },
        whole: { $anchor: "whole", type: "integer" }
      }
    }
    assert.isUndefined(validate(tree, { value: 1, next: { value: 2 } }))
    assert.strictEqual(validate(tree, { value: 1, next: { value: "2" } }), "next.value: must be integer")
  })

  it("is read as draft 7 where the schema says that it is of then", () => {
    const tuple = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "array",
      items: [{ type: "string" }],
      additionalItems: false
    }
    assert.isUndefined(checkSchema(tuple))
    assert.isUndefined(validate(tuple, ["a"]))
    assert.isDefined(validate(tuple, ["a", 2]))
    assert.isDefined(checkSchema({ type: "array", items: [{ type: "string" }] }))
    for (const year of ["2020-12", "2019-09"])
      assert.isUndefined(checkSchema({ $schema: `https://json-schema.org/draft/${year}/schema`, type: "object" }))
  })

  it("is judged by its own properties only, and stays as it is", () => {
    const schema = JSON.parse(
      `{"type":"object","properties":{"__proto__":{"type":"string"},"a":{"default":1,"type":["integer","string"]}},"required":["toString"]}`
    )
    assert.strictEqual(validate(schema, {}), "toString: is missing")
    const value = JSON.parse(`{"toString":1,"__proto__":{"polluted":true}}`)
    assert.isUndefined(validate(schema, value))
    assert.strictEqual(JSON.stringify(value), `{"toString":1,"__proto__":{"polluted":true}}`)
    assert.notProperty({}, "polluted")
    assert.strictEqual(validate({ required: ["__proto__"] }, {}), "__proto__: is missing")
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
    [
      "a pattern of many states",
      {
        properties: Object.fromEntries(
          Array.from({ length: 20 }, (_, i) => [`p${i}`, { pattern: `^(?:.?){900}${i}$` }])
        )
      },
      /more than 10000 states/
    ]
  ] as const) {
    it(`${what}: says why, and fits nothing`, () => {
      const found = checkSchema(schema)
      if (typeof problem === "string") assert.strictEqual(found, problem)
      else assert.match(found ?? "", problem)
      assert.isDefined(validate(schema, {}))
    })
  }

  it("does not stand in for another that has the same $id", () => {
    const [one, two] = [
      { $id: "https://example.com/x", type: "string" },
      { $id: "https://example.com/x", type: "integer" }
    ]
    assert.deepStrictEqual(
      [validate(one, "a"), validate(two, "a"), validate(two, 1)],
      [undefined, "must be integer", undefined]
    )
    assert.match(checkSchema({ $ref: "https://example.com/x" }) ?? "", /can't resolve reference/)
  })

  it("takes unknown keywords and formats as notes", () => {
    assert.isUndefined(checkSchema({ "x-order": 1, format: "colour", properties: { a: { "ui:widget": {} } } }))
    assert.isUndefined(validate({ format: "colour" }, "red"))
  })
})

describe("a pattern", () => {
  it("takes linear time where others go round in circles", () => {
    const long = `${"a".repeat(20_000)}!`
    for (const pattern of ["^(a+)+$", "^(a|a)*$", "(.*)*x", "^([a-z]+)*$"]) {
      assert.isBelow(
        took(() => assert.isDefined(validate({ pattern }, long))),
        500,
        pattern
      )
    }
    assert.isUndefined(validate({ pattern: "^(a+)+$" }, "aaa"))
  })

  it("matches patterns as JavaScript does", () => {
    for (const [pattern, fits, not] of [
      ["^\\d{3}-\\w+$", "123-ab", "12-ab"],
      ["^[^\\/]+$", "ab", "a/b"],
      ["\\u00e9", "café", "cafe"],
      ["^\\p{Lu}", "Ä", "ä"],
      ["^.$", "😀", "ab"],
      ["^(?!no)", "yes", "no"],
      ["^(a)\\1$", "aa", "ab"]
    ] as const) {
      assert.deepStrictEqual(
        [validate({ pattern }, fits), validate({ pattern }, not)],
        [undefined, `must match pattern "${pattern}"`],
        pattern
      )
    }
  })

  it("may have ten thousand states with all others of its schema, and no more", () => {
    const of = (count: number) => ({ anyOf: Array.from({ length: count }, (_, i) => ({ pattern: `^.{1,1000}${i}$` })) })
    assert.isUndefined(checkSchema(of(4)))
    assert.match(checkSchema(of(5)) ?? "", /more than 10000 states/)
  })
})

it("says of a schema that leads to itself without end that it cannot be used", () => {
  const schema = {
    allOf: [{ $ref: "#/$defs/a" }],
    $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }] } }
  }
  assert.strictEqual(validate(schema, 1), "the schema cannot be used: it refers to itself without end")
})

describe("compiled schemas", () => {
  it("are kept, but not for ever", () => {
    for (let i = 0; i < 1_100; i++) assert.isUndefined(checkSchema({ const: i }))
    assert.strictEqual(validators.held, 1_000)
    assert.isUndefined(validate({ const: 0 }, 0))
  })
})

it(`never throws, whatever the schema and the value are (seed ${seed})`, { timeout: 60_000 }, () => {
  const keyword = fc.constantFrom(
    "type",
    "properties",
    "items",
    "prefixItems",
    "anyOf",
    "allOf",
    "not",
    "$ref",
    "$id",
    "$defs",
    "$anchor",
    "enum",
    "const",
    "required",
    "pattern",
    "format",
    "minimum",
    "uniqueItems",
    "additionalProperties",
    "unevaluatedProperties",
    "dependentSchemas",
    "if",
    "then",
    "contains",
    "propertyNames",
    "__proto__",
    "constructor",
    "$async",
    "$schema"
  )
  const leaf = fc.oneof(
    fc.constantFrom("object", "string", "#", "#/$defs/a", "(", "date-time", "", true, false, 0, -1, null),
    fc.string(),
    fc.double()
  )
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { depthSize: "small" },
      leaf,
      fc.array(tie("schema"), { maxLength: 3 }),
      fc.dictionary(keyword, tie("schema"), { maxKeys: 4 })
    )
  }))
  fc.assert(
    fc.property(schema, fc.jsonValue(), (schema, value) => {
      const [problem, wrong] = [checkSchema(schema), validate(schema, value)]
      if (problem !== undefined) assert.isString(wrong)
    }),
    { seed, numRuns: 1_000 }
  )
})
