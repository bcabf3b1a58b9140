/**
 * Where secrets of connections may be sent, whose word about their tools counts, uses by profiles found by an index.
 *
 * The version before works on these tables, so that its nodes run beside new ones. A rollback to it removes this
 * migration's name and leaves what it made: each statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

// Every server's word counted before: it goes on counting for those that are there. Nodes of the version before know
// no such column, so what they make is not trusted.
const trust = [
  sql`alter table toolsets add column if not exists trusted boolean`,
  sql`update toolsets set trusted = true where trusted is null`,
  sql`alter table toolsets alter column trusted set default false, alter column trusted set not null`
]

const uses = [
  // What a version of a profile names. Its body may hold \\u0000 and lone surrogates, which PostgreSQL stores as json
  // and refuses to read.
  sql`create or replace function profile_references(json) returns text[] language sql immutable strict parallel safe cost 1000 as $$
    with read as (select regexp_replace($1::text, '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\\\ufffd', 'g')::jsonb as body)
    select array(
      select distinct named #>> '{}' from read, lateral (
        select jsonb_path_query(body, '$.roleIds[*] ? (@.type() == "string")')
        union all select jsonb_path_query(body, '$.toolsetIds[*] ? (@.type() == "string")')
        union all select jsonb_path_query(body, '$.hooks[*].processor.connectionId ? (@.type() == "string")')
      ) as found (named)
    )
  $$`,
  sql`create index if not exists profile_versions_references on profile_versions using gin (profile_references(body))`
]

interface Named {
  readonly workspace: string
  readonly id: string
  readonly body: {
    readonly provider: string
    readonly kind: string
    readonly baseUrl?: string
    readonly allowedHosts?: ReadonlyArray<string>
  }
  readonly toolsets: ReadonlyArray<{ readonly url?: string }>
}

/** Its own host stays open to a provider's key, whatever toolsets use it as well. */
const ownHosts: Readonly<Record<string, string>> = {
  openai: "api.openai.com",
  anthropic: "api.anthropic.com",
  google: "generativelanguage.googleapis.com"
}

const hostsOf = ({ body: { provider }, toolsets }: Named) => {
  const own = ownHosts[provider]
  const named = toolsets.flatMap(({ url }) =>
    url !== undefined && URL.canParse(url) ? [new URL(url).hostname.replace(/^\[|\]$/g, "")] : []
  )
  return [...new Set([...(own === undefined ? [] : [own]), ...named])]
}

/**
 * Connections that say nothing get the hosts of the toolsets that name them. Hooks name signing secrets, which are
 * never sent. One that nothing names stays as it is: its secret is sent to nobody until somebody says where to.
 */
const giveHosts = async (db: Kysely<unknown>) => {
  const { rows } = await sql<Named>`
    select c.workspace, c.id, c.body, (select json_agg(t.body) from toolsets t where t.workspace = c.workspace and t.connection = c.id) as toolsets
      from connections c
     where exists (select from toolsets t where t.workspace = c.workspace and t.connection = c.id)
     order by c.workspace, c.id for no key update of c`.execute(db)
  const given = rows
    .filter(
      ({ body: { allowedHosts, baseUrl, kind } }) =>
        kind !== "signing" && allowedHosts === undefined && baseUrl === undefined
    )
    .map((row) => ({ ...row, hosts: hostsOf(row) }))
    .filter(({ hosts }) => hosts.length > 0)
  await sql`
    update connections c set body = given.body::json, rev = c.rev + 1
      from unnest(${given.map(({ workspace }) => workspace)}::uuid[], ${given.map(({ id }) => id)}::uuid[],
        ${given.map(({ body, hosts }) => JSON.stringify({ ...body, allowedHosts: hosts }))}::text[]) as given (workspace, id, body)
     where c.workspace = given.workspace and c.id = given.id`.execute(db)
}

export const up = async (db: Kysely<unknown>) => {
  for (const statement of uses) await statement.execute(db)
  await giveHosts(db)
  // Last: from here on toolsets are locked, until all is done.
  for (const statement of trust) await statement.execute(db)
}
