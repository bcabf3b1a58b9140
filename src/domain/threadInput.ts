/** What a client may say of a thread: the body of a create, and of a patch (design, section 2). */
import { Schema } from "effect"
import { AgentId, ProfileVersion } from "./agent.ts"
import { UserContent } from "./content.ts"
import { Identity } from "./identity.ts"
import { limits } from "./limits.ts"
import { Origin } from "./principal.ts"
import { ModelSelector } from "./profile.ts"
import { maxChars, singleLine } from "./text.ts"

/** At most 200 characters, one line. An empty title is a title. */
export const Title = Schema.String.check(maxChars(limits.threadTitleChars), singleLine)

/** USD, more than 0. */
export const MaxCost = Schema.Finite.check(Schema.isGreaterThan(0))

const MetadataKey = Schema.String.check(Schema.isMinLength(1), maxChars(limits.metadataKeyChars), singleLine)
const MetadataValue = Schema.String.check(maxChars(limits.metadataValueChars), singleLine)

const pairs = Schema.makeFilter<Readonly<Record<string, unknown>>>((metadata) =>
  Object.keys(metadata).length <= limits.metadataPairs || `at most ${limits.metadataPairs} pairs`, { toJsonSchema: () => ({ maxProperties: limits.metadataPairs }) })

/** At most 16 pairs; a key has 1 to 64 characters, a value at most 512. */
export const Metadata = Schema.Record(MetadataKey, MetadataValue).check(pairs)
export type Metadata = typeof Metadata.Type

export const ThreadInput = Schema.Struct({
  agentId: AgentId,
  identity: Schema.optionalKey(Identity),
  maxCost: Schema.optionalKey(MaxCost),
  title: Schema.optionalKey(Title),
  metadata: Schema.optionalKey(Metadata),
  model: Schema.optionalKey(ModelSelector),
  profileVersion: Schema.optionalKey(ProfileVersion),
  message: Schema.optionalKey(Schema.Struct({ content: UserContent, origin: Schema.optionalKey(Origin) }))
}).annotate({ identifier: "ThreadInput" })
export type ThreadInput = typeof ThreadInput.Type

/** JSON Merge Patch: absent keeps, null clears; metadata merges pair by pair. The merged whole is checked again as `ThreadEditable`. */
export const ThreadPatch = Schema.Struct({
  title: Schema.optionalKey(Schema.NullOr(Title)),
  metadata: Schema.optionalKey(Schema.NullOr(Schema.Record(MetadataKey, Schema.NullOr(MetadataValue)))),
  maxCost: Schema.optionalKey(Schema.NullOr(MaxCost))
}).annotate({ identifier: "ThreadPatch" })
export type ThreadPatch = typeof ThreadPatch.Type

/** What a patch is merged into. */
export const ThreadEditable = Schema.Struct({
  title: Schema.optionalKey(Title),
  metadata: Schema.optionalKey(Metadata),
  maxCost: Schema.optionalKey(MaxCost)
})
export type ThreadEditable = typeof ThreadEditable.Type
