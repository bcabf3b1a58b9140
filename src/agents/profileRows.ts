/**
 * Profiles as rows: one that names the latest version, and one for each version, never changed.
 *
 * F1. Versions are numbered from 1 without gaps; the profile's row is locked while the next is written.
 * F2. A patch that changes nothing makes no version.
 * F3. What a profile names is there when it is written (`profileReferences.ts`). A hook's id is made here;
 *     a patch may carry those of the latest version, and no other.
 * F4. One that is archived stays as it is, and no agent begins to follow it: whoever makes one follow it holds its row
 *     (`rows.ts`, A2), and whoever archives it looks for agents behind that lock.
 */
import { Effect, Result, Schema } from "effect"
import { isDeepStrictEqual } from "node:util"
import { defaultCompaction } from "../domain/compactionSettings.ts"
import { hookOf } from "../domain/hook.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { strictly } from "../domain/strict.ts"
import { mergePatch } from "../domain/mergePatch.ts"
import {
  profileContentOf,
  defaultMemory,
  type Profile,
  ProfileContent,
  ProfileInput,
  type ProfilePatch
} from "./profile.ts"
import { allTools } from "../roles/role.ts"
import { toTimestamp } from "../domain/time.ts"
import { freshId } from "../seed.ts"
import type { Db } from "../database/handle.ts"
import { behind, type Position } from "../database/newestFirst.ts"
import { type MissingReference, missingReference } from "./profileReferences.ts"

/** A hook carries an id that is none of this profile (F3). */
export interface UnknownHook {
  readonly refused: "unknown_hook"
  readonly index: number
}
export type CreateRefusal = UnknownHook | MissingReference
export type ProfileRefusal =
  | CreateRefusal
  | { readonly refused: "not_found" | "precondition" | "archived" }
  | { readonly refused: "invalid"; readonly cause: Schema.SchemaError }

const { compaction, familyExposure, hooks, memory, roleIds, toolsetIds } = ProfileContent.fields
/** Versions from before there were roles, toolsets, hooks, summaries and memory say nothing of them. */
const Stored = Schema.Struct({
  ...ProfileContent.fields,
  compaction: compaction.pipe(Schema.withDecodingDefaultKey(Effect.succeed(defaultCompaction))),
  familyExposure: familyExposure.pipe(Schema.withDecodingDefaultKey(Effect.succeed("search" as const))),
  memory: memory.pipe(Schema.withDecodingDefaultKey(Effect.succeed(defaultMemory))),
  toolsetIds: toolsetIds.pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  roleIds: roleIds.pipe(Schema.withDecodingDefaultKey(Effect.succeed([allTools.id]))),
  hooks: hooks.pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
})
export const readProfileContent: (body: unknown) => ProfileContent = Schema.decodeUnknownSync(Stored)
const decodeInput = strictly(ProfileInput)

interface Row {
  readonly id: string
  readonly version: number
  readonly body: unknown
  readonly born: Date
  readonly made: Date
  readonly archived: Date | null
}

const profileOf = (row: Row): Profile => ({
  id: fromUuid("profile", row.id),
  version: row.version,
  ...readProfileContent(row.body),
  createdAt: toTimestamp(row.born.getTime()),
  updatedAt: toTimestamp(row.made.getTime()),
  ...(row.archived !== null && { archivedAt: toTimestamp(row.archived.getTime()) })
})

const versions = (db: Db, workspace: string) =>
  db
    .selectFrom("profiles as p")
    .innerJoin("profile_versions as v", (join) =>
      join.onRef("v.workspace", "=", "p.workspace").onRef("v.profile", "=", "p.id")
    )
    .where("p.workspace", "=", toUuid(workspace))
    .select([
      "p.id",
      "v.version",
      "v.body",
      "p.created_at as born",
      "v.created_at as made",
      "p.archived_at as archived"
    ])

const latest = (db: Db, workspace: string) => versions(db, workspace).whereRef("v.version", "=", "p.version")

/** F3. */
const whole = (input: ProfileInput) =>
  profileContentOf(
    input,
    input.hooks?.map((hook) => hookOf(hook, hook.id ?? freshId("hook")))
  )

/** F3. */
const unknownHook = (input: ProfileInput, before?: ProfileContent): UnknownHook | undefined => {
  const known = new Set(before?.hooks.map(({ id }) => id))
  const index = input.hooks?.findIndex(({ id }) => id !== undefined && !known.has(id)) ?? -1
  return index === -1 ? undefined : { refused: "unknown_hook", index }
}

