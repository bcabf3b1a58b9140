/** Where notes are: of an agent, or of the workspace. */
import { answerOf, type Troupe } from "../../../src/client/client.ts"
import type { components } from "../../../src/client/types.ts"
import type { PageQuery } from "../parts/Listing.tsx"

type Schemas = components["schemas"]

export interface Notes {
  readonly name: string
  readonly list: (query: PageQuery, signal: AbortSignal) => Promise<Schemas["MemoryPage"]>
  readonly search: (q: string, signal: AbortSignal) => Promise<Schemas["MemoryHits"]>
  readonly entry: (key: string, signal: AbortSignal) => Promise<Schemas["MemoryEntryAnswer"]>
  readonly versions: (key: string, query: PageQuery, signal: AbortSignal) => Promise<Schemas["MemoryVersionPage"]>
  readonly version: (key: string, versionId: string, signal: AbortSignal) => Promise<Schemas["MemoryVersionAnswer"]>
  /** Only while the entry is at `expectedVersion`; `none`: only where there is no entry. */
  readonly write: (key: string, value: string, expectedVersion: string) => Promise<unknown>
  readonly remove: (key: string, expectedVersion: string) => Promise<unknown>
  /** The value of a version that is not the current one goes for good. */
  readonly redact: (key: string, versionId: string) => Promise<unknown>
}

export const ofAgent = ({ api }: Troupe, agentId: string): Notes => {
  const path = { agentId }
  return {
    name: agentId,
    list: (query, signal) => answerOf(api.GET("/v1/agents/{agentId}/memory", { params: { path, query }, signal })),
    search: (q, signal) =>
      answerOf(api.GET("/v1/agents/{agentId}/memory/search", { params: { path, query: { q } }, signal })),
    entry: (key, signal) =>
      answerOf(api.GET("/v1/agents/{agentId}/memory/entry", { params: { path, query: { key } }, signal })),
    versions: (key, query, signal) =>
      answerOf(
        api.GET("/v1/agents/{agentId}/memory/entry/versions", { params: { path, query: { ...query, key } }, signal })
      ),
    version: (key, versionId, signal) =>
      answerOf(
        api.GET("/v1/agents/{agentId}/memory/entry/versions/{versionId}", {
          params: { path: { agentId, versionId }, query: { key } },
          signal
        })
      ),
    write: (key, value, expectedVersion) =>
      answerOf(
        api.PUT("/v1/agents/{agentId}/memory/entry", {
          params: { path, query: { key } },
          body: { value, expectedVersion }
        })
      ),
    remove: (key, expectedVersion) =>
      answerOf(api.DELETE("/v1/agents/{agentId}/memory/entry", { params: { path, query: { key, expectedVersion } } })),
    redact: (key, versionId) =>
      answerOf(
        api.POST("/v1/agents/{agentId}/memory/entry/versions/{versionId}/redact", {
          params: { path: { agentId, versionId }, query: { key } }
        })
      )
  }
}

export const ofWorkspace = ({ api }: Troupe): Notes => ({
  name: "workspace",
  list: (query, signal) => answerOf(api.GET("/v1/memory", { params: { query }, signal })),
  search: (q, signal) => answerOf(api.GET("/v1/memory/search", { params: { query: { q } }, signal })),
  entry: (key, signal) => answerOf(api.GET("/v1/memory/entry", { params: { query: { key } }, signal })),
  versions: (key, query, signal) =>
    answerOf(api.GET("/v1/memory/entry/versions", { params: { query: { ...query, key } }, signal })),
  version: (key, versionId, signal) =>
    answerOf(
      api.GET("/v1/memory/entry/versions/{versionId}", { params: { path: { versionId }, query: { key } }, signal })
    ),
  write: (key, value, expectedVersion) =>
    answerOf(api.PUT("/v1/memory/entry", { params: { query: { key } }, body: { value, expectedVersion } })),
  remove: (key, expectedVersion) =>
    answerOf(api.DELETE("/v1/memory/entry", { params: { query: { key, expectedVersion } } })),
  redact: (key, versionId) =>
    answerOf(
      api.POST("/v1/memory/entry/versions/{versionId}/redact", { params: { path: { versionId }, query: { key } } })
    )
})
