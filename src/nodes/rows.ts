/**
 * The nodes whose leases are alive, as they described themselves with their last beats. Not of a workspace: of the
 * installation.
 */
import { sql } from "kysely"
import { fromUuid } from "../domain/ids.ts"
import type { LiveNode, NodeStatus } from "../journal/Lease.ts"
import type { Db } from "../database/handle.ts"

export interface NodeRow extends Partial<NodeStatus>, Pick<LiveNode, "signs"> {
  readonly name: string
  readonly incarnation: string
  readonly version: string
  readonly since: Date
  /** Milliseconds since its last beat. */
  readonly leaseAgeMs: number
}

/** What a node of another version says may be less, or more. */
const readStatus = (status: unknown): Partial<NodeStatus> & Pick<LiveNode, "signs"> => {
  if (typeof status !== "object" || status === null) return {}
  const { actors, bus, draining, shards, signs }: Readonly<Record<string, unknown>> = {
    actors: undefined,
    bus: undefined,
    draining: undefined,
    shards: undefined,
    signs: undefined,
    ...status
  }
  return {
    ...(typeof actors === "number" ? { actors } : {}),
    ...(typeof bus === "string" ? { bus } : {}),
    ...(typeof draining === "boolean" ? { draining } : {}),
    ...(typeof shards === "number" ? { shards } : {}),
    ...(Array.isArray(signs) ? { signs: signs.filter((name): name is string => typeof name === "string") } : {})
  }
}

export const liveNodes = async (db: Db): Promise<ReadonlyArray<NodeRow>> => {
  const rows = await db
    .selectFrom("nodes")
    .select([
      "name",
      "incarnation",
      "version",
      "started_at",
      "status",
      sql<number>`(extract(epoch from clock_timestamp() - beaten_at) * 1000)::float8`.as("age")
    ])
    .where("deadline", ">", sql<Date>`clock_timestamp()`)
    .orderBy("name")
    .orderBy("incarnation")
    .execute()
  return rows.map(({ age, incarnation, name, started_at, status, version }) => ({
    ...readStatus(status),
    name,
    version,
    incarnation: fromUuid("node", incarnation),
    since: started_at,
    leaseAgeMs: Math.max(0, Math.round(age))
  }))
}
