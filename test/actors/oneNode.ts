/** A node with a thread, for tests of what its host promises. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Reply, Unreachable } from "../../actors/Actor.ts"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import type { SubmitMode } from "../../src/domain/content.ts"
import type { Hook } from "../../src/domain/hook.ts"
import type { Principal } from "../../src/domain/principal.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { keyOf } from "../../src/journal/MemoryStore.ts"
import { freshId } from "../../src/seed.ts"
import { recorded, violations } from "../invariants.ts"
import { told } from "./Client.ts"
import { type Node, startNode } from "./Node.ts"
import { connect } from "./Wire.ts"
import { agentId, makeWorld, threadOf, type World } from "./World.ts"

export const ann: Principal = { type: "user", id: "ann" }

export const submit = (
  text: string,
  mode: SubmitMode = "queue",
  inputId = freshId("input")
): Extract<ThreadRequest, { type: "submit" }> => ({
  type: "submit",
  input: { inputId, mode, content: [{ type: "text", text }], principal: ann }
})

export const bodyOf = ({ body }: Reply): Readonly<Record<string, unknown>> => ({
  ...(JSON.parse(body) as Readonly<Record<string, unknown>>)
})

export const birth = { parent: agentId, attributes: JSON.stringify({ createdBy: ann, updatedBy: ann }) }

export const create = Effect.fnUntraced(function* (node: Node) {
  const ref = threadOf(freshId("thread"))
  yield* node.registry.create(ref, birth, { request: { type: "create" } })
  return ref
})

export const start = (world: World, idleMs?: number) => startNode(world, () => undefined, idleMs)

/** A world with one node and one thread. */
export const setting = Effect.fnUntraced(function* (idleMs?: number) {
  const world = makeWorld()
  const node = yield* start(world, idleMs)
  return { world, node, ref: yield* create(node) }
})

/** The same, of a node that others can reach. */
export const reachable = Effect.fnUntraced(function* ({
  hooks = [],
  idleMs
}: {
  readonly hooks?: ReadonlyArray<Hook>
  readonly idleMs?: number
} = {}) {
  const world = makeWorld()
  world.hooks = hooks
  yield* connect(world)
  const node = yield* start(world, idleMs)
  return { world, node, ref: yield* create(node) }
})

export const logOf = ({ store }: World, ref: ActorRef) => {
  const log = (store.actors.get(keyOf(ref))?.facts ?? []).map(recorded)
  assert.deepStrictEqual(violations(log), [])
  return log
}
export const wordsOf = (world: World, ref: ActorRef) => told(logOf(world, ref))
export const rowOf = ({ store }: World, ref: ActorRef) => store.actors.get(keyOf(ref)) ?? assert.fail("no such actor")

/** The next commits fail so, once each. */
export const next = ({ store }: World, ...faults: ReadonlyArray<"unavailable" | "lost before" | "lost after">) => {
  const from = store.commits
  store.fault = (commit) => faults[commit - from - 1]
}

/** The next commits get no answer, and are not carried out. */
export const unavailable = ({ store }: World, commits = 1) => {
  const from = store.commits
  store.fault = (commit) => (commit <= from + commits ? "unavailable" : undefined)
}

/** Runs of a test's tools so far. */
export const runsOf = ({ runs }: World) => [...runs.values()].reduce((sum, n) => sum + n, 0)

/** In place of what the node prepares for such requests, where there is an answer. */
export const whenPreparing = (
  node: Node,
  type: ThreadRequest["type"],
  answer: () => Effect.Effect<never, Unreachable> | undefined
) => {
  const { prepare } = node.kind
  Object.assign(node.kind, {
    prepare: (being: Parameters<typeof prepare>[0], request: ThreadRequest, at: number) =>
      (request.type === type ? answer() : undefined) ?? prepare(being, request, at)
  })
}
