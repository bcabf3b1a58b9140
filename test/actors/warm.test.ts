/**
 * What a node keeps of a thread that has left its memory: whoever thinks for a minute finds it as warm as they left it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { toRest } from "./Node.ts"
import { pass } from "./World.ts"
import { setting } from "./oneNode.ts"
import { submit } from "./threads.ts"

describe("a thread that comes back after a pause", () => {
  it.effect("is claimed and loaded, and its log is not read again", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting(0)
      const asked: Array<string> = []
      world.store.readFault = (read) => {
        asked.push(read)
        return undefined
      }
      for (const text of ["A", "B", "C"]) {
        yield* node.deliver(ref, { request: { ...submit(text), fresh: true } })
        yield* toRest(world, node, ref)
        yield* pass(2_000)
        assert.isFalse(node.registry.wakeable.isLive(ref), "it rests, and has left")
      }
      assert.lengthOf(
        asked.filter((read) => read === "claim"),
        2
      )
      assert.notInclude(asked, "log")
      assert.notInclude(asked, "input")
    })
  )
})
