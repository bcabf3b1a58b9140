/** Which thread has taken an input: in its log, or in its queue. */
import { sql } from "kysely"
import type { Database } from "../database/Database.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { admissionOf } from "../domain/once.ts"

/** Undefined where none has. It reads the workspace's queues: not for what happens often. */
export const makeTaken = (database: Pick<Database["Service"], "run">) => (workspace: string, inputId: string) =>
  database.run("schedules.taken", async (db) => {
    const space = toUuid(workspace)
    const { rows } = await sql<{ readonly actor: string }>`
        select h.id as actor from facts f join heads h on h.id = f.actor
          where f.once = ${toUuid(admissionOf(inputId))}::uuid and h.workspace = ${space}::uuid
        union all
        select i.actor from inputs i where i.workspace = ${space}::uuid and i.id = ${toUuid(inputId)}::uuid
        limit 1`.execute(db)
    const [found] = rows
    return found && fromUuid("thread", found.actor)
  })
export type TakenBy = ReturnType<typeof makeTaken>
