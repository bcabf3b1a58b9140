/** Strict decoding: all problems of a small value, the first of a large one. */
import { assert, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { problemsOf, sentence, wordsOf } from "../../src/domain/problems.ts"
import { strictly } from "../../src/domain/strict.ts"

const wordsFor = (schema: Schema.ConstraintDecoder<unknown>, value: unknown) =>
  Result.match(strictly(schema)(value), {
    onSuccess: () => "fits",
    onFailure: ({ issue }) => wordsOf(issue, "the value")
  })

const Numbers = Schema.Array(Schema.Number)

it("a value of 1,000 parts is told all that is wrong with it, one of 1,001 the first", () => {
  // The array itself is a part.
  const numbers = (parts: number) => Array.from({ length: parts - 1 }, () => "x")
  assert.strictEqual(
    wordsFor(Numbers, numbers(1_000)),
    `${[0, 1, 2, 3, 4].map((i) => `[${i}]: expected a number`).join("; ")}; and 994 more`
  )
  assert.strictEqual(wordsFor(Numbers, numbers(1_001)), "[0]: expected a number")
  const deep = (parts: number) => ({ list: [numbers(parts - 2)] })
  const Deep = Schema.Struct({ list: Schema.Array(Numbers) })
  assert.match(wordsFor(Deep, deep(1_000)), /; and 992 more$/)
  assert.strictEqual(wordsFor(Deep, deep(1_001)), "list[0][0]: expected a number")
  const record = (parts: number) => Object.fromEntries(numbers(parts).map((x, i) => [`k${i}`, x]))
  assert.match(wordsFor(Schema.Record(Schema.String, Schema.Number), record(1_000)), /; and 994 more$/)
  assert.strictEqual(wordsFor(Schema.Record(Schema.String, Schema.Number), record(1_001)), "k0: expected a number")
})

it("a place has one problem, and a check that relies on another one does no harm", () => {
  const Big = Schema.String.check(
    Schema.isPattern(/^\d+$/, { expected: "digits" }),
    Schema.makeFilter((text) => BigInt(text) < 10n || "less")
  )
  assert.strictEqual(wordsFor(Schema.Struct({ a: Big, b: Big }), { a: "x", b: "y" }), "a: expected digits")
  const Short = Schema.String.check(Schema.isMaxLength(1), Schema.isPattern(/^a/))
  assert.strictEqual(
    wordsFor(Schema.Struct({ a: Short }), { a: "bb" }),
    "a: expected a value with a length of at most 1"
  )
})

it("a value that is wrong as a whole is called by its name, and paths go on from where it stands", () => {
  assert.strictEqual(wordsFor(Numbers, 1), "the value: expected an array")
  const refused = strictly(Numbers)(["x"])
  assert(Result.isFailure(refused))
  assert.strictEqual(sentence(problemsOf(refused.failure.issue, "rewrite"), "rewrite"), "rewrite[0]: expected a number")
})
