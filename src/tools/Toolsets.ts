/**
 * Toolsets as turns use them: what they offer, and calls of their MCP tools.
 *
 * T1. Catalogues never change, so they are kept in memory for as long as there is room. Which one is current, and where
 *     a server is, is at most a second old; a change made by this node is seen at once.
 * T2. A catalogue follows its server when the server announces a change, when a session with it is opened, and when it
 *     is asked to; at most every five seconds and toolset.
 * T3. A call never fails: whatever happens is an outcome.
 * T4. A toolset's status follows its calls (Standing.ts). A call of which nobody knows how far it came has its server
 *     asked.
 */
import { Context, Effect, FiberMap, Layer, Result } from "effect"
import { LRUCache } from "lru-cache"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { Lease } from "../journal/Lease.ts"
import { Database, type DatabaseUnavailable } from "../database/Database.ts"
import { type Probed, readServer } from "../toolsets/rows.ts"
import { noteProbe } from "../toolsets/changes.ts"
import { type Away, noteSeen, readAway } from "../toolsets/status.ts"
import { readCatalogue } from "../toolsets/catalogue.ts"
import { callTool } from "./mcp/call.ts"
import { listingOf, type Offers } from "./mcp/listing.ts"
import type { McpFailure } from "./mcp/McpFailure.ts"
import { failed } from "./mcp/outcome.ts"
import { type McpServer, Sessions } from "./mcp/Sessions.ts"
import { Schemas, type Unjudged } from "./Schemas.ts"
import { makeStanding, seenOf } from "./Standing.ts"
import { type Progress, type Tool, type ToolOutcome, toolsOf } from "./Tool.ts"

/** One catalogue of one toolset: what a turn's plan holds. */
export interface CatalogueRef {
  readonly id: string
  readonly version: number
}

