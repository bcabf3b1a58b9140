/**
 * What an actor's facts say, for one fold, such as a model's prompt after a start: one text of a page of facts, parsed once.
 * A row for each fact costs three times as much, most of it in taking rows apart.
 */
import { Effect } from "effect"
import { fromUuid, toUuid } from "../domain/ids.ts"
import type { Database } from "../store/Database.ts"
import type { ActorRef, Log, LoggedFact, StoredFact } from "./Journal.ts"
import { long, storedBeginnings } from "./shorthand.ts"

/** At most so many facts, and none more once so many bytes are there: one string holds them, and a tool's output alone may have 256 kB. */
const largest = { facts: 20_000, bytes: 64 * 1024 * 1024 }

const text = `select count(*)::int as facts, (count(*) filter (where fits))::int as fitting, max(pos) filter (where fits) as pos,
    string_agg('{"turn":' || coalesce('"' || turn || '"', 'null') || ',"n":' || n || coalesce(',"detail":' || detail, '') || ',"event":' || event || '}', ',' order by pos)
      filter (where fits) as texts
  from (select *, coalesce(sum(octet_length(event) + coalesce(octet_length(detail), 0)) over (order by pos rows between unbounded preceding and 1 preceding), 0) < $6::int as fits
    from (select f.pos, f.turn, f.n, f.detail, f.event from facts f
      where f.actor = $2 and f.pos > $3 and f.event ^@ any($4) and exists (select from heads h where h.id = $2 and h.workspace = $1) order by f.pos limit $5) found) page`

interface Page {
  readonly facts: number
  readonly fitting: number
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

export const wholeLog = Effect.fnUntraced(function*(database: Pick<Database["Service"], "read">, { id, workspace }: ActorRef, afterPos: number, types: ReadonlyArray<string>, most = largest) {
  const beginnings = types.flatMap((type) => storedBeginnings(`{"type":"${type}"`))
  let facts: Array<LoggedFact> = []
  let pos: number | undefined
  let characters = 0
  for (;;) {
    const [page] = yield* database.read<Page>({ name: "log", text, values: [toUuid(workspace), toUuid(id), pos ?? afterPos, beginnings, most.facts, most.bytes] })
    if (page === undefined || page.pos === null || page.texts === null) break
    const parsed = parse(page.texts)
    facts = facts.length === 0 ? parsed : facts.concat(parsed)
    pos = page.pos
    characters += page.texts.length
    if (page.fitting === page.facts && page.facts < most.facts) break
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
