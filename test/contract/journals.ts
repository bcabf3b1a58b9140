/** Both journals behind one face: what the contract suite opens owners of, and how it harms them. */
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import pg from "pg"
import { fromUuid, toUuid } from "../../src/domain/ids.ts"
import { type ActorRef, Journal, type StoredFact, type WaitRow } from "../../src/journal/Journal.ts"
import { Lease } from "../../src/journal/Lease.ts"
import type { LeaseRefused } from "../../src/journal/leaseKeeper.ts"
import { layerMemory, layerMemoryLease } from "../../src/journal/memory.ts"
import { MemoryStore, keyOf } from "../../src/journal/MemoryStore.ts"
import { layerPostgres } from "../../src/journal/postgres.ts"
import { layerPostgresLease } from "../../src/journal/PostgresLease.ts"
import { type FactColumns, factColumns, storedFact } from "../../src/journal/storedFact.ts"
import { Database } from "../../src/database/Database.ts"
import { freshDatabase } from "../setup/database.ts"
import { cutProxy } from "./CutProxy.ts"

export interface Owner {
  readonly journal: Journal["Service"]
  readonly lease: Lease["Service"]
}

export interface World {
  /** A node with a lease, for as long as the scope is open. */
  readonly open: (
    name: string,
    ttl?: number,
    signs?: ReadonlyArray<string>
  ) => Effect.Effect<Owner, LeaseRefused, Scope.Scope>
  /** Ends a lease at once. */
  readonly lapse: (incarnation: string) => Promise<void>
  /** The next append of anyone loses its connection, before or after it is committed. */
  readonly lose: (when: "before" | "after") => void
  /** USD booked to a subject. */
  readonly spent: (workspace: string, subject: string) => Promise<number>
  /** An actor's waits, oldest first. */
  readonly waits: (actor: ActorRef) => Promise<ReadonlyArray<Pick<WaitRow, "id" | "state" | "body" | "call">>>
  /** An actor's facts, each as it was appended, in order. */
  readonly facts: (actor: ActorRef) => Promise<ReadonlyArray<StoredFact>>
  readonly raiseAuthRevision: () => Promise<void>
  /** Makes a kept key two days old. */
  readonly age: (workspace: string, scope: string) => Promise<void>
  readonly close: () => Promise<void>
}

export const memoryWorld = (store = new MemoryStore()): World => ({
  open: (name, ttl = 60_000, signs) =>
    Layer.build(
      layerMemory(store).pipe(
        Layer.provideMerge(layerMemoryLease(store, { name, ttl, ...(signs === undefined ? {} : { signs }) }))
      )
    ).pipe(
      Effect.map((context) => {
        const journal = Context.get(context, Journal)
        journal.know("thread", { id: "thread", parent: "agent" })
        journal.know("identity", { id: "identity", parent: null })
        return { journal, lease: Context.get(context, Lease) }
      })
    ),
  lapse: async (incarnation) => store.lapse(incarnation),
  lose: (when) => {
    store.fault = () => {
      store.fault = () => undefined
      return `lost ${when}`
    }
  },
  spent: async (workspace, subject) =>
    [...store.spend].reduce(
      (sum, [cell, amount]) => (cell.startsWith(`${workspace} ${subject} `) ? sum + amount : sum),
      0
    ),
  waits: async (actor) =>
    [...(store.actors.get(keyOf(actor))?.waits.values() ?? [])].map(({ body, call, id, state }) => ({
      id,
      state,
      body,
      ...(call !== undefined && { call })
    })),
  facts: async (actor) => store.actors.get(keyOf(actor))?.facts ?? [],
  raiseAuthRevision: async () => {
    store.authRevision++
  },
  age: async (workspace, scope) => {
    const key = store.keys.get(workspace + scope)
    if (key) store.keys.set(workspace + scope, { ...key, at: key.at - 2 * 86_400_000 })
  },
  close: async () => {}
})

export interface PostgresWorld extends World {
  readonly sql: (text: string, values?: ReadonlyArray<unknown>) => Promise<ReadonlyArray<Record<string, unknown>>>
  readonly url: string
  readonly proxy: Awaited<ReturnType<typeof cutProxy>>
}

export const postgresWorld = async (): Promise<PostgresWorld> => {
  const database = await freshDatabase()
  const proxy = await cutProxy(database.url)
  const client = new pg.Client({ connectionString: database.url })
  client.on("error", () => {})
  await client.connect()
  const sql = async (text: string, values: ReadonlyArray<unknown> = []) =>
    (await client.query<Record<string, unknown>>(text, [...values])).rows
  return {
    url: database.url,
    proxy,
    sql,
    open: (name, ttl = 60_000, signs) =>
      Layer.build(
        layerPostgres().pipe(
          Layer.provideMerge(layerPostgresLease({ name, ttl, ...(signs === undefined ? {} : { signs }) })),
          Layer.provideMerge(Database.layer({ url: Redacted.make(proxy.url) }))
        )
      ).pipe(
        Effect.map((context) => {
          const journal = Context.get(context, Journal)
          journal.know("thread", { id: "thread", parent: "agent" })
          journal.know("identity", { id: "identity", parent: null })
          return { journal, lease: Context.get(context, Lease) }
        })
      ),
    lapse: async (incarnation) => {
      await sql("update nodes set deadline = now() - interval '1 second' where incarnation = $1", [toUuid(incarnation)])
    },
    lose: (when) => proxy.cut("append ", when),
    spent: async (workspace, subject) =>
      Number(
        (
          await sql("select coalesce(sum(amount), 0) as sum from spent where workspace = $1 and subject = $2", [
            toUuid(workspace),
            toUuid(subject)
          ])
        )[0]?.sum
      ),
    waits: async ({ id, workspace }) => {
      const { rows } = await client.query<{
        id: string
        state: WaitRow["state"]
        body: string
        call: string | null
        toolset: string | null
      }>(
        "select id, state, body, call, toolset from waits where workspace = $1 and actor = $2 order by created_at, id",
        [toUuid(workspace), toUuid(id)]
      )
      return rows.map(({ body, call, id, state, toolset }) => ({
        id: fromUuid("wait", id),
        state,
        body,
        ...(call !== null && {
          call: { id: fromUuid("call", call), ...(toolset !== null && { toolset: fromUuid("toolset", toolset) }) }
        })
      }))
    },
    facts: async ({ id }) =>
      (
        await client.query<FactColumns>(`select ${factColumns} from facts f where f.actor = $1 order by f.pos`, [
          toUuid(id)
        ])
      ).rows.map(storedFact),
    raiseAuthRevision: async () => {
      await sql("update auth_revision set revision = revision + 1")
    },
    age: async (workspace, scope) => {
      await sql(
        "update idempotency set created_at = created_at - interval '2 days' where workspace = $1 and scope = $2",
        [toUuid(workspace), scope]
      )
    },
    close: async () => {
      await client.end()
      await proxy.close()
      await database.drop()
    }
  }
}
