/** What a client may say of a thread: the body of a create, and of a patch. */
import { Schema } from "effect"
import { ProfileVersion } from "../agents/agent.ts"
import { UserContent } from "../domain/content.ts"
import { described } from "../domain/described.ts"
import { identityOf } from "../domain/identity.ts"
import { limits } from "../domain/limits.ts"
import { MaxCost } from "../domain/maxCost.ts"
import { Origin } from "../domain/principal.ts"
import { ModelSelector } from "../domain/modelSelector.ts"
import { maxChars, singleLine } from "../domain/text.ts"
import { AgentId } from "../domain/resourceIds.ts"

/** At most 200 characters, one line. An empty title is a title. */
export const Title = Schema.String.check(maxChars(limits.threadTitleChars), singleLine)

const MetadataKey = Schema.String.check(Schema.isMinLength(1), maxChars(limits.metadataKeyChars), singleLine)
const MetadataValue = Schema.String.check(maxChars(limits.metadataValueChars), singleLine)

const pairs = Schema.makeFilter<Readonly<Record<string, unknown>>>(
  (metadata) => Object.keys(metadata).length <= limits.metadataPairs || `at most ${limits.metadataPairs} pairs`,
  { toJsonSchema: () => ({ maxProperties: limits.metadataPairs }) }
)

/** At most 16 pairs; a key has 1 to 64 characters, a value at most 512. */
export const Metadata = Schema.Record(MetadataKey, MetadataValue).check(pairs)
export type Metadata = typeof Metadata.Type

/** Said once, of a create and of a patch. */
const says = {
  maxCost: "USD that the thread may cost in all. Absent: no limit.",
  title: "The thread's title, for people.",
  metadata: "Pairs for your own use."
}

export const ThreadInput = Schema.Struct({
  agentId: described(AgentId, "Agent that works in the thread."),
  identity: Schema.optionalKey(
    identityOf(
      "Identity that the thread works for. While that is disabled the thread gets no new work. Absent: the key's " +
        "identity, if it has one."
    )
  ),
  maxCost: described(Schema.optionalKey(MaxCost), says.maxCost),
  title: described(Schema.optionalKey(Title), says.title),
  metadata: described(Schema.optionalKey(Metadata), says.metadata),
  model: described(Schema.optionalKey(ModelSelector), "Model for the thread's turns. Absent: the profile's."),
  profileVersion: described(
    Schema.optionalKey(ProfileVersion),
    "Version of the agent's profile that the thread stays with. Absent: it follows its agent. Needs the scope `write`."
  ),
  message: described(
    Schema.optionalKey(
      Schema.Struct({
        content: described(UserContent, "The message."),
        origin: described(
          Schema.optionalKey(Origin),
          "The outside event that the message comes from. Only a trigger may say so."
        )
      })
    ),
    "First message: with it the thread starts at once."
  )
}).annotate({ identifier: "ThreadInput" })
export type ThreadInput = typeof ThreadInput.Type

/**
 * JSON Merge Patch: absent keeps, null clears; metadata merges pair by pair. The merged whole is checked again as
 * `ThreadEditable`.
 */
export const ThreadPatch = Schema.Struct({
  title: described(Schema.optionalKey(Schema.NullOr(Title)), says.title),
  metadata: described(
    Schema.optionalKey(Schema.NullOr(Schema.Record(MetadataKey, Schema.NullOr(MetadataValue)))),
    `${says.metadata} Merged pair by pair: a value of null removes its pair.`
  ),
  maxCost: described(Schema.optionalKey(Schema.NullOr(MaxCost)), says.maxCost)
}).annotate({ identifier: "ThreadPatch" })
export type ThreadPatch = typeof ThreadPatch.Type

/** What a patch is merged into. */
export const ThreadEditable = Schema.Struct({
  title: Schema.optionalKey(Title),
  metadata: Schema.optionalKey(Metadata),
  maxCost: Schema.optionalKey(MaxCost)
})
export type ThreadEditable = typeof ThreadEditable.Type
