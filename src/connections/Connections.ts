/**
 * Secrets of connections for those who use them: toolsets and hooks.
 *
 * S1. Read and decrypted at each use: what was replaced or deleted, on whatever node, is never used again.
 * S2. Secrets leave only as Redacted: no log, span or error shows them.
 * S3. When one was last used is noted at most once a minute, in memory, and written in batches.
 */
import { Context, Effect, Layer } from "effect"
import { SecretEnvelope } from "../crypto/envelope.ts"
import { type ConnectionSecret, secretOf } from "./connection.ts"
import { isIdOf, toUuid } from "../domain/ids.ts"
import { Lease } from "../journal/Lease.ts"
import { readConnectionContent } from "./rows.ts"
import { Database, type DatabaseUnavailable } from "../database/Database.ts"
import { makeUses } from "./uses.ts"

/** Binds a sealed text to what it is for. */
export const sealedFor = (workspace: string, id: string) => ({ workspace, id, purpose: "connection" })

export class Connections extends Context.Service<
  Connections,
  {
    /** The secret of a connection; undefined where there is none, or none that can be opened (which is logged). */
    readonly secret: (
      workspace: string,
      connectionId: string
    ) => Effect.Effect<ConnectionSecret | undefined, DatabaseUnavailable>
  }
>()("troupe/connections/Connections") {
  static readonly layer = Layer.effect(
    Connections,
    Effect.suspend(() => make)
  )
}

const isConnectionId = isIdOf("connection")

const make = Effect.gen(function* () {
  const database = yield* Database
  const envelope = yield* SecretEnvelope
  const lease = yield* Lease
  const noteUse = yield* makeUses(lease.now)

  return Connections.of({
    secret: Effect.fn("Connections.secret")(function* (workspace: string, connectionId: string) {
      if (!isConnectionId(connectionId)) return undefined
      const [row] = yield* database.read<{ readonly body: unknown; readonly sealed: string }>({
        name: "connection_secret",
        text: "select body, sealed from connections where workspace = $1 and id = $2",
        values: [toUuid(workspace), toUuid(connectionId)]
      })
      if (row === undefined) return undefined
      const content = readConnectionContent(row.body)
      const opened = yield* Effect.try({
        try: () => secretOf(envelope.open(sealedFor(workspace, connectionId), row.sealed), content),
        catch: (cause) => cause
      }).pipe(
        Effect.catch((cause) =>
          // The message says which key or what is wrong; a schema's complaint could repeat the secret.
          Effect.logError("the secret of a connection cannot be opened", {
            workspaceId: workspace,
            connectionId,
            reason: cause instanceof Error && cause.name === "NotOpened" ? cause.message : "not a secret of this server"
          }).pipe(Effect.as(undefined))
        )
      )
      if (opened !== undefined) noteUse(workspace, connectionId)
      return opened
    })
  })
})
