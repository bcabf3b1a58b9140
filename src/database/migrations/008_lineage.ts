/**
 * Who made which key, and what a key's requests are recorded as.
 *
 * The version before works on these tables, so that its nodes run beside new ones: to it every key is an `api_key`. A
 * rollback to it leaves them; each statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  sql`alter table api_keys add column if not exists kind text not null default 'api_key'`,
  // An id without its prefix, as src/domain/ids.ts writes it: JSON texts hold ids so.
  sql`create or replace function id_body(uuid) returns text language sql immutable strict parallel safe as $$
    select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits from at * 5 + 1 for 5)::bit(5)::int + 1, 1), '' order by at)
      from (select B'00' || ('x' || replace($1::text, '-', ''))::bit(128) as bits) as id, generate_series(0, 25) as at $$`,
  sql`create index if not exists api_keys_made on api_keys (workspace, (created_by ->> 'id'))`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
