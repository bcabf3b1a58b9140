/**
 * Toolsets as rows, and their catalogues.
 *
 * L1. `rev` rises by one with every change of what a client may say; it is the ETag. Findings of a probe or a call do
 *     not change it.
 * L2. Catalogues are numbered from 1 without gaps; the toolset's row is locked while the next is written, and one that
 *     would say the same is not. The newest hundred are kept.
 * L3. Findings of a probe count only while the toolset is still what was probed (status.ts).
 * L4. A toolset in use stays: whoever lists one in a profile holds its row, whoever deletes it looks for uses behind
 *     that lock.
 */
import type { Schema } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { ConnectionKind } from "../connections/connection.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import { strictly } from "../domain/strict.ts"
import { toTimestamp } from "../domain/time.ts"
import {
  isReserved,
  type OfferedTool,
  type ToolContent,
  type Toolset,
  type ToolsetContent,
  ToolsetInput,
  type ToolsetStatus,
  type ToolsetSummary
} from "./toolset.ts"
import { freshId } from "../seed.ts"
import { type Catalogue, catalogueOf, offered, readCatalogue } from "./catalogue.ts"
import type { Db } from "../database/handle.ts"
import { holdConnection, readConnection } from "../connections/rows.ts"
import { sqlStateOf } from "../database/Database.ts"
import { behind, type Position } from "../database/newestFirst.ts"
import { isNamed } from "../database/profileUses.ts"
import { type Checked, connectionOf, readChecked, readToolsetContent, type ToolsetServer, serverOf } from "./status.ts"

export interface StoredToolset {
  readonly toolset: Toolset
  readonly rev: number
}

/** What a probe has found: tools only where the server could be asked for them. */
export interface Probed {
  readonly status: ToolsetStatus
  readonly reason?: string
  readonly tools?: ReadonlyArray<ToolContent>
  /** When, in milliseconds. */
  readonly at: number
}

/** There is none, or it is not as the request's If-Match says. */
interface NotThere {
  readonly refused: "not_found" | "precondition"
}
/**
 * Its namespace is a built-in family's, or another toolset's, or its connection is nowhere, or holds nothing that is
 * sent.
 */
export type NotAllowed =
  | { readonly refused: "reserved"; readonly namespace: string }
  // `by`: the toolset that has it; undefined where that one has gone since.
  | { readonly refused: "taken"; readonly by: string | undefined }
  | { readonly refused: "no_connection" }
/** A field of a patch that only toolsets of the other kind have. */
export interface OtherKind {
  readonly refused: "other_kind"
  readonly field: string
  readonly kind: ToolsetInput["kind"]
}

export type ToolsetPatchRefusal =
  | NotThere
  | NotAllowed
  | OtherKind
  | { readonly refused: "invalid"; readonly cause: Schema.SchemaError }

export const decodeInput = strictly(ToolsetInput)

const columns = [
  "id",
  "connection",
  "trusted",
  "body",
  "checked",
  "catalogue",
  "rev",
  "created_at",
  "updated_at"
] as const

interface Row {
  readonly id: string
  readonly connection: string | null
  readonly trusted: boolean
  readonly body: unknown
  readonly checked: unknown
  readonly catalogue: number
  readonly rev: number
  readonly created_at: Date
  readonly updated_at: Date
}

const summaryOf = (row: Row): ToolsetSummary => {
  const {
    description,
    exclude,
    exposure = "always",
    include,
    kind,
    lease = "none",
    namespace,
    timeoutMs = limits.mcpCallMs.usual,
    toolTimeouts,
    transport = "streamable_http",
    url
  } = readToolsetContent(row.body)
  const { at, reason, status, toolCount } = readChecked(row.checked)
  return {
    id: fromUuid("toolset", row.id),
    namespace,
    kind,
    ...(description !== undefined && { description }),
    ...(url !== undefined && {
      url,
      transport,
      trusted: row.trusted,
      lease,
      timeoutMs,
      ...(toolTimeouts !== undefined && { toolTimeouts })
    }),
    ...connectionOf(row),
    ...(include !== undefined && { include }),
    ...(exclude !== undefined && { exclude }),
    exposure,
    status,
    ...(reason !== undefined && { statusReason: reason }),
    toolCount,
    catalogVersion: row.catalogue,
    ...(at !== undefined && { lastCheckedAt: toTimestamp(at) }),
    createdAt: toTimestamp(row.created_at.getTime()),
    updatedAt: toTimestamp(row.updated_at.getTime())
  }
}

