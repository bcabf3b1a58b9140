/** When connections were last used. */
import { Effect } from "effect"
import { Database } from "../database/Database.ts"
import { makeNoted } from "../database/noted.ts"
import { toUuid } from "../domain/ids.ts"

// It only ever moves on, whichever node reports last. Rows are taken in one order, so that no two writers lock
// crosswise.
const touched = `
  with used as (
    select c.workspace, c.id, u.at
      from connections c join unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as u (workspace, id, at) on c.workspace
        = u.workspace and c.id = u.id
     order by c.workspace, c.id for no key update of c
  )
  update connections c set last_used_at = greatest(c.last_used_at, used.at)
    from used where c.workspace = used.workspace and c.id = used.id`

/** Notes a use. `now` in milliseconds by the database's clock. */
export const makeUses = Effect.fnUntraced(function* (now: () => number) {
  const database = yield* Database
  return yield* makeNoted({
    now,
    pace: "1 second",
    write: (uses) =>
      database.read({
        name: "connections_used",
        text: touched,
        values: [
          uses.map((use) => toUuid(use.workspace)),
          uses.map((use) => toUuid(use.id)),
          uses.map((use) => new Date(use.at).toISOString())
        ]
      })
  })
})
