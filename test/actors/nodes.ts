/** Connected nodes with a thread, for tests of what becomes of a command between them. */
import { Effect } from "effect"
import { type Node, startNode } from "./Node.ts"
import { create } from "./threads.ts"
import { connect } from "./Wire.ts"
import { makeWorld, pass, settle, type World } from "./World.ts"

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
