/** Reads what claimed actors are loaded from, many in a statement. */
import { Effect } from "effect"
import { fromUuid } from "../domain/ids.ts"
import { batched } from "../store/batches.ts"
import { type Database, isUnavailable } from "../store/Database.ts"
import { ints, places, uuids } from "../store/parameters.ts"
import { type Claimed, type InputRow, JournalUnavailable, type Loaded, type StoredFact } from "./Journal.ts"
import { storedFact } from "./storedFact.ts"

const text = `with c as (select * from unnest($1::int[], $2::uuid[], $3::uuid[], $4::int[], $5::int[]) as c(o, w, id, since, pos))
select c.o, 'fact' as what, f.pos, f.seq, f.n, f.turn as id, f.once, f.event as body, f.detail, (extract(epoch from f.at) * 1000)::float8 as at
  from c join facts f on f.actor = c.id and f.pos >= c.since and f.pos <= c.pos where c.since is not null
union all select c.o, 'input', i.ord, null, 0, i.id, null, i.body, null, 0
  from c join inputs i on i.workspace = c.w and i.actor = c.id where i.state = 'pending'
order by 1, 2, 3, 6`

interface Part {
  o: number
  what: "fact" | "input"
  pos: number
  seq: number | null
  n: number
  id: string | null
  once: string | null
  body: string
  detail: string | null
  at: number
}

export const loads = (database: Pick<Database["Service"], "query">) =>
  batched<Claimed, Loaded, JournalUnavailable>({
    max: 128,
    lanes: 2,
    run: async (requests) => {
      const claimed = requests.map(({ item }) => item)
      try {
        const parts = await database.query<Part>({
          name: "load",
          text,
          values: [
            places(claimed),
            uuids(claimed, ({ actor }) => actor.workspace),
            uuids(claimed, ({ actor }) => actor.id),
            ints(claimed, ({ head }) => head.since),
            ints(claimed, ({ head }) => head.pos)
          ]
        })
        const byRequest = Map.groupBy(parts, (part) => part.o)
        requests.forEach(({ answer, item }, o) => answer(Effect.sync(() => {
          const facts: Array<StoredFact> = []
          const inputs: Array<InputRow> = []
          for (const part of byRequest.get(o) ?? []) {
            if (part.what === "fact") facts.push(storedFact({ ...part, turn: part.id, event: part.body }))
            else inputs.push({ id: fromUuid("input", part.id!), ord: part.pos, state: "pending", body: part.body })
          }
          return { ...item, facts, inputs }
        })))
      } catch (cause) {
        if (!isUnavailable(cause)) throw cause
        for (const { answer } of requests) answer(Effect.fail(new JournalUnavailable({ cause })))
      }
    }
  })
