/**
 * Which workspaces have an endpoint that wants to be told anything. Where there is none an append has nothing more to
 * write: so whoever makes an endpoint is answered when every node knows (`mark`), and misses nothing that is decided
 * after it.
 *
 * I1. Read at the start, again whenever a beat finds the auth revision raised, within a beat on every node, and when
 *     the node has joined again.
 * I2. A node says in its row of `nodes` as of which revision it has read them (Lease.ts). An endpoint is known when
 *     every live node has said its revision, or a later one.
 * I3. Nobody waits for a node whose lease has lapsed: until it has read them again as a node that has joined again,
 *     any workspace may have one. A node may not know of its lapse yet, and a birth is decided without a lease: so any
 *     workspace may have one while a node is fenced too.
 */
import { Context, Effect, Layer } from "effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { Lease } from "../journal/Lease.ts"
import { rereadOnRevision, untilRead } from "../journal/rereads.ts"

export class WebhookInterest extends Context.Service<
  WebhookInterest,
  {
    /** Whether a workspace has one, or may have. */
    readonly has: (workspace: string) => boolean
    /** Whether any workspace has one, or may have. */
    readonly any: () => boolean
    /**
     * An endpoint was made or changed by this node: done when every live node knows, or its lease has lapsed; after ten
     * seconds at the latest.
     */
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

/** How often a webhook that was made looks whether all nodes know of it, in milliseconds. */
const lookMs = 20

/** After this long an answer no longer waits for a node that lives, and cannot read. */
const longest = "10 seconds"

const make = Effect.gen(function* () {
  const database = yield* Database
  const lease = yield* Lease
  const listeners = new Set<() => void>()
  let workspaces: ReadonlySet<string> = new Set()
  /** Marked while an answer was on its way, which may not have it. */
  let marked = new Set<string>()
  let isRead = false
  /** I3. */
  const isSure = () => isRead && !lease.fenced()

  yield* lease.onLapse(() => {
    isRead = false
  })
  yield* rereadOnRevision("webhooks", (revision, joinedAs) =>
    Effect.gen(function* () {
      const before = marked
      marked = new Set()
      const rows = yield* database
        .run("webhooks.interest", (db) =>
          db.selectFrom("webhooks").select("workspace").distinct().where("enabled", "=", true).execute()
        )
        .pipe(
          Effect.onError(() =>
            Effect.sync(() => {
              marked = new Set([...before, ...marked])
            })
          )
        )
      workspaces = new Set([...rows.map(({ workspace }) => fromUuid("workspace", workspace)), ...marked])
      if (joinedAs === lease.incarnation()) isRead = true
      yield* lease.knowWebhooks(revision)
    })
  )

  /** A live node that does not know them yet. One of an earlier version knows a moment after its beat. */
  const unaware = (revision: number, since: Date) =>
    database.run("webhooks.unaware", (db) =>
      db
        .selectFrom("nodes")
        .select("incarnation")
        .where("deadline", ">", sql<Date>`clock_timestamp()`)
        .where("incarnation", "<>", toUuid(lease.incarnation()))
        .where(sql<boolean>`not coalesce((status ->> 'webhooks')::float8 >= ${revision}, beaten_at > ${since})`)
        .limit(1)
        .execute()
    )

  /** I2. */
  const known = Effect.gen(function* () {
    const latest = database.run("webhooks.revision", (db) =>
      db
        .selectFrom("auth_revision")
        .select([sql<number>`revision::float8`.as("revision"), sql<Date>`clock_timestamp()`.as("since")])
        .executeTakeFirstOrThrow()
    )
    const { revision, since } = yield* untilRead("the revision of webhooks", latest)
    const looked = untilRead("who knows a webhook", unaware(revision, since))
    while ((yield* looked).length > 0) yield* Effect.sleep(lookMs)
  }).pipe(
    Effect.timeoutOrElse({
      duration: longest,
      orElse: () => Effect.logWarning("a webhook is answered for before all nodes are known to know of it")
    })
  )

  return WebhookInterest.of({
    has: (workspace) => !isSure() || (workspaces.size > 0 && workspaces.has(workspace)),
    any: () => !isSure() || workspaces.size > 0,
    mark: (workspace) =>
      Effect.suspend(() => {
        marked.add(workspace)
        workspaces = new Set([...workspaces, workspace])
        return known
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
