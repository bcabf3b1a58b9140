/**
 * What a node keeps of a thread that has left its memory: whoever thinks for a minute finds it as warm as they left it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import { freshId } from "../../src/seed.ts"
import { startNode, toRest } from "./Node.ts"
import { agentId, makeWorld, pass, threadOf } from "./World.ts"

const ann = { type: "user" as const, id: "ann" }
const birth = { parent: agentId, attributes: JSON.stringify({ createdBy: ann, updatedBy: ann }) }
const submit = (text: string): ThreadRequest => ({
  type: "submit",
  fresh: true,
  input: { inputId: freshId("input"), mode: "queue", content: [{ type: "text", text }], principal: ann }
})

describe("a thread that comes back after a pause", () => {
  it.effect("is claimed and loaded, and its log is not read again", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const node = yield* startNode(world, () => undefined, 0)
      const ref = threadOf(freshId("thread"))
      yield* node.registry.create(ref, birth, { request: { type: "create" } })
      const asked: Array<string> = []
      world.store.readFault = (read) => {
        asked.push(read)
        return undefined
      }
      for (const text of ["A", "B", "C"]) {
        yield* node.deliver(ref, { request: submit(text) })
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
