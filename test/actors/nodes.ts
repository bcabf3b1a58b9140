/** Connected nodes with a thread, for tests of what becomes of a command between them. */
import { Effect } from "effect"
import { shardOf } from "../../src/journal/shard.ts"
import { freshId } from "../../src/seed.ts"
import { type Node, startNode } from "./Node.ts"
import { birth, create } from "./threads.ts"
import { connect } from "./Wire.ts"
import { makeWorld, pass, settle, threadOf, type World } from "./World.ts"

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

/** A thread that is born on `node`, and whose shard is `other`'s. */
export const bornAwayFrom = Effect.fnUntraced(function* (node: Node, other: Node) {
  let ref = threadOf(freshId("thread"))
  while (node.placement.of(shardOf(ref.id)) !== other.incarnation) ref = threadOf(freshId("thread"))
  yield* node.registry.create(ref, birth, { request: { type: "create" } })
  return ref
})
