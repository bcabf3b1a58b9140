/**
 * Profile (design, section 9): a reusable behaviour of agents, kept as immutable versions.
 *
 * Roles, toolsets, hooks, families, memory and compaction settings belong to a profile too. Until
 * they exist nothing could keep what they promise, so lists of them must be empty and the others
 * are unknown fields: refused, never stored in silence.
 */
import { Schema } from "effect"
import { Description, Name } from "./agent.ts"
import { limits } from "./limits.ts"
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
  maxSteps: whole(1000),
  maxTurnSeconds: whole(86_400),
  maxParallelTools: whole(64)
}).annotate({ identifier: "ProfileLimits" })
export type ProfileLimits = typeof ProfileLimits.Type

export const defaultLimits: ProfileLimits = { maxSteps: 50, maxTurnSeconds: 3600, maxParallelTools: 8 }

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

const noneYet = (what: string) =>
  Schema.Array(Schema.Unknown).check(Schema.makeFilter((list) => list.length === 0 || `an empty list: ${what} do not exist on this server`, {
    toJsonSchema: () => ({ maxItems: 0 })
  }))
const empties = {
  families: Schema.optionalKey(noneYet("tool families")),
  toolsetIds: Schema.optionalKey(noneYet("toolsets")),
  roleIds: Schema.optionalKey(noneYet("roles")),
  hooks: Schema.optionalKey(noneYet("hooks"))
}

/** What a client may say of a profile: the body of a create, and what a patch is merged into. */
export const ProfileInput = Schema.Struct({
  name: Name,
  description: Schema.optionalKey(Description),
  models: Models,
  systemPrompt: Schema.optionalKey(SystemPrompt),
  limits: Schema.optionalKey(PartialLimits),
  ...empties
}).annotate({ identifier: "ProfileInput" })
export type ProfileInput = typeof ProfileInput.Type

/** JSON Merge Patch of a profile: absent keeps, null clears. The merged whole is the next version. */
export const ProfilePatch = Schema.Struct({
  name: Schema.optionalKey(Name),
  description: Schema.optionalKey(Schema.NullOr(Description)),
  models: Schema.optionalKey(Models),
  systemPrompt: Schema.optionalKey(Schema.NullOr(SystemPrompt)),
  limits: Schema.optionalKey(Schema.NullOr(NullableLimits)),
  ...empties
}).annotate({ identifier: "ProfilePatch" })
export type ProfilePatch = typeof ProfilePatch.Type

/** What one version holds, defaults filled in. Never changes once written. */
export const ProfileContent = Schema.Struct({
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  models: Schema.Array(Schema.String),
  systemPrompt: Schema.optionalKey(Schema.String),
  limits: ProfileLimits
})
export type ProfileContent = typeof ProfileContent.Type

/** `updatedAt` is when this version was made. */
export const Profile = Schema.Struct({
  id: Schema.String,
  version: Schema.Int,
  ...ProfileContent.fields,
  toolsetIds: Schema.Array(Schema.String),
  roleIds: Schema.Array(Schema.String),
  hooks: Schema.Array(Schema.Unknown),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({ identifier: "Profile" })
export type Profile = typeof Profile.Type

/** The content of a version from what a client said. */
export const contentOf = (input: ProfileInput): ProfileContent => ({
  name: input.name,
  ...(input.description !== undefined && { description: input.description }),
  models: input.models,
  ...(input.systemPrompt !== undefined && { systemPrompt: input.systemPrompt }),
  limits: { ...defaultLimits, ...input.limits }
})
