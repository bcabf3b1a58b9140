/**
 * Agents as rows: created, merged, archived, listed. Functions over a connection or a transaction.
 *
 * A1. `rev` rises by one with every change; it is the ETag, and what If-Match is held against under a row lock.
 * A2. A profile (and its version, if pinned) exists in the same workspace and is not archived: looked up in the writing
 *     transaction, and held until its end. A profile that an agent follows already is not looked at again.
 */
import { Result, Schema } from "effect"
import { isDeepStrictEqual } from "node:util"
import { type Agent, AgentInput, type AgentPatch, Budget, Tags } from "./agent.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { strictly } from "../domain/strict.ts"
import { mergePatch } from "../domain/mergePatch.ts"
import { toTimestamp } from "../domain/time.ts"
import { tellSchedulesOf } from "../schedules/rows.ts"
import { freshId } from "../seed.ts"
import type { Db } from "../database/handle.ts"
import { seeIdentity } from "../identities/rows.ts"
import { behind, type Position } from "../database/newestFirst.ts"

export interface StoredAgent {
  readonly agent: Agent
  readonly rev: number
}

/** A2: without `version`, the profile itself is not there. */
export interface NoProfile {
  readonly refused: "no_profile"
  readonly version?: number
}
/** It takes no agents any more. */
export interface ArchivedProfile {
  readonly refused: "profile_archived"
}
export interface NotThere {
  readonly refused: "not_found" | "precondition"
}
export type AgentPatchRefusal =
  | NoProfile
  | ArchivedProfile
  | NotThere
  | { readonly refused: "archived" }
  | { readonly refused: "invalid"; readonly cause: Schema.SchemaError }

const AgentBody = Schema.Struct({
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  avatar: Schema.optionalKey(Schema.String),
  tags: Schema.optionalKey(Tags),
  budget: Schema.optionalKey(Budget)
})
export const readAgentBody = Schema.decodeUnknownSync(AgentBody)
const decodeInput = strictly(AgentInput)

const columns = [
  "workspace",
  "id",
  "profile",
  "profile_version",
  "identity",
  "body",
  "rev",
  "created_at",
  "updated_at",
  "archived_at"
] as const

interface AgentRow {
  readonly workspace: string
  readonly id: string
  readonly profile: string
  readonly profile_version: number | null
  readonly identity: string | null
  readonly body: unknown
  readonly rev: number
  readonly created_at: Date
  readonly updated_at: Date
  readonly archived_at: Date | null
}

const inputOf = (row: AgentRow): AgentInput => ({
  ...readAgentBody(row.body),
  profileId: fromUuid("profile", row.profile),
  ...(row.profile_version !== null && { profileVersion: row.profile_version }),
  ...(row.identity !== null && { identity: row.identity })
})

const stored = (row: AgentRow): StoredAgent => {
  const { profileId, tags, ...rest } = inputOf(row)
  return {
    rev: row.rev,
    agent: {
      id: fromUuid("agent", row.id),
      workspaceId: fromUuid("workspace", row.workspace),
      profileId,
      createdAt: toTimestamp(row.created_at.getTime()),
      tags: tags ?? [],
      ...rest,
      updatedAt: toTimestamp(row.updated_at.getTime()),
      ...(row.archived_at !== null && { archivedAt: toTimestamp(row.archived_at.getTime()) })
    }
  }
}

const columnsOf = ({ profileId, profileVersion, identity, ...body }: AgentInput) => ({
  profile: toUuid(profileId),
  profile_version: profileVersion ?? null,
  identity: identity ?? null,
  body: JSON.stringify(body)
})

/** A2: why it cannot be followed; undefined where it can. `followed` is the profile of the agent as it is. */
const unfit = async (
  tx: Db,
  workspace: string,
  { profileId, profileVersion }: AgentInput,
  followed?: string
): Promise<NoProfile | ArchivedProfile | undefined> => {
  if (profileId !== followed) {
    const profile = await tx
      .selectFrom("profiles")
      .select("archived_at")
      .where("workspace", "=", toUuid(workspace))
      .where("id", "=", toUuid(profileId))
      .forKeyShare()
      .executeTakeFirst()
    if (profile === undefined) return { refused: "no_profile" }
    if (profile.archived_at !== null) return { refused: "profile_archived" }
  }
  if (profileVersion === undefined) return undefined
  const version = await tx
    .selectFrom("profile_versions")
    .select("version")
    .where("workspace", "=", toUuid(workspace))
    .where("profile", "=", toUuid(profileId))
    .where("version", "=", profileVersion)
    .executeTakeFirst()
  return version === undefined ? { refused: "no_profile", version: profileVersion } : undefined
}

