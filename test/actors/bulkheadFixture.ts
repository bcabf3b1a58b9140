/** Threads that wait for slots of their workspace, and what has become of them. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import type { Principal } from "../../src/domain/principal.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { keyOf } from "../../src/journal/MemoryStore.ts"
import { freshId } from "../../src/seed.ts"
import { openTurns, recorded, violations } from "../invariants.ts"
import { told } from "./Client.ts"
import { type Node, startNode } from "./Node.ts"
import { agentId, makeWorld, threadOf, type World } from "./World.ts"

export const ann: Principal = { type: "user", id: "ann" }
export const born = { createdBy: ann, updatedBy: ann }

export const message = (text: string) => ({
  inputId: freshId("input"),
  mode: "queue" as const,
  content: [{ type: "text" as const, text }],
  principal: ann
})
export const submit = (text: string): ThreadRequest => ({ type: "submit", input: message(text) })
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
    { parent: agentId, attributes: JSON.stringify({ ...born, ...more }) },
    { request: { type: "submit", creating: true, input: message(text) } }
  )
  return ref
})

export const setting = Effect.fnUntraced(function* (given: Partial<World>) {
  const world = Object.assign(makeWorld(), given)
  return { world, node: yield* startNode(world, () => undefined) }
})

export const recordOf = ({ store }: World, ref: ActorRef) => (store.actors.get(keyOf(ref))?.facts ?? []).map(recorded)
export const logOf = (world: World, ref: ActorRef) => {
  const log = recordOf(world, ref)
  assert.deepStrictEqual(violations(log), [])
  return told(log)
}
export const isOver = (world: World, ref: ActorRef) => {
  const log = recordOf(world, ref)
  return log.length > 0 && openTurns(log).length === 0
}
export const over = (world: World, refs: ReadonlyArray<ActorRef>) => refs.map((ref) => isOver(world, ref))
export const waitingFor = (node: Node, ref: ActorRef) => node.registry.waitingFor(ref, undefined)
export const waiting = (node: Node, refs: ReadonlyArray<ActorRef>) =>
  Effect.forEach(refs, (ref) => waitingFor(node, ref))
export const slots = (node: Node) => node.registry.wakeable.slots()
export const free = { turn: { used: 0, waiting: 0 }, call: { used: 0, waiting: 0 } }
