/**
 * Changes of a toolset: those that a client makes, and what a probe of its server finds. Its rows and L1 to L3:
 * rows.ts.
 */
import { Result } from "effect"
import { isDeepStrictEqual } from "node:util"
import { toUuid } from "../domain/ids.ts"
import { mergePatch } from "../domain/mergePatch.ts"
import { strangeTo, type ToolsetPatch } from "./toolset.ts"
import { catalogueOf, offered } from "./catalogue.ts"
import type { Db } from "../database/handle.ts"
import { holdConnection } from "../connections/rows.ts"
import {
  connectionOf,
  isLater,
  isSame,
  readChecked,
  readToolsetContent,
  type ToolsetServer,
  serverOf
} from "./status.ts"
import {
  decodeInput,
  storedOf,
  partsOf,
  withDefaults,
  isSent,
  one,
  latest,
  numbered,
  checkedOf,
  isTaken,
  heldBy,
  type StoredToolset,
  type Probed,
  type ToolsetPatchRefusal
} from "./rows.ts"

export interface Patched extends StoredToolset {
  /** Another server than before, or another way to it: to be asked now. */
  readonly moved?: ToolsetServer
}

/** False where another toolset has the namespace. */
const isWritten = async (change: { readonly execute: () => Promise<unknown> }): Promise<boolean> => {
  try {
    await change.execute()
    return true
  } catch (cause) {
    if (isTaken(cause)) return false
    throw cause
  }
}

/** `fits` says whether the toolset's revision meets the request's If-Match (L1). */
export const patchToolset = async (
  tx: Db,
  workspace: string,
  id: string,
  patch: ToolsetPatch,
  fits: (rev: number) => boolean,
  at: number
): Promise<Patched | ToolsetPatchRefusal> => {
  const row = await one(tx, workspace, id).forNoKeyUpdate().executeTakeFirst()
  if (row === undefined) return { refused: "not_found" }
  if (!fits(row.rev)) return { refused: "precondition" }
  const before = readToolsetContent(row.body)
  const strange = strangeTo(before.kind, patch)
  if (strange !== undefined) return { refused: "other_kind", ...strange }
  const current = await latest(tx, workspace, row)
  const merged = decodeInput(
    mergePatch(
      {
        ...before,
        ...connectionOf(row),
        ...(before.kind === "client" ? { tools: current?.tools } : { trusted: row.trusted })
      },
      patch
    )
  )
  if (Result.isFailure(merged)) return { refused: "invalid", cause: merged.failure }
  const { connectionId, content, trusted = row.trusted, tools: own } = partsOf(merged.success)
  const next = { ...row, body: content, trusted, connection: connectionId === undefined ? null : toUuid(connectionId) }
  const asBefore =
    isDeepStrictEqual(withDefaults(content), withDefaults(before)) &&
    next.connection === row.connection &&
    trusted === row.trusted &&
    (own === undefined || isDeepStrictEqual(own, current?.tools))
  if (asBefore) return storedOf(row, current)
  const held =
    content.namespace === before.namespace ? undefined : await heldBy(tx, workspace, content.namespace, row.id)
  if (held !== undefined) return held
  // The one that it has already is held by its row.
  if (
    connectionId !== undefined &&
    next.connection !== row.connection &&
    !isSent(await holdConnection(tx, workspace, connectionId))
  )
    return { refused: "no_connection" }

  const server = serverOf(next)
  const moved = !isSame(server, serverOf(row))
  // Of another server nothing is known yet.
  const tools = own ?? (server?.url === before.url ? current?.tools : current && [])
  const catalogue = tools && catalogueOf(content, trusted, tools)
  const { toolCount: _, ...checked } = readChecked(row.checked)
  const changed = {
    body: content,
    connection: next.connection,
    trusted,
    checked: {
      ...(moved ? { status: "pending" as const } : checked),
      toolCount: catalogue === undefined ? 0 : offered(catalogue).length
    },
    catalogue: catalogue === undefined ? row.catalogue : await numbered(tx, workspace, row, catalogue, at),
    rev: row.rev + 1,
    updated_at: new Date(Math.max(at, row.updated_at.getTime()))
  }
  const change = tx
    .updateTable("toolsets")
    .set({
      ...changed,
      namespace: content.namespace,
      body: JSON.stringify(content),
      checked: JSON.stringify(changed.checked)
    })
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", row.id)
  if (!(await isWritten(change))) return { refused: "taken", by: undefined }
  return { ...storedOf({ ...row, ...changed }, catalogue), ...(moved && server !== undefined && { moved: server }) }
}

/** Writes down what a probe of a server has found (L3); undefined where the toolset is gone. */
export const noteProbe = async (
  tx: Db,
  workspace: string,
  id: string,
  server: ToolsetServer,
  probed: Probed
): Promise<StoredToolset | undefined> => {
  const row = await one(tx, workspace, id).forNoKeyUpdate().executeTakeFirst()
  if (row === undefined) return undefined
  if (!isSame(serverOf(row), server)) return storedOf(row, undefined)
  const catalogue = probed.tools && catalogueOf(readToolsetContent(row.body), row.trusted, probed.tools)
  const before = readChecked(row.checked)
  const toolCount = catalogue === undefined ? before.toolCount : offered(catalogue).length
  const changed = {
    catalogue: catalogue === undefined ? row.catalogue : await numbered(tx, workspace, row, catalogue, probed.at),
    checked: isLater(before, probed) ? { ...before, toolCount } : checkedOf(probed, toolCount)
  }
  await tx
    .updateTable("toolsets")
    .set({ ...changed, checked: JSON.stringify(changed.checked) })
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", row.id)
    .execute()
  return storedOf({ ...row, ...changed }, undefined)
}
