/** Schedules as they are read: with what their actors keep of them. Functions over a connection or a transaction. */
import { Effect, Schema } from "effect"
import { batched } from "../database/batches.ts"
import { type Database, DatabaseUnavailable, isUnavailable } from "../database/Database.ts"
import type { Db } from "../database/handle.ts"
import { behind, type Position } from "../database/newestFirst.ts"
import { places, uuids } from "../database/parameters.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { Principal } from "../domain/principal.ts"
import { ScheduleInput } from "./schedule.ts"
import { settled } from "./settled.ts"
import type { StoredSchedule } from "./shown.ts"

/** What somebody has said, and the hops of the turn in which that was: absent, where it was in none. */
const Body = Schema.Struct({ ...ScheduleInput.fields, hops: Schema.optionalKey(Schema.Int) })
const readBody = Schema.decodeUnknownSync(Body)
const readPrincipal = Schema.decodeUnknownSync(Principal)

const columns = [
  "s.workspace",
  "s.id",
  "s.agent",
  "s.body",
  "s.rev",
  "s.anchor",
  "s.created_at",
  "s.created_by",
  "s.updated_at",
  "s.deleted_at",
  "h.carry"
] as const

const selected = (db: Db, workspace: string) =>
  db
    .selectFrom("schedules as s")
    .innerJoin("heads as h", (join) => join.onRef("h.id", "=", "s.id").onRef("h.workspace", "=", "s.workspace"))
    .select(columns)
    .where("s.workspace", "=", toUuid(workspace))

type Row = Awaited<ReturnType<ReturnType<typeof selected>["executeTakeFirstOrThrow"]>>

const stored = (row: Row): StoredSchedule => {
  const { hops = 0, ...input } = readBody(row.body)
  return { ...common(row), input: settled(input), hops }
}

const common = (row: Row) => ({
  id: fromUuid("schedule", row.id),
  agentId: fromUuid("agent", row.agent),
  rev: row.rev,
  anchor: row.anchor.getTime(),
  createdAt: row.created_at.getTime(),
  createdBy: readPrincipal(row.created_by),
  updatedAt: row.updated_at.getTime(),
  deleted: row.deleted_at !== null,
  carry: row.carry
})

/** The row that a change locks, with its schedule. */
export const heldSchedule = async (
  tx: Db,
  workspace: string,
  agentId: string,
  id: string
): Promise<StoredSchedule | undefined> => {
  const row = await one(tx, workspace, agentId, id).where("s.deleted_at", "is", null).forUpdate("s").executeTakeFirst()
  return row && stored(row)
}

const one = (db: Db, workspace: string, agentId: string, id: string) =>
  selected(db, workspace).where("s.agent", "=", toUuid(agentId)).where("s.id", "=", toUuid(id))

export const readSchedule = async (
  db: Db,
  workspace: string,
  agentId: string,
  id: string
): Promise<StoredSchedule | undefined> => {
  const row = await one(db, workspace, agentId, id).where("s.deleted_at", "is", null).executeTakeFirst()
  return row && stored(row)
}

/** Deleted ones too: their actors and their runs are still there. */
export const readAnySchedule = async (db: Db, workspace: string, id: string): Promise<StoredSchedule | undefined> => {
  const row = await selected(db, workspace).where("s.id", "=", toUuid(id)).executeTakeFirst()
  return row && stored(row)
}

export interface ScheduleOf {
  readonly workspace: string
  readonly id: string
}

const many = {
  name: "schedules",
  text: `select w.o, ${columns.join(", ")} from unnest($1::int[], $2::uuid[], $3::uuid[]) as w(o, workspace, id)
  cross join lateral (select * from schedules s where s.workspace = w.workspace and s.id = w.id offset 0) s
  join heads h on h.id = s.id and h.workspace = s.workspace`
}

/** The same for its actors, any number of which come due in one second: what is asked at once shares a statement. */
export const makeScheduleReader = (database: Pick<Database["Service"], "query">) =>
  batched<ScheduleOf, StoredSchedule | undefined, DatabaseUnavailable>({
    max: 128,
    lanes: 2,
    run: async (requests) => {
      const refs = requests.map(({ item }) => item)
      let rows: ReadonlyArray<Row & { readonly o: number }>
      try {
        rows = await database.query({
          ...many,
          values: [places(refs), uuids(refs, ({ workspace }) => workspace), uuids(refs, ({ id }) => id)]
        })
      } catch (cause) {
        if (!isUnavailable(cause)) throw cause
        for (const { answer } of requests) answer(Effect.fail(new DatabaseUnavailable({ operation: many.name, cause })))
        return
      }
      for (const row of rows) requests[row.o]?.answer(Effect.sync(() => stored(row)))
      for (const { answer } of requests) answer(Effect.succeed(undefined))
    }
  })

export type ReadSchedule = ReturnType<typeof makeScheduleReader>

export const listSchedules = async (
  db: Db,
  workspace: string,
  agentId: string,
  { after, limit }: { readonly after: Position | undefined; readonly limit: number }
): Promise<ReadonlyArray<StoredSchedule>> => {
  const rows = await selected(db, workspace)
    .where("s.agent", "=", toUuid(agentId))
    .where("s.deleted_at", "is", null)
    .where(behind("s.created_at", "s.id", after))
    .orderBy("s.created_at", "desc")
    .orderBy("s.id", "desc")
    .limit(limit)
    .execute()
  return rows.map(stored)
}
