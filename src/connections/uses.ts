/** When connections were last used, gathered in memory and written in batches: a use must not cost a statement. */
import { Effect } from "effect"
import { toUuid } from "../domain/ids.ts"
import { Database } from "../database/Database.ts"

interface Use {
  readonly workspace: string
  readonly id: string
  readonly at: number
}

/** A connection is noted at most this often. */
const noteEveryMs = 60_000
const remembered = 10_000

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

/** Written every second, and when the scope ends. A note that is lost with its process is made good by the next use. */
export const makeUses = Effect.fnUntraced(function* (now: () => number) {
  const database = yield* Database
  const noted = new Map<string, number>()
  let pending: Array<Use> = []

  const write = Effect.suspend(() => {
    const uses = pending
    pending = []
    if (uses.length === 0) return Effect.void
    return Effect.ignore(
      database.read({
        name: "connections_used",
        text: touched,
        values: [
          uses.map((use) => toUuid(use.workspace)),
          uses.map((use) => toUuid(use.id)),
          uses.map((use) => new Date(use.at).toISOString())
        ]
      })
    )
  })
  yield* Effect.addFinalizer(() => write)
  yield* Effect.forkScoped(Effect.forever(Effect.delay(write, "1 second")))

  return {
    note: (workspace: string, id: string) => {
      const key = workspace + id
      const at = now()
      const last = noted.get(key)
      if (last !== undefined && at - last < noteEveryMs) return
      if (noted.size >= remembered) noted.clear()
      noted.set(key, at)
      pending.push({ workspace, id, at })
    }
  }
})
