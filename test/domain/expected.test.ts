/** Errors that are answers. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { ExpectedError } from "../../src/domain/expected.ts"

class No extends ExpectedError("No")<{ readonly message: string; readonly of?: string }> {
  get told() {
    return `${this.message}, says ${this.of ?? "nobody"}`
  }
}

it("is an error of its class, with its fields and without a stack", () => {
  const error = new No({ message: "not today", of: "us" })
  assert.instanceOf(error, No)
  assert.instanceOf(error, Error)
  assert.deepStrictEqual(
    [error._tag, error.message, error.of, error.told],
    ["No", "not today", "us", "not today, says us"]
  )
  assert.strictEqual(error.stack?.split("\n").length, 1)
})

it("fails an effect that yields it, and is caught by its tag", () => {
  const refused = Effect.gen(function* () {
    return yield* new No({ message: "not today" })
  })
  const caught = Effect.catchTag(refused, "No", ({ told }) => Effect.succeed(told))
  assert.deepStrictEqual(Effect.runSyncExit(caught), Exit.succeed("not today, says nobody"))
})

it("leaves the stacks of all other errors as they are", () => {
  new No({ message: "not today" })
  assert.include(new Error("a defect").stack, "expected.test")
})
