/**
 * The turns of a thread (contract C35.3), made of its log: turns never interleave, so that each is a stretch of it.
 *
 * T1. Only the first and last event of a turn are read whole, of the others the type: texts and results may be large.
 * T2. So many events are looked at for a page. It ends there with the last whole turn, and is read on until there is
 *     one.
 */
import { Schema } from "effect"
import { type RawBuilder, sql } from "kysely"
import type { Database } from "../database/Database.ts"
import type { Db } from "../database/handle.ts"
import { long, storedBeginnings } from "../database/shorthand.ts"
import { SubmitMode } from "../domain/content.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import { Principal } from "../domain/principal.ts"
import { toTimestamp } from "../domain/time.ts"
import { type ModelUsage, noUsage } from "../domain/usage.ts"
import { readCarry } from "./carry.ts"
import { type ThreadTurn, turnOutcomes } from "./turn.ts"

const isEnd = (type: string): type is keyof typeof turnOutcomes => Object.hasOwn(turnOutcomes, type)

export interface TurnQuery {
  readonly workspace: string
  readonly threadId: string
  readonly order: "asc" | "desc"
  readonly limit: number
  /** `position` of the page before. */
  readonly position?: number
}

export interface TurnRows {
  readonly turns: ReadonlyArray<ThreadTurn>
  /** Where the next page begins; undefined when this is the last. */
  readonly position: number | undefined
}

/** A turn's stretch of the log, as far as it was looked at. */
interface Stretch {
  readonly turn: string
  readonly first: Looked
  readonly last: Looked
  readonly counts: ReadonlyMap<string, number>
  readonly responses: number
}

interface Looked {
  readonly pos: number
  readonly seq: number
  /** Milliseconds. */
  readonly at: number
}

interface EventRow extends Looked {
  readonly turn: string
  /** Its beginning, as it is stored: enough for the type. */
  readonly head: string
  /** A call that is the first thing that a response says. */
  readonly opens: boolean
}

