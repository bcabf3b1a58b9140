/** Agents with their resolved profiles, as far as they are held in memory: Y1 and Y3 of Directory.ts. */
import { Effect, Option } from "effect"
import { LRUCache } from "lru-cache"
import type { Database, DatabaseUnavailable } from "../database/Database.ts"
import { uuids } from "../database/parameters.ts"
import { makeRenewed } from "../database/renewed.ts"
import { makeSharing } from "../database/sharing.ts"
import type { CompactionSettings } from "../domain/compactionSettings.ts"
import type { Hook } from "../domain/hook.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import type { ModelSettings } from "../domain/modelSettings.ts"
import type { BudgetWindow } from "../domain/thread.ts"
import { noTools } from "../roles/role.ts"
import type { ProfileContent, ProfileLimits, ProfileMemory } from "./profile.ts"
import { readProfileContent } from "./profileRows.ts"
import { readAgentBody } from "./rows.ts"

export interface ResolvedProfile {
  readonly profileId: string
  readonly version: number
  readonly models: ReadonlyArray<string>
  readonly systemPrompt?: string
  readonly sampling?: ModelSettings
  readonly compaction: CompactionSettings
  readonly limits: ProfileLimits
  /** Never empty: a profile that lists none has `no_tools`. */
  readonly roleIds: ReadonlyArray<string>
  readonly toolsetIds: ReadonlyArray<string>
  readonly families?: ProfileContent["families"]
  readonly familyExposure: ProfileContent["familyExposure"]
  readonly memory: ProfileMemory
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
  /** USD of the agent's budget, if it has one. */
  readonly limit?: number
  /** Of the agent's budget; 24h without one. */
  readonly window: BudgetWindow
}

const freshMs = 1000
const heldAgents = 20_000
const heldVersions = 5_000

/** Of an agent whose profile's version may be held already. */
interface AgentRow {
  readonly profile: string
  readonly identity: string | null
  readonly body: unknown
  readonly archived: boolean
  readonly version: number
}

interface Row extends AgentRow {
  readonly content: unknown
}

const oneAgent = `
  select a.profile, a.identity, a.body, a.archived_at is not null as archived, v.version, v.body as content
    from agents a
    join profiles p on p.workspace = a.workspace and p.id = a.profile
    join profile_versions v on v.workspace = a.workspace and v.profile = a.profile and v.version =
      coalesce(a.profile_version, p.version)
   where a.workspace = $1 and a.id = $2`

/** Without what versions hold: they never change, and may be long. */
const someAgents = `
  select a.id, a.profile, a.identity, a.body, a.archived_at is not null as archived,
      coalesce(a.profile_version, p.version) as version
    from unnest($1::uuid[], $2::uuid[]) as k(workspace, id)
    join agents a on a.workspace = k.workspace and a.id = k.id
    join profiles p on p.workspace = a.workspace and p.id = a.profile`

const oneVersion = `select body as content from profile_versions where workspace = $1 and profile = $2 and version = $3`

const resolved = (profileId: string, version: number, content: unknown): ResolvedProfile => {
  const {
    compaction,
    families,
    familyExposure,
    hooks,
    limits,
    memory,
    models,
    roleIds,
    sampling,
    systemPrompt,
    toolsetIds
  } = readProfileContent(content)
  return {
    profileId,
    version,
    models,
    compaction,
    limits,
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(sampling !== undefined && { sampling }),
    roleIds: roleIds.length === 0 ? [noTools.id] : roleIds,
    toolsetIds,
    ...(families !== undefined && { families }),
    familyExposure,
    memory,
    hooks
  }
}

const viewOf = (agentId: string, row: AgentRow, profile: ResolvedProfile): AgentView => {
  const { budget } = readAgentBody(row.body)
  return {
    agentId,
    archived: row.archived,
    ...(row.identity !== null && { identity: row.identity }),
    profileId: profile.profileId,
    profile,
    ...(budget !== undefined && { limit: budget.limit }),
    window: budget?.window ?? "24h"
  }
}

interface HeldAgent {
  readonly workspace: string
  readonly view: AgentView
}