export const createProfile = async (
  tx: Db,
  workspace: string,
  input: ProfileInput,
  at: number
): Promise<Profile | CreateRefusal> => {
  const content = whole(input)
  const refused = unknownHook(input) ?? (await missingReference(tx, workspace, content))
  if (refused !== undefined) return refused
  const when = new Date(at)
  const id = toUuid(freshId("profile"))
  await tx
    .insertInto("profiles")
    .values({ workspace: toUuid(workspace), id, version: 1, created_at: when })
    .execute()
  await tx
    .insertInto("profile_versions")
    .values({ workspace: toUuid(workspace), profile: id, version: 1, body: JSON.stringify(content), created_at: when })
    .execute()
  return profileOf({ id, version: 1, body: content, born: when, made: when, archived: null })
}

/** The latest version, or the one asked for. */
export const readProfile = async (
  db: Db,
  workspace: string,
  id: string,
  version?: number
): Promise<Profile | undefined> => {
  const row = await (version === undefined
    ? latest(db, workspace)
    : versions(db, workspace).where("v.version", "=", version)
  )
    .where("p.id", "=", toUuid(id))
    .executeTakeFirst()
  return row && profileOf(row)
}

/** Writes the next version (F1, F2). `fits` says whether the latest one meets the request's If-Match. */
export const patchProfile = async (
  tx: Db,
  workspace: string,
  id: string,
  patch: ProfilePatch,
  fits: (version: number) => boolean,
  at: number
): Promise<Profile | ProfileRefusal> => {
  const held = await tx
    .selectFrom("profiles")
    .select(["id", "version", "created_at", "archived_at"])
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .forUpdate()
    .executeTakeFirst()
  if (held === undefined) return { refused: "not_found" }
  if (!fits(held.version)) return { refused: "precondition" }
  if (held.archived_at !== null) return { refused: "archived" }
  const current = await latest(tx, workspace).where("p.id", "=", held.id).executeTakeFirstOrThrow()
  const before = readProfileContent(current.body)
  const merged = decodeInput(mergePatch(before, patch))
  if (Result.isFailure(merged)) return { refused: "invalid", cause: merged.failure }
  const content = whole(merged.success)
  if (isDeepStrictEqual(content, before)) return profileOf(current)
  const refused = unknownHook(merged.success, before) ?? (await missingReference(tx, workspace, content, before))
  if (refused !== undefined) return refused
  const body = JSON.stringify(content)
  const version = held.version + 1
  const when = new Date(Math.max(at, current.made.getTime()))
  await tx
    .insertInto("profile_versions")
    .values({ workspace: toUuid(workspace), profile: held.id, version, body, created_at: when })
    .execute()
  await tx
    .updateTable("profiles")
    .set({ version })
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", held.id)
    .execute()
  return profileOf({ id: held.id, version, body: content, born: held.created_at, made: when, archived: null })
}

/** Archiving again changes nothing (F4). */
export const archiveProfile = async (
  tx: Db,
  workspace: string,
  id: string,
  fits: (version: number) => boolean,
  at: number
): Promise<{ readonly refused: "not_found" | "precondition" | "in_use" } | undefined> => {
  const held = await tx
    .selectFrom("profiles")
    .select(["id", "version", "archived_at"])
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .forUpdate()
    .executeTakeFirst()
  if (held === undefined) return { refused: "not_found" }
  if (!fits(held.version)) return { refused: "precondition" }
  if (held.archived_at !== null) return undefined
  const follower = await tx
    .selectFrom("agents")
    .select("id")
    .where("workspace", "=", toUuid(workspace))
    .where("profile", "=", held.id)
    .where("archived_at", "is", null)
    .limit(1)
    .executeTakeFirst()
  if (follower !== undefined) return { refused: "in_use" }
  await tx
    .updateTable("profiles")
    .set({ archived_at: new Date(at) })
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", held.id)
    .execute()
  return undefined
}

export const listProfiles = async (
  db: Db,
  workspace: string,
  options: { readonly includeArchived: boolean; readonly after: Position | undefined; readonly limit: number }
): Promise<ReadonlyArray<Profile>> => {
  const rows = await latest(db, workspace)
    .$if(!options.includeArchived, (q) => q.where("p.archived_at", "is", null))
    .where(behind("p.created_at", "p.id", options.after))
    .orderBy("p.created_at", "desc")
    .orderBy("p.id", "desc")
    .limit(options.limit)
    .execute()
  return rows.map(profileOf)
}

/** Newest version first, below `before`. */
export const listProfileVersions = async (
  db: Db,
  workspace: string,
  id: string,
  options: { readonly before: number | undefined; readonly limit: number }
): Promise<ReadonlyArray<Profile>> => {
  const { before } = options
  const rows = await versions(db, workspace)
    .where("p.id", "=", toUuid(id))
    .$if(before !== undefined, (q) => q.where("v.version", "<", before ?? 0))
    .orderBy("v.version", "desc")
    .limit(options.limit)
    .execute()
  return rows.map(profileOf)
}
