import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { Schema } from "effect"
import { limits } from "../../src/domain/limits.ts"
import { selects, ToolSelector } from "../../src/domain/selector.ts"

const accepts = Schema.is(ToolSelector)

/** The meaning, as short as it can be said. */
const naive = (selector: string, name: string): boolean =>
  selector === ""
    ? name === ""
    : selector[0] === "*"
      ? naive(selector.slice(1), name) || (name !== "" && naive(selector, name.slice(1)))
      : selector[0] === name[0] && naive(selector.slice(1), name.slice(1))

describe("a selector", () => {
  it.each([
    ["github.create_issue", "github.create_issue", true],
    ["github.create_issue", "github.create_issues", false],
    ["github.create_issue", "Github.create_issue", false],
    ["github.*", "github.create_issue", true],
    ["github.*", "github.", true],
    ["github.*", "github", false],
    ["github.*", "githubs.create_issue", false],
    ["*", "anything.at.all", true],
    ["*", "", true],
    ["*.delete_*", "github.delete_repo", true],
    ["*.delete_*", "delete_repo", false],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["a*b*c", "a.b.b.c", true],
    ["a*b*c", "a.c.b", false],
    ["**a**", "bab", true],
    ["ab*bc", "abc", false],
    ["github.(a|b)", "github.a", false],
    ["github.a?", "github.ab", false],
    ["github.[ab]", "github.a", false],
    ["github.", "githubx", false],
    ["github\\.*", "github.a", false],
    ["^a.b$", "a.b", false],
    ["größe.*", "größe.\u{1f600}", true]
  ])("%j selects %j: %s", (selector, name, expected) => assert.strictEqual(selects(selector, name), expected))

  it("means what a naive reading of it means", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", ".", "*"), maxLength: 10 })
    fc.assert(
      fc.property(
        text,
        text.map((name) => name.replaceAll("*", "c")),
        (selector, name) => {
          assert.strictEqual(selects(selector, name), naive(selector, name))
        }
      ),
      { numRuns: 5_000 }
    )
  })

  it("selects every name that it was made from by putting stars in place of pieces", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.boolean()), { minLength: 1 }), (pieces) => {
        const name = pieces.map(([piece]) => piece.replaceAll("*", "+")).join("")
        assert.isTrue(selects(pieces.map(([piece, star]) => (star ? "*" : piece.replaceAll("*", "+"))).join(""), name))
      })
    )
  })

  it("has 1 to 176 bytes on one line", () => {
    assert.strictEqual(limits.toolSelectorBytes, 176)
    for (const good of ["a", "*", "a".repeat(176), "é".repeat(88), "ns.a b"]) assert.isTrue(accepts(good), good)
    for (const bad of ["", "a".repeat(177), "é".repeat(88) + "a", "a\nb", "\u0000", "\ud800", 1, null])
      assert.isFalse(accepts(bad), String(bad))
  })

  describe("takes time that grows with the name and no faster", () => {
    const name = "a".repeat(1_000_000)
    it.each([
      ["a star before every letter", "*a".repeat(88)],
      ["a star before every letter, and an end that is not there", "*a".repeat(87) + "*b"],
      ["two letters between the stars", "*ab".repeat(58)],
      ["stars alone", "*".repeat(176)],
      ["a piece that nearly matches everywhere, but for its first letter", `*b${"a".repeat(173)}*`],
      ["a piece that nearly matches everywhere, but for its last letter", `*${"a".repeat(173)}b*`],
      ["a beginning and an end that overlap", `${"a".repeat(87)}*${"a".repeat(87)}`]
    ])("%s: a million letters in less than 100 ms", (_, selector) => {
      assert.isTrue(accepts(selector))
      // The best of a few: another process must not decide.
      const times = Array.from({ length: 5 }, () => {
        const from = performance.now()
        selects(selector, name)
        return performance.now() - from
      })
      assert.isBelow(Math.min(...times), 100)
    })
  })
})
