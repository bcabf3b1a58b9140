/**
 * The connections to PostgreSQL, by what they are for, so that none can starve another.
 *
 * C1. The journal's writer, the lease's beat, prepared reads, whole logs and everything else have connections
 *     of their own: 1, 1, 3, 2 and 3, ten in all unless the options say otherwise.
 * C2. No statement runs longer than 5 s or waits longer than 2 s for a lock, and no caller waits
 *     longer than 2 s for a connection: it gets `DatabaseUnavailable`.
 *     Readers of whole logs take turns instead, one for each of their connections and for as long as it
 *     needs; whoever has waited for 20 s gets the same failure. Pages of events are read by one statement after
 *     the other, and wait for each other as long as that takes (threads/events.ts).
 * C3. Requests of one workspace never have all connections of a kind: the last is left to others (tenants.ts).
 *     They wait for each other for up to 10 s. What is asked in groups, of all workspaces together (claims, loads,
 *     lookups, pages of events), has no such turns: one to three statements of each kind are under way.
 * C4. A lost connection fails what ran on it and nothing else; the next statement connects again.
 */
import { Context, Data, Effect, Layer, Redacted, Semaphore } from "effect"
import { Kysely, PostgresDialect, type Transaction } from "kysely"
import pg from "pg"
import { makePool } from "./pool.ts"
import type { Tables } from "./tables.ts"
import { Turns } from "./tenants.ts"

/** PostgreSQL cannot be reached, has no connection free, or did not answer in time. Worth a retry later. */
export class DatabaseUnavailable extends Data.TaggedError("DatabaseUnavailable")<{
  readonly operation: string
  readonly cause: unknown
}> {}

