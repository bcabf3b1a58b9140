/** An actor's log as whoever looks at it reads it: piece by piece, from where a fold may begin. */
import { Effect } from "effect"
import type { Database, DatabaseUnavailable } from "../database/Database.ts"
import { long } from "../database/shorthand.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import type { InputRow, StoredFact } from "../journal/Journal.ts"
import { type FactColumns, factColumns, readEvent, storedFact } from "../journal/storedFact.ts"

export interface InspectedHead {
  readonly id: string
  readonly kind: string
  readonly parent: string | null
  readonly status: string
  readonly pos: number
  readonly seq: number
  readonly epoch: number
  /** Milliseconds. */
  readonly runnableAt: number | null
  readonly carry: string
  /** The node that lives with it. */
  readonly node: string | undefined
}

/** Whose facts: of no workspace but that one. */
export interface LogOf {
  readonly workspace: string
  readonly id: string
}

interface HeadRow {
  readonly kind: string
  readonly parent: string | null
  readonly status: string
  readonly pos: number
  readonly seq: number
  readonly epoch: number
  readonly runnable: number | null
  readonly carry: string
  readonly node: string | null
}

export interface Mark {
  readonly pos: number
  readonly at: number
  readonly cause: number | null
}

/** As it is stored: without a command where none was kept. */
export type InspectedFact = Omit<StoredFact, "cause"> & { readonly cause: number | null }

const headColumns = `h.kind, h.parent, h.status, h.pos, h.seq, h.epoch, h.carry,
  (extract(epoch from h.runnable_at) * 1000)::float8 as runnable, n.name as node`

const heads = `heads h left join nodes n on n.incarnation = h.owner and n.deadline > clock_timestamp()
  where h.workspace = $1 and h.id = $2`

const headText = `select ${headColumns} from ${heads}`

// One statement is one moment: what waits is as old as the head beside it.
const nowText = `select ${headColumns}, (select json_agg(json_build_object('id', i.id, 'ord', i.ord, 'state', i.state,
  'body', i.body) order by i.ord) from inputs i where i.workspace = h.workspace and i.actor = h.id and
  i.state = 'pending') as inputs
  from ${heads}`

const facts = `facts f where f.actor = $2 and exists (select from heads h where h.workspace = $1 and h.id = $2)`

const marksText = `select f.pos, f.cause, (extract(epoch from f.at) * 1000)::float8 as at from ${facts} and f.pos <= $3
  order by f.pos desc limit $4`

const factsText = `select ${factColumns}, f.cause from ${facts} and f.pos > $3 and f.pos <= $4 order by f.pos limit $5`

const begunText = `select begun.pos, coalesce((select f.seq from ${facts} and f.pos < begun.pos and f.seq is not null
    order by f.pos desc limit 1), 0) as seq, last.event, last.turn
  from (select f.pos from ${facts} and f.pos <= $3 and f.n = 0 and f.turn is not null order by f.pos desc limit 1) begun
  left join lateral (select f.event, f.turn from ${facts} and f.pos < begun.pos and f.turn is not null
    order by f.pos desc limit 1) last on true`

// It is never below the event's seq, which has no index. A seq that is asked for may be beyond any column's.
const positionText = `select f.pos from ${facts} and f.pos >= $3::bigint and f.seq >= $3::bigint
  order by f.pos limit 1`

const headOf = (id: string, { carry, node, runnable: runnableAt, ...head }: HeadRow): InspectedHead => ({
  ...head,
  id,
  carry: long(carry),
  runnableAt,
  node: node ?? undefined
})

export const makeActorLog = ({ read }: Pick<Database["Service"], "read">) => {
  const of = ({ id, workspace }: LogOf) => [toUuid(workspace), toUuid(id)]

  return {
    /** Undefined where the workspace has no such actor. */
    head: (log: LogOf): Effect.Effect<InspectedHead | undefined, DatabaseUnavailable> =>
      Effect.map(
        read<HeadRow>({ name: "inspect head", text: headText, values: of(log) }),
        ([row]) => row && headOf(log.id, row)
      ),

    /** The same with the inputs that wait, as of one moment. */
    now: (
      log: LogOf
    ): Effect.Effect<
      { readonly head: InspectedHead; readonly inputs: ReadonlyArray<InputRow> } | undefined,
      DatabaseUnavailable
    > =>
      Effect.map(
        read<HeadRow & { readonly inputs: ReadonlyArray<InputRow> | null }>({
          name: "inspect now",
          text: nowText,
          values: of(log)
        }),
        ([row]) => {
          if (row === undefined) return undefined
          const { inputs, ...head } = row
          return {
            head: headOf(log.id, head),
            inputs: (inputs ?? []).map((input) => ({ ...input, id: fromUuid("input", input.id) }))
          }
        }
      ),

    /** Where commands begin is seen by these: those up to a position, newest first. */
    marksUpTo: (log: LogOf, pos: number, limit: number): Effect.Effect<ReadonlyArray<Mark>, DatabaseUnavailable> =>
      read<Mark & Record<string, unknown>>({
        name: "inspect marks",
        text: marksText,
        values: [...of(log), pos, limit]
      }),

    /** Behind a position, oldest first, up to another. */
    factsBehind: (
      log: LogOf,
      { after, limit, upTo }: { readonly after: number; readonly upTo: number; readonly limit: number }
    ): Effect.Effect<ReadonlyArray<InspectedFact>, DatabaseUnavailable> =>
      Effect.map(
        read<FactColumns & { readonly cause: number | null }>({
          name: "inspect facts",
          text: factsText,
          values: [...of(log), after, upTo, limit]
        }),
        (rows) => rows.map((row) => ({ ...storedFact(row), cause: row.cause }))
      ),

    /**
     * The first fact of the last turn that began up to a position, and what stands before it: how many events, and the
     * last fact of a turn. Undefined where no turn did.
     */
    begunUpTo: (log: LogOf, pos: number) =>
      Effect.map(
        read<{
          readonly pos: number
          readonly seq: number
          readonly event: string | null
          readonly turn: string | null
        }>({ name: "inspect begun", text: begunText, values: [...of(log), pos] }),
        ([row]) =>
          row && {
            pos: row.pos,
            seq: row.seq,
            before:
              row.event === null || row.turn === null
                ? undefined
                : { type: readEvent(row.event).type, turn: fromUuid("turn", row.turn) }
          }
      ),

    /** The position of an event. */
    positionOf: (log: LogOf, seq: number): Effect.Effect<number | undefined, DatabaseUnavailable> =>
      Effect.map(
        read<{ readonly pos: number }>({ name: "inspect seq", text: positionText, values: [...of(log), seq] }),
        ([row]) => row?.pos
      )
  }
}
export type ActorLog = ReturnType<typeof makeActorLog>
