import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import fc from "fast-check"
import { Condition, type ConditionOp, holds } from "../../src/domain/condition.ts"

const decode = Schema.decodeUnknownResult(Condition, { onExcessProperty: "error" })
const accepts = (value: unknown) => decode(value)._tag === "Success"
const json = (constraints: fc.JsonSharedConstraints = {}) =>
  fc.jsonValue(constraints).map(Schema.decodeUnknownSync(Schema.Json))
const ask = (path: string, op: ConditionOp, value: Schema.Json | undefined, subject: unknown) =>
  holds({ path, op, ...(value !== undefined && { value }) }, subject)

describe("the path of a condition", () => {
  /** RFC 6901, section 5. */
  const document = {
    foo: ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
    "~1": 9
  }
  it.each([
    ["", document],
    ["/foo", ["bar", "baz"]],
    ["/foo/0", "bar"],
    ["/", 0],
    ["/a~1b", 1],
    ["/c%d", 2],
    ["/e^f", 3],
    ["/g|h", 4],
    ["/i\\j", 5],
    ['/k"l', 6],
    ["/ ", 7],
    ["/m~0n", 8],
    ["/~01", 9]
  ])("%j leads to what RFC 6901 says", (path, value) => {
    assert.isTrue(accepts({ path, op: "exists" }))
    assert.isTrue(ask(path, "eq", value, document))
  })

  it.each([
    ["/foo/2"],
    ["/foo/-"],
    ["/foo/01"],
    ["/foo/1.0"],
    ["/foo/+1"],
    ["/foo/ 1"],
    ["/foo/1e0"],
    ["/foo/-1"],
    ["/foo/length"],
    ["/foo/0/length"],
    ["/foo/0/0"],
    ["/bar"],
    ["/foo/0/bar"],
    ["/a"],
    ["//"],
    ["/toString"],
    ["/__proto__"],
    ["/constructor/name"],
    ["/foo/99999999999"],
    ["/hasOwnProperty"]
  ])("%j leads nowhere, and never into a prototype", (path) => {
    assert.isUndefined(ask(path, "eq", "bar", document))
    assert.isUndefined(ask(path, "ne", "bar", document))
    assert.isTrue(ask(path, "exists", false, document))
  })

  it("finds properties that are named as those of prototypes", () => {
    assert.isTrue(ask("/__proto__/a", "eq", 1, JSON.parse(`{"__proto__":{"a":1}}`)))
    assert.isTrue(ask("/length", "eq", 1, { length: 1 }))
  })

  it("leads nowhere in what is no object", () => {
    for (const subject of [undefined, null, 1, "text", true]) assert.isUndefined(ask("/a", "ne", 1, subject))
    assert.isUndefined(ask("", "ne", 1, undefined))
    assert.isTrue(ask("", "eq", null, null))
  })

  it("is a JSON Pointer of at most 512 bytes", () => {
    for (const path of ["", "/", "/a/b", "/~0~1", "/é", `/${"a".repeat(511)}`])
      assert.isTrue(accepts({ path, op: "exists" }), path)
    for (const path of ["a", "#/a", "$.a", "/~", "/~2", "/a~", `/${"a".repeat(512)}`, 1, null])
      assert.isFalse(accepts({ path, op: "exists" }), String(path))
  })
})

