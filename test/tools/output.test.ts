import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { cutOutput } from "../../src/tools/output.ts"

const seed = Number(process.env.TROUPE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const isCut = (value: unknown): value is { readonly truncated: true; readonly text: string } =>
  typeof value === "object" && value !== null && "truncated" in value

describe("an output", () => {
  it("of the limit stays as it is, one byte more is cut", () => {
    assert.strictEqual(cutOutput("x".repeat(98), 100), "x".repeat(98))
    const cut = cutOutput("x".repeat(99), 100)
    assert.isTrue(isCut(cut) && bytes(cut) <= 100 && cut.text.length > 60, JSON.stringify(cut))
  })

  it("that is no text is cut as the text of its JSON", () => {
    const cut = cutOutput({ items: Array.from({ length: 100 }, (_, i) => i) }, 100)
    assert.isTrue(isCut(cut) && cut.text.startsWith(`{"items":[0,1,2`))
  })

  it(`is never longer than the limit, keeps a beginning, and splits no code point (seed ${seed})`, () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "é", "\u0000", '"', "😀", "\ud800"), minLength: 100, maxLength: 2_000 }),
        (text) => {
          const cut = cutOutput(text, 100)
          assert.isAtMost(bytes(cut), 100)
          assert.isTrue(isCut(cut) && text.startsWith(cut.text))
          if (isCut(cut) && text.isWellFormed()) assert.isTrue(cut.text.isWellFormed())
        }
      ),
      { seed, numRuns: 300 }
    )
  })
})
