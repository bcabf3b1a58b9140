/**
 * What every submit asks of the configuration, from memory: an agent with its resolved profile, and
 * whether an identity is disabled.
 *
 * Y1. A hit is a look-up in a Map. A miss is one prepared read; concurrent misses of an agent share it,
 *     and none of them can take it from the others by leaving.
 * Y2. A write of this node is seen at once (`forget`, `mark`), one of another node after at most a
 *     second, or a beat of the lease where the auth revision was raised.
 * Y3. A read that began before a `forget` never fills the cache.
 */
import { Context, Deferred, Effect, Exit, Layer, Schedule, Stream } from "effect"
import { LRUCache } from "lru-cache"
import type { BudgetWindow } from "../domain/thread.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import type { Hook } from "../domain/hook.ts"
import type { ProfileContent, ProfileLimits } from "./profile.ts"
import { noTools } from "../roles/role.ts"
import { Lease } from "../journal/Lease.ts"
import { Database, type DatabaseUnavailable } from "../database/Database.ts"
import { readAgentBody } from "./rows.ts"
import { disabledIdentities, seeIdentities } from "../identities/rows.ts"
import { readContent } from "./profileRows.ts"
import { makeSightings } from "../identities/sightings.ts"

export interface ResolvedProfile {
  readonly profileId: string
  readonly version: number
  readonly models: ReadonlyArray<string>
  readonly systemPrompt?: string
  readonly limits: ProfileLimits
  /** Never empty: a profile that lists none has `no_tools`. */
  readonly roleIds: ReadonlyArray<string>
  readonly toolsetIds: ReadonlyArray<string>
  readonly families?: ProfileContent["families"]
  /** All of them, in order: their places are their indices. */
  readonly hooks: ReadonlyArray<Hook>
}

export interface AgentView {
  readonly agentId: string
  readonly archived: boolean
  readonly identity?: string
  readonly profileId: string
  /** The pinned version, or else the latest. */
  readonly profile: ResolvedProfile
  /** Of the agent's budget; 24h without one. */
  readonly window: BudgetWindow
}

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

const freshMs = 1000
const heldAgents = 20_000
const heldVersions = 5_000

interface Row {
  readonly profile: string
  readonly identity: string | null
  readonly body: unknown
  readonly archived: boolean
  readonly version: number
  readonly content: unknown
}

const oneAgent = `
  select a.profile, a.identity, a.body, a.archived_at is not null as archived, v.version, v.body as content
    from agents a
    join profiles p on p.workspace = a.workspace and p.id = a.profile
    join profile_versions v on v.workspace = a.workspace and v.profile = a.profile and v.version =
      coalesce(a.profile_version, p.version)
   where a.workspace = $1 and a.id = $2`

const oneVersion = `select body as content from profile_versions where workspace = $1 and profile = $2 and version = $3`

const resolved = (profileId: string, version: number, content: unknown): ResolvedProfile => {
  const { families, hooks, limits, models, roleIds, systemPrompt, toolsetIds } = readContent(content)
  return {
    profileId,
    version,
    models,
    limits,
    ...(systemPrompt !== undefined && { systemPrompt }),
    roleIds: roleIds.length === 0 ? [noTools.id] : roleIds,
    toolsetIds,
    ...(families !== undefined && { families }),
    hooks
  }
}

const viewOf = (agentId: string, row: Row, profile: ResolvedProfile): AgentView => ({
  agentId,
  archived: row.archived,
  ...(row.identity !== null && { identity: row.identity }),
  profileId: profile.profileId,
  profile,
  window: readAgentBody(row.body).budget?.window ?? "24h"
})