/** A client's tools are its own to say; a server's are in the catalogue only. */
export const storedOf = (row: Row, catalogue: Catalogue | undefined): StoredToolset => ({
  rev: row.rev,
  toolset: { ...summaryOf(row), ...(catalogue?.kind === "client" && { tools: catalogue.tools }) }
})

/** What is stored where: the body, the connection, whether a server is trusted, the tools of a client. */
export const partsOf = (input: ToolsetInput) => {
  if (input.kind === "client") {
    const { tools, ...content } = input
    return { content, connectionId: undefined, trusted: undefined, tools }
  }
  const { connectionId, trusted = false, ...content } = input
  return { content, connectionId, trusted, tools: undefined }
}

/** With what stands for a field that is absent: said or not, it is the same. */
export const withDefaults = ({
  exposure = "always",
  lease = "none",
  timeoutMs = limits.mcpCallMs.usual,
  toolTimeouts = {},
  transport = "streamable_http",
  ...content
}: ToolsetContent) => ({ ...content, exposure, lease, timeoutMs, toolTimeouts, transport })

/** A signing secret is never sent: no server of tools is asked with one. */
export const isSent = (kind: ConnectionKind | undefined) => kind === "token" || kind === "apiKey"

export const toolsets = (db: Db, workspace: string) =>
  db.selectFrom("toolsets").select(columns).where("workspace", "=", toUuid(workspace))
export const one = (db: Db, workspace: string, id: string) => toolsets(db, workspace).where("id", "=", toUuid(id))

const kept = 100

export const latest = async (
  db: Db,
  workspace: string,
  row: Pick<Row, "id" | "catalogue">
): Promise<Catalogue | undefined> => {
  const found = await db
    .selectFrom("catalogues")
    .select("body")
    .where("workspace", "=", toUuid(workspace))
    .where("toolset", "=", row.id)
    .where("version", "=", row.catalogue)
    .executeTakeFirst()
  return found && readCatalogue(found.body)
}

/** The number of the catalogue that says this, written if need be (L2). The toolset's row is locked. */
export const numbered = async (
  tx: Db,
  workspace: string,
  row: Pick<Row, "id" | "catalogue">,
  catalogue: Catalogue,
  at: number
): Promise<number> => {
  const before = await latest(tx, workspace, row)
  if (before !== undefined && isDeepStrictEqual(before, catalogue)) return row.catalogue
  const version = row.catalogue + 1
  await tx
    .insertInto("catalogues")
    .values({
      workspace: toUuid(workspace),
      toolset: row.id,
      version,
      body: JSON.stringify(catalogue),
      created_at: new Date(at)
    })
    .execute()
  await tx
    .deleteFrom("catalogues")
    .where("workspace", "=", toUuid(workspace))
    .where("toolset", "=", row.id)
    .where("version", "<=", version - kept)
    .execute()
  return version
}

/**
 * What a new probe leaves to say: how many tools there are is known from the one before where this one could not ask.
 */
export const checkedOf = ({ at, reason, status }: Probed, toolCount: number): Checked => ({
  status,
  ...(reason !== undefined && { reason }),
  toolCount,
  at
})

export const isTaken = (cause: unknown) => sqlStateOf(cause) === "23505"

/**
 * Why a namespace is not to be had, as far as rows tell: whoever writes at the same time is told by the unique index.
 */
export const heldBy = async (
  db: Db,
  workspace: string,
  namespace: string,
  own?: string
): Promise<NotAllowed | undefined> => {
  if (isReserved(namespace)) return { refused: "reserved", namespace }
  const held = await db
    .selectFrom("toolsets")
    .select("id")
    .where("workspace", "=", toUuid(workspace))
    .where("namespace", "=", namespace)
    .executeTakeFirst()
  return held === undefined || held.id === own ? undefined : { refused: "taken", by: fromUuid("toolset", held.id) }
}

