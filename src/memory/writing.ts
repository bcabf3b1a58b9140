/**
 * Writes of memory, each one statement: it locks the entry, compares, and writes entry and version, or nothing.
 *
 * W1. The comparison comes first. What it refuses has written nothing, and neither has a put of the value that is
 *     there.
 * W2. Each write or delete names the one before it: the versions of an entry are one chain, also through a delete. The
 *     row of a deleted entry stays as its end, to be locked (`forgetting.ts` removes it in the end).
 * W3. A store has at most 10,000 entries: whoever makes or deletes one holds the store's row until it is committed.
 * W4. A write whose version is known was done before, by whoever derived that version from its cause: it does nothing.
 */
import { sql } from "kysely"
import type { Db } from "../database/handle.ts"
import { fromUuid, isIdOf, toUuid } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import type { Principal } from "../domain/principal.ts"
import { utf8Bytes } from "../domain/text.ts"
import { toTimestamp } from "../domain/time.ts"
import { freshId } from "../seed.ts"
import { type MemoryEntry, noEntry, type Store } from "./memory.ts"

/** Where a store's rows are. */
export const storeOf = (workspace: string, { agentId }: Store) => toUuid(agentId ?? workspace)

/** Who writes, and in which turn, if it is an agent. */
export interface Author {
  readonly principal: Principal
  readonly from?: { readonly threadId: string; readonly turnId: string }
}

export interface Write extends Store {
  readonly key: string
  /** Undefined: the entry is deleted. */
  readonly value?: string
  readonly expectedVersion?: string
  /** Derived from what causes the write, which may come again (W4). */
  readonly version?: string
}

export type Written =
  | { readonly done: "created" | "changed" | "same"; readonly entry: MemoryEntry }
  | { readonly done: "deleted" | "nothing" }
  | { readonly done: "before"; readonly version: string }
  | { readonly refused: "no_agent" | "absent" }
  /** Of a put. */
  | { readonly refused: "agent_archived" | "full" }
  | { readonly refused: "conflict"; readonly currentVersion: string }

type Verdict = "no_agent" | "archived" | "before" | "conflict" | "absent" | "nothing" | "same" | "write"

interface Row {
  readonly verdict: Verdict
  /** Whether there was an entry. */
  readonly live: boolean
  readonly current: string | null
  readonly is_full: boolean
  readonly written: boolean
  readonly created_at: Date | null
  readonly updated_at: Date | null
  readonly updated_by: Principal | null
  readonly thread: string | null
  readonly turn: string | null
}

const isVersion = isIdOf("memoryVersion")
/** A version that nothing has. */
const never = "00000000-0000-0000-0000-000000000000"

const statement = (workspace: string, write: Write, { from, principal }: Author, version: string, at: Date) => {
  const { agentId, expectedVersion, key, value = null } = write
  const space = sql`${toUuid(workspace)}::uuid`
  const store = sql`${storeOf(workspace, write)}::uuid`
  const made = sql`${toUuid(version)}::uuid`
  const text = sql`${value}::text`
  const size = sql`${value === null ? 0 : utf8Bytes(value)}::int`
  const by = sql`${JSON.stringify(principal)}::json`
  const thread = sql`${from === undefined ? null : toUuid(from.threadId)}::uuid`
  const turn = sql`${from === undefined ? null : toUuid(from.turnId)}::uuid`
  const isPut = value !== null
  const createsOnly = isPut && expectedVersion === noEntry
  const expected =
    expectedVersion === undefined || createsOnly ? null : isVersion(expectedVersion) ? toUuid(expectedVersion) : never
  const entry = sql`workspace = ${space} and store = ${store} and key = ${key}`
  return sql<Row>`with
    agent as (select archived_at is not null as archived from agents
      where workspace = ${space} and id = ${agentId === undefined ? never : toUuid(agentId)}::uuid),
    held as (select version, seq, value, value is not null as live, created_at, updated_at, updated_by, thread, turn
      from memory_entries where ${entry} for update),
    found as (select held.*, coalesce(held.live, false) as is_live, agent.archived
      from (select) as one left join held on true left join agent on true),
    judged as (select *, case
        when ${agentId !== undefined}::bool and archived is null then 'no_agent'
        when ${isPut}::bool and archived then 'archived'
        when ${write.version !== undefined}::bool and (version = ${made}
          or exists (select from memory_versions where ${entry} and version = ${made})) then 'before'
        when is_live and (${createsOnly}::bool or version <> ${expected}::uuid) then 'conflict'
        when not is_live and ${expected}::uuid is not null then 'absent'
        when not is_live and not ${isPut}::bool then 'nothing'
        when is_live and value = ${text} then 'same'
        else 'write' end as verdict
      from found),
    room as (select entries from memory_stores where workspace = ${space} and store = ${store}
      and exists (select from judged where verdict = 'write' and is_live <> ${isPut}::bool) for update),
    crowd as (select ${isPut}::bool and not is_live
      and coalesce((select entries from room), 0) >= ${limits.memoryEntries}::int as is_full
      from judged where verdict = 'write'),
    written as (insert into memory_entries as e
        (workspace, store, key, value, size, version, seq, created_at, updated_at, updated_by, thread, turn)
      select ${space}, ${store}, ${key}, ${text}, ${size}, ${made}, coalesce(seq, 0) + 1,
        case when is_live then created_at else ${at} end, ${at}, ${by}, ${thread}, ${turn}
      from judged, crowd where not is_full
      on conflict (workspace, store, key) do update set value = excluded.value, size = excluded.size,
        version = excluded.version, seq = excluded.seq, created_at = excluded.created_at,
        updated_at = excluded.updated_at, updated_by = excluded.updated_by, thread = excluded.thread,
        turn = excluded.turn
        where e.seq = excluded.seq - 1
      returning seq, created_at),
    counted as (insert into memory_stores as s (workspace, store, entries)
      select ${space}, ${store}, 1 from written, judged where is_live <> ${isPut}::bool
      on conflict (workspace, store) do update set entries = s.entries + ${isPut ? 1 : -1}::int),
    kept as (insert into memory_versions
        (workspace, store, key, seq, version, previous, operation, size, value, created_at, created_by, thread, turn)
      select ${space}, ${store}, ${key}, written.seq, ${made}, judged.version, ${isPut ? "put" : "delete"}, ${size},
        ${text}, ${at}, ${by}, ${thread}, ${turn} from written, judged),
    pruned as (delete from memory_versions where ${entry}
      and seq <= (select seq from written) - ${limits.memoryVersions}::int)
    select verdict, is_live as live, judged.version as current, coalesce((select is_full from crowd), false) as is_full,
      written.seq is not null as written, coalesce(written.created_at, judged.created_at) as created_at,
      judged.updated_at, judged.updated_by, judged.thread, judged.turn
    from judged left join written on true`
}

