/** What is kept of a list of tools that is longer than a toolset may be (src/tools/mcp/listing.ts). */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { listingOf } from "../../src/tools/mcp/listing.ts"

const offers = (many: number) =>
  Array.from({ length: many }, (_, i) => ({ name: `t${i}`, inputSchema: { type: "object" as const } }))
const listing = (many: number, complete: boolean) =>
  Effect.runPromise(listingOf(() => Effect.succeed(undefined), "n", { offers: offers(many), complete, tasks: false }))

describe("a list of tools", () => {
  it.each([
    [512, true, undefined],
    [513, true, "left out: what follows, since there are too many"],
    [512, false, "left out: what follows, since there are too many"],
    [600, false, "left out: what follows, since there are too many"]
  ])("of %i that is whole (%s) has the note %s", async (many, complete, note) => {
    const { note: told, tools } = await listing(many, complete)
    assert.lengthOf(tools, 512)
    assert.strictEqual(told, note)
  })
})
