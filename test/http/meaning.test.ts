/** Which refusals the generated requests take for rules that the document has no words for. */
import { assert, describe, it } from "@effect/vitest"
import { operations, titleOf } from "./document.ts"
import { isOfMeaning } from "./meaning.ts"

const operation =
  operations.find((one) => titleOf(one) === "PATCH /v1/threads/{threadId}") ?? assert.fail("no such operation")

describe("a refusal of a rule that the document cannot say", () => {
  for (const name of ["plain", ".", "a.b", "[0]", "a: b", "x[1].y"])
    it(`is found at its place, whatever its name holds: ${name}`, () => {
      const isRule = (value: string) =>
        isOfMeaning(
          operation,
          { body: { metadata: { [name]: value } }, query: {} },
          `metadata.${name}: expected well-formed text`
        )
      assert.isTrue(isRule("\udfff\ud800"))
      assert.isFalse(isRule("well-formed"))
    })
})
