/** What tests hold an answer's body against: the schema of the contract, and no field more. */
import { assert } from "@effect/vitest"
import { Schema } from "effect"

export const assertShape = (schema: Schema.Decoder<unknown>, body: unknown) => {
  const decoded = Schema.decodeUnknownResult(schema, { onExcessProperty: "error", errors: "all" })(body)
  if (decoded._tag === "Failure") assert.fail(`${decoded.failure.message}\n${JSON.stringify(body)}`)
}
