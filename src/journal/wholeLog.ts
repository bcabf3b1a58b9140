/**
 * What an actor's facts say, for one fold, such as a model's prompt after a start: one text of a page of facts, parsed
 * once. With a row for each fact, the first turn of a thread of ten thousand events took half as long again.
 */
import { Effect } from "effect"
import { fromUuid, toUuid } from "../domain/ids.ts"
import type { Database } from "../database/Database.ts"
import type { ActorRef, Log, LoggedFact, StoredFact } from "./Journal.ts"
import { long, storedBeginnings } from "../database/shorthand.ts"

/**
 * What one page may be: one string of PostgreSQL and of V8 holds it, and a tool's output alone may have 256 kB. A fact
 * has an equal share of the bytes, as they are stored; where one has more, pages get smaller until it fits.
 */
interface Bounds {
  readonly facts: number
  readonly bytes: number
}

const largest: Bounds = { facts: 10_000, bytes: 128 * 1024 * 1024 }
const shrink = 20

// Without texts when a fact is too large for its share; then none such has been put together either.
const text = `select count(*)::int as facts, max(pos) as pos, case when bool_and(size <= $6::int) then
    string_agg('{"pos":' || pos || ',"seq":' || coalesce(seq::text, 'null') || ',"turn":' || coalesce('"' || turn ||
      '"', 'null') || ',"n":' || n || coalesce(',"detail":' || detail,
      '') || ',"event":' || event || '}', ',' order by pos)
      filter (where size <= $6::int) end as texts
  from (select f.pos, f.seq, f.turn, f.n, f.detail, f.event, octet_length(f.event) + coalesce(octet_length(f.detail),
    0) as
    size from facts f
    where f.actor = $2 and f.pos > $3 and f.event ^@ any($4) and exists (select from heads h where h.id = $2 and
      h.workspace = $1) order by f.pos limit $5) page`

/** A page of one fact takes it whatever its size. */
const shareOf = (bytes: number, facts: number) => (facts === 1 ? 2 ** 31 - 1 : Math.floor(bytes / facts))

interface Page {
  readonly facts: number
  readonly pos: number | null
  readonly texts: string | null
}

/** The texts are what the journal wrote. */
const parse = (texts: string): Array<LoggedFact> => {
  const facts: Array<
    { -readonly [Key in keyof LoggedFact]: LoggedFact[Key] } & { readonly event: { readonly type: string } }
  > = JSON.parse(`[${long(texts)}]`)
  // Facts of a turn stand together.
  let uuid: string | null = null
  let turn: string | null = null
  for (const fact of facts) {
    if (fact.turn !== uuid) {
      uuid = fact.turn
      turn = uuid === null ? null : fromUuid("turn", uuid)
    }
    fact.turn = turn
    fact.type = fact.event.type
  }
  return facts
}

/**
 * The actor's facts of these types after a position, in order; none when there is no such actor in the workspace. Fails
 * when the database does not answer.
 */
export const wholeLog = Effect.fnUntraced(function* (
  database: Pick<Database["Service"], "read">,
  { id, workspace }: ActorRef,
  afterPos: number,
  types: ReadonlyArray<string>,
  { bytes, facts: most } = largest
) {
  const beginnings = types.flatMap((type) => storedBeginnings(`{"type":"${type}"`))
  let size = most
  let facts: Array<LoggedFact> = []
  let pos: number | undefined
  let characters = 0
  for (;;) {
    const values = [toUuid(workspace), toUuid(id), pos ?? afterPos, beginnings, size, shareOf(bytes, size)]
    const [page] = yield* database.read<Page>({ name: "log", text, values })
    if (page === undefined || page.pos === null) break
    if (page.texts === null) {
      size = Math.max(1, Math.floor(size / shrink))
      continue
    }
    const parsed = parse(page.texts)
    facts = facts.length === 0 ? parsed : facts.concat(parsed)
    pos = page.pos
    characters += page.texts.length
    if (page.facts < size) break
  }
  const log: Log = { facts, pos, characters }
  return log
})

/** The same of facts that are at hand. */
export const logOf = (facts: ReadonlyArray<StoredFact>): Log => ({
  facts: facts.map(({ detail, event, n, pos, seq, turn, type }) => ({
    pos,
    seq,
    type,
    turn,
    n,
    event: { type, ...JSON.parse(event) },
    ...(detail === null ? {} : { detail: JSON.parse(detail) })
  })),
  pos: facts.at(-1)?.pos,
  characters: facts.reduce((sum, { detail, event }) => sum + event.length + (detail?.length ?? 0), 0)
})
