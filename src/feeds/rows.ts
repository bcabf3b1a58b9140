/**
 * Feeds as rows: made, merged, archived, listed. Functions over a connection or a transaction.
 *
 * F1. `rev` rises by one with every change of what a client has said; it is the ETag. Appends leave it as it is.
 * F2. Whoever makes or renames a feed holds the workspace's lock: no two take one name, or the last place.
 */
import { Result, Schema } from "effect"
import { sql } from "kysely"
import { isDeepStrictEqual } from "node:util"
import type { Db } from "../database/handle.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import { mergePatch } from "../domain/mergePatch.ts"
import { Principal } from "../domain/principal.ts"
import { strictly } from "../domain/strict.ts"
import { toTimestamp } from "../domain/time.ts"
import { freshId } from "../seed.ts"
import { type Feed, FeedInput, type FeedPatch } from "./feed.ts"

export interface StoredFeed {
  readonly feed: Feed
  readonly rev: number
}
export interface FeedNotThere {
  readonly refused: "not_found" | "precondition"
}
export interface NoRoom {
  readonly refused: "name_taken" | "too_many"
}
export type FeedPatchRefusal =
  | FeedNotThere
  | { readonly refused: "archived" | "name_taken" }
  | { readonly refused: "invalid"; readonly cause: Schema.SchemaError }

const readPrincipal = Schema.decodeUnknownSync(Principal)
const decodeInput = strictly(FeedInput)

const columns = [
  "workspace",
  "id",
  "name",
  "description",
  "tags",
  "max_messages",
  "max_age_seconds",
  "first_seq",
  "last_seq",
  "rev",
  "created_at",
  "created_by",
  "updated_at",
  "archived_at"
] as const

interface FeedRow {
  readonly workspace: string
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly tags: ReadonlyArray<string>
  readonly max_messages: number | null
  readonly max_age_seconds: number | null
  readonly first_seq: string
  readonly last_seq: string
  readonly rev: number
  readonly created_at: Date
  readonly created_by: unknown
  readonly updated_at: Date
  readonly archived_at: Date | null
}

const inputOf = ({ description, max_age_seconds, max_messages, name, tags }: FeedRow): FeedInput => ({
  name,
  ...(description === null ? {} : { description }),
  ...(tags.length === 0 ? {} : { tags }),
  ...(max_messages === null && max_age_seconds === null
    ? {}
    : {
        retention: {
          ...(max_messages === null ? {} : { maxMessages: max_messages }),
          ...(max_age_seconds === null ? {} : { maxAgeSeconds: max_age_seconds })
        }
      })
})

const columnsOf = ({ description, name, retention, tags = [] }: FeedInput) => ({
  name,
  description: description ?? null,
  tags: [...tags],
  max_messages: retention?.maxMessages ?? null,
  max_age_seconds: retention?.maxAgeSeconds ?? null
})

const stored = (row: FeedRow): StoredFeed => {
  const { description, name, retention, tags = [] } = inputOf(row)
  return {
    rev: row.rev,
    feed: {
      id: fromUuid("feed", row.id),
      name,
      ...(description === undefined ? {} : { description }),
      tags,
      firstSeq: Number(row.first_seq),
      lastSeq: Number(row.last_seq),
      ...(retention === undefined ? {} : { retention }),
      ...(row.archived_at === null ? {} : { archivedAt: toTimestamp(row.archived_at.getTime()) }),
      createdAt: toTimestamp(row.created_at.getTime()),
      createdBy: readPrincipal(row.created_by)
    }
  }
}

/** F2. Whether the name is free, and how many feeds are not archived. */
const standing = async (tx: Db, space: string, name: string) => {
  await sql`select pg_advisory_xact_lock(hashtextextended('feeds ' || ${space}, 0))`.execute(tx)
  const { rows } = await sql<{ readonly taken: boolean; readonly active: number }>`select
    exists (select from feeds where workspace = ${space}::uuid and name = ${name}) as taken,
    (select count(*)::int from feeds where workspace = ${space}::uuid and archived_at is null) as active`.execute(tx)
  const [row] = rows
  return { taken: row?.taken === true, active: row?.active ?? 0 }
}

export const createFeed = async (
  tx: Db,
  workspace: string,
  input: FeedInput,
  by: Principal,
  at: number
): Promise<StoredFeed | NoRoom> => {
  const space = toUuid(workspace)
  const { active, taken } = await standing(tx, space, input.name)
  if (taken) return { refused: "name_taken" }
  if (active >= limits.feeds) return { refused: "too_many" }
  const when = new Date(at)
  const made = {
    workspace: space,
    id: toUuid(freshId("feed")),
    ...columnsOf(input),
    rev: 1,
    created_at: when,
    created_by: JSON.stringify(by),
    updated_at: when,
    archived_at: null
  }
  await tx.insertInto("feeds").values(made).execute()
  return stored({ ...made, created_by: by, first_seq: "1", last_seq: "0" })
}

