/** A node with a thread, for tests of what its host promises, and what goes wrong with it. */
import { Effect } from "effect"
import type { Unreachable } from "../../actors/Actor.ts"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import type { Hook } from "../../src/domain/hook.ts"
import { type ActorRef, type JournalUnavailable, Superseded } from "../../src/journal/Journal.ts"
import { type Node, startNode } from "./Node.ts"
import { create, rowOf, submit } from "./threads.ts"
import { connect } from "./Wire.ts"
import { makeWorld, type World } from "./World.ts"

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

/** The next commits meet these faults, one each. */
export const next = ({ store }: World, ...faults: ReadonlyArray<"unavailable" | "lost before" | "lost after">) => {
  const from = store.commits
  store.fault = (commit) => faults[commit - from - 1]
}

/** The next commits get no answer, and are not carried out. */
export const unavailable = (world: World, commits = 1) =>
  next(world, ...Array.from({ length: commits }, () => "unavailable" as const))

/** Runs of a test's tools so far. */
export const runsOf = ({ runs }: World) => [...runs.values()].reduce((sum, n) => sum + n, 0)

/** Requests of the type are prepared once `answer` has come to its end, or fail as it does. */
export const whenPreparing = <Type extends ThreadRequest["type"]>(
  node: Node,
  type: Type,
  answer: (request: Extract<ThreadRequest, { readonly type: Type }>, at: number) => Answer | undefined
) => {
  const { prepare } = node.kind
  const isSuch = (request: ThreadRequest): request is Extract<ThreadRequest, { readonly type: Type }> =>
    request.type === type
  Object.assign(node.kind, {
    prepare: (being: Parameters<typeof prepare>[0], request: ThreadRequest, at: number) =>
      Effect.andThen((isSuch(request) ? answer(request, at) : undefined) ?? Effect.void, prepare(being, request, at))
  })
}
type Answer = Effect.Effect<void, Unreachable>

/** The model calls of a node: how many it has begun from now on, and how many of them are under way. */
export const modelCalls = (node: Node) => {
  const { perform } = node.kind
  const calls = { begun: 0, underWay: 0 }
  const counted = <A, E, R>(call: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      calls.begun++
      calls.underWay++
      return Effect.ensuring(
        call,
        Effect.sync(() => {
          calls.underWay--
        })
      )
    })
  Object.assign(node.kind, {
    perform: (...[being, job, start]: Parameters<typeof perform>) =>
      job.type === "sample" ? counted(perform(being, job, start)) : perform(being, job, start)
  })
  return calls
}

/** The node's next append is committed, and told as refused. */
export const misreport = (node: Node) => {
  const { append } = node.journal
  let appends = 0
  Object.assign(node.journal, {
    append: (given: Parameters<typeof append>[0]) =>
      Effect.andThen(
        append(given),
        Effect.suspend(() => (appends++ === 0 ? Effect.fail(new Superseded({ actor: given.actor })) : Effect.void))
      )
  })
}

/** Fails the node's first release so; says how many it has tried. */
export const failRelease = (node: Node, failing: Effect.Effect<never, JournalUnavailable>) => {
  const { release } = node.journal
  let releases = 0
  Object.assign(node.journal, {
    release: (given: Parameters<typeof release>[0]) => (releases++ === 0 ? failing : release(given))
  })
  return () => releases
}

/** The actor cannot be loaded any more, until it is mended. */
export const spoil = (world: World, ref: ActorRef) => {
  const row = rowOf(world, ref)
  const { carry } = row.head
  row.head = { ...row.head, carry: "{ not JSON" }
  return () => {
    row.head = { ...row.head, carry }
  }
}

/** A thread of a node that was killed in its turn, which the next node cannot load until it is mended. */
export const unloadable = Effect.fnUntraced(function* () {
  const { node, ref, world } = yield* reachable()
  yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
  yield* node.kill
  const mend = spoil(world, ref)
  return { world, ref, mend, node: yield* start(world) }
})
