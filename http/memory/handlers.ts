/** Memory: contract to actions and rows, of an agent's store and of the workspace's alike. */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Directory } from "../../src/agents/Directory.ts"
import { Database } from "../../src/database/Database.ts"
import { limits } from "../../src/domain/limits.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { isTooLong, type Store } from "../../src/memory/memory.ts"
import { listEntries, listMemoryVersions, readEntry, readVersion, redactVersion } from "../../src/memory/reading.ts"
import { tooLong } from "../../src/memory/refusals.ts"
import { searchEntries } from "../../src/memory/searching.ts"
import { Actions } from "../actions/Actions.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Cursors } from "../Cursors.ts"
import { Refused } from "../errors.ts"
import { makeLeaseMay } from "../leaseMay.ts"
import { defined } from "../parameters.ts"
import { pageSize } from "../pagination.ts"
import { jsonAnswer, makeWrites } from "../writes.ts"
import { makeMemoryActions, versionTag } from "./actions.ts"
import { expectedOf } from "./expected.ts"

const noAgent = new Refused({ error: "not_found", message: "no such agent" })
const noEntry = new Refused({ error: "not_found", message: "there is no entry with this key" })
const noVersion = new Refused({ error: "not_found", message: "the entry has no such version" })
const noKey = new Refused({ error: "key_required", message: "key: say which entry" })
const badText = new Refused({
  error: "invalid_request",
  code: "invalid_parameter",
  message: "the query: expected percent-encoded UTF-8"
})
const denied = new Refused({
  error: "permission_denied",
  message: "the agent's profile and roles do not let it do this in this memory"
})
const conflict = (currentVersion: string) =>
  new Refused({ error: "memory_conflict", message: "the current version cannot be redacted", currentVersion })

interface Paged {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}
interface Keyed {
  readonly key?: string | undefined
}

/** Parsers put another character in the place of bytes that are no UTF-8: that would be another key. */
const isUtf8 = (url: string) => {
  try {
    decodeURIComponent(url)
    return true
  } catch {
    return false
  }
}
const wellFormed = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) =>
  isUtf8(url) ? Effect.void : Effect.fail(badText)
)

const keyOf = ({ key }: Keyed) =>
  Effect.andThen(wellFormed, key === undefined ? Effect.fail(noKey) : Effect.succeed(key))

const named = (store: Store) => (store.agentId === undefined ? "workspace" : "agent")

/** Keys and prefixes may hold what JSON writes in two characters: as this they fit into a cursor. */
const packed = (text: string) => Buffer.from(text).toString("base64url")
const unpacked = (text: string | number | undefined) =>
  typeof text === "string" ? Buffer.from(text, "base64url").toString() : undefined

const makeReading = Effect.gen(function* () {
  const cursors = yield* Cursors
  const database = yield* Database
  const directory = yield* Directory
  const may = yield* makeLeaseMay

  /** Whether a lease lets the caller read, as its agent's tool with this input would. */
  const reader = Effect.fnUntraced(function* (store: Store, verb: string, input: object) {
    yield* wellFormed
    const caller = yield* Caller
    if (caller.lease !== undefined) {
      const verdict = yield* may(caller, `memory.${verb}`, { store: named(store), ...defined(input) })
      // Nobody is asked about a read: a grant that wants their word lets it not.
      if (verdict !== "allow") return yield* denied
    }
    return caller.workspace
  })

  /** Of an agent that is not there nothing can be listed. Agents are never removed: memory knows it. */
  const existing = Effect.fnUntraced(function* (workspace: string, { agentId }: Store) {
    if (agentId !== undefined && (yield* directory.agent(workspace, agentId)) === undefined) return yield* noAgent
  })

  const list = Effect.fnUntraced(function* (store: Store, query: Paged & { readonly prefix?: string | undefined }) {
    const workspace = yield* reader(store, "list", query)
    yield* existing(workspace, store)
    const place = `memory ${workspace} ${store.agentId ?? ""}`
    const sent = { prefix: query.prefix === undefined ? undefined : packed(query.prefix) }
    const { after, filter } = yield* cursors.open(place, query.cursor, sent, { prefix: "" })
    const limit = pageSize("memoryEntries", query.limit)
    const found = yield* database.run("memory.list", (db) =>
      listEntries(db, workspace, store, {
        after: unpacked(after?.[0]),
        limit: limit + 1,
        prefix: unpacked(filter.prefix) ?? ""
      })
    )
    const entries = found.slice(0, limit)
    const last = found.length > limit ? entries.at(-1) : undefined
    return json({ entries, ...(last && { nextCursor: cursors.seal(place, filter, [packed(last.key)]) }) })
  })

  const search = Effect.fnUntraced(function* (
    store: Store,
    { limit = limits.memorySearch.usual, q }: { readonly q: string; readonly limit?: number | undefined }
  ) {
    const workspace = yield* reader(store, "search", { q, limit })
    yield* existing(workspace, store)
    const entries = yield* database.run("memory.search", (db) => searchEntries(db, workspace, store, { limit, q }))
    return json({ entries })
  })

  const get = Effect.fnUntraced(function* (store: Store, query: Keyed) {
    const key = yield* keyOf(query)
    const workspace = yield* reader(store, "get", { key })
    const entry = yield* readEntry(database, workspace, store, key)
    if (entry === undefined) return yield* noEntry
    return json({ entry }, 200, { etag: versionTag(entry.version) })
  })

  const versions = Effect.fnUntraced(function* (store: Store, query: Keyed & Paged) {
    const key = yield* keyOf(query)
    const { workspace } = yield* Caller
    yield* existing(workspace, store)
    const place = `memory versions ${workspace} ${store.agentId ?? ""} ${key}`
    const { after, filter } = yield* cursors.open(place, query.cursor, {})
    const limit = pageSize("memoryVersions", query.limit)
    const behind = after?.[0]
    const found = yield* database.run("memory.versions", (db) =>
      listMemoryVersions(
        db,
        workspace,
        { ...store, key },
        { after: typeof behind === "number" ? behind : undefined, limit: limit + 1 }
      )
    )
    const page = found.slice(0, limit)
    const last = found.length > limit ? page.at(-1) : undefined
    return json({
      versions: page.map((row) => row.version),
      ...(last && { nextCursor: cursors.seal(place, filter, [last.seq]) })
    })
  })

  const version = Effect.fnUntraced(function* (store: Store, query: Keyed, versionId: string) {
    const key = yield* keyOf(query)
    const { workspace } = yield* Caller
    const found = yield* database.run("memory.version", (db) =>
      readVersion(db, workspace, { ...store, key }, versionId)
    )
    return found === undefined ? yield* noVersion : json({ version: found })
  })

  return { existing, list, search, get, versions, version }
})

