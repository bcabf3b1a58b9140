import { assert, describe, it } from "@effect/vitest"
import { deeperThan, endOfNested } from "../../src/domain/depth.ts"

const nested = (levels: number, open = "[", close = "]") => open.repeat(levels) + close.repeat(levels)

describe("the depth of JSON text", () => {
  it("is told at the limit and one past it, of arrays and of objects", () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"]
    ] as const) {
      assert.isFalse(deeperThan(nested(64, open, close), 64))
      assert.isTrue(deeperThan(nested(65, open, close), 64))
    }
  })

  it("is that of the deepest place, not of the last", () => {
    assert.isTrue(deeperThan(`[${nested(3)},1]`, 3))
    assert.isFalse(deeperThan(`[${nested(2)},${nested(2)},${nested(2)}]`, 3))
  })

  it("does not count what stands in strings, whatever is escaped there", () => {
    for (const text of ["[[[", '\\"[[[', "\\\\", '\\\\\\"[[[[', "]]"])
      assert.isFalse(deeperThan(`["${text}",["${text}"]]`, 2), text)
    assert.isTrue(deeperThan(`["\\\\",[[]]]`, 2))
  })

  it("is looked for once, however long the text and however it breaks off", () => {
    const long = 1_000_000
    const began = process.cpuUsage().user
    assert.isTrue(deeperThan("[".repeat(long), 64))
    assert.isFalse(deeperThan(`["${"\\".repeat(long)}`, 64))
    assert.isFalse(deeperThan(`["${'\\"'.repeat(long)}`, 64))
    assert.isFalse(deeperThan("]".repeat(long), 64))
    // A scan takes milliseconds; one that went back for each character would take minutes.
    assert.isBelow((process.cpuUsage().user - began) / 1_000, 2_000)
  })
})

describe("the end of an object in a text", () => {
  it("is behind its own brace, not behind one in a string or inside", () => {
    for (const object of ["{}", '{"a":{"b":[{}]}}', '{"a":"}\\"}","b":"\\\\"}'])
      assert.strictEqual(endOfNested(`so: ${object} and }`, 4), 4 + object.length, object)
  })

  it("is nowhere where the text breaks off", () => {
    for (const text of ["{", '{"a":{}', '{"a":"}', '{"a":"\\"}']) assert.strictEqual(endOfNested(text, 0), -1, text)
  })
})
