/**
 * Profile: a reusable behaviour of agents, kept as immutable versions.
 */
import { Schema } from "effect"
import {
  CompactionInput,
  CompactionPatch,
  CompactionSettings,
  defaultCompaction
} from "../domain/compactionSettings.ts"
import { described } from "../domain/described.ts"
import { ToolFamily } from "../domain/event.ts"
import { Hook, HookInput } from "../domain/hook.ts"
import { idOf } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import { ModelSelector } from "../domain/modelSelector.ts"
import { ModelSettings, ModelSettingsPatch } from "../domain/modelSettings.ts"
import { allTools } from "../roles/role.ts"
import { maxBytes } from "../domain/text.ts"
import { Timestamp } from "../domain/time.ts"
import { Description, Name } from "../domain/names.ts"
import { RoleId } from "../domain/resourceIds.ts"

const Models = Schema.Array(ModelSelector).check(Schema.isMinLength(1), Schema.isMaxLength(limits.modelSelectors))

const whole = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))

/** Said once, of what is sent and of what is answered. */
const says = {
  name: "The profile's name, for people.",
  description: "The profile's purpose, in words for people.",
  models: "Models to use, tried in this order: exact ids, `provider/*` or `@alias`.",
  systemPrompt: "Instructions at the beginning of every model call of the agent.",
  sampling: "How the models write. Absent: as they do by default.",
  compaction: "When a conversation gives way to a summary of its beginning.",
  limits: "Bounds of a turn.",
  maxSteps: `Model responses that a turn may take. ${limits.turn.maxSteps.usual} when absent.`,
  maxTurnSeconds:
    `Seconds that a turn may run; they begin anew whenever it leaves a wait. ${limits.turn.maxTurnSeconds.usual} ` +
    "when absent.",
  maxParallelTools: `Tool calls that a turn may run at once. ${limits.turn.maxParallelTools.usual} when absent.`,
  families:
    "Families of built-in tools that the agent may be offered. This server has `thread`, `agents`, " +
    "`connections`, `memory`, `feeds` and `subscriptions`.",
  familyExposure:
    "Whether the model sees the tools of families from the start, or only once `tool_search` has revealed their " +
    "family. `search` when absent.",
  memory: "Rights of the agent in the memory stores, by tools of the family `memory` and under its leases.",
  memoryAgent: "Rights in its own store: read and write, read, or nothing. `rw` when absent.",
  memoryWorkspace: "Rights in the store of the workspace: read and write, read, or nothing. `r` when absent.",
  toolsetIds: "Toolsets whose tools the agent may be offered.",
  roleIds: "Roles that say which calls are allowed. Absent: the built-in role `all_tools`. Empty: no call is.",
  hooks: "Hooks that judge what happens in a turn, asked in this order."
}

/** Bounds of a turn: responses of the model, running seconds, tool calls at once. */
export const ProfileLimits = Schema.Struct({
  maxSteps: described(whole(limits.turn.maxSteps.most), says.maxSteps),
  maxTurnSeconds: described(whole(limits.turn.maxTurnSeconds.most), says.maxTurnSeconds),
  maxParallelTools: described(whole(limits.turn.maxParallelTools.most), says.maxParallelTools)
}).annotate({ identifier: "ProfileLimits" })
export type ProfileLimits = typeof ProfileLimits.Type

export const defaultLimits: ProfileLimits = {
  maxSteps: limits.turn.maxSteps.usual,
  maxTurnSeconds: limits.turn.maxTurnSeconds.usual,
  maxParallelTools: limits.turn.maxParallelTools.usual
}

const SystemPrompt = Schema.String.check(maxBytes(limits.systemPromptBytes))