/** A prepared statement: the name stands for the text, for ever. */
export interface Statement {
  readonly name: string
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

export interface DatabaseOptions {
  readonly url: Redacted.Redacted<string>
  /** Connections of the journal's writer. */
  readonly writers?: number
  /** Connections for all other work: half for prepared reads, half for the rest. */
  readonly connections?: number
  /** Connections for whole logs. */
  readonly logs?: number
}

type Read = <Row extends pg.QueryResultRow>(
  statement: Statement
) => Effect.Effect<ReadonlyArray<Row>, DatabaseUnavailable>

/** Statements sent since the start, by connection. */
export interface StatementCounts {
  writer: number
  beat: number
  api: number
}

export class Database extends Context.Service<
  Database,
  {
    /** One piece of work on a connection; what is not unavailability is a defect. */
    readonly run: <A>(
      operation: string,
      query: (db: Kysely<Tables>) => Promise<A>
    ) => Effect.Effect<A, DatabaseUnavailable>
    /** A transaction of plain promises, begun again when PostgreSQL asks for it: it must be repeatable. */
    readonly atomically: <A>(
      operation: string,
      query: (tx: Transaction<Tables>) => Promise<A>
    ) => Effect.Effect<A, DatabaseUnavailable>
    /** A prepared statement's rows: for hot reads. */
    readonly read: Read
    /**
     * What reads much, page by page: waits for its turn on the connections for whole logs (C2), and has it until it
     * ends.
     */
    readonly longRead: <A, E>(
      operation: string,
      use: (read: Read) => Effect.Effect<A, E>
    ) => Effect.Effect<A, E | DatabaseUnavailable>
    /** The same as a promise that rejects with pg's own error: for those who batch. */
    readonly query: <Row extends pg.QueryResultRow>(statement: Statement) => Promise<ReadonlyArray<Row>>
    /** On the journal's writer. */
    readonly write: <Row extends pg.QueryResultRow>(statement: Statement) => Promise<ReadonlyArray<Row>>
    /** On the lease's own connection. */
    readonly beat: <Row extends pg.QueryResultRow>(statement: Statement) => Promise<ReadonlyArray<Row>>
    readonly counts: Readonly<StatementCounts>
    /** Connections for reads, whole logs and the rest: open, idle, and callers that wait. */
    readonly pool: () => { readonly open: number; readonly idle: number; readonly waiting: number }
  }
>()("troupe/Database") {
  static readonly layer = (options: DatabaseOptions) => Layer.effect(Database, make(options))
}

// 25006: it is read-only, as a standby is until it takes over.
const gone = /^(57P0|08|53|58)|^(57014|55P03|25P03|25006|40001|40P01)$/
const goneMessages = [
  "Connection terminated",
  "timeout exceeded when trying",
  "Client has encountered",
  "Client was closed",
  "Query read timeout",
  "Cannot use a pool",
  "The server does not support",
  "Connection ended"
]

/** SQLSTATE of an error, or the system's code such as ECONNRESET. */
export const sqlStateOf = (cause: unknown) =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : undefined

/** Whether the database, not the statement, is to blame. */
export const isUnavailable = (cause: unknown): boolean => {
  if (cause instanceof pg.DatabaseError) return gone.test(cause.code ?? "")
  if (cause instanceof AggregateError) return cause.errors.some(isUnavailable)
  if (!(cause instanceof Error)) return false
  return /^E[A-Z_]+$/.test(sqlStateOf(cause) ?? "") || goneMessages.some((words) => cause.message.startsWith(words))
}

/** The statement took too long, or waited too long for a lock: a smaller one may do. */
export const isTimeout = (cause: unknown) =>
  cause instanceof pg.DatabaseError
    ? cause.code === "57014" || cause.code === "55P03"
    : cause instanceof Error && cause.message.startsWith("Query read timeout")

const unconnected = /^(timeout exceeded when trying to connect|Connection terminated due to connection timeout)/

/**
 * Nothing is committed: PostgreSQL itself has refused the statement, or it found no connection. After all else that is
 * not known.
 */
export const isUndone = (cause: unknown) =>
  cause instanceof pg.DatabaseError
    ? cause.severity === "ERROR" && !/^(08|57P)/.test(cause.code ?? "")
    : sqlStateOf(cause) === "ECONNREFUSED" || (cause instanceof Error && unconnected.test(cause.message))

/** The two that PostgreSQL itself asks to repeat: a serialization failure and a deadlock. */
export const isRepeatable = (cause: unknown) =>
  cause instanceof pg.DatabaseError && (cause.code === "40001" || cause.code === "40P01")

/** How long anybody waits for a connection. */
const patienceMs = 2_000
const longPatienceMs = 20_000
/** How long a request waits for others of its workspace: it holds up nobody else. */
const turnPatienceMs = 10_000

// JIT compiles for longer than any of our statements runs.
const common = "-c jit=off"
// With the values in sight, PostgreSQL prefers to scan a whole table for a batch of a hundred rows; and
// reads a log through a bitmap, to sort it afterwards.
const prepared = `${common} -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off`

const make = Effect.fnUntraced(function* (options: DatabaseOptions) {
  const counts: StatementCounts = { writer: 0, beat: 0, api: 0 }

  const open = (name: string, max: number, settings: string) =>
    Effect.acquireRelease(
      Effect.sync(() =>
        makePool({
          connectionString: Redacted.value(options.url),
          application_name: `troupe ${name}`,
          max,
          options: settings,
          connectionTimeoutMillis: patienceMs,
          idleTimeoutMillis: 0,
          keepAlive: true,
          keepAliveInitialDelayMillis: 5_000,
          statement_timeout: 5_000,
          lock_timeout: 2_000,
          idle_in_transaction_session_timeout: 3_000,
          // The server's own limit does not help when the server is cut off.
          query_timeout: 6_000
        })
      ),
      (pool) => Effect.promise(() => pool.end())
    )

  const connections = options.connections ?? 6
  const writer = yield* open("writer", options.writers ?? 1, prepared)
  const heart = yield* open("lease", 1, common)
  const reads = yield* open("reads", Math.ceil(connections / 2), prepared)
  const api = yield* open("api", Math.max(1, Math.floor(connections / 2)), common)
  const logs = yield* open("logs", options.logs ?? 2, prepared)
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: api }),
    log: () => {
      counts.api++
    }
  })

  const on =
    (pool: pg.Pool, kind: keyof StatementCounts) =>
    async <Row extends pg.QueryResultRow>({ name, text, values }: Statement): Promise<ReadonlyArray<Row>> => {
      counts[kind]++
      return (await pool.query<Row>({ name, text, values: [...values] })).rows
    }
  const query = on(reads, "api")

  const failing = (operation: string) => (cause: unknown) =>
    isUnavailable(cause) ? Effect.fail(new DatabaseUnavailable({ operation, cause })) : Effect.die(cause)

  const attempt = <A>(operation: string, work: () => Promise<A>) =>
    Effect.tryPromise({ try: work, catch: (cause) => cause }).pipe(Effect.catch(failing(operation)))

  const turnsAt = (pool: pg.Pool) =>
    new Turns(
      pool.options.max,
      turnPatienceMs,
      () =>
        new DatabaseUnavailable({
          operation: "turn",
          cause: new Error("its workspace has asked for more at once than it may")
        })
    )
  const [turnsToRead, turnsToAsk] = [turnsAt(reads), turnsAt(api)]

  const reading = (pool: pg.Pool): Read => {
    const send = on(pool, "api")
    return (statement) => attempt(statement.name, () => send(statement))
  }
  const readOne = reading(reads)
  const read: Read = (statement) => turnsToRead.within(readOne(statement))
  const readLog = reading(logs)
  const turns = yield* Semaphore.make(options.logs ?? 2)
  /** Readers that have not had their turn. */
  let queued = 0
  const longRead = <A, E>(
    operation: string,
    use: (read: Read) => Effect.Effect<A, E>
  ): Effect.Effect<A, E | DatabaseUnavailable> =>
    Effect.suspend(() => {
      let isWaiting = true
      queued++
      const leave = Effect.sync(() => {
        if (isWaiting) queued--
        isWaiting = false
      })
      const impatient = Effect.andThen(
        Effect.sleep(longPatienceMs),
        Effect.suspend(() =>
          isWaiting
            ? Effect.fail(new DatabaseUnavailable({ operation, cause: new Error("no turn to read a log") }))
            : Effect.never
        )
      )
      return Effect.ensuring(
        Effect.raceFirst(
          turns.withPermit(
            Effect.andThen(
              leave,
              Effect.suspend(() => use(readLog))
            )
          ),
          impatient
        ),
        leave
      )
    })

  const run = <A>(operation: string, work: (db: Kysely<Tables>) => Promise<A>) =>
    turnsToAsk.within(attempt(operation, () => work(db))).pipe(Effect.withSpan(`Database.${operation}`))

  const repeating = async <A>(work: (tx: Transaction<Tables>) => Promise<A>) => {
    for (let times = 1; ; times++) {
      try {
        return await db.transaction().execute(work)
      } catch (cause) {
        if (times === 3 || !isRepeatable(cause)) throw cause
      }
    }
  }
  const atomically = <A>(operation: string, work: (tx: Transaction<Tables>) => Promise<A>) =>
    turnsToAsk.within(attempt(operation, () => repeating(work))).pipe(Effect.withSpan(`Database.${operation}`))

  return Database.of({
    run,
    atomically,
    read,
    longRead,
    query,
    write: on(writer, "writer"),
    beat: on(heart, "beat"),
    counts,
    pool: () => {
      const pools = [api, reads, logs]
      const sum = (of: (pool: pg.Pool) => number) => pools.reduce((count, pool) => count + of(pool), 0)
      return {
        open: sum((pool) => pool.totalCount),
        idle: sum((pool) => pool.idleCount),
        waiting: sum((pool) => pool.waitingCount) + queued
      }
    }
  })
})
