/**
 * What is asked one at a time, of an idempotency key or of an actor's attributes, in groups: a burst of commands of one
 * client is one statement, and holds up nobody else's reads. One statement of each is under way, so that one of the
 * three connections for reads is left to others.
 */
import { Effect } from "effect"
import { toUuid } from "../domain/ids.ts"
import { batched, type Batched } from "../database/batches.ts"
import { type Database, isUnavailable, type Statement } from "../database/Database.ts"
import { long } from "../database/shorthand.ts"
import { type ActorRef, type Attributes, type IdempotencyRow, JournalUnavailable } from "./Journal.ts"

// `limit 1` has each looked up by itself, however PostgreSQL plans for a table that it knows nothing of yet.
const keeping = `select a.o::int as o, i.scope, i.fingerprint, i.status, i.body
from unnest($1::uuid[], $2::text[]) with ordinality as a (workspace, scope, o)
cross join lateral (select scope, fingerprint, status, body from idempotency
  where workspace = a.workspace and scope = a.scope and created_at > now() - interval '24 hours' limit 1) i`

const describing = `select a.o::int as o, h.attributes, h.version
from unnest($1::uuid[], $2::uuid[]) with ordinality as a (workspace, id, o)
cross join lateral (select attributes, version from heads where id = a.id and workspace = a.workspace limit 1) h`

/** `o`: the place in the group, counted from 1. */
interface Place {
  readonly o: number
}

/** Each asked in a group; undefined where there is no row. */
const lookup = <In, Row extends Place, A>(
  { query }: Pick<Database["Service"], "query">,
  max: number,
  statementOf: (items: ReadonlyArray<In>) => Statement,
  read: (row: Row) => A
) =>
  batched<In, A | undefined, JournalUnavailable>({
    max,
    lanes: 1,
    run: async (requests: ReadonlyArray<Batched<In, A | undefined, JournalUnavailable>>) => {
      try {
        const rows = await query<Row>(statementOf(requests.map(({ item }) => item)))
        const found = new Map(rows.map((row) => [row.o, row]))
        requests.forEach(({ answer }, i) => {
          const row = found.get(i + 1)
          answer(Effect.sync(() => row && read(row)))
        })
      } catch (cause) {
        if (!isUnavailable(cause)) throw cause
        for (const { answer } of requests) answer(Effect.fail(new JournalUnavailable({ cause })))
      }
    }
  })

export const lookups = (database: Pick<Database["Service"], "query">) => {
  const keyOf = lookup(
    database,
    64,
    (keys: ReadonlyArray<{ readonly workspace: string; readonly scope: string }>) => ({
      name: "keys",
      text: keeping,
      values: [keys.map(({ workspace }) => toUuid(workspace)), keys.map(({ scope }) => scope)]
    }),
    ({ body, fingerprint, scope, status }: Place & IdempotencyRow): IdempotencyRow => ({
      body,
      fingerprint,
      scope,
      status
    })
  )
  const attributesOf = lookup(
    database,
    64,
    (actors: ReadonlyArray<ActorRef>) => ({
      name: "attributes",
      text: describing,
      values: [actors.map(({ workspace }) => toUuid(workspace)), actors.map(({ id }) => toUuid(id))]
    }),
    ({ attributes, version }: Place & { readonly attributes: string; readonly version: number }): Attributes => ({
      text: long(attributes),
      version
    })
  )
  return { key: (workspace: string, scope: string) => keyOf({ workspace, scope }), attributes: attributesOf }
}
