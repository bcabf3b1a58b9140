/** Notices under way: rows in a subscription's inbox that appends to its feed have written and nobody has taken yet. */
import { type RawBuilder, sql } from "kysely"

/** Seq of the first message that any of them names; null where the inbox is empty. */
export const firstUnderway = (workspace: RawBuilder<unknown>, id: RawBuilder<unknown>) =>
  sql<string | null>`(select min((i.command::json ->> 'from')::bigint) from inbox i
    where i.workspace = ${workspace} and i.actor = ${id})`