const held = (db: Db, workspace: string, id: string) =>
  db.selectFrom("feeds").select(columns).where("workspace", "=", toUuid(workspace)).where("id", "=", toUuid(id))

export const readFeed = async (db: Db, workspace: string, id: string): Promise<StoredFeed | undefined> => {
  const row = await held(db, workspace, id).executeTakeFirst()
  return row && stored(row)
}

/** `fits` says whether the revision meets the request's If-Match. A patch that changes nothing leaves it as it is. */
export const patchFeed = async (
  tx: Db,
  workspace: string,
  id: string,
  patch: FeedPatch,
  fits: (rev: number) => boolean,
  at: number
): Promise<StoredFeed | FeedPatchRefusal> => {
  // The workspace's lock comes before the row's, as for whoever makes one.
  const taken = patch.name !== undefined && (await standing(tx, toUuid(workspace), patch.name)).taken
  const row = await held(tx, workspace, id).forUpdate().executeTakeFirst()
  if (row === undefined) return { refused: "not_found" }
  if (!fits(row.rev)) return { refused: "precondition" }
  if (row.archived_at !== null) return { refused: "archived" }
  const before = inputOf(row)
  const { retention, ...rest } = mergePatch(before, patch)
  // A retention that says nothing is none.
  const isKept = retention !== undefined && Object.keys(Object(retention)).length > 0
  const merged = decodeInput(isKept ? { ...rest, retention } : rest)
  if (Result.isFailure(merged)) return { refused: "invalid", cause: merged.failure }
  const { tags = [], ...changed } = merged.success
  // No tags are said by none, and by an empty list.
  const input = tags.length === 0 ? changed : { ...changed, tags }
  if (isDeepStrictEqual(input, before)) return stored(row)
  if (taken && input.name !== before.name) return { refused: "name_taken" }
  const next = {
    ...columnsOf(input),
    rev: row.rev + 1,
    updated_at: new Date(Math.max(at, row.updated_at.getTime()))
  }
  await tx.updateTable("feeds").set(next).where("workspace", "=", row.workspace).where("id", "=", row.id).execute()
  return stored({ ...row, ...next })
}

/** For good. Archiving again changes nothing. */
export const archiveFeed = async (
  tx: Db,
  workspace: string,
  id: string,
  fits: (rev: number) => boolean,
  at: number
): Promise<StoredFeed | FeedNotThere> => {
  const row = await held(tx, workspace, id).forUpdate().executeTakeFirst()
  if (row === undefined) return { refused: "not_found" }
  if (!fits(row.rev)) return { refused: "precondition" }
  if (row.archived_at !== null) return stored(row)
  const when = new Date(Math.max(at, row.updated_at.getTime()))
  const next = { rev: row.rev + 1, updated_at: when, archived_at: when }
  await tx.updateTable("feeds").set(next).where("workspace", "=", row.workspace).where("id", "=", row.id).execute()
  return stored({ ...row, ...next })
}

/** The place of the first of these ids that no feed has; -1 where all are there. */
export const missingFeed = async (db: Db, workspace: string, ids: ReadonlyArray<string>): Promise<number> => {
  if (ids.length === 0) return -1
  const rows = await db
    .selectFrom("feeds")
    .select("id")
    .where("workspace", "=", toUuid(workspace))
    .where("id", "in", ids.map(toUuid))
    .execute()
  const found = new Set<string>(rows.map(({ id }) => fromUuid("feed", id)))
  return ids.findIndex((id) => !found.has(id))
}

export interface FeedQuery {
  readonly namePrefix: string
  readonly tag: string | undefined
  readonly includeArchived: boolean
  /** Name behind which to begin. */
  readonly after: string
  readonly limit: number
}

/** By name, in the order of its bytes. */
export const listFeeds = async (db: Db, workspace: string, query: FeedQuery): Promise<ReadonlyArray<Feed>> => {
  const { after, includeArchived, limit, namePrefix, tag } = query
  const rows = await db
    .selectFrom("feeds")
    .select(columns)
    .where("workspace", "=", toUuid(workspace))
    .where("name", ">", after)
    // No character of a name stands behind "z".
    .$if(namePrefix !== "", (q) => q.where("name", ">=", namePrefix).where("name", "<", `${namePrefix}{`))
    .$if(tag !== undefined, (q) => q.where(sql<boolean>`${tag} = any(tags)`))
    .$if(!includeArchived, (q) => q.where("archived_at", "is", null))
    .orderBy("name")
    .limit(limit)
    .execute()
  return rows.map((row) => stored(row).feed)
}
