/** Identities that are disabled, in memory: read at the start, and again whenever the auth revision was raised. */
import { Effect, Schedule, Stream } from "effect"
import { Database } from "../database/Database.ts"
import { fromUuid } from "../domain/ids.ts"
import { Lease } from "../journal/Lease.ts"
import { disabledIdentities } from "./rows.ts"

/** `changed` is called whenever the auth revision was raised, before identities are read again. */
export const makeDisabled = Effect.fnUntraced(function* (changed: () => void) {
  const database = yield* Database
  const lease = yield* Lease
  let disabled = new Set<string>()
  let marks = 0
  const refresh = Effect.gen(function* () {
    const before = marks
    const all = yield* database.run("Directory.refresh", disabledIdentities)
    // A mark made while the answer was on its way may not be in it: ask again.
    if (marks !== before) return yield* Effect.fail("again" as const)
    disabled = new Set(all.map((one) => fromUuid("workspace", one.workspace) + one.identity))
  }).pipe(
    Effect.tapError((cause) =>
      cause === "again" ? Effect.void : Effect.logWarning("disabled identities could not be read", cause)
    ),
    Effect.retry(Schedule.spaced("200 millis")),
    Effect.orDie
  )

  yield* refresh
  yield* lease.authChanges.pipe(
    Stream.runForEach(() =>
      Effect.suspend(() => {
        changed()
        return refresh
      })
    ),
    Effect.forkScoped
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
