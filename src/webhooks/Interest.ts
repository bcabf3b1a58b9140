/**
 * Which workspaces have an endpoint that wants to be told anything: read at the start, and again whenever the auth
 * revision was raised, so within a beat on every node. Where there is none an append has nothing more to write: so
 * whoever makes an endpoint is answered when the other nodes have had that beat (`mark`), and misses nothing after it.
 */
import { Context, Effect, Layer, Schedule, Stream } from "effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { Lease } from "../journal/Lease.ts"

export class WebhookInterest extends Context.Service<
  WebhookInterest,
  {
    readonly has: (workspace: string) => boolean
    /** Whether any workspace has one. */
    readonly any: () => boolean
    /** An endpoint was made or changed by this node: done when every live node knows, or its lease has lapsed. */
    readonly mark: (workspace: string) => Effect.Effect<void>
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

/** How often a webhook that was made looks whether all nodes have heard of it, in milliseconds. */
const lookMs = 50

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

  /** A node that has not beaten since. One that has reads what it did not know within the next milliseconds. */
  const deaf = (since: Date) =>
    database.run("webhooks.deaf", (db) =>
      db
        .selectFrom("nodes")
        .select("incarnation")
        .where("deadline", ">", sql<Date>`clock_timestamp()`)
        .where("incarnation", "<>", toUuid(lease.incarnation()))
        .where("beaten_at", "<=", since)
        .limit(1)
        .execute()
    )

  /** What the database cannot be asked is not waited for: the endpoint is there. */
  const heard = Effect.gen(function* () {
    const { rows } = yield* database.run("webhooks.now", (db) =>
      sql<{ readonly now: Date }>`select clock_timestamp() as now`.execute(db)
    )
    const since = rows[0]?.now ?? new Date(lease.now())
    if ((yield* deaf(since)).length === 0) return
    while ((yield* deaf(since)).length > 0) yield* Effect.sleep(lookMs)
    yield* Effect.sleep(lookMs)
  }).pipe(
    Effect.catchTag("DatabaseUnavailable", (cause) =>
      Effect.logWarning("whether all nodes know of a webhook could not be read", cause)
    )
  )

  yield* refresh
  yield* lease.authChanges.pipe(
    Stream.runForEach(() => refresh),
    Effect.forkScoped
  )

  return WebhookInterest.of({
    has: (workspace) => workspaces.size > 0 && workspaces.has(workspace),
    any: () => workspaces.size > 0,
    mark: (workspace) =>
      Effect.suspend(() => {
        marked.add(workspace)
        workspaces = new Set([...workspaces, workspace])
        return heard
      }),
    onDue: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    due: () => {
      for (const listener of listeners) listener()
    }
  })
})
