/**
 * Which messages name an image, so that images go with the last thread that shows them.
 *
 * The version before writes the same texts, which the indices read: whoever wrote a message, it is found. It does not say
 * whose the threads were that it deletes: their images stay. A rollback to it removes this migration's name and leaves
 * what it made; each statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  // Of a message as it is stored, the images that it names. The id's end is not asked for: the journal's shorthand may
  // have taken the sign behind it.
  sql`create or replace function image_names(text) returns text[] language sql immutable strict parallel safe
    return array(select found[1] from regexp_matches($1, '"imageId":"(img_[0-9a-f]{64})', 'g') as found)`,
  // Facts without an image cost the look for these words, and have no entry.
  sql`create index if not exists facts_images on facts using gin (image_names(event))
    where strpos(event, '"imageId":"img_') > 0`,
  sql`create index if not exists inputs_images on inputs using gin (image_names(body))
    where strpos(body, '"imageId":"img_') > 0`,
  // Whose the thread was: with its head, the row that knew has gone.
  sql`alter table deleted_threads add column if not exists agent uuid`,
  // Images that deleted threads have named: they go, unless something else names them (src/images/leaving.ts).
  sql`create table if not exists leaving_images (
    workspace uuid not null,
    agent     uuid not null,
    image     bytea not null,
    at        timestamptz(3) not null default now(),
    primary key (workspace, agent, image)
  )`,
  sql`create index if not exists leaving_images_at on leaving_images (at)`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
