/** What the console sends of a change (RFC 7396). */
import { assert, describe, it } from "@effect/vitest"
import { mergePatch } from "../../console/src/parts/mergePatch.ts"

const rows: ReadonlyArray<readonly [title: string, before: unknown, after: unknown, patch: unknown]> = [
  ["nothing, where nothing is changed", { a: 1, b: { c: [1, { d: 2 }] } }, { a: 1, b: { c: [1, { d: 2 }] } }, {}],
  ["what is new and what is another", { a: 1, b: 2 }, { a: 1, b: 3, c: 4 }, { b: 3, c: 4 }],
  ["null for what is gone", { a: 1, b: 2 }, { a: 1 }, { b: null }],
  ["of an object only what is changed within", { a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, { a: { c: 3 } }],
  ["a list as a whole", { a: [1, 2] }, { a: [1] }, { a: [1] }],
  ["an object in the place of a list", { a: [1] }, { a: { 0: 1 } }, { a: { 0: 1 } }],
  [
    "an object of another type as a whole",
    { a: { type: "x", b: 1 } },
    { a: { type: "y", c: 1 } },
    { a: { type: "y", c: 1 } }
  ],
  ["null where it is written", { a: 1 }, { a: null }, { a: null }],
  ["what is no object as it is, for the server to refuse", { a: 1 }, "text", "text"],
  ["a name that objects have by birth", {}, { constructor: 1 }, { constructor: 1 }]
]

describe("a merge patch", () => {
  for (const [title, before, after, patch] of rows)
    it(`has ${title}`, () => {
      assert.deepStrictEqual(mergePatch(before, after), patch)
    })
})