export class Toolsets extends Context.Service<
  Toolsets,
  {
    /**
     * The catalogues that a turn admitted now would use. Toolsets that are not there, or offer nothing yet, are left
     * out.
     */
    readonly current: (
      workspace: string,
      toolsetIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<CatalogueRef>, DatabaseUnavailable>
    /** Their tools, in that order; those of a catalogue that is gone are left out. The same objects each time. */
    readonly tools: (
      workspace: string,
      catalogues: ReadonlyArray<CatalogueRef>
    ) => Effect.Effect<ReadonlyArray<Tool>, DatabaseUnavailable>
    /**
     * One call of an MCP tool, whose input was validated. Interruption cancels it. `progressed` is told how it goes,
     * now and then.
     */
    readonly call: (
      workspace: string,
      tool: Tool,
      input: unknown,
      toolCallId: string,
      progressed?: (progress: Progress) => void
    ) => Effect.Effect<ToolOutcome>
    /**
     * The toolset among these that a name is of, where its server could never be asked for its tools; undefined where
     * there is none such.
     */
    readonly away: (
      workspace: string,
      toolsetIds: ReadonlyArray<string>,
      name: string
    ) => Effect.Effect<Away | undefined, DatabaseUnavailable>
    /** What a server offers now, asked in a session of its own. */
    readonly probe: (workspace: string, namespace: string, server: McpServer) => Effect.Effect<Probed>
    /** The same; and this node's next call has a new session. */
    readonly refresh: (
      workspace: string,
      toolsetId: string,
      server: McpServer & { readonly namespace: string }
    ) => Effect.Effect<Probed>
    /** This node has written the toolset. */
    readonly forget: (workspace: string, toolsetId: string) => void
  }
>()("troupe/tools/Toolsets") {
  /** What it asks servers through stays inside. */
  static readonly layer = Layer.effect(
    Toolsets,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(Sessions.layer))
}

const freshMs = 1_000
const refreshEvery = "5 seconds"
const heldToolsets = 20_000
const heldCatalogueChars = 64 * 1024 * 1024

/** Values that are true for a second, unless told otherwise; what was read before a `forget` is not put. */
const makeFresh = <A>() => {
  const held = new LRUCache<string, { readonly value: A; readonly until: number }>({ max: heldToolsets })
  let forgotten = 0
  return {
    get: (key: string) => {
      const found = held.get(key)
      return found !== undefined && found.until > performance.now() ? found.value : undefined
    },
    /** To be taken before a read; puts what it found. */
    reading: () => {
      const began = { forgotten, at: performance.now() }
      return (key: string, value: A) => {
        if (forgotten !== began.forgotten) return
        held.set(key, { value, until: began.at + freshMs })
      }
    },
    forget: (key: string) => {
      forgotten++
      held.delete(key)
    }
  }
}

const currentOnes = "select id, catalogue from toolsets where workspace = $1 and id = any($2::uuid[]) and catalogue > 0"
const someCatalogues = `
  select c.toolset, c.version, c.body::text as text, t.trusted
    from unnest($2::uuid[], $3::int[]) as asked (toolset, version)
    join catalogues c on c.workspace = $1 and c.toolset = asked.toolset and c.version = asked.version
    join toolsets t on t.workspace = c.workspace and t.id = c.toolset`

const make = Effect.gen(function* () {
  const database = yield* Database
  const lease = yield* Lease
  const schemas = yield* Schemas
  const sessions = yield* Sessions
  const versions = makeFresh<number>()
  const servers = makeFresh<McpServer & { readonly namespace: string }>()
  const keyOf = (workspace: string, id: string) => workspace + id

  const current = Effect.fnUntraced(function* (workspace: string, toolsetIds: ReadonlyArray<string>) {
    const found = new Map<string, number>()
    const asked: Array<string> = []
    for (const id of toolsetIds) {
      const version = versions.get(keyOf(workspace, id))
      if (version === undefined) asked.push(id)
      else found.set(id, version)
    }
    if (asked.length > 0) {
      const put = versions.reading()
      const rows = yield* database.read<{ readonly id: string; readonly catalogue: number }>({
        name: "toolsets_current",
        text: currentOnes,
        values: [toUuid(workspace), asked.map(toUuid)]
      })
      for (const row of rows) {
        const id = fromUuid("toolset", row.id)
        found.set(id, row.catalogue)
        put(keyOf(workspace, id), row.catalogue)
      }
    }
    return toolsetIds.flatMap((id) => {
      const version = found.get(id)
      return version === undefined ? [] : [{ id, version }]
    })
  })

  /** The least recently used go first. */
  const catalogues = new Map<string, { readonly tools: ReadonlyArray<Tool>; readonly chars: number }>()
  let heldChars = 0
  const hold = (key: string, tools: ReadonlyArray<Tool>, chars: number) => {
    const before = catalogues.get(key)
    if (before !== undefined) heldChars -= before.chars
    catalogues.delete(key)
    catalogues.set(key, { tools, chars })
    heldChars += chars
    for (const [oldest, { chars }] of catalogues) {
      if (heldChars <= heldCatalogueChars) break
      catalogues.delete(oldest)
      heldChars -= chars
    }
  }

  const tools = Effect.fnUntraced(function* (workspace: string, asked: ReadonlyArray<CatalogueRef>) {
    const keyed = asked.map((ref) => ({ ...ref, key: `${workspace}${ref.id}${ref.version}` }))
    const found = new Map<string, ReadonlyArray<Tool>>()
    for (const { key } of keyed) {
      const held = catalogues.get(key)
      if (held === undefined) continue
      hold(key, held.tools, held.chars)
      found.set(key, held.tools)
    }
    const missing = keyed.filter(({ key }) => !found.has(key))
    if (missing.length > 0) {
      const rows = yield* database.read<{
        readonly toolset: string
        readonly version: number
        readonly text: string
        readonly trusted: boolean
      }>({
        name: "toolset_catalogues",
        text: someCatalogues,
        values: [toUuid(workspace), missing.map(({ id }) => toUuid(id)), missing.map(({ version }) => version)]
      })
      for (const { text, toolset, trusted, version } of rows) {
        const id = fromUuid("toolset", toolset)
        const made = toolsOf(id, readCatalogue(JSON.parse(text)), trusted)
        found.set(`${workspace}${id}${version}`, made)
        hold(`${workspace}${id}${version}`, made, text.length)
      }
    }
    return keyed.flatMap(({ key }) => found.get(key) ?? [])
  })

  const serverOf = Effect.fnUntraced(function* (workspace: string, toolsetId: string) {
    const held = servers.get(keyOf(workspace, toolsetId))
    if (held !== undefined) return held
    const put = servers.reading()
    const found = yield* database.run("toolsets.server", (db) => readServer(db, workspace, toolsetId))
    if (found !== undefined) put(keyOf(workspace, toolsetId), found)
    return found
  })

  const standing = yield* makeStanding(
    Effect.fnUntraced(function* ({ seen, server, toolsetId, workspace }) {
      const before = yield* database.atomically("toolsets.seen", (tx) =>
        noteSeen(tx, workspace, toolsetId, server, seen)
      )
      // It is back: what it offers may be another list, and its probe's note is gone.
      if (seen.status === "ready" && before !== undefined && before !== "ready") askAgain(workspace, toolsetId)
    })
  )

  const readAgain = (workspace: string, toolsetId: string) => {
    versions.forget(keyOf(workspace, toolsetId))
    servers.forget(keyOf(workspace, toolsetId))
  }

  const probedOf = Effect.fnUntraced(function* (
    workspace: string,
    namespace: string,
    asking: Effect.Effect<Offers, McpFailure>
  ): Effect.fn.Return<Probed, Unjudged> {
    const asked = yield* Effect.result(asking)
    // Schemas may wait long to be read: what calls have shown meanwhile is later than this.
    const at = lease.now()
    if (Result.isFailure(asked)) {
      const { message, reason } = asked.failure
      return { status: reason === "unauthorized" ? "unauthorized" : "unreachable", reason: message, at }
    }
    const { note, tools } = yield* listingOf((schema) => schemas.unusable(workspace, schema), namespace, asked.success)
    return { status: "ready", tools, at, ...(note !== undefined && { reason: note }) }
  })

  const probe = (workspace: string, namespace: string, server: McpServer) =>
    probedOf(
      workspace,
      namespace,
      sessions.probe(workspace, server, (session) => session.list)
    ).pipe(
      Effect.catchTag("Unjudged", ({ message }) =>
        Effect.sync((): Probed => ({ status: "unreachable", reason: message, at: lease.now() }))
      )
    )

  /** In the session that is open: who announces a change has one. */
  const follow = Effect.fnUntraced(function* (workspace: string, toolsetId: string) {
    const server = yield* serverOf(workspace, toolsetId)
    if (server === undefined) return
    const probed = yield* probedOf(
      workspace,
      server.namespace,
      sessions.use(workspace, toolsetId, server, (session) => session.list)
    ).pipe(
      // The server has answered: what it offers is read again, in the next round.
      Effect.catchTag("Unjudged", () => Effect.sync(() => void again.add(keyOf(workspace, toolsetId))))
    )
    if (probed === undefined) return
    yield* database.atomically("toolsets.probed", (tx) => noteProbe(tx, workspace, toolsetId, server, probed))
    readAgain(workspace, toolsetId)
    if (probed.status !== "pending") standing.learn(workspace, toolsetId, { status: probed.status, at: probed.at })
  })

  const following = yield* FiberMap.make<string>()
  const run = yield* FiberMap.runtime(following)()
  const again = new Set<string>()
  const askAgain = (workspace: string, toolsetId: string) => {
    const key = keyOf(workspace, toolsetId)
    again.add(key)
    const rounds = Effect.gen(function* () {
      while (again.delete(key)) {
        yield* follow(workspace, toolsetId).pipe(
          Effect.catch((cause) =>
            Effect.logWarning("a toolset's change could not be written", {
              workspaceId: workspace,
              toolsetId,
              operation: cause.operation
            })
          )
        )
        yield* Effect.sleep(refreshEvery)
      }
    })
    run(key, rounds, { onlyIfMissing: true })
  }
  sessions.onChange((workspace, toolsetId, server, what) => {
    if (typeof what === "object") {
      standing.see({ workspace, toolsetId, server, seen: { status: "ready", wanted: what.wanted, at: lease.now() } })
    } else if (what === "announced" || !FiberMap.hasUnsafe(following, keyOf(workspace, toolsetId))) {
      // Whoever follows may have opened the session: that is no reason to follow once more.
      askAgain(workspace, toolsetId)
    }
  })

  return Toolsets.of({
    current,
    tools,
    call: Effect.fn("Toolsets.call")(function* (workspace, tool, input, toolCallId, progressed) {
      const server = yield* serverOf(workspace, tool.toolsetId).pipe(
        Effect.catch(() => Effect.succeed("unavailable" as const))
      )
      if (server === "unavailable")
        return failed("toolset_unreachable", "where the toolset's server is cannot be read now")
      if (server === undefined || tool.kind !== "mcp")
        return failed("tool_not_found", "the toolset is not there any more")
      const { toolsetId } = tool
      const onTried = (failure: McpFailure | undefined) => {
        const seen = seenOf(failure, lease.now())
        if (seen !== undefined) standing.see({ workspace, toolsetId, server, seen })
        else if (failure?.reason === "lost") askAgain(workspace, toolsetId)
      }
      return yield* callTool(sessions, schemas, { workspace, tool, server, input, toolCallId, progressed, onTried })
    }),
    away: (workspace, toolsetIds, name) => {
      const end = name.indexOf(".")
      return end < 1 || toolsetIds.length === 0
        ? Effect.succeed(undefined)
        : database.run("toolsets.away", (db) => readAway(db, workspace, toolsetIds, name.slice(0, end)))
    },
    refresh: (workspace, toolsetId, server) =>
      Effect.andThen(sessions.renew(workspace, toolsetId, server), probe(workspace, server.namespace, server)),
    probe,
    forget: (workspace, toolsetId) => {
      standing.forget(workspace, toolsetId)
      readAgain(workspace, toolsetId)
    }
  })
})
