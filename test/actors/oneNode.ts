/** A node with a thread, for tests of what its host promises. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Reply } from "../../actors/Actor.ts"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import type { SubmitMode } from "../../src/domain/content.ts"
import type { Principal } from "../../src/domain/principal.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { keyOf } from "../../src/journal/MemoryStore.ts"
import { freshId } from "../../src/seed.ts"
import { recorded, violations } from "../invariants.ts"
import { agentId, makeWorld, type Node, startNode, threadOf, type World } from "./World.ts"

export const ann: Principal = { type: "user", id: "ann" }

export const submit = (text: string, mode: SubmitMode = "queue", inputId = freshId("input")): ThreadRequest => ({
  type: "submit",
  input: { inputId, mode, content: [{ type: "text", text }], principal: ann }
})

export const bodyOf = ({ body }: Reply): Readonly<Record<string, unknown>> => ({
  ...(JSON.parse(body) as Readonly<Record<string, unknown>>)
})

export const create = Effect.fnUntraced(function* (node: Node) {
  const ref = threadOf(freshId("thread"))
  const attributes = JSON.stringify({ createdBy: ann, updatedBy: ann })
  yield* node.registry.create(ref, { parent: agentId, attributes }, { request: { type: "create" } })
  return ref
})

export const start = (world: World, idleMs?: number) => startNode(world, () => undefined, idleMs)

/** A world with one node and one thread. */
export const setting = Effect.fnUntraced(function* (idleMs?: number) {
  const world = makeWorld()
  const node = yield* start(world, idleMs)
  return { world, node, ref: yield* create(node) }
})

export const logOf = ({ store }: World, ref: ActorRef) => {
  const log = (store.actors.get(keyOf(ref))?.facts ?? []).map(recorded)
  assert.deepStrictEqual(violations(log), [])
  return log
}
export const row = ({ store }: World, ref: ActorRef) => store.actors.get(keyOf(ref)) ?? assert.fail("no such actor")

/** The next commits fail so, once each. */
export const next = ({ store }: World, ...faults: ReadonlyArray<"unavailable" | "lost before" | "lost after">) => {
  const from = store.commits
  store.fault = (commit) => faults[commit - from - 1]
}