describe("the value of a condition", () => {
  it.each<[ConditionOp, ReadonlyArray<unknown>, ReadonlyArray<unknown>]>([
    ["eq", [null, 1, "a", true, [], {}, { a: [1] }], []],
    ["ne", [null, 1, "a", false, [1], {}], []],
    ["in", [[1], ["a", null]], [[], "a", 1, null, { 0: "a" }]],
    ["startsWith", ["", "a"], [1, null, ["a"], true]],
    ["endsWith", ["a"], [1, null]],
    ["contains", ["a", 1, null, { a: 1 }], []],
    ["lt", [1, "a", -0.5], [null, true, [1], {}]],
    ["lte", [1, "a"], [null]],
    ["gt", [1, "a"], [null]],
    ["gte", [1, "a"], [false]],
    ["exists", [true, false], [null, 1, "true", []]]
  ])("of %s is of a kind that it can compare with", (op, good, bad) => {
    for (const value of good) assert.isTrue(accepts({ path: "/a", op, value }), JSON.stringify(value))
    for (const value of bad) assert.isFalse(accepts({ path: "/a", op, value }), JSON.stringify(value))
    assert.strictEqual(accepts({ path: "/a", op }), op === "exists")
  })

  it("has at most 512 bytes: of a text its own, of anything else those of its JSON", () => {
    // Contract C10.5.
    for (const value of [
      "a".repeat(512),
      "é".repeat(256),
      "\n".repeat(512),
      '"'.repeat(512),
      ["a".repeat(508)],
      Array(255).fill(1)
    ]) {
      assert.isTrue(accepts({ path: "", op: "eq", value }), JSON.stringify(value))
    }
    for (const value of [
      "a".repeat(513),
      `${"é".repeat(256)}a`,
      "\n".repeat(513),
      "\ud800".repeat(171),
      ["a".repeat(509)],
      Array(256).fill(1)
    ]) {
      assert.isFalse(accepts({ path: "", op: "eq", value }), JSON.stringify(value))
    }
  })

  it("is JSON", () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, [Number.NEGATIVE_INFINITY]])
      assert.isFalse(accepts({ path: "", op: "eq", value }))
  })

  it("stands beside path and op alone", () => {
    for (const condition of [
      { path: "", op: "matches", value: "." },
      { op: "eq", value: 1 },
      { path: "", value: 1 },
      { path: "", op: "eq", value: 1, not: true }
    ]) {
      assert.isFalse(accepts(condition))
    }
  })
})

