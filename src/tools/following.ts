/**
 * Toolsets' servers followed: what they offer is asked and written down when they announce a change or somebody asks
 * for it (T2 of Toolsets.ts), how they stand when a call shows it (T4).
 */
import { Effect, FiberMap, Result } from "effect"
import { Database, type DatabaseUnavailable } from "../database/Database.ts"
import { Lease } from "../journal/Lease.ts"
import { noteProbe } from "../toolsets/changes.ts"
import type { Probed } from "../toolsets/rows.ts"
import { noteSeen } from "../toolsets/status.ts"
import { listingOf, type Listed } from "./mcp/listing.ts"
import type { McpFailure } from "./mcp/McpFailure.ts"
import { type McpServer, Sessions } from "./mcp/Sessions.ts"
import { Schemas, type Unjudged } from "./Schemas.ts"
import { makeToolsetStanding, seenOf } from "./Standing.ts"

const refreshEvery = "5 seconds"

export interface Following {
  /** Where a toolset's server is; undefined where there is no such toolset. */
  readonly serverOf: (
    workspace: string,
    toolsetId: string
  ) => Effect.Effect<(McpServer & { readonly namespace: string }) | undefined, DatabaseUnavailable>
  /** What was read of a toolset is out of date. */
  readonly changed: (workspace: string, toolsetId: string) => void
}

/** What a server offers, asked in a session, and judged. */
const makeProbing = Effect.gen(function* () {
  const lease = yield* Lease
  const schemas = yield* Schemas
  const sessions = yield* Sessions

  const probedOf = Effect.fnUntraced(function* (
    workspace: string,
    namespace: string,
    asking: Effect.Effect<Listed, McpFailure>
  ): Effect.fn.Return<Probed, Unjudged> {
    const listed = yield* Effect.result(asking)
    // Schemas may wait long to be read: what calls have shown meanwhile is later than this.
    const at = lease.now()
    if (Result.isFailure(listed)) {
      const { message, reason } = listed.failure
      return { status: reason === "unauthorized" ? "unauthorized" : "unreachable", reason: message, at }
    }
    const { note, tools } = yield* listingOf((schema) => schemas.unusable(workspace, schema), namespace, listed.success)
    return { status: "ready", tools, at, ...(note !== undefined && { reason: note }) }
  })

  const probe = (workspace: string, namespace: string, server: McpServer) =>
    probedOf(
      workspace,
      namespace,
      sessions.probe(workspace, server, (session) => session.list)
    ).pipe(
      Effect.catchTag("Unjudged", ({ message }) =>
        Effect.sync((): Probed => ({ status: "unreachable", reason: message, at: lease.now() }))
      )
    )

  return { probe, probedOf }
})

export const makeFollowing = Effect.fnUntraced(function* ({ changed, serverOf }: Following) {
  const database = yield* Database
  const lease = yield* Lease
  const sessions = yield* Sessions
  const { probe, probedOf } = yield* makeProbing
  const keyOf = (workspace: string, toolsetId: string) => workspace + toolsetId

  const standing = yield* makeToolsetStanding(
    Effect.fnUntraced(function* ({ seen, server, toolsetId, workspace }) {
      const before = yield* database.atomically("toolsets.seen", (tx) =>
        noteSeen(tx, workspace, toolsetId, server, seen)
      )
      // It is back: what it offers may be another list, and its probe's note is gone.
      if (seen.status === "ready" && before !== undefined && before !== "ready") askAgain(workspace, toolsetId)
    })
  )

  /** In the session that is open: who announces a change has one. */
  const follow = Effect.fnUntraced(function* (workspace: string, toolsetId: string) {
    const server = yield* serverOf(workspace, toolsetId)
    if (server === undefined) return
    const probed = yield* probedOf(
      workspace,
      server.namespace,
      sessions.use(workspace, toolsetId, server, (session) => session.list)
    ).pipe(
      // The server has answered: what it offers is read again, in the next round.
      Effect.catchTag("Unjudged", () => Effect.sync(() => void askedAnew.add(keyOf(workspace, toolsetId))))
    )
    if (probed === undefined) return
    yield* database.atomically("toolsets.probed", (tx) => noteProbe(tx, workspace, toolsetId, server, probed))
    changed(workspace, toolsetId)
    if (probed.status !== "pending") standing.learn(workspace, toolsetId, { status: probed.status, at: probed.at })
  })

  const following = yield* FiberMap.make<string>()
  const run = yield* FiberMap.runtime(following)()
  const askedAnew = new Set<string>()
  const askAgain = (workspace: string, toolsetId: string) => {
    const key = keyOf(workspace, toolsetId)
    askedAnew.add(key)
    const rounds = Effect.gen(function* () {
      while (askedAnew.delete(key)) {
        yield* follow(workspace, toolsetId).pipe(
          Effect.catch((cause) =>
            Effect.logWarning("a toolset's change could not be written", {
              workspaceId: workspace,
              toolsetId,
              operation: cause.operation
            })
          )
        )
        yield* Effect.sleep(refreshEvery)
      }
    })
    run(key, rounds, { onlyIfMissing: true })
  }
  sessions.onChange((workspace, toolsetId, server, what) => {
    if (typeof what === "object") {
      standing.see({ workspace, toolsetId, server, seen: { status: "ready", wanted: what.wanted, at: lease.now() } })
    } else if (what === "announced" || !FiberMap.hasUnsafe(following, keyOf(workspace, toolsetId))) {
      // Whoever follows may have opened the session: that is no reason to follow once more.
      askAgain(workspace, toolsetId)
    }
  })

  return {
    probe,
    forget: standing.forget,
    /** A call has been tried; `failure` where it has failed. */
    tried: (workspace: string, toolsetId: string, server: McpServer, failure: McpFailure | undefined) => {
      const seen = seenOf(failure, lease.now())
      if (seen !== undefined) standing.see({ workspace, toolsetId, server, seen })
      else if (failure?.reason === "lost") askAgain(workspace, toolsetId)
    }
  }
})
