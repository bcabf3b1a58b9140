import { assert, describe, it } from "@effect/vitest"
import { mergePatch } from "../../src/domain/mergePatch.ts"

describe("JSON Merge Patch", () => {
  // RFC 7396, appendix A: those whose target and patch are objects.
  for (const [target, patch, result] of [
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }]
  ] as const) {
    it(`makes ${JSON.stringify(result)} of ${JSON.stringify(target)} and ${JSON.stringify(patch)}`, () => {
      assert.deepStrictEqual(mergePatch(target, patch), result)
    })
  }

  it("leaves its arguments alone, and no prototype behind", () => {
    const target = { a: { b: 1 } }
    const merged = mergePatch(target, JSON.parse(`{"a":{"c":2},"__proto__":{"x":1}}`))
    assert.deepStrictEqual(target, { a: { b: 1 } })
    assert.strictEqual(Object.getPrototypeOf(merged), Object.prototype)
  })
})