/** What Directory says of agents and profiles. */
export const makeAgentCache = Effect.fnUntraced(function* (database: Database["Service"]) {
  const now = () => performance.now()
  const versions = new LRUCache<string, ResolvedProfile>({ max: heldVersions })
  const sharing = makeSharing<AgentView | undefined, DatabaseUnavailable>()
  const keyOf = (workspace: string, id: string) => workspace + id
  const versionKey = (workspace: string, profileId: string, version: number) => `${workspace}${profileId}${version}`

  /** Nothing where the agent's version is not held, or the row cannot be read: whoever asks reads it then. */
  const viewAgain = (held: ReadonlyMap<string, HeldAgent>, row: AgentRow & { readonly id: string }) => {
    const agentId = fromUuid("agent", row.id)
    const workspace = held.get(agentId)?.workspace
    if (workspace === undefined) return []
    const profile = versions.get(versionKey(workspace, fromUuid("profile", row.profile), row.version))
    if (profile === undefined) return []
    return Option.match(Option.liftThrowable(viewOf)(agentId, row, profile), {
      onNone: () => [],
      onSome: (view) => [[agentId, { workspace, view }] as const]
    })
  }

  const readAgain = (held: ReadonlyMap<string, HeldAgent>) => {
    const keys = [...held]
    return Effect.map(
      database.read<AgentRow & { readonly id: string }>({
        name: "directory_agents",
        text: someAgents,
        values: [uuids(keys, ([, { workspace }]) => workspace), uuids(keys, ([agentId]) => agentId)]
      }),
      (rows) => new Map(rows.flatMap((row) => viewAgain(held, row)))
    )
  }
  // By the agent's id alone: a text of both ids would be made, and hashed, for each look-up. The workspace is compared.
  const agents = yield* makeRenewed({ freshMs, most: heldAgents, now, read: readAgain })

  /** A version is read once, however many agents follow it. */
  const hold = (workspace: string, profileId: string, version: number, content: unknown) => {
    const key = versionKey(workspace, profileId, version)
    const found = versions.get(key) ?? resolved(profileId, version, content)
    versions.set(key, found)
    return found
  }

  const peek = (workspace: string, agentId: string) => {
    const held = agents.get(agentId)
    return held?.workspace === workspace ? held.view : undefined
  }

  const ask = (workspace: string, agentId: string) =>
    Effect.suspend(() => {
      const began = now()
      const read = database
        .read<Row>({ name: "directory_agent", text: oneAgent, values: [toUuid(workspace), toUuid(agentId)] })
        .pipe(
          Effect.map(
            ([row]) =>
              row && viewOf(agentId, row, hold(workspace, fromUuid("profile", row.profile), row.version, row.content))
          )
        )
      return sharing.ask(keyOf(workspace, agentId), read, (view) => {
        if (view !== undefined) agents.put(agentId, { workspace, view }, began)
      })
    })

  const forget = (workspace: string, agentId: string) => {
    agents.forget(agentId)
    sharing.forget(keyOf(workspace, agentId))
  }

  // Rare enough to look at all: a profile is written by a person.
  const forgetProfile = (workspace: string, profileId: string) => {
    agents.forgetWhere((held) => held.workspace === workspace && held.view.profileId === profileId)
    sharing.forgetAll()
  }

  const profile = Effect.fnUntraced(function* (workspace: string, profileId: string, version: number) {
    const held = versions.get(versionKey(workspace, profileId, version))
    if (held) return held
    const rows = yield* database.read<{ readonly content: unknown }>({
      name: "directory_version",
      text: oneVersion,
      values: [toUuid(workspace), toUuid(profileId), version]
    })
    if (rows[0] === undefined) return undefined
    return hold(workspace, profileId, version, rows[0].content)
  })

  return {
    peek,
    find: (workspace: string, agentId: string) => {
      const held = peek(workspace, agentId)
      return held === undefined ? ask(workspace, agentId) : Effect.succeed(held)
    },
    profile,
    forget,
    forgetProfile,
    /** Forgets all agents. Versions of profiles never change. */
    clear: () => {
      agents.clear()
      sharing.forgetAll()
    }
  }
})
