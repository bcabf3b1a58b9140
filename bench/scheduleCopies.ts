/** Schedules that nobody had to wait for: copies of a real one, made by SQL; and what has become of them. */
import type pg from "pg"
import { fromUuid, toUuid } from "../src/domain/ids.ts"
import { jitterOf } from "../src/schedules/instants.ts"
import { freshId } from "../src/seed.ts"
import { at, connect, pause, type Target, text } from "./adapters/Adapter.ts"
import { connected, copy } from "./generate.ts"
import { message } from "./turns.ts"

export interface Original {
  readonly id: string
  /** The instant that it waits for. */
  readonly instant: number
  readonly jitterSeconds: number
}

/** A daily trigger whose next instant is that minute. */
export const dailyAt = (minute: Date) => ({
  type: "cron",
  expression: `${minute.getUTCMinutes()} ${minute.getUTCHours()} * * *`,
  timezone: "UTC"
})

/** The first whole minute that is at least so far ahead. */
export const minuteAfter = (ms: number) => new Date(Math.ceil((Date.now() + ms) / 60_000) * 60_000)

const only = <Row>(rows: ReadonlyArray<Row>): Row => {
  const [row] = rows
  if (row === undefined) throw new Error("there is no row")
  return row
}

/** A schedule that its actor knows of: what it waits for stands in its head. */
export const makeOriginal = async (
  url: string,
  target: Target,
  trigger: object,
  jitterSeconds = 0
): Promise<Original> => {
  const http = connect(target)
  const made = await http.post(`/v1/agents/${target.agents[0]}/schedules`, {
    name: "Report",
    trigger,
    jitterSeconds,
    target: { mode: "spawn" },
    message
  })
  await http.close()
  const id = text(made, "schedule", "id")
  return connected(url, async (client) => {
    for (const until = Date.now() + 30_000; Date.now() < until; await pause(20)) {
      const { rows } = await client.query<{ carry: string }>("select carry from heads where id = $1", [toUuid(id)])
      const instant = at(JSON.parse(only(rows).carry), "next", "instant")
      if (typeof instant === "number") return { id, instant, jitterSeconds }
    }
    throw new Error("the schedule's actor was not told")
  })
}

/** The actors of a row of the agenda, as when so many are given back at once. */
const together = 100

/** So many of them, of all those agents in turns, each with its own jitter. Nobody has them: they lie on the agenda. */
export const copySchedules = (
  url: string,
  { id: original, instant, jitterSeconds }: Original,
  agents: ReadonlyArray<string>,
  count: number
) =>
  connected(url, async (client) => {
    const made = Array.from({ length: count }, (_, n) => {
      const id = freshId("schedule")
      return {
        id: toUuid(id),
        agent: toUuid(agents[n % agents.length] ?? ""),
        of: instant + jitterOf(id, instant, jitterSeconds * 1_000)
      }
    })
    made.sort((a, b) => a.of - b.of)
    const moment = instant + jitterOf(original, instant, jitterSeconds * 1_000)
    await client.query("set synchronous_commit = off")
    await client.query(
      `create temporary table made as select id, agent, moment, to_timestamp(moment / 1000) as at, n
        from unnest($1::uuid[], $2::uuid[], $3::float8[]) with ordinality as m(id, agent, moment, n)`,
      [made.map(({ id }) => id), made.map(({ agent }) => agent), made.map(({ of }) => of)]
    )
    const from = toUuid(original)
    await copy(client, "schedules", `t.id = '${from}'`, "made", { id: "g.id", agent: "g.agent" })
    await copy(client, "heads", `t.id = '${from}'`, "made", {
      id: "g.id",
      parent: "g.agent",
      owner: "null",
      runnable_at: "g.at",
      carry: `replace(t.carry, '"moment":${moment}', '"moment":' || g.moment::bigint)`
    })
    await copy(client, "facts", `t.actor = '${from}'`, "made", { actor: "g.id" })
    await client.query(
      `insert into agenda_later (at, actors) select max(at), array_agg(id) from made group by (n - 1) / ${together}`
    )
    await client.query("drop table made")
    for (const table of ["schedules", "heads", "facts", "agenda_later"]) await client.query(`vacuum analyze ${table}`)
    await client.query("checkpoint")
  })

/** Threads that were made since then and have nothing to do. */
const atRest = async (client: pg.Client, since: number) =>
  Number(
    only(
      (
        await client.query<{ n: string }>(
          `select count(*) as n from heads where kind = 'thread' and runnable_at is null
            and created_at >= to_timestamp($1::float8 / 1000)`,
          [since]
        )
      ).rows
    ).n
  )

/** Waits until so many threads that were made since then have nothing to do; how many they are in the end. */
export const restingThreads = (url: string, since: number, count: number, patienceMs: number) =>
  connected(url, async (client) => {
    const until = Date.now() + patienceMs
    let found = await atRest(client, since)
    for (; found < count && Date.now() < until; found = await atRest(client, since)) await pause(1_000)
    return found
  })

export interface Fired {
  readonly schedule: string
  /** When its message was accepted; and when it was to be, its jitter included. Milliseconds. */
  readonly at: number
  readonly moment: number
  /** When its turn was completed; absent where it was not. */
  readonly endedAt: number | undefined
}

/** What the journal tells of the runs whose instants lie between two moments, both included. */
export const firedBetween = (url: string, from: number, to: number, jitterSeconds = 0) =>
  connected(url, async (client): Promise<ReadonlyArray<Fired>> => {
    const runs = await client.query<{ actor: string; at: number; instant: string; turn: string | null }>(
      `select f.actor, (extract(epoch from f.at) * 1000)::float8 as at, readable(f.event) ->> 'scheduledAt' as instant,
          readable(f.event) ->> 'turnId' as turn
        from facts f join heads h on h.id = f.actor where h.kind = 'schedule' and f.seq is not null`
    )
    const turns = await client.query<{ turn: string; at: number }>(
      `select f.turn, (extract(epoch from f.at) * 1000)::float8 as at from facts f join heads h on h.id = f.actor
        where h.kind = 'thread' and f.at >= to_timestamp($1::float8 / 1000)
          and readable(f.event) ->> 'type' = 'turn_completed'`,
      [from]
    )
    const ends = new Map(turns.rows.map(({ at, turn }) => [turn, at]))
    return runs.rows.flatMap(({ actor, at, instant: text, turn }) => {
      const instant = Date.parse(text)
      if (turn === null || instant < from || instant > to) return []
      const schedule = fromUuid("schedule", actor)
      const moment = instant + jitterOf(schedule, instant, jitterSeconds * 1_000)
      return [{ schedule, at, moment, endedAt: ends.get(toUuid(turn)) }]
    })
  })

/** Whether each of so many schedules has fired once, and its turn is completed. */
export const isEachOnce = (fired: ReadonlyArray<Fired>, count: number) =>
  fired.length === count &&
  new Set(fired.map(({ schedule }) => schedule)).size === count &&
  fired.every(({ endedAt }) => endedAt !== undefined)
