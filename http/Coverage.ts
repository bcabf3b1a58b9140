/**
 * Two credentials reach only a part of their workspace: a lease its own agent, its own thread and what its agent has
 * asked for and subscribed to; a trigger the threads of its agents and its feeds. The gate asks by the ids in the path,
 * for every endpoint alike, so that no handler can forget it.
 *
 * V1. Things out of reach are answered as if they were not there.
 * V2. A thread never changes its agent: whose it is is read once.
 */
import { Context, Effect, Layer } from "effect"
import { LRUCache } from "lru-cache"
import { Database, type DatabaseUnavailable } from "../src/database/Database.ts"
import { isIdOf } from "../src/domain/ids.ts"
import { requestedBy } from "../src/operations/requestedBy.ts"
import { agentOfSubscription } from "../src/subscriptions/rows.ts"
import { ThreadReads } from "../src/threads/ThreadReads.ts"
import type { Caller } from "./Caller.ts"

/** The ids of a path. */
export type PathIds = Readonly<Record<string, string | undefined>>

export class Coverage extends Context.Service<
  Coverage,
  Pick<Owners, "agentOf"> & {
    /** Whether the credential reaches all that the path names. Without a question for those that reach everything. */
    readonly covers: (caller: Caller["Service"], ids: PathIds) => Effect.Effect<boolean, DatabaseUnavailable>
  }
>()("troupe/http/Coverage") {
  static readonly layer = Layer.effect(
    Coverage,
    Effect.suspend(() => make)
  )
  /** For APIs without threads and operations. */
  static readonly layerOfPaths = Layer.sync(Coverage, () =>
    Coverage.of(
      makeCoverage({
        agentOf: () => Effect.succeed(undefined),
        subscriber: () => Effect.succeed(undefined),
        asker: () => Effect.succeed(undefined)
      })
    )
  )
}

/** Parameters of paths that it knows the owner of. A schedule stands behind its agent, of which it is read. */
const known = ["agentId", "threadId", "operationId", "feedId", "scheduleId", "subscriptionId"]

/** Those of a path that it does not: an endpoint with one is for credentials that reach everything. */
export const unknownIn = (path: string): ReadonlyArray<string> =>
  [...path.matchAll(/:(\w+)/g)].flatMap(([, name = ""]) => (known.includes(name) ? [] : [name]))

interface Owners {
  /** Of a thread; undefined where there is none. */
  readonly agentOf: (workspace: string, threadId: string) => Effect.Effect<string | undefined, DatabaseUnavailable>
  /** Of a subscription; undefined where there is none. */
  readonly subscriber: (
    workspace: string,
    subscriptionId: string
  ) => Effect.Effect<string | undefined, DatabaseUnavailable>
  /** The id of the principal that asked. */
  readonly asker: (workspace: string, operationId: string) => Effect.Effect<string | undefined, DatabaseUnavailable>
}

const yes = Effect.succeed(true)
const no = Effect.succeed(false)
const isThread = isIdOf("thread")
const isOperation = isIdOf("operation")
const isSubscription = isIdOf("subscription")

const makeCoverage = ({ agentOf, asker, subscriber }: Owners): Coverage["Service"] => ({
  agentOf,
  covers: ({ lease, trigger, workspace }, { agentId, feedId, operationId, subscriptionId, threadId }) => {
    if (lease !== undefined) {
      if (agentId !== undefined && agentId !== lease.agentId) return no
      if (threadId !== undefined && threadId !== lease.threadId) return no
      if (subscriptionId !== undefined)
        return isSubscription(subscriptionId)
          ? Effect.map(subscriber(workspace, subscriptionId), (id) => id === lease.agentId)
          : no
      if (operationId === undefined) return yes
      return isOperation(operationId) ? Effect.map(asker(workspace, operationId), (id) => id === lease.agentId) : no
    }
    if (trigger !== undefined) {
      if (agentId !== undefined && !trigger.agentIds.has(agentId)) return no
      if (operationId !== undefined || subscriptionId !== undefined) return no
      if (feedId !== undefined && !trigger.feedIds.has(feedId)) return no
      if (threadId === undefined) return yes
      return isThread(threadId)
        ? Effect.map(agentOf(workspace, threadId), (id) => id !== undefined && trigger.agentIds.has(id))
        : no
    }
    return yes
  }
})

const make = Effect.gen(function* () {
  const database = yield* Database
  const reads = yield* ThreadReads
  const agents = new LRUCache<string, string>({ max: 10_000 })

  return Coverage.of(
    makeCoverage({
      agentOf: (workspace, threadId) => {
        const key = workspace + threadId
        const held = agents.get(key)
        if (held !== undefined) return Effect.succeed(held)
        return Effect.map(reads.standing(workspace, threadId), (standing) => {
          if (standing !== undefined) agents.set(key, standing.agentId)
          return standing?.agentId
        })
      },
      subscriber: (workspace, subscriptionId) =>
        database.run("subscriptions.agentOf", (db) => agentOfSubscription(db, workspace, subscriptionId)),
      asker: (workspace, operationId) =>
        Effect.map(
          database.run("operations.askedBy", (db) => requestedBy(db, workspace, operationId)),
          (principal) => (principal?.type === "agent" ? principal.id : undefined)
        )
    })
  )
})