const make = Effect.gen(function* () {
  const database = yield* Database
  const lease = yield* Lease
  const agents = new LRUCache<string, { readonly view: AgentView; readonly until: number }>({ max: heldAgents })
  const versions = new LRUCache<string, ResolvedProfile>({ max: heldVersions })
  const asking = new Map<string, Deferred.Deferred<AgentView | undefined, DatabaseUnavailable>>()
  const keyOf = (workspace: string, id: string) => workspace + id

  /** A version is read once, however many agents follow it. */
  const hold = (workspace: string, profileId: string, version: number, content: unknown) => {
    const key = `${workspace}${profileId}${version}`
    const found = versions.get(key) ?? resolved(profileId, version, content)
    versions.set(key, found)
    return found
  }

  const peek = (workspace: string, agentId: string) => {
    const held = agents.get(keyOf(workspace, agentId))
    return held !== undefined && held.until > performance.now() ? held.view : undefined
  }

  const ask = Effect.fnUntraced(function* (workspace: string, agentId: string) {
    const key = keyOf(workspace, agentId)
    const others = asking.get(key)
    if (others) return yield* Deferred.await(others)
    const answer = Deferred.makeUnsafe<AgentView | undefined, DatabaseUnavailable>()
    asking.set(key, answer)
    const began = performance.now()
    // Of nobody who asks: whoever is first may leave, and the others wait for the same answer.
    yield* database
      .read<Row>({ name: "directory_agent", text: oneAgent, values: [toUuid(workspace), toUuid(agentId)] })
      .pipe(
        Effect.map(
          ([row]) =>
            row && viewOf(agentId, row, hold(workspace, fromUuid("profile", row.profile), row.version, row.content))
        ),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            if (asking.get(key) === answer) {
              // else forgotten meanwhile (Y3)
              asking.delete(key)
              if (Exit.isSuccess(exit) && exit.value) agents.set(key, { view: exit.value, until: began + freshMs })
            }
            Deferred.doneUnsafe(answer, exit)
          })
        ),
        Effect.forkDetach
      )
    return yield* Deferred.await(answer)
  })

  const forget = (workspace: string, agentId: string) => {
    agents.delete(keyOf(workspace, agentId))
    asking.delete(keyOf(workspace, agentId))
  }

  // Rare enough to look at all: a profile is written by a person.
  const forgetProfile = (workspace: string, profileId: string) => {
    for (const [key, { view }] of agents)
      if (view.profileId === profileId && key.startsWith(workspace)) agents.delete(key)
    asking.clear()
  }

  const profile = Effect.fnUntraced(function* (workspace: string, profileId: string, version: number) {
    const key = `${workspace}${profileId}${version}`
    const held = versions.get(key)
    if (held) return held
    const rows = yield* database.read<{ readonly content: unknown }>({
      name: "directory_version",
      text: oneVersion,
      values: [toUuid(workspace), toUuid(profileId), version]
    })
    if (rows[0] === undefined) return undefined
    return hold(workspace, profileId, version, rows[0].content)
  })

  let disabled = new Set<string>()
  let marks = 0
  const refresh = Effect.gen(function* () {
    const before = marks
    const all = yield* database.run("Directory.refresh", disabledIdentities)
    // A mark made while the answer was on its way may not be in it: ask again.
    if (marks !== before) return yield* Effect.fail("again" as const)
    disabled = new Set(all.map((one) => fromUuid("workspace", one.workspace) + one.identity))
  }).pipe(
    Effect.tapError((cause) =>
      cause === "again" ? Effect.void : Effect.logWarning("disabled identities could not be read", cause)
    ),
    Effect.retry(Schedule.spaced("200 millis")),
    Effect.orDie
  )

  yield* refresh
  yield* lease.authChanges.pipe(
    Stream.runForEach(() =>
      Effect.suspend(() => {
        agents.clear()
        asking.clear()
        return refresh
      })
    ),
    Effect.forkScoped
  )

  const sightings = makeSightings(lease.now)
  const writeSightings = Effect.suspend(() => {
    const seen = sightings.take()
    return seen.length === 0
      ? Effect.void
      : Effect.ignore(database.run("Directory.sightings", (db) => seeIdentities(db, seen)))
  })
  yield* Effect.addFinalizer(() => writeSightings)
  yield* Effect.forkScoped(Effect.forever(Effect.delay(writeSightings, "1 second")))

  return Directory.of({
    agent: (workspace, agentId) => {
      const held = peek(workspace, agentId)
      return held === undefined ? ask(workspace, agentId) : Effect.succeed(held)
    },
    peek,
    profile,
    identityDisabled: (workspace, identity) => {
      sightings.note(workspace, identity)
      return disabled.size > 0 && disabled.has(workspace + identity)
    },
    forget,
    forgetProfile,
    mark: (workspace, identity, isDisabled) => {
      marks++
      if (isDisabled) disabled.add(workspace + identity)
      else disabled.delete(workspace + identity)
    }
  })
})