export const createAgent = async (
  tx: Db,
  workspace: string,
  input: AgentInput,
  at: number
): Promise<StoredAgent | NoProfile | ArchivedProfile> => {
  const refused = await unfit(tx, workspace, input)
  if (refused) return refused
  if (input.identity !== undefined) await seeIdentity(tx, workspace, input.identity, at)
  const when = new Date(at)
  const row = {
    workspace: toUuid(workspace),
    id: toUuid(freshId("agent")),
    ...columnsOf(input),
    rev: 1,
    created_at: when,
    updated_at: when,
    archived_at: null
  }
  await tx.insertInto("agents").values(row).execute()
  return stored({ ...row, body: JSON.parse(row.body) })
}

export const readAgent = async (db: Db, workspace: string, id: string): Promise<StoredAgent | undefined> => {
  const row = await db
    .selectFrom("agents")
    .select(columns)
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .executeTakeFirst()
  return row && stored(row)
}

/**
 * `fits` says whether the agent's revision meets the request's If-Match (A1). A patch that changes nothing leaves `rev`
 * as it is.
 */
export const patchAgent = async (
  tx: Db,
  workspace: string,
  id: string,
  patch: AgentPatch,
  fits: (rev: number) => boolean,
  at: number
): Promise<StoredAgent | AgentPatchRefusal> => {
  const row = await tx
    .selectFrom("agents")
    .select(columns)
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) return { refused: "not_found" }
  if (!fits(row.rev)) return { refused: "precondition" }
  if (row.archived_at !== null) return { refused: "archived" }
  const merged = decodeInput(mergePatch(inputOf(row), patch))
  if (Result.isFailure(merged)) return { refused: "invalid", cause: merged.failure }
  const input = merged.success
  const before = inputOf(row)
  if (isDeepStrictEqual(input, before)) return stored(row)
  const refused = await unfit(tx, workspace, input, before.profileId)
  if (refused) return refused
  if (input.identity !== undefined && input.identity !== row.identity)
    await seeIdentity(tx, workspace, input.identity, at)
  const next = { ...columnsOf(input), rev: row.rev + 1, updated_at: new Date(Math.max(at, row.updated_at.getTime())) }
  await tx.updateTable("agents").set(next).where("workspace", "=", row.workspace).where("id", "=", row.id).execute()
  return stored({ ...row, ...next, body: JSON.parse(next.body) })
}

/** Archiving again changes nothing. */
export const archiveAgent = async (
  tx: Db,
  workspace: string,
  id: string,
  fits: (rev: number) => boolean,
  at: number
): Promise<NotThere | undefined> => {
  const row = await tx
    .selectFrom("agents")
    .select(["workspace", "id", "rev", "updated_at", "archived_at"])
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) return { refused: "not_found" }
  if (!fits(row.rev)) return { refused: "precondition" }
  if (row.archived_at !== null) return undefined
  const when = new Date(Math.max(at, row.updated_at.getTime()))
  await tx
    .updateTable("agents")
    .set({ rev: row.rev + 1, updated_at: when, archived_at: when })
    .where("workspace", "=", row.workspace)
    .where("id", "=", row.id)
    .execute()
  await tellSchedulesOf(tx, workspace, id)
  return undefined
}

/** `limit` rows after a position, newest first. */
/** The place of the first of these ids that no active agent has; -1 where all are there. */
export const missingAgent = async (db: Db, workspace: string, ids: ReadonlyArray<string>): Promise<number> => {
  if (ids.length === 0) return -1
  const rows = await db
    .selectFrom("agents")
    .select("id")
    .where("workspace", "=", toUuid(workspace))
    .where("id", "in", ids.map(toUuid))
    .where("archived_at", "is", null)
    .execute()
  const found = new Set<string>(rows.map(({ id }) => fromUuid("agent", id)))
  return ids.findIndex((id) => !found.has(id))
}

export const listAgents = async (
  db: Db,
  workspace: string,
  options: { readonly includeArchived: boolean; readonly after: Position | undefined; readonly limit: number }
): Promise<ReadonlyArray<Agent>> => {
  const rows = await db
    .selectFrom("agents")
    .select(columns)
    .where("workspace", "=", toUuid(workspace))
    .$if(!options.includeArchived, (q) => q.where("archived_at", "is", null))
    .where(behind("created_at", "id", options.after))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(options.limit)
    .execute()
  return rows.map((row) => stored(row).agent)
}
