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
import { Effect } from "effect"
import { CompiledQuery } from "kysely"
import type { Database } from "../database/Database.ts"
import type { Tx } from "../database/handle.ts"
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

/** One text, so that it is prepared once: what it is about stands in its parameters. */
const text = `with
    agent as (select archived_at is not null as archived from agents
      where workspace = $1::uuid and id = $11::uuid),
    held as (select version, seq, value, value is not null as live, created_at, updated_at, updated_by, thread, turn
      from memory_entries where workspace = $1::uuid and store = $2::uuid and key = $3::text for update),
    found as (select held.*, coalesce(held.live, false) as is_live, agent.archived
      from (select) as one left join held on true left join agent on true),
    judged as (select *, case
        when $11::uuid is not null and archived is null then 'no_agent'
        when $12::bool and archived then 'archived'
        when $13::bool and (version = $6::uuid
          or exists (select from memory_versions where workspace = $1::uuid and store = $2::uuid and key = $3::text and
            version = $6::uuid)) then 'before'
        when is_live and ($14::bool or version <> $15::uuid) then 'conflict'
        when not is_live and $15::uuid is not null then 'absent'
        when not is_live and not $12::bool then 'nothing'
        when is_live and value = $4::text then 'same'
        else 'write' end as verdict
      from found),
    room as (select entries from memory_stores where workspace = $1::uuid and store = $2::uuid
      and exists (select from judged where verdict = 'write' and is_live <> $12::bool) for update),
    crowd as (select $12::bool and not is_live
      and coalesce((select entries from room), 0) >= ${limits.memoryEntries} as is_full
      from judged where verdict = 'write'),
    written as (insert into memory_entries as e
        (workspace, store, key, value, size, version, seq, created_at, updated_at, updated_by, thread, turn)
      select $1::uuid, $2::uuid, $3::text, $4::text, $5::int, $6::uuid, coalesce(seq, 0) + 1,
        case when is_live then created_at else $7::timestamptz end, $7::timestamptz, $8::json, $9::uuid, $10::uuid
      from judged, crowd where not is_full
      on conflict (workspace, store, key) do update set value = excluded.value, size = excluded.size,
        version = excluded.version, seq = excluded.seq, created_at = excluded.created_at,
        updated_at = excluded.updated_at, updated_by = excluded.updated_by, thread = excluded.thread,
        turn = excluded.turn
        where e.seq = excluded.seq - 1
      returning seq, created_at),
    counted as (insert into memory_stores as s (workspace, store, entries)
      select $1::uuid, $2::uuid, 1 from written, judged where is_live <> $12::bool
      on conflict (workspace, store) do update set entries = s.entries + case when $12::bool then 1 else -1 end),
    kept as (insert into memory_versions
        (workspace, store, key, seq, version, previous, operation, size, value, created_at, created_by, thread, turn)
      select $1::uuid, $2::uuid, $3::text, written.seq, $6::uuid, judged.version, case when $12::bool then 'put' else
        'delete' end, $5::int,
        $4::text, $7::timestamptz, $8::json, $9::uuid, $10::uuid from written, judged),
    pruned as (delete from memory_versions where workspace = $1::uuid and store = $2::uuid and key = $3::text
      and seq <= (select seq from written) - ${limits.memoryVersions})
    select verdict, is_live as live, judged.version as current, coalesce((select is_full from crowd), false) as is_full,
      written.seq is not null as written, coalesce(written.created_at, judged.created_at) as created_at,
      judged.updated_at, judged.updated_by, judged.thread, judged.turn
    from judged left join written on true`

const valuesOf = (workspace: string, write: Write, { from, principal }: Author, version: string, at: Date) => {
  const { agentId, expectedVersion, key, value } = write
  const createsOnly = value !== undefined && expectedVersion === noEntry
  const expected = isVersion(expectedVersion ?? "") ? toUuid(expectedVersion ?? "") : never
  return [
    toUuid(workspace),
    storeOf(workspace, write),
    key,
    value ?? null,
    utf8Bytes(value ?? ""),
    toUuid(version),
    at,
    JSON.stringify(principal),
    from === undefined ? null : toUuid(from.threadId),
    from === undefined ? null : toUuid(from.turnId),
    agentId === undefined ? null : toUuid(agentId),
    value !== undefined,
    write.version !== undefined,
    createsOnly,
    expectedVersion === undefined || createsOnly ? null : expected
  ]
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
const writing = (workspace: string, wanted: Write, by: Author, now: number) => {
  const version = wanted.version ?? freshId("memoryVersion")
  const at = new Date(now)
  return {
    values: valuesOf(workspace, wanted, by, version, at),
    outcome: ([row]: ReadonlyArray<Row>) => {
      if (row === undefined) throw new Error("a write of memory has said nothing")
      return outcomeOf(wanted, by, version, at, row)
    }
  }
}

/** In a transaction. */
export const write = async (tx: Tx, workspace: string, wanted: Write, by: Author, now: number): Promise<Written> => {
  const { outcome, values } = writing(workspace, wanted, by, now)
  for (;;) {
    const { rows } = await tx.executeQuery<Row>(CompiledQuery.raw(text, values))
    const found = outcome(rows)
    if (found !== undefined) return found
  }
}

/** By itself. */
export const writeAlone = Effect.fnUntraced(function* (
  database: Database["Service"],
  workspace: string,
  wanted: Write,
  by: Author,
  now: number
) {
  const { outcome, values } = writing(workspace, wanted, by, now)
  for (;;) {
    const found = outcome(yield* database.read<Row>({ name: "memory_write", text, values }))
    if (found !== undefined) return found
  }
})
