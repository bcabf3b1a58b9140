/** Toolsets: contract to rows; servers are asked before anything is written, never within a transaction. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { ClientTool } from "../../src/toolsets/toolset.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { Outbound } from "../../src/outbound/Outbound.ts"
import { Database } from "../../src/database/Database.ts"
import {
  createToolset,
  deleteToolset,
  foresee,
  listToolsets,
  type NotAllowed,
  readOffered,
  readServer,
  readToolset,
  type StoredToolset
} from "../../src/toolsets/rows.ts"
import { noteProbe, patchToolset } from "../../src/toolsets/changes.ts"
import { Schemas } from "../../src/tools/Schemas.ts"
import { Toolsets } from "../../src/tools/Toolsets.ts"
import { unusableSchema } from "../../src/tools/usable.ts"
import { json, noContent } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Refused } from "../errors.ts"
import { etag, meets } from "../etag.ts"
import { makePages, positionOf } from "../newestFirst.ts"
import { makeQuotaCheck } from "../quotas.ts"
import { refuseBody, refuseUrl } from "../badInput.ts"
import { jsonAnswer, makeWrites } from "../writes.ts"

const answer = ({ rev, toolset }: StoredToolset) => json({ toolset }, 200, { etag: etag(rev) })

const noToolset = new Refused({ error: "not_found", message: "no such toolset" })
const changed = new Refused({ error: "precondition_failed", message: "If-Match: the toolset has changed since" })
const taken = (whose: string) => new Refused({ error: "namespace_taken", message: `namespace: ${whose}` })
const noConnection = new Refused({
  error: "connection_not_found",
  message: "connectionId: no such connection with a token or an API key"
})
const inUse = new Refused({
  error: "toolset_in_use",
  message: "the latest version of a profile lists the toolset, or a version that an agent is pinned to"
})

const invalid = (message: string) => new Refused({ error: "invalid_request", code: "invalid_body", message })

const notThere = ({ refused }: { readonly refused: "not_found" | "precondition" }) =>
  refused === "not_found" ? noToolset : changed
const notAllowed = (why: NotAllowed) => {
  switch (why.refused) {
    case "reserved":
      return taken(`"${why.namespace}" is a built-in tool family`)
    case "taken":
      return taken(why.by === undefined ? "another toolset of the workspace has it" : `the toolset ${why.by} has it`)
    case "no_connection":
      return noConnection
  }
}

export const ToolsetsHandlers = HttpApiBuilder.group(
  Api,
  "toolsets",
  Effect.fnUntraced(function* (handlers) {
    const database = yield* Database
    const lease = yield* Lease
    const outbound = yield* Outbound
    const pages = yield* makePages
    const schemas = yield* Schemas
    const toolsets = yield* Toolsets
    const roomFor = yield* makeQuotaCheck
    const writes = yield* makeWrites

    /** What the operator does not allow to be asked, such as http where private networks are closed. */
    const reachable = (url: string | undefined) => {
      const problem = url === undefined ? undefined : outbound.refuses(url)
      return problem === undefined ? Effect.void : Effect.fail(refuseUrl("url", problem))
    }

    const refuseSchemas = Effect.fnUntraced(function* (
      workspace: string,
      tools: ReadonlyArray<ClientTool> | undefined
    ) {
      const found = yield* unusableSchema((schema) => schemas.unusable(workspace, schema), tools ?? [])
      if (found !== undefined) yield* invalid(`${found.path}: expected ${found.expected}`)
    })

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const { workspace } = yield* Caller
        const ask = Effect.gen(function* () {
          if (payload.kind === "client") return void (yield* refuseSchemas(workspace, payload.tools))
          yield* reachable(payload.url)
          // Sooner than after a probe of ten seconds.
          const refused = yield* database.run("toolsets.foresee", (db) => foresee(db, workspace, payload))
          if (refused !== undefined) return yield* notAllowed(refused)
          return yield* toolsets.probe(workspace, payload.namespace, payload)
        })
        return yield* writes.postAfter("toolsets.create", ask, async (tx, probed) => {
          const full = await roomFor(tx, workspace, "toolsets")
          if (full !== undefined) return full
          const made = await createToolset(tx, workspace, payload, probed, lease.now())
          if ("refused" in made) return notAllowed(made)
          return jsonAnswer({ toolset: made.toolset }, 201, {
            location: `/v1/toolsets/${made.toolset.id}`,
            etag: etag(made.rev)
          })
        })
      }),

      list: Effect.fnUntraced(function* ({ query }) {
        const { workspace } = yield* Caller
        const { rows, nextCursor } = yield* pages({
          list: "toolsets",
          place: `toolsets ${workspace}`,
          query,
          fetch: (db, page) => listToolsets(db, workspace, page),
          position: positionOf
        })
        return json({ toolsets: rows, nextCursor })
      }),

      get: Effect.fnUntraced(function* ({ params }) {
        const { workspace } = yield* Caller
        const found = yield* database.run("toolsets.get", (db) => readToolset(db, workspace, params.toolsetId))
        return found === undefined ? yield* noToolset : answer(found)
      }),

      update: Effect.fnUntraced(function* ({ headers, params: { toolsetId }, payload }) {
        const { workspace } = yield* Caller
        yield* reachable(payload.url)
        yield* refuseSchemas(workspace, payload.tools)
        const patched = yield* writes.change("toolsets.update", async (tx) => {
          const done = await patchToolset(tx, workspace, toolsetId, payload, meets(headers["if-match"]), lease.now())
          if (!("refused" in done)) return done
          switch (done.refused) {
            case "not_found":
            case "precondition":
              return notThere(done)
            case "reserved":
            case "taken":
            case "no_connection":
              return notAllowed(done)
            case "other_kind":
              return new Refused({
                error: "invalid_request",
                code: "unknown_field",
                message: `${done.field}: only a toolset of kind ${done.kind} has it`
              })
            case "invalid":
              return refuseBody(done.cause)
          }
        })
        toolsets.forget(workspace, toolsetId)
        const { moved, toolset } = patched
        if (moved === undefined) return answer(patched)
        const probed = yield* toolsets.probe(workspace, toolset.namespace, moved)
        const noted = yield* database.atomically("toolsets.probed", (tx) =>
          noteProbe(tx, workspace, toolsetId, moved, probed)
        )
        toolsets.forget(workspace, toolsetId)
        return noted === undefined ? yield* noToolset : answer(noted)
      }),

      delete: Effect.fnUntraced(function* ({ headers, params: { toolsetId } }) {
        const { workspace } = yield* Caller
        yield* writes.change("toolsets.delete", async (tx) => {
          const refused = await deleteToolset(tx, workspace, toolsetId, meets(headers["if-match"]))
          return refused && (refused.refused === "in_use" ? inUse : notThere(refused))
        })
        toolsets.forget(workspace, toolsetId)
        return noContent
      }),

      tools: Effect.fnUntraced(function* ({ params }) {
        const { workspace } = yield* Caller
        const found = yield* database.run("toolsets.tools", (db) => readOffered(db, workspace, params.toolsetId))
        return found === undefined ? yield* noToolset : json({ tools: found.tools, catalogVersion: found.version })
      }),

      refresh: Effect.fnUntraced(function* ({ params: { toolsetId } }) {
        const { workspace } = yield* Caller
        const ask = Effect.gen(function* () {
          const server = yield* database.run("toolsets.server", (db) => readServer(db, workspace, toolsetId))
          return server && { server, probed: yield* toolsets.refresh(workspace, toolsetId, server) }
        })
        const done = yield* writes.postAfter("toolsets.refresh", ask, async (tx, refreshed) => {
          const found =
            refreshed === undefined
              ? await readToolset(tx, workspace, toolsetId)
              : await noteProbe(tx, workspace, toolsetId, refreshed.server, refreshed.probed)
          return found === undefined
            ? noToolset
            : jsonAnswer({ toolset: found.toolset }, 200, { etag: etag(found.rev) })
        })
        toolsets.forget(workspace, toolsetId)
        return done
      })
    })
  })
)
