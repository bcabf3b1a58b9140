/**
 * Toolsets as turns use them: what they offer, and calls of their MCP tools.
 *
 * T1. Catalogues never change, so they are kept in memory for as long as there is room. Which one is current, and where
 *     a server is, is at most a second old; a change made by this node is seen at once.
 * T2. A catalogue follows its server when the server announces a change, when a session with it is opened, and when it
 *     is asked to; at most every five seconds and toolset.
 * T3. A call never fails: whatever happens is an outcome.
 * T4. A toolset's status follows its calls (Standing.ts). Where nobody knows how far a call came, its server is asked.
 */
import { Context, Effect, Layer } from "effect"
import { Database, type DatabaseUnavailable } from "../database/Database.ts"
import { type AskedServer, type Probed, readServer } from "../toolsets/rows.ts"
import { type Away, readAway } from "../toolsets/status.ts"
import { type CatalogueRef, makeCatalogues } from "./catalogues.ts"
import { makeFollowing } from "./following.ts"
import { makeFresh } from "./fresh.ts"
import { callTool } from "./mcp/call.ts"
import type { McpFailure } from "./mcp/McpFailure.ts"
import { failedOutcome } from "./mcp/outcome.ts"
import { type McpServer, Sessions } from "./mcp/Sessions.ts"
import { Schemas } from "./Schemas.ts"
import type { GivenLease } from "../keys/AgentLeases.ts"
import type { Progress, Tool, ToolOutcome } from "./Tool.ts"

/** The lease for a call; none where an identity of its thread or agent is disabled. */
export type LeaseOf = Effect.Effect<GivenLease | undefined, DatabaseUnavailable>

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
     * now and then; `lease` is asked where the toolset wants one with every call.
     */
    readonly call: (
      workspace: string,
      tool: Tool,
      input: unknown,
      toolCallId: string,
      beside?: { readonly progressed?: ((progress: Progress) => void) | undefined; readonly lease?: LeaseOf }
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

const noLease: LeaseOf = Effect.succeed(undefined)
const unread = Effect.succeed("unavailable" as const)

const make = Effect.gen(function* () {
  const database = yield* Database
  const schemas = yield* Schemas
  const sessions = yield* Sessions
  const catalogues = makeCatalogues(database)
  const servers = makeFresh<AskedServer>()
  const keyOf = (workspace: string, id: string) => workspace + id

  const serverOf = Effect.fnUntraced(function* (workspace: string, toolsetId: string) {
    const held = servers.get(keyOf(workspace, toolsetId))
    if (held !== undefined) return held
    const put = servers.reading()
    const found = yield* database.run("toolsets.server", (db) => readServer(db, workspace, toolsetId))
    if (found !== undefined) put(keyOf(workspace, toolsetId), found)
    return found
  })

  const changed = (workspace: string, toolsetId: string) => {
    catalogues.forget(workspace, toolsetId)
    servers.forget(keyOf(workspace, toolsetId))
  }

  const following = yield* makeFollowing({ serverOf, changed })

  return Toolsets.of({
    current: catalogues.current,
    tools: catalogues.tools,
    call: Effect.fn("Toolsets.call")(function* (
      workspace,
      tool,
      input,
      toolCallId,
      { lease: wanted = noLease, progressed } = {}
    ) {
      const server = yield* serverOf(workspace, tool.toolsetId).pipe(Effect.catch(() => unread))
      if (server === "unavailable")
        return failedOutcome("toolset_unreachable", "where the toolset's server is cannot be read now")
      if (server === undefined || tool.kind !== "mcp")
        return failedOutcome("tool_not_found", "the toolset is not there any more")
      const lease = server.leases ? yield* Effect.catch(wanted, () => unread) : undefined
      if (lease === "unavailable")
        return failedOutcome("toolset_unreachable", "whether the agent may have a lease cannot be read now")
      if (server.leases && lease === undefined)
        return failedOutcome("identity_disabled", "an identity that the agent acts for is disabled: it gets no lease")
      const { toolsetId } = tool
      const onTried = (failure: McpFailure | undefined) => following.tried(workspace, toolsetId, server, failure)
      return yield* callTool(sessions, schemas, {
        workspace,
        tool,
        server,
        input,
        toolCallId,
        lease,
        progressed,
        onTried
      })
    }),
    away: (workspace, toolsetIds, name) => {
      const end = name.indexOf(".")
      return end < 1 || toolsetIds.length === 0
        ? Effect.succeed(undefined)
        : database.run("toolsets.away", (db) => readAway(db, workspace, toolsetIds, name.slice(0, end)))
    },
    refresh: (workspace, toolsetId, server) =>
      Effect.andThen(
        sessions.renew(workspace, toolsetId, server),
        following.probe(workspace, server.namespace, server)
      ),
    probe: following.probe,
    forget: (workspace, toolsetId) => {
      following.forget(workspace, toolsetId)
      changed(workspace, toolsetId)
    }
  })
})