const makeMemory = Effect.gen(function* () {
  const { perform } = yield* Actions
  const actions = yield* makeMemoryActions
  const lease = yield* Lease
  const may = yield* makeLeaseMay
  const { existing, ...reading } = yield* makeReading
  const writes = yield* makeWrites

  /** What the grants of a lease say of a write: refused, or to be parked whatever the policy says. */
  const granted = Effect.fnUntraced(function* (verb: "put" | "delete", store: Store, input: object) {
    const caller = yield* Caller
    const verdict = yield* may(caller, `memory.${verb}`, { store: named(store), ...input })
    if (verdict === "deny") return yield* denied
    return { parks: verdict === "park" }
  })

  const put = Effect.fnUntraced(function* (
    store: Store,
    query: Keyed,
    ifMatch: string | undefined,
    { expectedVersion, value }: { readonly value: string; readonly expectedVersion?: string }
  ) {
    const key = yield* keyOf(query)
    if (isTooLong(value)) return yield* new Refused(tooLong)
    const expected = yield* expectedOf(ifMatch, expectedVersion)
    const request = { key, value, ...expected }
    const also = yield* granted("put", store, request)
    return yield* perform(actions.put, { ...store, ...request }, also)
  })

  const remove = Effect.fnUntraced(function* (
    store: Store,
    { expectedVersion, key }: Keyed & { readonly expectedVersion?: string | undefined },
    ifMatch: string | undefined
  ) {
    yield* wellFormed
    yield* existing((yield* Caller).workspace, store)
    const expected = yield* expectedOf(ifMatch, expectedVersion)
    const request = { ...(key === undefined ? {} : { key }), ...expected }
    const also = yield* granted("delete", store, request)
    return yield* perform(actions.delete, { ...store, ...request }, also)
  })

  const redact = Effect.fnUntraced(function* (store: Store, query: Keyed, versionId: string) {
    const key = yield* keyOf(query)
    const { workspace } = yield* Caller
    return yield* writes.post("memory.redact", async (tx) => {
      const done = await redactVersion(tx, workspace, { ...store, key }, versionId, lease.now())
      if (!("refused" in done)) return jsonAnswer({ version: done })
      return done.refused === "current" ? conflict(versionId) : noVersion
    })
  })

  return { ...reading, put, remove, redact }
})

export const MemoryHandlers = HttpApiBuilder.group(
  Api,
  "memory",
  Effect.fnUntraced(function* (handlers) {
    const memory = yield* makeMemory
    const of = ({ agentId }: { readonly agentId: string }): Store => ({ agentId })
    return handlers.handleAll({
      list: ({ params, query }) => memory.list(of(params), query),
      search: ({ params, query }) => memory.search(of(params), query),
      get: ({ params, query }) => memory.get(of(params), query),
      put: ({ headers, params, payload, query }) => memory.put(of(params), query, headers["if-match"], payload),
      delete: ({ headers, params, query }) => memory.remove(of(params), query, headers["if-match"]),
      versions: ({ params, query }) => memory.versions(of(params), query),
      version: ({ params, query }) => memory.version(of(params), query, params.versionId),
      redact: ({ params, query }) => memory.redact(of(params), query, params.versionId)
    })
  })
)

export const SharedMemoryHandlers = HttpApiBuilder.group(
  Api,
  "sharedMemory",
  Effect.fnUntraced(function* (handlers) {
    const memory = yield* makeMemory
    const of: Store = {}
    return handlers.handleAll({
      list: ({ query }) => memory.list(of, query),
      search: ({ query }) => memory.search(of, query),
      get: ({ query }) => memory.get(of, query),
      put: ({ headers, payload, query }) => memory.put(of, query, headers["if-match"], payload),
      delete: ({ headers, query }) => memory.remove(of, query, headers["if-match"]),
      versions: ({ query }) => memory.versions(of, query),
      version: ({ params, query }) => memory.version(of, query, params.versionId),
      redact: ({ params, query }) => memory.redact(of, query, params.versionId)
    })
  })
)
