/** Connected nodes with threads, for tests of what becomes of a command between them. */
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
import { told } from "./Client.ts"
import { type Node, startNode } from "./Node.ts"
import { connect } from "./Wire.ts"
import { agentId, makeWorld, pass, settle, threadOf, type World } from "./World.ts"

export const ann: Principal = { type: "user", id: "ann" }

export const submit = (
  text: string,
  more: { readonly mode?: SubmitMode; readonly inputId?: string; readonly identity?: string } = {}
): Extract<ThreadRequest, { type: "submit" }> => {
  const { identity, inputId = freshId("input"), mode = "queue" } = more
  return {
    type: "submit",
    input: {
      inputId,
      mode,
      content: [{ type: "text", text }],
      principal: identity === undefined ? ann : { ...ann, identity }
    }
  }
}

export const bodyOf = ({ body }: Reply): Readonly<Record<string, unknown>> => ({
  ...(JSON.parse(body) as Readonly<Record<string, unknown>>)
})
export const row = ({ store }: World, ref: ActorRef) => store.actors.get(keyOf(ref)) ?? assert.fail("no such actor")
export const logOf = ({ store }: World, ref: ActorRef) => {
  const log = (store.actors.get(keyOf(ref))?.facts ?? []).map(recorded)
  assert.deepStrictEqual(violations(log), [])
  return told(log)
}

/** Born on that node, in one of its shards. */
export const create = Effect.fnUntraced(function* (node: Node) {
  const ref = threadOf(node.registry.freshId("thread"))
  yield* node.registry.create(
    ref,
    { parent: agentId, attributes: JSON.stringify({ createdBy: ann }) },
    { request: { type: "create" } }
  )
  return ref
})

/** A world of so many connected nodes, and a thread of the first. */
export const setting = Effect.fnUntraced(function* (count = 3, idleMs?: number) {
  const world = makeWorld()
  const wire = yield* connect(world)
  const nodes: Array<Node> = []
  for (let i = 0; i < count; i++) nodes.push(yield* startNode(world, () => undefined, idleMs))
  yield* settle
  const [a, b, c] = nodes
  return { world, wire, a: a!, b: b!, c: c!, ref: yield* create(a!) }
})

/** One more node, when it has got what it is to have: threads at rest of others move to it. */
export const join = (world: World, idleMs?: number) =>
  Effect.tap(
    startNode(world, () => undefined, idleMs),
    () => pass(200)
  )

/** What the API does when there is nobody to give an input to (`post` of actors/thread/layer.ts). */
export const post = (node: Node, ref: ActorRef, request: Extract<ThreadRequest, { type: "submit" }>) =>
  node.journal.post({
    id: request.input.inputId,
    actor: ref,
    command: JSON.stringify({ ...request, acknowledged: true })
  })
