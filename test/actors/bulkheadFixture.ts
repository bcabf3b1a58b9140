/** Threads that wait for slots of their workspace, and what has become of them. */
import { Effect } from "effect"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { freshId } from "../../src/seed.ts"
import { openTurns } from "../invariants.ts"
import { type Node, startNode } from "./Node.ts"
import { agentId, makeWorld, threadOf, type World } from "./World.ts"
import { ann, logOf, message } from "./threads.ts"

export const cancel: ThreadRequest = { type: "cancel", principal: ann, clearQueue: false }

/** A thread whose first turn goes by this script. */
export const begin = Effect.fnUntraced(function* (
  node: Node,
  text: string,
  ref: ActorRef = threadOf(freshId("thread")),
  more: object = {}
) {
  yield* node.registry.create(
    ref,
    { parent: agentId, attributes: JSON.stringify({ createdBy: ann, updatedBy: ann, ...more }) },
    { request: { type: "submit", creating: true, input: message(text) } }
  )
  return ref
})

export const setting = Effect.fnUntraced(function* (given: Partial<World>) {
  const world = Object.assign(makeWorld(), given)
  return { world, node: yield* startNode(world, () => undefined) }
})

export const isOver = (world: World, ref: ActorRef) => {
  const log = logOf(world, ref)
  return log.length > 0 && openTurns(log).length === 0
}
export const over = (world: World, refs: ReadonlyArray<ActorRef>) => refs.map((ref) => isOver(world, ref))
export const waitingFor = (node: Node, ref: ActorRef) => node.registry.waitingFor(ref, undefined)
export const waiting = (node: Node, refs: ReadonlyArray<ActorRef>) =>
  Effect.forEach(refs, (ref) => waitingFor(node, ref))
export const slots = (node: Node) => node.registry.wakeable.slots()
export const free = { turn: { used: 0, waiting: 0 }, call: { used: 0, waiting: 0 } }
