/** What a fault cost, from what PostgreSQL and the clients saw. Times are milliseconds. */
import { fromUuid, toUuid } from "../../src/domain/ids.ts"
import { readEvent } from "../../src/journal/storedFact.ts"
import type { Audit, HeadChange } from "./audit.ts"
import type { Cluster } from "./Cluster.ts"
import type { History, ThreadHistory } from "./History.ts"
import type { Node } from "./Node.ts"

/** The database's time, which is this machine's. */
export const databaseNow = async (cluster: Cluster): Promise<number> => {
  const {
    rows: [row]
  } = await cluster.pool.query<{ now: number }>("select (extract(epoch from clock_timestamp()) * 1000)::float8 as now")
  if (row === undefined) throw new Error("no row")
  return row.now
}

/** A monotonic moment of this process on the wall clock. */
export const wall = (monotonic: number) => performance.timeOrigin + monotonic

export const quantile = (values: ReadonlyArray<number>, q: number): number | undefined => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]
}

export interface Unfinished {
  readonly id: string
  readonly pos: number
}

/** Threads with a running turn that the node owns, but for those whose next event is not due soon. */
export const unfinishedOf = async (
  cluster: Cluster,
  node: Node,
  history: History
): Promise<ReadonlyArray<Unfinished>> => {
  const { rows } = await cluster.pool.query<Unfinished>(
    `select h.id, h.pos from heads h join audit.nodes a on a.incarnation = h.owner and a.what = 'join'
      where a.writer = $1 and h.kind = 'thread' and h.status = 'running'`,
    [node.name]
  )
  return rows.filter(({ id }) => history.threads.get(fromUuid("thread", id))?.sleeper === false)
}

const advances = (audit: Audit) => {
  const of = new Map<string, Array<HeadChange>>()
  const pos = new Map<string, number>()
  for (const change of audit.heads) {
    if (change.rev_after === change.rev_before || pos.get(change.actor) === change.pos_after) continue
    pos.set(change.actor, change.pos_after)
    const list = of.get(change.actor)
    if (list === undefined) of.set(change.actor, [change])
    else list.push(change)
  }
  return of
}

/** From `since` (database time) to the next event that another node wrote, for each of the threads. */
export const takeoverGaps = (
  audit: Audit,
  threads: ReadonlyArray<Unfinished>,
  from: Node,
  since: number
): ReadonlyArray<number> => {
  const of = advances(audit)
  return threads.flatMap(({ id, pos }) => {
    const next = of.get(id)?.find((change) => change.pos_after > pos && change.at >= since)
    return next === undefined || next.writer === from.name ? [] : [next.at - since]
  })
}

export interface Silence {
  readonly ms: number
  /** What ended it. */
  readonly end: HeadChange
}

/**
 * What happened during a silence, a line each with its milliseconds: to the actor's head, and to the list of nodes. The
 * last line says what ended it.
 */
export const storyOf = async (
  { pool }: Pick<Cluster, "pool">,
  { heads, nameOf }: Audit,
  { end, ms }: Silence
): Promise<ReadonlyArray<string>> => {
  const from = end.at - ms
  const name = (owner: string | null) => (owner === null ? "nobody" : (nameOf.get(owner) ?? owner))
  const within = <Row extends { readonly at: number }>(rows: ReadonlyArray<Row>) =>
    rows.filter(({ at }) => at >= from && at <= end.at)
  const nodes = await pool.query<{ at: number; writer: string; what: string }>(
    "select writer, what, (extract(epoch from at) * 1000)::float8 as at from audit.nodes order by n"
  )
  const facts = await pool.query<{ pos: number; event: string }>("select pos, event from facts where actor = $1", [
    end.actor
  ])
  const typesUpTo = (last: number, after: number) =>
    facts.rows.flatMap(({ event, pos }) => (pos > after && pos <= last ? [readEvent(event).type] : [])).join(" ")
  const changes = within(heads.filter(({ actor }) => actor === end.actor))
  return [
    ...within(nodes.rows).map(({ at, what, writer }) => ({ at, text: `${writer} ${what}s` })),
    ...changes.map(({ at, epoch_after, owner_after, owner_before, pos_after, writer }, i) => ({
      at,
      text:
        `${writer}: ${name(owner_before)} -> ${name(owner_after)}, epoch ${epoch_after}, ` +
        typesUpTo(pos_after, changes[i - 1]?.pos_after ?? pos_after - 1)
    }))
  ]
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, text }) => `${Math.round(at - from)} ms  ${text}`)
}

/** Whether its silence is measured: its turns run all the time, with an event every fifth of a second. */
export const isMeasured = ({ prober, sleeper }: Pick<ThreadHistory, "prober" | "sleeper">) => prober && !sleeper

/**
 * The longest time without an event, of each prober's thread whose turns were running, within the window (database
 * time).
 */
export const longestGaps = (audit: Audit, history: History, from: number, to: number): ReadonlyArray<Silence> => {
  const of = advances(audit)
  return [...history.threads.values()].filter(isMeasured).flatMap(({ threadId }) => {
    const all = of.get(toUuid(threadId)) ?? []
    // What a running turn writes follows something of the same turn.
    const gaps = all.flatMap((change, i) => {
      const before = all[i - 1]
      return before === undefined || change.since_before === null || change.at < from || before.at > to
        ? []
        : [{ ms: change.at - before.at, end: change }]
    })
    return gaps.toSorted((a, b) => b.ms - a.ms).slice(0, 1)
  })
}

/** Takeovers from lapsed leases, by nodes. */
export const takeoversFrom = (audit: Audit, node: Node) =>
  audit.heads.filter(
    ({ lapsed, owner_before }) =>
      lapsed === true && owner_before !== null && audit.nameOf.get(owner_before) === node.name
  ).length

/** From a submit to its admission, where nothing ran before it: of submits within the window (monotonic). */
export const pickups = (
  history: History,
  admittedAt: ReadonlyMap<string, { readonly at: number; readonly freeSince: number }>,
  from: number,
  to: number
): ReadonlyArray<number> =>
  [...history.threads.values()].flatMap(({ sent }) =>
    sent.flatMap(({ began, inputId, mode, outcome }) => {
      const admitted = admittedAt.get(inputId ?? "")
      if (mode !== "queue" || outcome !== "acknowledged" || began < from || began > to || admitted === undefined)
        return []
      return [Math.max(0, admitted.at - Math.max(wall(began), admitted.freeSince))]
    })
  )

/** Requests that began within the window and needed more than one retry. */
export const strained = (history: History, from: number, to: number) =>
  history.requests.filter(({ began, tries }) => began >= from && began <= to && tries > 2)