/** A toolset, with what a probe of its server has found already; a client's needs none. */
export const createToolset = async (
  tx: Db,
  workspace: string,
  input: ToolsetInput,
  probed: Probed | undefined,
  at: number
): Promise<StoredToolset | NotAllowed> => {
  const { connectionId, content, trusted = false, tools = probed?.tools } = partsOf(input)
  if (isReserved(content.namespace)) return { refused: "reserved", namespace: content.namespace }
  if (connectionId !== undefined && !isSent(await holdConnection(tx, workspace, connectionId)))
    return { refused: "no_connection" }
  const catalogue = tools && catalogueOf(content, trusted, tools)
  const toolCount = catalogue === undefined ? 0 : offered(catalogue).length
  const row = {
    id: toUuid(freshId("toolset")),
    connection: connectionId === undefined ? null : toUuid(connectionId),
    trusted,
    catalogue: catalogue === undefined ? 0 : 1,
    rev: 1,
    created_at: new Date(at),
    updated_at: new Date(at)
  }
  const checked: Checked = probed === undefined ? { status: "ready", toolCount } : checkedOf(probed, toolCount)
  const made = await tx
    .insertInto("toolsets")
    .values({
      workspace: toUuid(workspace),
      namespace: content.namespace,
      body: JSON.stringify(content),
      checked: JSON.stringify(checked),
      ...row
    })
    .onConflict((on) => on.columns(["workspace", "namespace"]).doNothing())
    .returning("id")
    .executeTakeFirst()
  if (made === undefined) return (await heldBy(tx, workspace, content.namespace)) ?? { refused: "taken", by: undefined }
  if (catalogue !== undefined) await numbered(tx, workspace, { id: row.id, catalogue: 0 }, catalogue, at)
  return storedOf({ ...row, body: content, checked }, catalogue)
}

export const readToolset = async (db: Db, workspace: string, id: string): Promise<StoredToolset | undefined> => {
  const row = await one(db, workspace, id).executeTakeFirst()
  if (row === undefined) return undefined
  return storedOf(row, readToolsetContent(row.body).kind === "client" ? await latest(db, workspace, row) : undefined)
}

/**
 * What is to be asked of where, before a row of it is written: whether its namespace is free and its connection there.
 */
export const foresee = async (db: Db, workspace: string, input: ToolsetInput): Promise<NotAllowed | undefined> => {
  const held = await heldBy(db, workspace, input.namespace)
  if (held !== undefined) return held
  const { connectionId } = partsOf(input)
  if (connectionId === undefined) return undefined
  const found = await readConnection(db, workspace, connectionId)
  return isSent(found?.connection.kind) ? undefined : { refused: "no_connection" }
}

export const deleteToolset = async (
  tx: Db,
  workspace: string,
  id: string,
  fits: (rev: number) => boolean
): Promise<NotThere | { readonly refused: "in_use" } | undefined> => {
  const row = await one(tx, workspace, id).forUpdate().executeTakeFirst()
  if (row === undefined) return { refused: "not_found" }
  if (!fits(row.rev)) return { refused: "precondition" }
  if (await isNamed(tx, workspace, id)) return { refused: "in_use" }
  await tx.deleteFrom("toolsets").where("workspace", "=", toUuid(workspace)).where("id", "=", row.id).execute()
  return undefined
}

export const listToolsets = async (
  db: Db,
  workspace: string,
  options: { readonly after: Position | undefined; readonly limit: number }
): Promise<ReadonlyArray<ToolsetSummary>> => {
  const rows = await toolsets(db, workspace)
    .where(behind("created_at", "id", options.after))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(options.limit)
    .execute()
  return rows.map(summaryOf)
}

/** What a toolset offers now; without a catalogue, nothing. Undefined where there is no toolset. */
export const readOffered = async (
  db: Db,
  workspace: string,
  id: string
): Promise<{ readonly version: number; readonly tools: ReadonlyArray<OfferedTool> } | undefined> => {
  const row = await one(db, workspace, id).executeTakeFirst()
  if (row === undefined) return undefined
  const catalogue = await latest(db, workspace, row)
  return { version: row.catalogue, tools: catalogue === undefined ? [] : offered(catalogue) }
}

/** The server of a toolset as calls need it: `leases` says whether every call brings a lease. */
export interface AskedServer extends ToolsetServer {
  readonly namespace: string
  readonly leases: boolean
}

/** The server of a toolset; undefined where there is none. */
export const readServer = async (db: Db, workspace: string, id: string): Promise<AskedServer | undefined> => {
  const row = await one(db, workspace, id).executeTakeFirst()
  const server = row && serverOf(row)
  if (row === undefined || server === undefined) return undefined
  const { lease, namespace } = readToolsetContent(row.body)
  return { ...server, namespace, leases: lease === "call" }
}
