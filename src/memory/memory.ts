/**
 * Memory: notes that outlive a thread, by key, in stores: one of each agent, and one of the workspace.
 *
 * A key is told apart by its bytes: `a//b`, `..` and a trailing `/` are legal, and all different.
 */
import { Schema } from "effect"
import { described } from "../domain/described.ts"
import { idOf } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import { Principal } from "../domain/principal.ts"
import { maxBytes, singleLine, storable, utf8Bytes } from "../domain/text.ts"
import { Timestamp } from "../domain/time.ts"

/** Of an agent, or of the workspace where it names none. */
export interface Store {
  readonly agentId?: string
}

export const MemoryKey = Schema.String.check(Schema.isMinLength(1), maxBytes(limits.memoryKeyBytes), singleLine)

/** What keys begin with. */
export const MemoryPrefix = Schema.String.check(maxBytes(limits.memoryKeyBytes), singleLine)

/** Words to look for, as in a web search. */
export const MemoryQuery = Schema.String.check(Schema.isMinLength(1), maxBytes(limits.memorySearchBytes), storable)

/** How long it may be is not the shape's to say: it has a refusal of its own (`isTooLong`). */
export const MemoryValue = Schema.String.check(storable)

export const isTooLong = (value: string) => utf8Bytes(value) > limits.memoryValueBytes

export const VersionId = described(idOf("memoryVersion"), "A version of the entry.")

/** What a client thinks that an entry is at: opaque to it, so that any text is a version, if not this one. */
export const ExpectedVersion = Schema.String.check(Schema.isMinLength(1), maxBytes(limits.memoryKeyBytes), storable)

/** No entry: for a write that is to create one, and nothing else. */
export const noEntry = "none"

const says = {
  key: "Key of the entry in its store.",
  size: "Bytes of the value, as UTF-8.",
  version: "Version of the entry: opaque, also its ETag, never used again.",
  threadId: "The thread in which an agent wrote it.",
  turnId: "The turn in which an agent wrote it."
}

export const MemoryItem = Schema.Struct({
  key: described(Schema.String, says.key),
  size: described(Schema.Int, says.size),
  version: described(Schema.String, says.version),
  updatedAt: described(Timestamp, "When it was last written."),
  updatedBy: described(Principal, "Who last wrote it.")
}).annotate({ identifier: "MemoryItem" })
export type MemoryItem = typeof MemoryItem.Type

export const MemoryEntry = Schema.Struct({
  key: described(Schema.String, says.key),
  value: described(Schema.String, "The note."),
  size: described(Schema.Int, says.size),
  version: described(Schema.String, says.version),
  createdAt: described(Timestamp, "When it was made, or made anew after a delete."),
  updatedAt: described(Timestamp, "When it was last written."),
  updatedBy: described(Principal, "Who last wrote it."),
  threadId: described(Schema.optionalKey(Schema.String), says.threadId),
  turnId: described(Schema.optionalKey(Schema.String), says.turnId)
}).annotate({ identifier: "MemoryEntry" })
export type MemoryEntry = typeof MemoryEntry.Type

export const MemoryVersion = Schema.Struct({
  version: described(Schema.String, "The version that this write or delete made."),
  previousVersion: described(
    Schema.optionalKey(Schema.String),
    "The version of the write or delete before it. Absent of the first."
  ),
  operation: described(Schema.Literals(["put", "delete"]), "Whether the entry was written or deleted."),
  size: described(Schema.Int, "Bytes of the value, as UTF-8; 0 of a delete."),
  createdAt: described(Timestamp, "When that was."),
  createdBy: described(Principal, "Who did it."),
  threadId: described(Schema.optionalKey(Schema.String), says.threadId),
  turnId: described(Schema.optionalKey(Schema.String), says.turnId),
  redactedAt: described(Schema.optionalKey(Timestamp), "Since when its value is gone for good."),
  value: described(
    Schema.optionalKey(Schema.String),
    "The value that was written. Only where one version is asked for; absent for a delete, and once it was redacted."
  )
}).annotate({ identifier: "MemoryVersion" })
export type MemoryVersion = typeof MemoryVersion.Type

export const MemoryHit = Schema.Struct({
  key: described(Schema.String, says.key),
  snippet: described(Schema.String, "A part of the value with the words that were looked for."),
  version: described(Schema.String, says.version),
  updatedAt: described(Timestamp, "When it was last written."),
  rank: described(Schema.Finite, "How well it fits, beside the others of this answer: more is better.")
}).annotate({ identifier: "MemoryHit" })
export type MemoryHit = typeof MemoryHit.Type
