/** Connections: contract to rows. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { sealedFor as sealedAt } from "../../src/connections/Connections.ts"
import { SecretEnvelope } from "../../src/crypto/envelope.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { Outbound } from "../../src/outbound/Outbound.ts"
import {
  createConnection,
  deleteConnection,
  type DeleteRefusal,
  listConnections,
  patchConnection,
  type ConnectionPatchRefusal,
  readConnection,
  type StoredConnection
} from "../../src/connections/rows.ts"
import { Database } from "../../src/database/Database.ts"
import { json, noContent } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Refused } from "../errors.ts"
import { etag, meets } from "../etag.ts"
import { makePages, positionOf } from "../newestFirst.ts"
import { makeQuotaCheck } from "../quotas.ts"
import { refuseUrl } from "../badInput.ts"
import { jsonAnswer, makeWrites } from "../writes.ts"

const answer = ({ connection, rev }: StoredConnection) => json({ connection }, 200, { etag: etag(rev) })

const noConnection = new Refused({ error: "not_found", message: "no such connection" })
const changed = new Refused({ error: "precondition_failed", message: "If-Match: the connection has changed since" })
const inUse = new Refused({
  error: "connection_in_use",
  message: "a toolset or a hook of a profile uses this connection"
})
const otherKind = new Refused({
  error: "invalid_request",
  code: "invalid_body",
  message: "secret: expected one of the kind that the connection holds"
})

const noHosts = new Refused({
  error: "invalid_request",
  code: "hosts_required",
  message: "allowedHosts: is required, or a baseUrl: they say where the secret may be sent"
})

const patchRefusals = {
  not_found: noConnection,
  precondition: changed,
  other_kind: otherKind,
  no_hosts: noHosts
} as const
const patchRefusal = ({ refused }: ConnectionPatchRefusal) => patchRefusals[refused]
const deleteRefusal = ({ refused }: DeleteRefusal) =>
  refused === "in_use" ? inUse : refused === "precondition" ? changed : noConnection

export const ConnectionsHandlers = HttpApiBuilder.group(
  Api,
  "connections",
  Effect.fnUntraced(function* (handlers) {
    const database = yield* Database
    const envelope = yield* SecretEnvelope
    const lease = yield* Lease
    const outbound = yield* Outbound
    const pages = yield* makePages
    const roomFor = yield* makeQuotaCheck
    const writes = yield* makeWrites

    const sealFor = (workspace: string) => (id: string, plain: string) => envelope.seal(sealedAt(workspace, id), plain)

    /** What the operator does not allow is refused here already, not at the first use. */
    const reachable = (url: string | null | undefined) => {
      const problem = typeof url === "string" ? outbound.refuses(url) : undefined
      return problem === undefined ? Effect.void : Effect.fail(refuseUrl("baseUrl", problem))
    }

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const { principal, workspace } = yield* Caller
        yield* reachable(payload.baseUrl)
        return yield* writes.post("connections.create", async (tx) => {
          const full = await roomFor(tx, workspace, "connections")
          if (full !== undefined) return full
          const made = await createConnection(tx, workspace, payload, principal, sealFor(workspace), lease.now())
          if ("refused" in made) return noHosts
          return jsonAnswer({ connection: made.connection }, 201, {
            location: `/v1/connections/${made.connection.id}`,
            etag: etag(made.rev)
          })
        })
      }),

      list: Effect.fnUntraced(function* ({ query }) {
        const { workspace } = yield* Caller
        const { rows, nextCursor } = yield* pages({
          list: "connections",
          place: `connections ${workspace}`,
          query,
          fetch: (db, page) => listConnections(db, workspace, page),
          position: positionOf
        })
        return json({ connections: rows, nextCursor })
      }),

      get: Effect.fnUntraced(function* ({ params }) {
        const { workspace } = yield* Caller
        const found = yield* database.run("connections.get", (db) => readConnection(db, workspace, params.connectionId))
        return found === undefined ? yield* noConnection : answer(found)
      }),

      update: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const { workspace } = yield* Caller
        yield* reachable(payload.baseUrl)
        return answer(
          yield* writes.change("connections.update", async (tx) => {
            const patched = await patchConnection(
              tx,
              workspace,
              params.connectionId,
              payload,
              meets(headers["if-match"]),
              sealFor(workspace),
              lease.now()
            )
            return "refused" in patched ? patchRefusal(patched) : patched
          })
        )
      }),

      delete: Effect.fnUntraced(function* ({ headers, params }) {
        const { workspace } = yield* Caller
        yield* writes.change("connections.delete", async (tx) => {
          const refused = await deleteConnection(tx, workspace, params.connectionId, meets(headers["if-match"]))
          return refused && deleteRefusal(refused)
        })
        return noContent
      })
    })
  })
)
