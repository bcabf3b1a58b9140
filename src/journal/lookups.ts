/**
 * Looks up idempotency keys and actors' attributes, up to 64 in a statement: a burst of a hundred commands is two
 * statements, and not a hundred in front of everybody else's reads.
 *
 * Q1. One statement of each kind is under way, of at most 64 lookups, with at most a mebibyte of texts and in any case
 *     that of the oldest lookup. The shortest texts come first, of equal ones the older. A lookup whose text has no
 *     room waits in line again.
 * Q2. A lookup that was made more than two seconds before its group begins fails with `JournalUnavailable`, as one does
 *     that waits for a connection. A group under way ends within the time limit of statements.
 */
import { Effect } from "effect"
import { toUuid } from "../domain/ids.ts"
import { batched, type Batched } from "../database/batches.ts"
import { type Database, isUnavailable, type Statement } from "../database/Database.ts"
import { long } from "../database/shorthand.ts"
import { type ActorRef, type Attributes, type IdempotencyRow, JournalUnavailable } from "./Journal.ts"

const most = 64
const mostBytes = 1024 * 1024
const usualPatienceMs = 2_000

/**
 * Those of `found` (o, its columns, and a text) whose texts have room together, and in any case the first; of the
 * others the text is null (Q1).
 */
const withRoom = (columns: string, text: string, found: string) =>
  `select o, ${columns}, case when bytes <= ${mostBytes} or o = 1 then ${text} end as ${text}
from (select f.*, sum(octet_length(${text})) over (order by octet_length(${text}), o) as bytes
  from (${found}) f) g`

// `limit 1` has each looked up by itself, however PostgreSQL plans for a table that it knows nothing of yet.
const keeping = withRoom(
  "scope, fingerprint, status",
  "body",
  `select a.o::int as o, i.scope, i.fingerprint, i.status, i.body
  from unnest($1::uuid[], $2::text[]) with ordinality as a (workspace, scope, o)
  cross join lateral (select scope, fingerprint, status, body from idempotency
    where workspace = a.workspace and scope = a.scope and created_at > now() - interval '24 hours' limit 1) i`
)

const describing = withRoom(
  "version",
  "attributes",
  `select a.o::int as o, h.attributes, h.version
  from unnest($1::uuid[], $2::uuid[]) with ordinality as a (workspace, id, o)
  cross join lateral (select attributes, version from heads where id = a.id and workspace = a.workspace limit 1) h`
)

/** `o`: the place in the group, counted from 1. */
interface Place {
  readonly o: number
}

interface Waiting<In> {
  readonly item: In
  /** When it was made: monotonic milliseconds. */
  readonly since: number
}

interface Lookup<In, Row, A> {
  /** Of items, the oldest first. */
  readonly statementOf: (items: ReadonlyArray<In>) => Statement
  /** `later`: its text had no room. */
  readonly read: (row: Row) => A | "later"
}

type Answer<A> = A | undefined

/** Each item in a group; undefined where there is no row. */
const lookup = <In, Row extends Place, A>(
  { query }: Pick<Database["Service"], "query">,
  patienceMs: number,
  { read, statementOf }: Lookup<In, Row, A>
) => {
  type Request = Batched<Waiting<In>, Answer<A>, JournalUnavailable>

  const fail = (requests: ReadonlyArray<Request>, cause: unknown) => {
    for (const { answer } of requests) answer(Effect.fail(new JournalUnavailable({ cause })))
  }

  /** Answers the requests whose texts had room, and those without a row; returns the others. */
  const look = async (requests: ReadonlyArray<Request>) => {
    const rows = await query<Row>(statementOf(requests.map(({ item }) => item.item)))
    const found = new Map(rows.map((row) => [row.o, row]))
    return requests.filter(({ answer }, i) => {
      const row = found.get(i + 1)
      const text = row && read(row)
      if (text === "later") return true
      answer(Effect.succeed(text))
      return false
    })
  }

  const ask: (waiting: Waiting<In>) => Effect.Effect<Answer<A>, JournalUnavailable> = batched({
    max: most,
    lanes: 1,
    run: async (requests) => {
      const now = performance.now()
      const late = requests.filter(({ item }) => now - item.since > patienceMs)
      fail(late, new Error(`the lookups before it took more than ${patienceMs} ms`))
      const timely = requests
        .filter((request) => !late.includes(request))
        .toSorted((a, b) => a.item.since - b.item.since)
      if (timely.length === 0) return
      try {
        // Behind what has come meanwhile: nobody waits for the large answers of others.
        for (const { answer, item } of await look(timely)) answer(ask(item))
      } catch (cause) {
        if (!isUnavailable(cause)) throw cause
        fail(timely, cause)
      }
    }
  })
  return (item: In) => Effect.suspend(() => ask({ item, since: performance.now() }))
}

type KeyRow = Place & Omit<IdempotencyRow, "body"> & { readonly body: string | null }
type AttributesRow = Place & { readonly attributes: string | null; readonly version: number }

/**
 * `key`: the kept answer to an idempotency key of the last 24 hours, by the hash that is its scope. `attributes`: an
 * actor's, as they are now. Both give undefined where the workspace has no such row, and fail with
 * `JournalUnavailable`. `patienceMs`: milliseconds (Q2).
 */
export const lookups = (database: Pick<Database["Service"], "query">, patienceMs = usualPatienceMs) => {
  const keyOf = lookup(database, patienceMs, {
    statementOf: (keys: ReadonlyArray<{ readonly workspace: string; readonly scope: string }>) => ({
      name: "keys",
      text: keeping,
      values: [keys.map(({ workspace }) => toUuid(workspace)), keys.map(({ scope }) => scope)]
    }),
    read: ({ body, fingerprint, scope, status }: KeyRow): IdempotencyRow | "later" =>
      body === null ? "later" : { body, fingerprint, scope, status }
  })
  const attributesOf = lookup(database, patienceMs, {
    statementOf: (actors: ReadonlyArray<ActorRef>) => ({
      name: "attributes",
      text: describing,
      values: [actors.map(({ workspace }) => toUuid(workspace)), actors.map(({ id }) => toUuid(id))]
    }),
    read: ({ attributes, version }: AttributesRow): Attributes | "later" =>
      attributes === null ? "later" : { text: long(attributes), version }
  })
  return { key: (workspace: string, scope: string) => keyOf({ workspace, scope }), attributes: attributesOf }
}
