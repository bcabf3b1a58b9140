/** Agent (specification, Agent; design, section 9): a workspace's named worker, following a profile. */
import { Schema } from "effect"
import { idOf } from "./ids.ts"
import { Identity } from "./identity.ts"
import { limits } from "./limits.ts"
import { maxBytes, maxChars, nonBlank, singleLine } from "./text.ts"
import { BudgetWindow } from "./thread.ts"
import { Timestamp } from "./time.ts"

export const AgentId = idOf("agent")

/** Names of agents, profiles and keys: one line, 1 to 128 characters, not blank. */
export const Name = Schema.String.check(maxChars(limits.agentNameChars), singleLine, nonBlank)

export const Description = Schema.String.check(maxBytes(limits.agentDescriptionBytes))
const Avatar = Schema.String.check(maxBytes(limits.avatarBytes), singleLine)
const Tag = Schema.String.check(nonBlank, maxBytes(limits.tagBytes), singleLine)

/** At most 32, each at most 64 bytes. A tag twice says nothing more than a tag once: refused, so that clients notice. */
export const Tags = Schema.Array(Tag).check(
  Schema.isMaxLength(limits.tagsPerAgent),
  Schema.isUnique()
)

/** USD; 0 is allowed and refuses every model that has a price. */
const Amount = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

export const Budget = Schema.Struct({ limit: Amount, window: BudgetWindow }).annotate({ identifier: "Budget" })
export type Budget = typeof Budget.Type

/** The version of a profile that an agent or thread is pinned to. */
export const ProfileVersion = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 }))

/** What a client may say of an agent: the body of a create, and what a patch is merged into. */
export const AgentInput = Schema.Struct({
  name: Name,
  profileId: idOf("profile"),
  profileVersion: Schema.optionalKey(ProfileVersion),
  description: Schema.optionalKey(Description),
  avatar: Schema.optionalKey(Avatar),
  identity: Schema.optionalKey(Identity),
  tags: Schema.optionalKey(Tags),
  budget: Schema.optionalKey(Budget)
}).annotate({ identifier: "AgentInput" })
export type AgentInput = typeof AgentInput.Type

/** JSON Merge Patch of an agent: absent keeps, null clears. The merged whole is checked again as `AgentInput`. */
export const AgentPatch = Schema.Struct({
  name: Schema.optionalKey(Name),
  profileId: Schema.optionalKey(idOf("profile")),
  profileVersion: Schema.optionalKey(Schema.NullOr(ProfileVersion)),
  description: Schema.optionalKey(Schema.NullOr(Description)),
  avatar: Schema.optionalKey(Schema.NullOr(Avatar)),
  identity: Schema.optionalKey(Schema.NullOr(Identity)),
  tags: Schema.optionalKey(Schema.NullOr(Tags)),
  budget: Schema.optionalKey(Schema.NullOr(Schema.Struct({
    limit: Schema.optionalKey(Amount),
    window: Schema.optionalKey(BudgetWindow)
  })))
}).annotate({ identifier: "AgentPatch" })
export type AgentPatch = typeof AgentPatch.Type

export const Agent = Schema.Struct({
  id: Schema.String,
  workspaceId: Schema.String,
  profileId: Schema.String,
  createdAt: Timestamp,
  tags: Schema.Array(Schema.String).check(Schema.isMaxLength(limits.tagsPerAgent)),
  avatar: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  identity: Schema.optionalKey(Schema.String),
  name: Schema.String,
  budget: Schema.optionalKey(Budget),
  profileVersion: Schema.optionalKey(Schema.Int),
  updatedAt: Timestamp,
  archivedAt: Schema.optionalKey(Timestamp)
}).annotate({ identifier: "Agent" })
export type Agent = typeof Agent.Type