const PartialLimits = Schema.Struct({
  maxSteps: described(Schema.optionalKey(ProfileLimits.fields.maxSteps), says.maxSteps),
  maxTurnSeconds: described(Schema.optionalKey(ProfileLimits.fields.maxTurnSeconds), says.maxTurnSeconds),
  maxParallelTools: described(Schema.optionalKey(ProfileLimits.fields.maxParallelTools), says.maxParallelTools)
})
const NullableLimits = Schema.Struct({
  maxSteps: described(Schema.optionalKey(Schema.NullOr(ProfileLimits.fields.maxSteps)), says.maxSteps),
  maxTurnSeconds: described(
    Schema.optionalKey(Schema.NullOr(ProfileLimits.fields.maxTurnSeconds)),
    says.maxTurnSeconds
  ),
  maxParallelTools: described(
    Schema.optionalKey(Schema.NullOr(ProfileLimits.fields.maxParallelTools)),
    says.maxParallelTools
  )
})

/** The families of built-in tools that this server has. */
export const servedFamilies: ReadonlyArray<typeof ToolFamily.Type> = [
  "thread",
  "agents",
  "connections",
  "memory",
  "feeds",
  "schedules",
  "subscriptions"
]

const Family = ToolFamily.check(
  Schema.makeFilter(
    (family) =>
      servedFamilies.includes(family) ||
      `must be one of ${servedFamilies.join(", ")}: the other tool families do not exist on this server yet`,
    {
      toJsonSchema: () => ({ enum: [...servedFamilies] })
    }
  )
)

const distinct = <S extends Schema.Constraint>(entry: S, most: number) =>
  Schema.Array(entry).check(Schema.isMaxLength(most), Schema.isUnique())

/** A hook goes on as one: its id stands once. */
const Hooks = Schema.Array(HookInput).check(
  Schema.isMaxLength(limits.hooksPerProfile),
  Schema.makeFilter(
    (hooks) => {
      const at = hooks.findIndex(({ id }, i) => id !== undefined && hooks.findIndex((other) => other.id === id) < i)
      return at === -1 || { path: [at, "id"], issue: "must not stand twice" }
    },
    { toJsonSchema: () => [{ description: "Each id stands once." }, true] }
  )
)

const Families = distinct(Family, limits.revealedFamilies)
const RoleIds = distinct(RoleId, limits.rolesPerProfile)
const ToolsetIds = distinct(idOf("toolset"), limits.toolsetsPerProfile)

const FamilyExposure = Schema.Literals(["search", "always"])

const MemoryMode = Schema.Literals(["rw", "r", "off"])
export type MemoryMode = typeof MemoryMode.Type

/** What an agent may do in its own memory store, and in that of the workspace. */
export const ProfileMemory = Schema.Struct({
  agent: described(MemoryMode, says.memoryAgent),
  workspace: described(MemoryMode, says.memoryWorkspace)
}).annotate({ identifier: "ProfileMemory" })
export type ProfileMemory = typeof ProfileMemory.Type

export const defaultMemory: ProfileMemory = { agent: "rw", workspace: "r" }

const PartialMemory = Schema.Struct({
  agent: described(Schema.optionalKey(MemoryMode), says.memoryAgent),
  workspace: described(Schema.optionalKey(MemoryMode), says.memoryWorkspace)
})
const NullableMemory = Schema.Struct({
  agent: described(Schema.optionalKey(Schema.NullOr(MemoryMode)), says.memoryAgent),
  workspace: described(Schema.optionalKey(Schema.NullOr(MemoryMode)), says.memoryWorkspace)
})

/** What a client may say of a profile: the body of a create, and what a patch is merged into. */
export const ProfileInput = Schema.Struct({
  name: described(Name, says.name),
  description: described(Schema.optionalKey(Description), says.description),
  models: described(Models, says.models),
  systemPrompt: described(Schema.optionalKey(SystemPrompt), says.systemPrompt),
  sampling: described(Schema.optionalKey(ModelSettings), says.sampling),
  compaction: described(Schema.optionalKey(CompactionInput), says.compaction),
  limits: described(Schema.optionalKey(PartialLimits), says.limits),
  families: described(Schema.optionalKey(Families), says.families),
  familyExposure: described(Schema.optionalKey(FamilyExposure), says.familyExposure),
  memory: described(Schema.optionalKey(PartialMemory), says.memory),
  toolsetIds: described(Schema.optionalKey(ToolsetIds), says.toolsetIds),
  roleIds: described(Schema.optionalKey(RoleIds), says.roleIds),
  hooks: described(Schema.optionalKey(Hooks), says.hooks)
}).annotate({ identifier: "ProfileInput" })
export type ProfileInput = typeof ProfileInput.Type

