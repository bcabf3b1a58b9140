/** Memory: notes of an agent, and of the workspace, with their versions (contract C37). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { limits } from "../../src/domain/limits.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { AgentId } from "../../src/domain/resourceIds.ts"
import {
  ExpectedVersion,
  MemoryEntry,
  MemoryHit,
  MemoryItem,
  MemoryKey,
  MemoryPrefix,
  MemoryQuery,
  MemoryValue,
  MemoryVersion,
  VersionId
} from "../../src/memory/memory.ts"
import { OperationHandle } from "../../src/operations/operation.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { IfMatch } from "../etag.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { wholeNumber } from "../parameters.ts"

export const MemoryEntryAnswer = Schema.Struct({ entry: described(MemoryEntry, "The entry.") }).annotate({
  identifier: "MemoryEntryAnswer"
})
export const MemoryPage = Schema.Struct({
  entries: described(Schema.Array(MemoryItem), "Entries of this page, in the order of their keys' bytes."),
  nextCursor: NextCursor
}).annotate({ identifier: "MemoryPage" })
export const MemoryHits = Schema.Struct({
  entries: described(Schema.Array(MemoryHit), "Entries that fit, the best first.")
}).annotate({ identifier: "MemoryHits" })
export const MemoryVersionAnswer = Schema.Struct({ version: described(MemoryVersion, "The version.") }).annotate({
  identifier: "MemoryVersionAnswer"
})
export const MemoryVersionPage = Schema.Struct({
  versions: described(Schema.Array(MemoryVersion), "Versions of this page, newest first, without their values."),
  nextCursor: NextCursor
}).annotate({ identifier: "MemoryVersionPage" })

const bytes = limits.memoryValueBytes
export const MemoryInput = Schema.Struct({
  value: described(MemoryValue, `The note. At most ${bytes} bytes of UTF-8 after decoding: more is 413.`),
  expectedVersion: described(
    Schema.optionalKey(ExpectedVersion),
    "Write only while the entry is at this version; `none`: only where there is no entry."
  )
}).annotate({ identifier: "MemoryInput" })

const key = {
  key: described(
    Schema.optional(MemoryKey),
    "Key of the entry. Only a delete may leave it out: it means no entry then."
  )
}
const ifMatch = {
  "if-match": described(
    IfMatch["if-match"],
    "An entry's ETag, quotes and all: it means `expectedVersion`. `*`, the default, is any; a list, or anything else " +
      "but an ETag, is no version that an entry could have."
  )
}
const deleteIf = {
  expectedVersion: described(Schema.optional(ExpectedVersion), "Delete only while the entry is at this version.")
}

const list = {
  query: {
    prefix: described(Schema.optional(MemoryPrefix), "Beginning of the keys, byte by byte. Absent: all keys."),
    limit: limitOf("memoryEntries"),
    cursor: CursorParam
  },
  success: MemoryPage
}
const search = {
  query: {
    q: described(MemoryQuery, 'Words, "quoted phrases", `or`, and `-` before what is not to be there.'),
    limit: described(
      Schema.optional(wholeNumber(1, limits.memorySearch.most)),
      `Entries to find. ${limits.memorySearch.usual} when absent.`
    )
  },
  success: MemoryHits
}
const get = { query: key, success: MemoryEntryAnswer, error: refuses("key_required", "not_found") }
const put = {
  query: key,
  headers: ifMatch,
  payload: MemoryInput,
  success: [MemoryEntryAnswer, MemoryEntryAnswer.pipe(HttpApiSchema.status(201))] as const,
  error: refuses(
    "key_required",
    "not_found",
    "agent_archived",
    "memory_conflict",
    "memory_full",
    "payload_too_large",
    "queue_full"
  )
}
const remove = {
  query: { ...key, ...deleteIf },
  headers: ifMatch,
  success: OperationHandle,
  error: refuses("not_found", "memory_conflict", "queue_full")
}
const versions = {
  query: { ...key, limit: limitOf("memoryVersions"), cursor: CursorParam },
  success: MemoryVersionPage,
  error: refuses("key_required")
}
const version = { query: key, success: MemoryVersionAnswer, error: refuses("key_required", "not_found") }
const redact = { query: key, success: MemoryVersionAnswer, error: refuses("key_required", "memory_conflict") }

const reads = access("read", { lease: true })
const writes = access("write", { lease: true, parks: true, stores: "rows" })
const deletes = access("write", { lease: true, parks: true })

const says = (of: string, verb: string, description: string) =>
  OpenApi.annotations({ summary: `${verb} ${of}`, description })

const order = "In the order of their keys' bytes, without their values."
const found =
  "Full text search over keys and values. Words are taken as they are: no endings are cut off, and none are too common."
const current = "The ETag is its version."
const putting =
  "201 where there was no entry, 200 where it was changed. The comparison comes first; a value that is there already " +
  "writes nothing. Where an approval is needed, 404 and 409 come before it."
const deleting =
  "Answers with an operation: completed, or waiting for approval. Without `expectedVersion` it succeeds where " +
  "there is no entry."
const kept =
  `Newest first: the newest ${limits.memoryVersions}; of a deleted entry for ` + `${limits.memoryDeletedDays} days.`
const valued = "With its value, unless it is a delete or was redacted."
const gone = "The value is gone for good; the rest stays. Repeating it changes nothing. The current version is refused."

const own = "/agents/:agentId/memory"
const params = { agentId: AgentId }

/** Of an agent. */
export const MemoryApi = HttpApiGroup.make("memory")
  .add(
    HttpApiEndpoint.get("list", own, { ...list, params })
      .annotateMerge(reads)
      .annotateMerge(says("an agent's memory", "List", order)),
    HttpApiEndpoint.get("search", `${own}/search`, { ...search, params })
      .annotateMerge(reads)
      .annotateMerge(says("an agent's memory", "Search", found)),
    HttpApiEndpoint.get("get", `${own}/entry`, { ...get, params })
      .annotateMerge(reads)
      .annotateMerge(says("an entry of an agent's memory", "Get", current)),
    HttpApiEndpoint.put("put", `${own}/entry`, { ...put, params })
      .annotateMerge(writes)
      .annotateMerge(says("an entry of an agent's memory", "Write", putting)),
    HttpApiEndpoint.delete("delete", `${own}/entry`, { ...remove, params })
      .annotateMerge(deletes)
      .annotateMerge(says("an entry of an agent's memory", "Delete", deleting)),
    HttpApiEndpoint.get("versions", `${own}/entry/versions`, { ...versions, params })
      .annotateMerge(access("read"))
      .annotateMerge(says("versions of an entry of an agent's memory", "List", kept)),
    HttpApiEndpoint.get("version", `${own}/entry/versions/:versionId`, {
      ...version,
      params: { ...params, versionId: VersionId }
    })
      .annotateMerge(access("read"))
      .annotateMerge(says("a version of an entry of an agent's memory", "Get", valued)),
    HttpApiEndpoint.post("redact", `${own}/entry/versions/:versionId/redact`, {
      ...redact,
      params: { ...params, versionId: VersionId }
    })
      .annotateMerge(access("write"))
      .annotateMerge(says("a version of an entry of an agent's memory", "Redact", gone))
  )
  .annotateMerge(OpenApi.annotations({ description: "Durable notes of agents, which outlive their threads." }))

