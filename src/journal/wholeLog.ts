/**
 * What an actor's facts say, for one fold, such as a model's prompt after a start: one text of a page of facts, parsed once.
 * A row for each fact costs three times as much, most of it in taking rows apart.
 */
import { Effect } from "effect"
import { fromUuid, toUuid } from "../domain/ids.ts"
import type { Database } from "../store/Database.ts"
import type { ActorRef, Log, LoggedFact, StoredFact } from "./Journal.ts"
import { long, storedBeginnings } from "./shorthand.ts"

/** Facts of a page, and the most bytes of one of them and of all: one string holds a page, and a tool's output alone may have 256 kB. */
interface Bounds {
  readonly facts: number
  readonly one: number
  readonly all: number
}

const ordinary: Bounds = { facts: 10_000, one: 64 * 1024, all: 256 * 1024 * 1024 }
/** For logs with facts too large for the other: as many as fit into a string whatever their size. */
const few: Bounds = { facts: 500, one: 2 ** 31 - 1, all: 2 ** 31 - 1 }

// Without texts when a bound is passed; then none that is large has been put together.
const text = `select count(*)::int as facts, max(pos) as pos, case when bool_and(size <= $6::int) and sum(size) <= $7::int then
    string_agg('{"turn":' || coalesce('"' || turn || '"', 'null') || ',"n":' || n || coalesce(',"detail":' || detail, '') || ',"event":' || event || '}', ',' order by pos)
      filter (where size <= $6::int) end as texts
  from (select f.pos, f.turn, f.n, f.detail, f.event, octet_length(f.event) + coalesce(octet_length(f.detail), 0) as size from facts f
    where f.actor = $2 and f.pos > $3 and f.event ^@ any($4) and exists (select from heads h where h.id = $2 and h.workspace = $1) order by f.pos limit $5) page`

interface Page {
  readonly facts: number
  readonly pos: number | null
  readonly texts: string | null
}

/** The texts are what the journal wrote. */
const parse = (texts: string): Array<LoggedFact> => {
  const facts: Array<{ -readonly [Key in keyof LoggedFact]: LoggedFact[Key] } & { readonly event: { readonly type: string } }> = JSON.parse(`[${long(texts)}]`)
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

export const wholeLog = Effect.fnUntraced(function*(
  database: Pick<Database["Service"], "read">, { id, workspace }: ActorRef, afterPos: number, types: ReadonlyArray<string>, first = ordinary, second = few
) {
  const beginnings = types.flatMap((type) => storedBeginnings(`{"type":"${type}"`))
  let bounds = first
  let facts: Array<LoggedFact> = []
  let pos: number | undefined
  let characters = 0
  for (;;) {
    const values = [toUuid(workspace), toUuid(id), pos ?? afterPos, beginnings, bounds.facts, bounds.one, bounds.all]
    const [page] = yield* database.read<Page>({ name: "log", text, values })
    if (page === undefined || page.pos === null) break
    if (page.texts === null) {
      bounds = second
      continue
    }
    const parsed = parse(page.texts)
    facts = facts.length === 0 ? parsed : facts.concat(parsed)
    pos = page.pos
    characters += page.texts.length
    if (page.facts < bounds.facts) break
  }
  const log: Log = { facts, pos, characters }
  return log
})

/** The same of facts that are at hand. */
export const logOf = (facts: ReadonlyArray<StoredFact>): Log => ({
  facts: facts.map(({ detail, event, n, turn, type }) => ({ type, turn, n, event: { type, ...JSON.parse(event) }, ...(detail === null ? {} : { detail: JSON.parse(detail) }) })),
  pos: facts.at(-1)?.pos,
  characters: facts.reduce((sum, { detail, event }) => sum + event.length + (detail?.length ?? 0), 0)
})