/** JSON Merge Patch of a profile: absent keeps, null clears. The merged whole is the next version. */
export const ProfilePatch = Schema.Struct({
  name: described(Schema.optionalKey(Name), says.name),
  description: described(Schema.optionalKey(Schema.NullOr(Description)), says.description),
  models: described(Schema.optionalKey(Models), says.models),
  systemPrompt: described(Schema.optionalKey(Schema.NullOr(SystemPrompt)), says.systemPrompt),
  sampling: described(Schema.optionalKey(Schema.NullOr(ModelSettingsPatch)), says.sampling),
  compaction: described(Schema.optionalKey(Schema.NullOr(CompactionPatch)), says.compaction),
  limits: described(Schema.optionalKey(Schema.NullOr(NullableLimits)), says.limits),
  families: described(Schema.optionalKey(Schema.NullOr(Families)), says.families),
  familyExposure: described(Schema.optionalKey(Schema.NullOr(FamilyExposure)), says.familyExposure),
  memory: described(Schema.optionalKey(Schema.NullOr(NullableMemory)), says.memory),
  toolsetIds: described(Schema.optionalKey(Schema.NullOr(ToolsetIds)), says.toolsetIds),
  roleIds: described(Schema.optionalKey(Schema.NullOr(RoleIds)), says.roleIds),
  hooks: described(Schema.optionalKey(Schema.NullOr(Hooks)), says.hooks)
}).annotate({ identifier: "ProfilePatch" })
export type ProfilePatch = typeof ProfilePatch.Type

/** What one version holds, defaults filled in. Never changes once written. */
export const ProfileContent = Schema.Struct({
  name: described(Schema.String, says.name),
  description: described(Schema.optionalKey(Schema.String), says.description),
  models: described(Schema.Array(Schema.String), says.models),
  systemPrompt: described(Schema.optionalKey(Schema.String), says.systemPrompt),
  sampling: described(Schema.optionalKey(ModelSettings), says.sampling),
  compaction: described(CompactionSettings, says.compaction),
  limits: described(ProfileLimits, says.limits),
  families: described(Schema.optionalKey(Schema.Array(ToolFamily)), says.families),
  familyExposure: described(FamilyExposure, says.familyExposure),
  memory: described(ProfileMemory, says.memory),
  toolsetIds: described(Schema.Array(Schema.String), says.toolsetIds),
  roleIds: described(Schema.Array(Schema.String), says.roleIds),
  hooks: described(Schema.Array(Hook), says.hooks)
})
export type ProfileContent = typeof ProfileContent.Type

/** `updatedAt` is when this version was made. */
export const Profile = Schema.Struct({
  id: described(Schema.String, "Id of the profile: the same in all its versions."),
  version: described(Schema.Int, "Number of this version, from 1."),
  ...ProfileContent.fields,
  createdAt: described(Timestamp, "When the profile was made."),
  updatedAt: described(Timestamp, "When this version was made."),
  archivedAt: described(
    Schema.optionalKey(Timestamp),
    "Since when no agent may follow it and nothing changes it. Absent while it is in use."
  )
}).annotate({ identifier: "Profile" })
export type Profile = typeof Profile.Type

/** The content of a version from what a client said, with its hooks as they have their ids. */
export const profileContentOf = (input: ProfileInput, hooks: ReadonlyArray<Hook> = []): ProfileContent => ({
  name: input.name,
  ...(input.description !== undefined && { description: input.description }),
  models: input.models,
  ...(input.systemPrompt !== undefined && { systemPrompt: input.systemPrompt }),
  ...(input.sampling !== undefined && { sampling: input.sampling }),
  compaction: { ...defaultCompaction, ...input.compaction },
  limits: { ...defaultLimits, ...input.limits },
  ...(input.families !== undefined && { families: input.families }),
  familyExposure: input.familyExposure ?? "search",
  memory: { ...defaultMemory, ...input.memory },
  toolsetIds: input.toolsetIds ?? [],
  roleIds: input.roleIds ?? [allTools.id],
  hooks
})
