/**
 * Uses by versions of profiles by which a turn could begin now: the latest of each, and those that an agent is pinned
 * to; archived profiles and agents aside.
 */
import { sql } from "kysely"
import { toUuid } from "../domain/ids.ts"
import type { Db } from "./handle.ts"

/** Whether one of them names it: one row, `found`. The index of migration 7 holds what each version names. */
export const naming = (workspace: string, id: string) => {
  const of = toUuid(workspace)
  // Everything that names it is found before it is asked which of it counts: asked for one, PostgreSQL hopes to come
  // upon it soon by reading the bodies.
  return sql<{ readonly found: boolean }>`
    with naming as materialized (
      select profile, version from profile_versions where workspace = ${of}::uuid and profile_references(body) @>
        ${[id]}::text[]
    )
    select exists (
      select from naming v join profiles p on p.workspace = ${of}::uuid and p.id = v.profile and p.version = v.version
        and p.archived_at is null
    ) or exists (
      select from naming v join agents a on a.workspace = ${of}::uuid and a.profile = v.profile and a.profile_version =
        v.version and a.archived_at is null
    ) as found`
}

/** Whether one of them lists a role or a toolset, or has a hook that names a connection. */
export const isNamed = async (tx: Db, workspace: string, id: string): Promise<boolean> => {
  // It would look for what most versions name by reading every body: three times as long as by the index.
  await sql`set local enable_seqscan = off`.execute(tx)
  return (await naming(workspace, id).execute(tx)).rows[0]?.found === true
}
