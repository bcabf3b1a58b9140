/**
 * What every submit asks of the configuration, from memory: an agent with its resolved profile, and
 * whether an identity is disabled.
 *
 * Y1. A hit is a look-up in a Map. A miss is one prepared read; concurrent misses of an agent share it,
 *     and none of them can take it from the others by leaving. An agent that was asked for since it was read
 *     is read again before its second is over, together with the others (renewed.ts).
 * Y2. A write of this node is seen at once (`forget`, `mark`), one of another node after at most a
 *     second, or a beat of the lease where the auth revision was raised.
 * Y3. A read that began before a `forget` never fills the cache.
 */
import { Context, Effect, Layer } from "effect"
import { Database, type DatabaseUnavailable } from "../database/Database.ts"
import { makeNoted } from "../database/noted.ts"
import { makeDisabled } from "../identities/disabled.ts"
import { seeIdentities } from "../identities/rows.ts"
import { Lease } from "../journal/Lease.ts"
import { type AgentView, makeAgentCache, type ResolvedProfile } from "./agentCache.ts"

export type { AgentView, ResolvedProfile } from "./agentCache.ts"

export class Directory extends Context.Service<
  Directory,
  {
    /** The agent, or undefined when the workspace has none with that id. Archived ones are found. */
    readonly agent: (workspace: string, agentId: string) => Effect.Effect<AgentView | undefined, DatabaseUnavailable>
    /** The same from memory alone: undefined is a miss, not an answer. */
    readonly peek: (workspace: string, agentId: string) => AgentView | undefined
    /** One version of a profile, for a thread that is pinned to it. Versions never change: cached for good. */
    readonly profile: (
      workspace: string,
      profileId: string,
      version: number
    ) => Effect.Effect<ResolvedProfile | undefined, DatabaseUnavailable>
    /** Whether new work in this name is refused. Asked for whoever works: being asked for counts as being seen. */
    readonly identityDisabled: (workspace: string, identity: string) => boolean
    /** The agent was written. */
    readonly forget: (workspace: string, agentId: string) => void
    /** A profile was written: whoever follows its latest version asks again. */
    readonly forgetProfile: (workspace: string, profileId: string) => void
    /** The identity was disabled or enabled by this node. */
    readonly mark: (workspace: string, identity: string, disabled: boolean) => void
  }
>()("troupe/agents/Directory") {
  static readonly layer = Layer.effect(
    Directory,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const database = yield* Database
  const { now } = yield* Lease
  const { clear, find, forget, forgetProfile, peek, profile } = yield* makeAgentCache(database)
  const disabled = yield* makeDisabled(clear)
  const noteSight = yield* makeNoted({
    now,
    pace: "1 second",
    write: (seen) => database.run("Directory.sightings", (db) => seeIdentities(db, seen))
  })

  return Directory.of({
    agent: find,
    peek,
    profile,
    identityDisabled: (workspace, identity) => {
      noteSight(workspace, identity)
      return disabled.has(workspace, identity)
    },
    forget,
    forgetProfile,
    mark: disabled.mark
  })
})
