/**
 * What the API reads of threads, from any node: logs, heads, details, lists, inputs. Every read names
 * its workspace; another workspace's thread is as unknown as one that never was (undefined).
 */
import { Context, Data, Effect, Layer } from "effect"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { dollars } from "../domain/usage.ts"
import type { BudgetWindow } from "../domain/thread.ts"
import type { InputRow, StoredInput } from "../journal/Journal.ts"
import { long, short } from "../database/shorthand.ts"
import { storedInput } from "../journal/storedInput.ts"
import { Database, type DatabaseUnavailable } from "../database/Database.ts"
import { type PostedJson, postedColumn, postedInputs } from "./postedInputs.ts"
import { readCarry } from "./carry.ts"
import { type EventQuery, type EventTexts, threadEvents } from "./events.ts"
import { listThreads, type ThreadQuery, type ThreadListRows } from "./lists.ts"
import { type StoredThread, type ThreadColumns, threadColumns, toStoredThread } from "./row.ts"
import { listTurns, type TurnQuery, type TurnRows } from "./turns.ts"
import { readAttributes } from "./view.ts"

export interface ThreadHead {
  readonly seq: number
  readonly status: string
  readonly updatedAt: number
}

export interface ThreadDetailRows extends StoredThread {
  /** Pending ones, by ord. */
  readonly inputs: ReadonlyArray<InputRow>
  /** Spent by the agent in its budget's window, 24h without a budget: USD. */
  readonly spend: { readonly window: BudgetWindow; readonly spent: number }
}

/** Whose thread it is, and what runs in it. */
export interface ThreadStanding {
  readonly agentId: string
  /** The thread's own. */
  readonly identity?: string
  /** The turn that runs or waits. */
  readonly turnId?: string
}

/** The attributes are at another version than the caller saw. */
export class VersionConflict extends Data.TaggedError("VersionConflict")<{ readonly version: number }> {}

interface Attributes {
  readonly attributes: string
  readonly version: number
}

export class ThreadReads extends Context.Service<
  ThreadReads,
  {
    /** A page of the log; concurrent calls share statements. */
    readonly events: (query: EventQuery) => Effect.Effect<EventTexts | undefined, DatabaseUnavailable>
    readonly head: (workspace: string, threadId: string) => Effect.Effect<ThreadHead | undefined, DatabaseUnavailable>
    /** One indexed read of the head. */
    readonly standing: (
      workspace: string,
      threadId: string
    ) => Effect.Effect<ThreadStanding | undefined, DatabaseUnavailable>
    /** Everything that Thread detail is made of, in one statement. */
    readonly detail: (
      workspace: string,
      threadId: string
    ) => Effect.Effect<ThreadDetailRows | undefined, DatabaseUnavailable>
    /** Pending inputs by ord. */
    readonly queue: (
      workspace: string,
      threadId: string
    ) => Effect.Effect<ReadonlyArray<InputRow> | undefined, DatabaseUnavailable>
    /** By updatedAt, newest first. */
    readonly list: (query: ThreadQuery) => Effect.Effect<ThreadListRows, DatabaseUnavailable>
    /** Turns by their place in the log. */
    readonly turns: (query: TurnQuery) => Effect.Effect<TurnRows | undefined, DatabaseUnavailable>
    /** An input that waits, was cancelled or was admitted. */
    readonly input: (
      workspace: string,
      threadId: string,
      inputId: string
    ) => Effect.Effect<StoredInput | undefined, DatabaseUnavailable>
    /** Replaces the attributes by what the pure function makes of them; with `ifMatch` only at that version. */
    readonly updateAttributes: (
      workspace: string,
      threadId: string,
      change: (attributes: string) => string,
      ifMatch?: number
    ) => Effect.Effect<Attributes | undefined, DatabaseUnavailable | VersionConflict>
  }
>()("troupe/ThreadReads") {
  static readonly layer = Layer.effect(
    ThreadReads,
    Database.use((database) => Effect.succeed(make(database)))
  )
}

const pending = `(select json_agg(json_build_object('id', i.id, 'ord', i.ord, 'state', i.state, 'body', i.body) order
  by i.ord)
  from inputs i where i.workspace = h.workspace and i.actor = h.id and i.state = 'pending')`

const thread = `h.workspace = $1 and h.id = $2 and h.kind = 'thread'`

const headText = `select h.seq, h.status, (extract(epoch from h.updated_at) * 1000)::float8 as "updatedAt" from heads h
  where
  ${thread}`

const standingText = `select h.parent, h.carry, h.attributes from heads h where ${thread}`

