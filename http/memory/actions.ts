/** What may park of memory: to write an entry, and to delete one. */
import { Effect, Schema } from "effect"
import { Database } from "../../src/database/Database.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { deleteRefusal, isOfDelete, putRefusal } from "../../src/memory/refusals.ts"
import { type Author, write, writeAlone, type Written } from "../../src/memory/writing.ts"
import type { Asking } from "../actions/Action.ts"
import { defineAction } from "../actions/defineAction.ts"
import { isRefused, Refused } from "../errors.ts"
import { emptyAnswer, jsonAnswer } from "../writes.ts"

/** Of the workspace's store where it names no agent. */
const OfStore = Schema.Struct({
  agentId: Schema.optionalKey(Schema.String),
  expectedVersion: Schema.optionalKey(Schema.String)
})
export const PutEntry = Schema.Struct({ ...OfStore.fields, key: Schema.String, value: Schema.String })
export const DeleteEntry = Schema.Struct({ ...OfStore.fields, key: Schema.optionalKey(Schema.String) })
type PutEntry = typeof PutEntry.Type
type DeleteEntry = typeof DeleteEntry.Type

export const versionTag = (version: string) => `"${version}"`

/** The request as a call of the tool that stands for the same (leaseMay.ts). */
const callOf =
  (name: "memory.put" | "memory.delete") =>
  ({ agentId, ...request }: PutEntry | DeleteEntry) => ({
    name,
    input: { store: agentId === undefined ? "workspace" : "agent", ...request }
  })

const authorOf = ({ from, principal }: Asking): Author => ({ principal, ...(from === undefined ? {} : { from }) })
const agentOf = (_: string, { agentId }: { readonly agentId?: string }) => Effect.succeed(agentId)

const place = ({ agentId, key }: PutEntry) =>
  `/v1/${agentId === undefined ? "" : `agents/${agentId}/`}memory/entry?key=${encodeURIComponent(key)}`

const put = (request: PutEntry, written: Written) => {
  if ("refused" in written) return new Refused(putRefusal(written))
  if (!("entry" in written)) throw new Error("a write of memory came twice")
  const headers = { etag: versionTag(written.entry.version) }
  return written.done === "created"
    ? jsonAnswer({ entry: written.entry }, 201, { ...headers, location: place(request) })
    : jsonAnswer({ entry: written.entry }, 200, headers)
}

const noEntryNamed = new Refused({ error: "not_found", message: "key: a version of no entry" })

export const makeMemoryActions = Effect.gen(function* () {
  const database = yield* Database
  const lease = yield* Lease

  return {
    put: defineAction({
      name: "memory.put",
      params: PutEntry,
      scope: "write",
      agentOf,
      tool: callOf("memory.put"),
      way: {
        type: "change",
        change: async (tx, asking, request) =>
          put(request, await write(tx, asking.workspace, request, authorOf(asking), lease.now())),
        alone: (asking, request) =>
          Effect.flatMap(writeAlone(database, asking.workspace, request, authorOf(asking), lease.now()), (written) => {
            const answer = put(request, written)
            return isRefused(answer) ? Effect.fail(answer) : Effect.succeed(answer)
          })
      }
    }),

    delete: defineAction({
      name: "memory.delete",
      params: DeleteEntry,
      scope: "write",
      agentOf,
      tool: callOf("memory.delete"),
      way: {
        type: "change",
        wraps: true,
        change: async (tx, asking, { key, ...request }) => {
          // It addresses no entry.
          if (key === undefined) return request.expectedVersion === undefined ? emptyAnswer : noEntryNamed
          const written = await write(tx, asking.workspace, { ...request, key }, authorOf(asking), lease.now())
          if (!("refused" in written)) return emptyAnswer
          if (!isOfDelete(written)) throw new Error("a delete was refused as a put is")
          return new Refused(deleteRefusal(written))
        }
      }
    })
  }
})
