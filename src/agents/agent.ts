/** Agent (contract C12.1): a workspace's named worker, following a profile. */
import { Schema } from "effect"
import { described } from "../domain/described.ts"
import { idOf } from "../domain/ids.ts"
import { Identity, identityOf } from "../domain/identity.ts"
import { limits } from "../domain/limits.ts"
import { maxBytes, nonBlankLine, singleLine } from "../domain/text.ts"
import { BudgetWindow } from "../domain/thread.ts"
import { Timestamp } from "../domain/time.ts"
import { Description, Name } from "../domain/names.ts"

const Avatar = Schema.String.check(maxBytes(limits.avatarBytes), singleLine)
const Tag = Schema.String.check(nonBlankLine, maxBytes(limits.tagBytes))

/**
 * At most 32, each at most 64 bytes. A tag twice says nothing more than a tag once: refused, so that clients notice.
 */
export const Tags = Schema.Array(Tag).check(Schema.isMaxLength(limits.tagsPerAgent), Schema.isUnique())

/** USD; 0 is allowed and refuses every model that has a price. */
const Amount = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/** Said once, of what is sent and of what is answered. */
const says = {
  name: "The agent's name, for people.",
  profileId: "Profile that the agent follows.",
  profileVersion: "Version of the profile that the agent stays with. Absent: it follows the latest.",
  description: "The agent's purpose, in words for people.",
  avatar: "Picture of the agent, such as a URL: kept as it is, for your own interface.",
  identity: "Identity that the agent works as. While that is disabled the agent gets no new work.",
  tags: "Labels for your own use, each of them once.",
  budget: "Bound of the agent's spending on models. Absent: no limit.",
  limit: "USD that the agent may spend within the window. 0 leaves it only the models that cost nothing.",
  window: "Over which time spending is added up: the last 24 hours, the last 7 days, or all time."
}

export const Budget = Schema.Struct({
  limit: described(Amount, says.limit),
  window: described(BudgetWindow, says.window)
}).annotate({ identifier: "Budget" })
export type Budget = typeof Budget.Type

/** The version of a profile that an agent or thread is pinned to. */
export const ProfileVersion = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 }))

/** What a client may say of an agent: the body of a create, and what a patch is merged into. */
export const AgentInput = Schema.Struct({
  name: described(Name, says.name),
  profileId: described(idOf("profile"), says.profileId),
  profileVersion: described(Schema.optionalKey(ProfileVersion), says.profileVersion),
  description: described(Schema.optionalKey(Description), says.description),
  avatar: described(Schema.optionalKey(Avatar), says.avatar),
  identity: Schema.optionalKey(identityOf(says.identity)),
  tags: described(Schema.optionalKey(Tags), says.tags),
  budget: described(Schema.optionalKey(Budget), says.budget)
}).annotate({ identifier: "AgentInput" })
export type AgentInput = typeof AgentInput.Type

/** JSON Merge Patch of an agent: absent keeps, null clears. The merged whole is checked again as `AgentInput`. */
export const AgentPatch = Schema.Struct({
  name: described(Schema.optionalKey(Name), says.name),
  profileId: described(Schema.optionalKey(idOf("profile")), says.profileId),
  profileVersion: described(Schema.optionalKey(Schema.NullOr(ProfileVersion)), says.profileVersion),
  description: described(Schema.optionalKey(Schema.NullOr(Description)), says.description),
  avatar: described(Schema.optionalKey(Schema.NullOr(Avatar)), says.avatar),
  identity: described(Schema.optionalKey(Schema.NullOr(Identity)), says.identity),
  tags: described(Schema.optionalKey(Schema.NullOr(Tags)), says.tags),
  budget: described(
    Schema.optionalKey(
      Schema.NullOr(
        Schema.Struct({
          limit: described(Schema.optionalKey(Amount), says.limit),
          window: described(Schema.optionalKey(BudgetWindow), says.window)
        })
      )
    ),
    `${says.budget} Merged into the budget that the agent has: an agent without one needs both.`
  )
}).annotate({ identifier: "AgentPatch" })
export type AgentPatch = typeof AgentPatch.Type

export const Agent = Schema.Struct({
  id: described(Schema.String, "Id of the agent."),
  workspaceId: described(Schema.String, "Workspace that the agent belongs to."),
  profileId: described(Schema.String, says.profileId),
  createdAt: described(Timestamp, "When the agent was made."),
  tags: described(Schema.Array(Schema.String).check(Schema.isMaxLength(limits.tagsPerAgent)), says.tags),
  avatar: described(Schema.optionalKey(Schema.String), says.avatar),
  description: described(Schema.optionalKey(Schema.String), says.description),
  identity: described(Schema.optionalKey(Schema.String), says.identity),
  name: described(Schema.String, says.name),
  budget: described(Schema.optionalKey(Budget), says.budget),
  profileVersion: described(Schema.optionalKey(Schema.Int), says.profileVersion),
  updatedAt: described(Timestamp, "When its fields last changed."),
  archivedAt: described(
    Schema.optionalKey(Timestamp),
    "Since when it takes no new threads and no new work. Absent while it is active."
  )
}).annotate({ identifier: "Agent" })
export type Agent = typeof Agent.Type