const detailText = `select ${threadColumns}, ${pending} as inputs, ${postedColumn} as posted, b.budget_window as
  "window",
    coalesce((select sum(s.amount) from spent s where s.workspace = h.workspace and s.subject = h.parent and s.minute >
      case b.budget_window when 'total' then -1 else extract(epoch from now())::int / 60 - case b.budget_window when
        '7d' then 10080 else 1440 end end), 0) as spent
  from heads h
  left join lateral (select readable(g.body::text) -> 'budget' ->> 'window' as budget_window from agents g where
    g.workspace = h.workspace and g.id = h.parent) b on true
  where ${thread}`

const queueText = `select ${pending} as inputs, ${postedColumn} as posted from heads h where ${thread}`

interface Standing {
  readonly parent: string | null
  readonly carry: string
  readonly attributes: string
}

const toStanding = ({ attributes, carry, parent }: Standing): ThreadStanding => {
  const { identity } = readAttributes(long(attributes))
  const { turn } = readCarry(long(carry))
  return {
    agentId: parent === null ? "" : fromUuid("agent", parent),
    ...(identity === undefined ? {} : { identity }),
    ...(turn === undefined ? {} : { turnId: turn.turnId })
  }
}

interface Waiting {
  readonly inputs: ReadonlyArray<InputRow> | null
  readonly posted: PostedJson
}

const windows: Record<string, BudgetWindow> = { "24h": "24h", "7d": "7d", total: "total" }

/** One that arrives at this moment may be in both. */
const toInputs = ({ inputs, posted }: Waiting): ReadonlyArray<InputRow> => {
  const arrived = inputs?.map((row) => ({ ...row, id: fromUuid("input", row.id) })) ?? []
  return posted === null
    ? arrived
    : [...arrived, ...postedInputs(posted).filter(({ id }) => !arrived.some((row) => row.id === id))]
}

function make(database: Database["Service"]) {
  const one = <Row extends object>(
    name: string,
    text: string,
    workspace: string,
    threadId: string,
    ...rest: ReadonlyArray<unknown>
  ) =>
    Effect.map(
      database.read<Row>({ name: `thread ${name}`, text, values: [toUuid(workspace), toUuid(threadId), ...rest] }),
      (rows) => rows[0]
    )

  const queue = (workspace: string, threadId: string) =>
    Effect.map(one<Waiting>("queue", queueText, workspace, threadId), (row) => row && toInputs(row))

  return ThreadReads.of({
    events: threadEvents(database),
    head: (workspace, threadId) => one<ThreadHead>("head", headText, workspace, threadId),
    standing: (workspace, threadId) =>
      Effect.map(one<Standing>("standing", standingText, workspace, threadId), (row) => row && toStanding(row)),
    detail: (workspace, threadId) =>
      one<ThreadColumns & Waiting & { window: string | null; spent: number }>(
        "detail",
        detailText,
        workspace,
        threadId
      ).pipe(
        Effect.map(
          (row) =>
            row && {
              ...toStoredThread(row),
              inputs: toInputs(row),
              spend: { window: windows[row.window ?? "24h"] ?? "24h", spent: dollars(row.spent) }
            }
        )
      ),
    queue,
    list: (query) => listThreads(database, query),
    turns: (query) => listTurns(database, query),
    input: Effect.fnUntraced(function* (workspace, threadId, inputId) {
      const find = storedInput(database, { workspace, kind: "thread", id: threadId }, inputId)
      const stored = yield* find
      if (stored !== undefined) return stored
      const row = (yield* queue(workspace, threadId))?.find(({ id }) => id === inputId)
      // What was in the inbox a moment ago has arrived since.
      return row === undefined ? yield* find : { state: "pending", row }
    }),
    updateAttributes: (workspace, threadId, change, ifMatch) =>
      database
        .run("update attributes", async (db): Promise<Attributes | VersionConflict | undefined> => {
          // Compared and set, not locked: an append of the same row must not wait for a round trip.
          for (;;) {
            const found = await db
              .selectFrom("heads")
              .select(["attributes", "version"])
              .where("id", "=", toUuid(threadId))
              .where("workspace", "=", toUuid(workspace))
              .where("kind", "=", "thread")
              .executeTakeFirst()
            if (found === undefined) return undefined
            if (ifMatch !== undefined && ifMatch !== found.version)
              return new VersionConflict({ version: found.version })
            const attributes = change(long(found.attributes))
            const version = found.version + 1
            const { numUpdatedRows } = await db
              .updateTable("heads")
              .set({ attributes: short(attributes), version })
              .where("id", "=", toUuid(threadId))
              .where("version", "=", found.version)
              .executeTakeFirst()
            if (numUpdatedRows > 0n) return { attributes, version }
          }
        })
        .pipe(
          Effect.flatMap((result) => (result instanceof VersionConflict ? Effect.fail(result) : Effect.succeed(result)))
        )
  })
}
