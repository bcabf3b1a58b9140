/**
 * Kinds of hints that came later, between nodes of two versions: none is lost for the sake of one that is not known.
 */
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import type { News } from "../../src/bus/hints.ts"
import { readHints, writeHints } from "../../src/bus/wire.ts"

const queue = (pending: number): News => ({ type: "queue", pending })
const progress = (progress: number): News => ({ type: "progress", toolCallId: "call_1", progress })

/**
 * As the version before reads a message: it knows no other field, and refuses the whole for one hint that it does not
 * know.
 */
const before = Schema.decodeUnknownSync(
  Schema.Struct({ hints: Schema.Array(Schema.Struct({ type: Schema.Literal("queue"), pending: Schema.Int })) })
)
const jsonOf = (data: Uint8Array): unknown => JSON.parse(Buffer.from(data).toString())

describe("a hint of a kind that came later", () => {
  const hints = [queue(1), queue(2), progress(1), progress(2), queue(3)]

  it("is passed over by a node that does not know it, which takes all others", () => {
    assert.deepStrictEqual(
      writeHints(hints).flatMap((data) => before(jsonOf(data)).hints),
      [queue(1), queue(2), queue(3)]
    )
  })

  it("arrives in its place, in as few messages as that takes", () => {
    const written = writeHints(hints)
    assert.lengthOf(written, 3)
    assert.deepStrictEqual(
      written.flatMap((data) => Result.getOrThrow(readHints(data))),
      hints
    )
  })

  it("that is not known here is passed over, and none that goes with it", () => {
    const sent = Buffer.from(
      JSON.stringify({ v: 1, hints: [], later: [{ type: "of tomorrow" }, 7, progress(1), { type: "progress" }] })
    )
    assert.deepStrictEqual(Result.getOrThrow(readHints(sent)), [progress(1)])
  })
})
