/**
 * How much of its quotas a workspace has used. Threads and bytes are answered from memory: what this node has counted
 * is in it at once, what others have counted after about a second.
 *
 * Q1. Nobody waits for a count: once a second, in the background, this node's amounts are added to its rows and the
 *     sums of the workspaces that somebody asks about are read. A node that dies takes at most a second's amounts with
 *     it: births, or archives of threads that others have counted. What is left is never shown as less than nothing.
 * Q2. A workspace that this node knows nothing of yet has room.
 * Q3. A statement whose outcome is unknown is sent again: a second's amounts may then count twice.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import type { Gathered, Resource } from "./quota.ts"
import type { Append } from "../journal/Journal.ts"
import { Lease } from "../journal/Lease.ts"
import { Database, type DatabaseUnavailable } from "../database/Database.ts"
import { addTallies, closedTallies, recentTallies } from "./tallies.ts"
import { limitsOf, type QuotasFile, type QuotasFileInvalid, readQuotasFile } from "./quotasFile.ts"
import { storedBytes } from "./stored.ts"
import { Tally } from "./Tally.ts"

export interface Exceeded {
  readonly limit: number
  /** Of bytes: when enough of them have left the window. */
  readonly retryAfterSeconds?: number
}

export class Quotas extends Context.Service<
  Quotas,
  {
    readonly limitOf: (workspace: string, resource: Resource) => number
    /** Undefined while there is room. From memory. */
    readonly exceeded: (workspace: string, resource: Gathered) => Exceeded | undefined
    readonly add: (workspace: string, resource: Gathered, amount: number) => void
    /** An append was committed: what it stores counts, and the thread that it gives birth to, or archives. */
    readonly appended: (append: Append) => void
    /** As of now: the sums are read first. */
    readonly used: (workspace: string) => Effect.Effect<Readonly<Record<Gathered, number>>, DatabaseUnavailable>
  }
>()("troupe/quotas/Quotas") {
  /** With the operator's file: its path, or what it holds. */
  static readonly layer = (file: string | QuotasFile = {}): Layer.Layer<Quotas, QuotasFileInvalid, Database | Lease> =>
    Layer.effect(Quotas, Effect.flatMap(typeof file === "string" ? readQuotasFile(file) : Effect.succeed(file), make))

  /** Without a database: what this process has counted, for tests and for trying things out. */
  static readonly layerMemory = (file: QuotasFile = {}) =>
    Layer.sync(Quotas, () => {
      const tally = new Tally()
      return Quotas.of({ ...counting(tally, file), used: (workspace) => Effect.sync(() => usedOf(tally, workspace)) })
    })
}

const usedOf = (tally: Tally, workspace: string) => ({
  stored_bytes: tally.used(workspace, "stored_bytes"),
  threads: Math.max(0, tally.used(workspace, "threads"))
})

/** What needs nothing but memory. */
const counting = (tally: Tally, file: QuotasFile) => {
  const limitOf = limitsOf(file)
  return {
    limitOf,
    exceeded: (workspace: string, resource: Gathered): Exceeded | undefined => {
      const limit = limitOf(workspace, resource)
      const used = tally.used(workspace, resource)
      if (used < limit) return undefined
      return {
        limit,
        ...(resource === "stored_bytes" && { retryAfterSeconds: tally.freeAfter(workspace, used - limit + 1) })
      }
    },
    add: (workspace: string, resource: Gathered, amount: number) => tally.add(workspace, resource, amount),
    appended: (append: Append) => {
      const {
        actor: { kind, workspace },
        archives,
        birth
      } = append
      if (birth !== undefined && kind === "thread") tally.add(workspace, "threads", 1)
      if (archives === true) tally.add(workspace, "threads", -1)
      tally.add(workspace, "stored_bytes", storedBytes(append))
    }
  }
}

const make = Effect.fnUntraced(function* (file: QuotasFile) {
  const database = yield* Database
  const lease = yield* Lease
  const tally = new Tally()
  // Of two readers at once, each would take for read what the other has written.
  const alone = Semaphore.makeUnsafe(1)

  const write = Effect.suspend(() => {
    const amounts = tally.unwritten()
    return amounts.length === 0
      ? Effect.void
      : Effect.map(addTallies(database, lease.incarnation(), amounts), () => tally.written(amounts))
  })

  const read = Effect.fnUntraced(function* (stale: ReadonlyArray<string>) {
    if (stale.length > 0) tally.closed(yield* closedTallies(database, stale))
    const watched = tally.watched()
    if (watched.length > 0)
      tally.opened(
        watched.map(({ workspace }) => workspace),
        yield* recentTallies(database, watched)
      )
  })

  let isFailing = false
  const round = Effect.suspend(() => {
    tally.turn()
    return Effect.andThen(
      write,
      Effect.suspend(() => read(tally.stale()))
    )
  }).pipe(
    alone.withPermit,
    Effect.matchEffect({
      onSuccess: () =>
        Effect.sync(() => {
          isFailing = false
        }),
      // Once: what was counted is kept, and every second brings another try.
      onFailure: (cause) =>
        Effect.suspend(() => {
          const isNews = !isFailing
          isFailing = true
          return isNews ? Effect.logWarning("quotas are counted in memory alone for now", cause) : Effect.void
        })
    })
  )

  yield* Effect.addFinalizer(() => Effect.ignore(alone.withPermit(write)))
  yield* Effect.forkScoped(Effect.forever(Effect.delay(round, "1 second")))

  return Quotas.of({
    ...counting(tally, file),
    used: (workspace) =>
      Effect.suspend(() => {
        tally.add(workspace, "threads", 0)
        return read([workspace])
      }).pipe(
        alone.withPermit,
        Effect.map(() => usedOf(tally, workspace))
      )
  })
})
