/**
 * What is known of a toolset's server: what the last probe has found, and what calls have shown since.
 *
 * S1. A finding counts only while the toolset is still what was asked (the same server, the same connection), and never
 *     over a later one.
 */
import { Schema } from "effect"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { ToolsetContent, ToolsetStatus } from "./toolset.ts"
import type { Db } from "../database/handle.ts"

/** Where tools are asked for. */
export interface ToolsetServer {
  readonly url: string
  readonly connectionId?: string
}

/** As it is stored. */
export const Checked = Schema.Struct({
  status: ToolsetStatus,
  reason: Schema.optionalKey(Schema.String),
  toolCount: Schema.Int,
  at: Schema.optionalKey(Schema.Int)
})
export type Checked = typeof Checked.Type
export const readChecked = Schema.decodeUnknownSync(Checked)
export const readToolsetContent = Schema.decodeUnknownSync(ToolsetContent)

interface Place {
  readonly body: unknown
  readonly connection: string | null
}

export const connectionOf = ({ connection }: Pick<Place, "connection">) =>
  connection === null ? {} : { connectionId: fromUuid("connection", connection) }

/** The server of an MCP toolset. */
export const serverOf = (row: Place): ToolsetServer | undefined => {
  const { url } = readToolsetContent(row.body)
  return url === undefined ? undefined : { url, ...connectionOf(row) }
}

export const isSame = (a: ToolsetServer | undefined, b: ToolsetServer | undefined) =>
  a?.url === b?.url && a?.connectionId === b?.connectionId

/** Whether what is stored was seen after this. */
export const isLater = ({ at }: Checked, seen: { readonly at: number }) => at !== undefined && at > seen.at

/** What calls have shown. */
export interface Seen {
  readonly status: Exclude<ToolsetStatus, "pending">
  /** Why it is not ready. */
  readonly reason?: string
  /** What a call has wanted in vain, of a server that is ready. */
  readonly wanted?: string
  /** When, in milliseconds. */
  readonly at: number
}

const separator = "; "

/** A server that stays ready keeps what its probe has noted; one that comes back is probed anew. */
const reasonOf = (before: Checked, { reason, status, wanted }: Seen) => {
  if (status !== "ready") return reason
  const noted = before.status === "ready" ? before.reason : undefined
  if (wanted === undefined) return noted
  return noted === undefined ? wanted : noted.includes(wanted) ? noted : noted + separator + wanted
}

/** Writes down what calls have shown (S1): the status before, or undefined where nothing was written. */
export const noteSeen = async (
  tx: Db,
  workspace: string,
  id: string,
  server: ToolsetServer,
  seen: Seen
): Promise<ToolsetStatus | undefined> => {
  const row = await tx
    .selectFrom("toolsets")
    .select(["body", "connection", "checked"])
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (row === undefined || !isSame(serverOf(row), server)) return undefined
  const before = readChecked(row.checked)
  if (isLater(before, seen)) return undefined
  const reason = reasonOf(before, seen)
  const checked: Checked = {
    status: seen.status,
    ...(reason !== undefined && { reason }),
    toolCount: before.toolCount,
    at: seen.at
  }
  await tx
    .updateTable("toolsets")
    .set({ checked: JSON.stringify(checked) })
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .execute()
  return before.status
}

/** One whose tools nobody knows, since its server could not be asked for them. */
export interface Away {
  readonly status: Exclude<ToolsetStatus, "ready">
  readonly reason?: string
}

/** Whether the toolset of that namespace, among these, is one of which nothing was ever listed. */
export const readAway = async (
  db: Db,
  workspace: string,
  ids: ReadonlyArray<string>,
  namespace: string
): Promise<Away | undefined> => {
  const row = await db
    .selectFrom("toolsets")
    .select("checked")
    .where("workspace", "=", toUuid(workspace))
    .where("namespace", "=", namespace)
    .where("id", "in", ids.map(toUuid))
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { reason, status, toolCount } = readChecked(row.checked)
  return status === "ready" || toolCount > 0 ? undefined : { status, ...(reason !== undefined && { reason }) }
}