describe("a condition", () => {
  const is: unique symbol = Symbol("undefined")
  it.each<[ConditionOp, Schema.Json, unknown, boolean | typeof is]>([
    ["eq", 1, 1, true],
    ["eq", 0, -0, true],
    ["eq", 1, "1", false],
    ["eq", "1", 1, false],
    ["eq", null, null, true],
    ["eq", false, null, false],
    ["eq", { a: 1, b: [2] }, { b: [2], a: 1 }, true],
    ["eq", { a: 1 }, { a: 1, b: 2 }, false],
    ["eq", { a: 1, b: 2 }, { a: 1 }, false],
    ["eq", [1, 2], [2, 1], false],
    ["eq", [], {}, false],
    ["eq", {}, [], false],
    ["eq", {}, { a: 1 }, false],
    ["eq", [1], { 0: 1 }, false],
    ["eq", "é", "e\u0301", false],
    ["ne", 1, 2, true],
    ["ne", 1, 1, false],
    ["ne", 1, "1", true],
    ["ne", { a: 1 }, { a: 1 }, false],
    ["in", [1, "a", [2]], "a", true],
    ["in", [1, "a", [2]], [2], true],
    ["in", [1], "1", false],
    ["in", [null], null, true],
    ["startsWith", "ab", "abc", true],
    ["startsWith", "AB", "abc", false],
    ["startsWith", "", "", true],
    ["startsWith", "1", 12, is],
    ["endsWith", "bc", "abc", true],
    ["endsWith", "ab", "abc", false],
    ["endsWith", "a", ["a"], is],
    ["contains", "b", "abc", true],
    ["contains", "x", "abc", false],
    ["contains", "b", ["a", "b"], true],
    ["contains", "b", ["abc"], false],
    ["contains", 1, [1], true],
    ["contains", 1, ["1"], false],
    ["contains", [1], [[1]], true],
    ["contains", 1, "1", is],
    ["contains", "a", { a: 1 }, is],
    ["contains", "a", null, is],
    ["lt", 2, 1, true],
    ["lt", 2, 2, false],
    ["lte", 2, 2, true],
    ["lte", 2, 3, false],
    ["gt", 2, 3, true],
    ["gt", 2, 2, false],
    ["gte", 2, 2, true],
    ["gte", 2, 1.9, false],
    ["gt", 100, "1000", is],
    ["lt", "100", 1, is],
    ["gt", 1, null, is],
    ["gt", 1, true, is],
    ["gt", 1, [2], is],
    ["lt", "b", "a", true],
    ["lt", "a", "a", false],
    ["lt", "aa", "a", true],
    ["gt", "a", "aa", true],
    ["lt", "10", "9", false],
    ["lt", "a", "Z", true],
    ["gt", "\ue000", "\u{1f600}", true],
    ["lt", "\u{1f600}", "\ue000", true],
    ["gt", 1, Number.POSITIVE_INFINITY, is],
    ["ne", 1, Number.NaN, is]
  ])("%s %j of %j: %s", (op, value, held, expected) => {
    assert.strictEqual(ask("/a", op, value, { a: held }), expected === is ? undefined : expected)
  })

  it("that asks for existence always knows: null is there", () => {
    for (const held of [null, 0, "", false, [], {}]) {
      assert.deepStrictEqual(
        [
          ask("/a", "exists", undefined, { a: held }),
          ask("/a", "exists", true, { a: held }),
          ask("/a", "exists", false, { a: held })
        ],
        [true, true, false]
      )
    }
    for (const subject of [{}, [], null, "a", undefined, { b: 1 }]) {
      assert.deepStrictEqual(
        [
          ask("/a", "exists", undefined, subject),
          ask("/a", "exists", true, subject),
          ask("/a", "exists", false, subject)
        ],
        [false, false, true]
      )
    }
  })

  it("orders texts by code point, ill-formed ones too", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "b", "\ud83d", "\ude00", "\u{1f600}", "\ue000", "\uffff"),
      maxLength: 5
    })
    const points = (text: string) => [...text].map((character) => character.codePointAt(0)!)
    const isBefore = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): boolean =>
      b.length > 0 && (a.length === 0 || a[0]! < b[0]! || (a[0] === b[0] && isBefore(a.slice(1), b.slice(1))))
    fc.assert(
      fc.property(text, text, (a, b) => {
        assert.strictEqual(ask("", "lt", b, a), isBefore(points(a), points(b)))
        assert.strictEqual(ask("", "gte", b, a), !isBefore(points(a), points(b)))
      }),
      { numRuns: 5_000 }
    )
  })

  it("finds equal what JSON writes alike", () => {
    const sorted = (value: unknown): string =>
      JSON.stringify(value, (_, held) =>
        typeof held === "object" && held !== null && !Array.isArray(held)
          ? Object.fromEntries(Object.entries(held).sort(([a], [b]) => (a < b ? -1 : 1)))
          : held
      )
    const small = json({ maxDepth: 2, stringUnit: fc.constantFrom("a", "b", "__proto__", "0") })
    fc.assert(
      fc.property(small, small, fc.boolean(), (a, b, again) => {
        const other: unknown = again ? JSON.parse(JSON.stringify(a)) : b
        assert.strictEqual(ask("", "eq", a, other), sorted(a) === sorted(other))
        assert.strictEqual(ask("", "ne", a, other), sorted(a) !== sorted(other))
      }),
      { numRuns: 3_000 }
    )
  })

  it("never throws, whatever it is asked of", () => {
    const ops = fc.constantFrom<ConditionOp>(
      "eq",
      "ne",
      "in",
      "startsWith",
      "endsWith",
      "contains",
      "lt",
      "lte",
      "gt",
      "gte",
      "exists"
    )
    const path = fc
      .array(fc.string(), { maxLength: 3 })
      .map((tokens) => tokens.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""))
    const condition = fc
      .record({ path, op: ops, value: json() })
      .map((one) => decode(one))
      .filter(Result.isSuccess)
      .map(({ success }) => success)
    fc.assert(
      fc.property(condition, fc.anything(), (condition, subject) => {
        assert.oneOf(holds(condition, subject), [true, false, undefined])
      }),
      { numRuns: 2_000 }
    )
  })
})
