/**
 * Which workspaces have an endpoint that wants to be told anything: read at the start, and again whenever the auth
 * revision was raised, so within a beat on every node. Where there is none an append has nothing more to write.
 */
import { Context, Effect, Layer, Schedule, Stream } from "effect"
import { Database } from "../database/Database.ts"
import { fromUuid } from "../domain/ids.ts"
import { Lease } from "../journal/Lease.ts"

export class WebhookInterest extends Context.Service<
  WebhookInterest,
  {
    readonly has: (workspace: string) => boolean
    /** Whether any workspace has one. */
    readonly any: () => boolean
    /** An endpoint was made or changed by this node. */
    readonly mark: (workspace: string) => void
    /** Calls back when something may be due for sending; what it gives back ends that. */
    readonly onDue: (listener: () => void) => () => void
    readonly due: () => void
  }
>()("troupe/webhooks/Interest") {
  static readonly layer = Layer.effect(
    WebhookInterest,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const database = yield* Database
  const lease = yield* Lease
  const listeners = new Set<() => void>()
  let workspaces: ReadonlySet<string> = new Set()
  /** Marked while an answer was on its way, which may not have it. */
  let marked = new Set<string>()

  const refresh = Effect.gen(function* () {
    const before = marked
    marked = new Set()
    const rows = yield* database
      .run("webhooks.interest", (db) =>
        db.selectFrom("webhooks").select("workspace").distinct().where("enabled", "=", true).execute()
      )
      .pipe(
        Effect.tapError(() =>
          Effect.sync(() => {
            marked = new Set([...before, ...marked])
          })
        )
      )
    workspaces = new Set([...rows.map(({ workspace }) => fromUuid("workspace", workspace)), ...marked])
  }).pipe(
    Effect.tapError((cause) => Effect.logWarning("webhooks could not be read", cause)),
    Effect.retry(Schedule.spaced("200 millis")),
    Effect.orDie
  )

  yield* refresh
  yield* lease.authChanges.pipe(
    Stream.runForEach(() => refresh),
    Effect.forkScoped
  )

  return WebhookInterest.of({
    has: (workspace) => workspaces.size > 0 && workspaces.has(workspace),
    any: () => workspaces.size > 0,
    mark: (workspace) => {
      marked.add(workspace)
      workspaces = new Set([...workspaces, workspace])
    },
    onDue: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    due: () => {
      for (const listener of listeners) listener()
    }
  })
})
