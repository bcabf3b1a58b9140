/**
 * Profile (design, section 9): a reusable behaviour of agents, kept as immutable versions.
 *
 * Memory and compaction settings belong to a profile too. Until they exist nothing could keep what they
 * promise, so they are unknown fields: refused, never stored in silence.
 */
import { Schema } from "effect"
import { Description, Name } from "./agent.ts"
import { ToolFamily } from "./event.ts"
import { Hook, HookInput } from "./hook.ts"
import { idOf } from "./ids.ts"
import { limits } from "./limits.ts"
import { allTools, RoleId } from "./role.ts"
import { maxBytes, maxChars, singleLine } from "./text.ts"
import { Timestamp } from "./time.ts"

/** Exact id (`provider/name`), `provider/*` or `@alias`; at most 512 characters. */
export const ModelSelector = Schema.String.check(
  maxChars(limits.selectorChars),
  singleLine,
  Schema.isPattern(/^(?:@[^\s/]+|[^\s@/][^\s/]*\/[^\s]+)$/u, { expected: "a model selector: provider/name, provider/* or @alias" })
).annotate({ identifier: "ModelSelector" })

const Models = Schema.Array(ModelSelector).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(limits.modelSelectors)
)

const whole = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))

/** Bounds of a turn: responses of the model, running seconds, tool calls at once. */
export const ProfileLimits = Schema.Struct({
  maxSteps: whole(limits.turn.maxSteps.most),
  maxTurnSeconds: whole(limits.turn.maxTurnSeconds.most),
  maxParallelTools: whole(limits.turn.maxParallelTools.most)
}).annotate({ identifier: "ProfileLimits" })
export type ProfileLimits = typeof ProfileLimits.Type

export const defaultLimits: ProfileLimits = {
  maxSteps: limits.turn.maxSteps.usual, maxTurnSeconds: limits.turn.maxTurnSeconds.usual, maxParallelTools: limits.turn.maxParallelTools.usual
}

const SystemPrompt = Schema.String.check(maxBytes(limits.systemPromptBytes))

const PartialLimits = Schema.Struct({
  maxSteps: Schema.optionalKey(ProfileLimits.fields.maxSteps),
  maxTurnSeconds: Schema.optionalKey(ProfileLimits.fields.maxTurnSeconds),
  maxParallelTools: Schema.optionalKey(ProfileLimits.fields.maxParallelTools)
})
const NullableLimits = Schema.Struct({
  maxSteps: Schema.optionalKey(Schema.NullOr(ProfileLimits.fields.maxSteps)),
  maxTurnSeconds: Schema.optionalKey(Schema.NullOr(ProfileLimits.fields.maxTurnSeconds)),
  maxParallelTools: Schema.optionalKey(Schema.NullOr(ProfileLimits.fields.maxParallelTools))
})

/** The families of built-in tools that this server has. */
export const servedFamilies: ReadonlyArray<typeof ToolFamily.Type> = ["thread", "agents", "connections"]

const Family = ToolFamily.check(Schema.makeFilter((family) =>
  servedFamilies.includes(family) || `must be one of ${servedFamilies.join(", ")}: the other tool families do not exist on this server yet`))

const distinct = <S extends Schema.Constraint>(entry: S, most: number) => Schema.Array(entry).check(Schema.isMaxLength(most), Schema.isUnique())

/** A hook goes on as one: its id stands once. */
const Hooks = Schema.Array(HookInput).check(
  Schema.isMaxLength(limits.hooksPerProfile),
  Schema.makeFilter((hooks) => {
    const at = hooks.findIndex(({ id }, i) => id !== undefined && hooks.findIndex((other) => other.id === id) < i)
    return at === -1 || { path: [at, "id"], issue: "must not stand twice" }
  })
)

const Families = distinct(Family, limits.revealedFamilies)
const RoleIds = distinct(RoleId, limits.rolesPerProfile)
const ToolsetIds = distinct(idOf("toolset"), limits.toolsetsPerProfile)

/** What a client may say of a profile: the body of a create, and what a patch is merged into. */
export const ProfileInput = Schema.Struct({
  name: Name,
  description: Schema.optionalKey(Description),
  models: Models,
  systemPrompt: Schema.optionalKey(SystemPrompt),
  limits: Schema.optionalKey(PartialLimits),
  /** Of built-in tools. */
  families: Schema.optionalKey(Families),
  toolsetIds: Schema.optionalKey(ToolsetIds),
  /** The built-in role `all_tools` when absent; an empty list allows no tool. */
  roleIds: Schema.optionalKey(RoleIds),
  /** Asked in this order. */
  hooks: Schema.optionalKey(Hooks)
}).annotate({ identifier: "ProfileInput" })
export type ProfileInput = typeof ProfileInput.Type

/** JSON Merge Patch of a profile: absent keeps, null clears. The merged whole is the next version. */
export const ProfilePatch = Schema.Struct({
  name: Schema.optionalKey(Name),
  description: Schema.optionalKey(Schema.NullOr(Description)),
  models: Schema.optionalKey(Models),
  systemPrompt: Schema.optionalKey(Schema.NullOr(SystemPrompt)),
  limits: Schema.optionalKey(Schema.NullOr(NullableLimits)),
  families: Schema.optionalKey(Schema.NullOr(Families)),
  toolsetIds: Schema.optionalKey(Schema.NullOr(ToolsetIds)),
  roleIds: Schema.optionalKey(Schema.NullOr(RoleIds)),
  hooks: Schema.optionalKey(Schema.NullOr(Hooks))
}).annotate({ identifier: "ProfilePatch" })
export type ProfilePatch = typeof ProfilePatch.Type

/** What one version holds, defaults filled in. Never changes once written. */
export const ProfileContent = Schema.Struct({
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  models: Schema.Array(Schema.String),
  systemPrompt: Schema.optionalKey(Schema.String),
  limits: ProfileLimits,
  families: Schema.optionalKey(Schema.Array(ToolFamily)),
  toolsetIds: Schema.Array(Schema.String),
  roleIds: Schema.Array(Schema.String),
  hooks: Schema.Array(Hook)
})
export type ProfileContent = typeof ProfileContent.Type

/** `updatedAt` is when this version was made. */
export const Profile = Schema.Struct({
  id: Schema.String,
  version: Schema.Int,
  ...ProfileContent.fields,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  /** Since when no agent may follow it any more, and nothing changes it. */
  archivedAt: Schema.optionalKey(Timestamp)
}).annotate({ identifier: "Profile" })
export type Profile = typeof Profile.Type

/** The content of a version from what a client said, with its hooks as they have their ids. */
export const contentOf = (input: ProfileInput, hooks: ReadonlyArray<Hook> = []): ProfileContent => ({
  name: input.name,
  ...(input.description !== undefined && { description: input.description }),
  models: input.models,
  ...(input.systemPrompt !== undefined && { systemPrompt: input.systemPrompt }),
  limits: { ...defaultLimits, ...input.limits },
  ...(input.families !== undefined && { families: input.families }),
  toolsetIds: input.toolsetIds ?? [],
  roleIds: input.roleIds ?? [allTools.id],
  hooks
})
