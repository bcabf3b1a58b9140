/** Identities that are disabled, in memory: read at the start, and again whenever the auth revision was raised. */
import { Effect } from "effect"
import { Database } from "../database/Database.ts"
import { fromUuid } from "../domain/ids.ts"
import { rereadOnRevision } from "../journal/rereads.ts"
import { disabledIdentities } from "./rows.ts"

/** `changed` is called at the start and whenever the auth revision was raised, before identities are read. */
export const makeDisabled = Effect.fnUntraced(function* (changed: () => void) {
  const database = yield* Database
  let disabled = new Set<string>()
  let marks = 0

  yield* rereadOnRevision("disabled identities", () =>
    Effect.gen(function* () {
      changed()
      for (;;) {
        const before = marks
        const all = yield* database.run("Directory.refresh", disabledIdentities)
        // A mark made while the answer was on its way may not be in it: ask again.
        if (marks !== before) continue
        disabled = new Set(all.map((one) => fromUuid("workspace", one.workspace) + one.identity))
        return
      }
    })
  )

  return {
    has: (workspace: string, identity: string) => disabled.size > 0 && disabled.has(workspace + identity),
    /** Disabled or enabled by this node. */
    mark: (workspace: string, identity: string, isDisabled: boolean) => {
      marks++
      if (isDisabled) disabled.add(workspace + identity)
      else disabled.delete(workspace + identity)
    }
  }
})