const shared = "/memory"

/** Of the workspace. */
export const SharedMemoryApi = HttpApiGroup.make("sharedMemory")
  .add(
    HttpApiEndpoint.get("list", shared, list)
      .annotateMerge(reads)
      .annotateMerge(says("the workspace's memory", "List", order)),
    HttpApiEndpoint.get("search", `${shared}/search`, search)
      .annotateMerge(reads)
      .annotateMerge(says("the workspace's memory", "Search", found)),
    HttpApiEndpoint.get("get", `${shared}/entry`, get)
      .annotateMerge(reads)
      .annotateMerge(says("an entry of the workspace's memory", "Get", current)),
    HttpApiEndpoint.put("put", `${shared}/entry`, put)
      .annotateMerge(writes)
      .annotateMerge(says("an entry of the workspace's memory", "Write", putting)),
    HttpApiEndpoint.delete("delete", `${shared}/entry`, remove)
      .annotateMerge(deletes)
      .annotateMerge(says("an entry of the workspace's memory", "Delete", deleting)),
    HttpApiEndpoint.get("versions", `${shared}/entry/versions`, versions)
      .annotateMerge(access("read"))
      .annotateMerge(says("versions of an entry of the workspace's memory", "List", kept)),
    HttpApiEndpoint.get("version", `${shared}/entry/versions/:versionId`, {
      ...version,
      params: { versionId: VersionId }
    })
      .annotateMerge(access("read"))
      .annotateMerge(says("a version of an entry of the workspace's memory", "Get", valued)),
    HttpApiEndpoint.post("redact", `${shared}/entry/versions/:versionId/redact`, {
      ...redact,
      params: { versionId: VersionId }
    })
      .annotateMerge(access("write"))
      .annotateMerge(says("a version of an entry of the workspace's memory", "Redact", gone))
  )
  .annotateMerge(OpenApi.annotations({ description: "Durable notes that all agents of the workspace share." }))