const typeOf = ({ head }: EventRow) => /^\{"type":"(\w+)"/.exec(long(head))?.[1] ?? ""

/** Stretches in the order of the rows. */
const stretchesOf = (rows: ReadonlyArray<EventRow>): ReadonlyArray<Stretch> => {
  const byTurn = Map.groupBy(rows, ({ turn }) => turn)
  return [...byTurn].map(([turn, events]) => {
    const inOrder = events.toSorted((a, b) => a.pos - b.pos)
    const counts = new Map<string, number>()
    for (const event of inOrder) {
      const type = typeOf(event)
      counts.set(type, (counts.get(type) ?? 0) + 1)
    }
    const responses = (counts.get("assistant_message") ?? 0) + inOrder.filter(({ opens }) => opens).length
    // A group has a member.
    return { turn, first: inOrder[0]!, last: inOrder.at(-1)!, counts, responses }
  })
}

/** Of facts `f`. */
const ofThread = ({ threadId, workspace }: TurnQuery) =>
  sql`heads h join facts f on f.actor = h.id where h.workspace = ${toUuid(workspace)}::uuid and
    h.id = ${toUuid(threadId)}::uuid`

// What a response came with stands in the detail of the first thing that it says: a text, which is the only one, or a
// call.
const callBeginnings = storedBeginnings('{"type":"tool_intent"').map((beginning) => `${beginning}%`)

const lookAt = async (db: Db, query: TurnQuery, position: number | undefined) => {
  const { order } = query
  const [direction, behind] = order === "asc" ? [sql`asc`, sql`>`] : [sql`desc`, sql`<`]
  const from: RawBuilder<unknown> = position === undefined ? sql`true` : sql`f.pos ${behind} ${position}::int`
  const { rows } = await sql<EventRow>`select f.pos, f.seq, f.turn, left(f.event, 64) as head,
      case when f.event like any (${callBeginnings}::text[]) then strpos(f.detail, '"response":') > 0 else false end as
        opens,
      (extract(epoch from f.at) * 1000)::float8 as at
    from ${ofThread(query)} and f.turn is not null and f.seq is not null and ${from}
    order by f.pos ${direction} limit ${limits.turnEventsLookedAt}`.execute(db)
  return rows
}

/** T2: whole turns, as many as are asked for, and where they end if there are more. */
const wholeTurns = async (db: Db, query: TurnQuery) => {
  const rows: Array<EventRow> = []
  for (;;) {
    const more = await lookAt(db, query, rows.at(-1)?.pos ?? query.position)
    rows.push(...more)
    const stretches = stretchesOf(rows)
    const isAll = more.length < limits.turnEventsLookedAt
    // What was looked at last may be cut.
    const whole = isAll ? stretches : stretches.slice(0, -1)
    if (whole.length === 0 && !isAll) continue
    const page = whole.slice(0, query.limit)
    const last = page.at(-1)
    const isLast = isAll && page.length === whole.length
    const edge = query.order === "asc" ? last?.last.pos : last?.first.pos
    return { page, position: isLast ? undefined : edge }
  }
}

interface TurnFact {
  readonly pos: number
  readonly principal: Principal | null
  readonly mode: SubmitMode | null
  readonly usage: ModelUsage | null
  readonly code: string | null
}

/** T1: what the first and last events of turns say. */
const tellOf = async (db: Db, query: TurnQuery, page: ReadonlyArray<Stretch>) => {
  const places = page.flatMap(({ first, last }) => [first.pos, last.pos])
  const { rows } = await sql<TurnFact>`select pos, event -> 'principal' as principal, event ->> 'submitMode' as mode,
      event -> 'usage' as usage, event ->> 'failureCode' as code
    from (select f.pos, readable(f.event) as event from ${ofThread(query)} and f.pos = any (${places}::int[])
      offset 0) e`.execute(db)
  return new Map(rows.map((row) => [row.pos, row]))
}

const readPrincipal = Schema.decodeUnknownSync(Principal)
const readMode = Schema.decodeUnknownSync(SubmitMode)

const turnOf = (
  { counts, first, last, responses, turn }: Stretch,
  facts: ReadonlyMap<number, TurnFact>,
  running: { readonly turnId: string; readonly usage: ModelUsage } | undefined
): ThreadTurn => {
  const turnId = fromUuid("turn", turn)
  const [opened, closed] = [facts.get(first.pos), facts.get(last.pos)]
  const [end] = [...counts.keys()].filter(isEnd)
  const used = end === undefined ? (running?.turnId === turnId ? running.usage : undefined) : closed?.usage
  return {
    turnId,
    firstSeq: first.seq,
    lastSeq: last.seq,
    startedAt: toTimestamp(first.at),
    ...(end === undefined ? {} : { endedAt: toTimestamp(last.at), outcome: turnOutcomes[end] }),
    ...(end === "turn_failed" && typeof closed?.code === "string" ? { failureCode: closed.code } : {}),
    principal: readPrincipal(opened?.principal),
    submitMode: readMode(opened?.mode),
    responses,
    toolCalls: counts.get("tool_intent") ?? 0,
    waits: counts.get("wait_created") ?? 0,
    usage: used ?? noUsage
  }
}

/** Undefined where there is no such thread. */
export const listTurns = (database: Database["Service"], query: TurnQuery) =>
  database.run("list turns", async (db): Promise<TurnRows | undefined> => {
    const head = await db
      .selectFrom("heads")
      .select("carry")
      .where("workspace", "=", toUuid(query.workspace))
      .where("id", "=", toUuid(query.threadId))
      .where("kind", "=", "thread")
      .executeTakeFirst()
    if (head === undefined) return undefined
    const { page, position } = await wholeTurns(db, query)
    if (page.length === 0) return { turns: [], position: undefined }
    const facts = await tellOf(db, query, page)
    const { turn } = readCarry(long(head.carry))
    return { turns: page.map((stretch) => turnOf(stretch, facts, turn)), position }
  })
