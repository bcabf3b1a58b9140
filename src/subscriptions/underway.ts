/** Notices on their way: rows of a subscription's inbox, written by appends to its feed and not taken yet. */
import { type RawBuilder, sql } from "kysely"

/** Seq of the first message that any of them names; null where there is none. */
export const firstUnderway = (workspace: RawBuilder<unknown>, id: RawBuilder<unknown>) =>
  sql<string | null>`(select min((i.command::json ->> 'from')::bigint) from inbox i
    where i.workspace = ${workspace} and i.actor = ${id})`