export interface EntryRow {
  readonly value: string
  readonly size: number
  readonly version: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly updated_by: Principal
  readonly thread: string | null
  readonly turn: string | null
}

export const entryOf = (key: string, row: EntryRow): MemoryEntry => ({
  key,
  value: row.value,
  size: row.size,
  version: fromUuid("memoryVersion", row.version),
  createdAt: toTimestamp(row.created_at.getTime()),
  updatedAt: toTimestamp(row.updated_at.getTime()),
  updatedBy: row.updated_by,
  ...(row.thread !== null && { threadId: fromUuid("thread", row.thread) }),
  ...(row.turn !== null && { turnId: fromUuid("turn", row.turn) })
})

/** Of a write whose statement has said how it stands; undefined where another one was faster (`write`). */
const outcomeOf = (
  { key, value }: Write,
  { from, principal }: Author,
  version: string,
  at: Date,
  row: Row
): Written | undefined => {
  const { current, verdict } = row
  switch (verdict) {
    case "no_agent":
    case "absent":
      return { refused: verdict }
    case "archived":
      return { refused: "agent_archived" }
    case "before":
      return { done: "before", version }
    case "nothing":
      return { done: "nothing" }
    case "conflict":
      return { refused: "conflict", currentVersion: fromUuid("memoryVersion", current ?? never) }
    case "same":
    case "write": {
      if (verdict === "write" && !row.written) return row.is_full ? { refused: "full" } : undefined
      if (value === undefined) return { done: "deleted" }
      const same = verdict === "same"
      const entry = entryOf(key, {
        value,
        size: utf8Bytes(value),
        version: same && current !== null ? current : toUuid(version),
        created_at: row.created_at ?? at,
        updated_at: (same ? row.updated_at : null) ?? at,
        updated_by: (same ? row.updated_by : null) ?? principal,
        thread: same ? row.thread : from === undefined ? null : toUuid(from.threadId),
        turn: same ? row.turn : from === undefined ? null : toUuid(from.turnId)
      })
      return { done: same ? "same" : row.live ? "changed" : "created", entry }
    }
  }
}

/**
 * Writes or deletes an entry. Only where several make the same entry at once, a statement may not see that another was
 * faster: it has written nothing then, and looks again.
 */
export const write = async (db: Db, workspace: string, asked: Write, by: Author, at: number): Promise<Written> => {
  const version = asked.version ?? freshId("memoryVersion")
  const when = new Date(at)
  for (;;) {
    const { rows } = await statement(workspace, asked, by, version, when).execute(db)
    const [row] = rows
    if (row === undefined) throw new Error("a write of memory has said nothing")
    const outcome = outcomeOf(asked, by, version, when, row)
    if (outcome !== undefined) return outcome
  }
}
