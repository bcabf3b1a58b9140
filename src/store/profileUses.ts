/** Versions of profiles by which a turn could begin now: the latest of each, and those that an agent is pinned to; archived profiles and agents aside. */
import { sql } from "kysely"
import { toUuid } from "../domain/ids.ts"
import type { Connection } from "./Connection.ts"

/** The bodies of those that name an id anywhere. Whoever looks for more than that reads them. */
export const versionsNaming = async (tx: Connection, workspace: string, id: string): Promise<ReadonlyArray<unknown>> => {
  // Looked for in the text: PostgreSQL's own JSON operators fail on legal texts such as \u0000.
  const rows = await tx.selectFrom("profile_versions as v").select("v.body")
    .where("v.workspace", "=", toUuid(workspace))
    .where(sql<boolean>`strpos(v.body::text, ${JSON.stringify(id)}) > 0`)
    .where((eb) => eb.or([
      eb.exists(eb.selectFrom("profiles as p").select("p.id")
        .whereRef("p.workspace", "=", "v.workspace").whereRef("p.id", "=", "v.profile").whereRef("p.version", "=", "v.version").where("p.archived_at", "is", null)),
      eb.exists(eb.selectFrom("agents as a").select("a.id")
        .whereRef("a.workspace", "=", "v.workspace").whereRef("a.profile", "=", "v.profile").whereRef("a.profile_version", "=", "v.version")
        .where("a.archived_at", "is", null))
    ]))
    .execute()
  return rows.map(({ body }) => body)
}
