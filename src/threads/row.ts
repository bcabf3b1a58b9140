/** A thread as its rows in heads and waits say it. */
import { fromUuid } from "../domain/ids.ts"
import type { Head, WaitRow } from "../journal/Journal.ts"
import { long } from "../database/shorthand.ts"

export interface StoredThread {
  readonly id: string
  readonly agentId: string
  readonly createdAt: number
  /** JSON text: identity, title, metadata, maxCost, model, profileVersion, createdBy, updatedBy. */
  readonly attributes: string
  /** Of the attributes: the ETag. */
  readonly version: number
  readonly head: Pick<Head, "pos" | "seq" | "status" | "carry" | "updatedAt">
  /** The incarnation that has it, if any: it may be dead. */
  readonly owner: string | undefined
  /** Open ones, oldest first. */
  readonly waits: ReadonlyArray<Pick<WaitRow, "id" | "body">>
}

/** From `heads h`. */
export const threadColumns = `h.id, h.pos, h.seq, h.status, h.carry, (extract(epoch from h.updated_at) * 1000)::float8
  as updated,
  h.parent, h.owner, h.version, h.attributes, (extract(epoch from h.created_at) * 1000)::float8 as created,
  (select json_agg(json_build_object('id', w.id, 'body', w.body) order by w.created_at, w.id)
    from waits w where w.workspace = h.workspace and w.actor = h.id and w.state = 'open') as waits`

export interface ThreadColumns {
  id: string
  pos: number
  seq: number
  status: string
  carry: string
  updated: number
  parent: string | null
  owner: string | null
  version: number
  attributes: string
  created: number
  waits: StoredThread["waits"] | null
}

export const toStoredThread = (row: ThreadColumns): StoredThread => {
  if (row.parent === null) throw new Error(`a thread without an agent: ${row.id}`)
  return {
    id: fromUuid("thread", row.id),
    agentId: fromUuid("agent", row.parent),
    createdAt: row.created,
    attributes: long(row.attributes),
    version: row.version,
    owner: row.owner === null ? undefined : fromUuid("node", row.owner),
    head: { pos: row.pos, seq: row.seq, status: row.status, carry: long(row.carry), updatedAt: row.updated },
    waits: row.waits?.map((wait) => ({ ...wait, id: fromUuid("wait", wait.id) })) ?? []
  }
}
