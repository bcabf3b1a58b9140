/**
 * Usage of models as rows: one a workspace, day, agent, model and node.
 *
 * U3. A node adds to its own rows only, so that nodes do not wait for each other; they are summed when they are read.
 * U4. Rows of days that are over are folded into one of no node. A node that adds to such a day late makes a row anew.
 */
import { Effect } from "effect"
import { type RawBuilder, sql } from "kysely"
import { Database } from "../database/Database.ts"
import type { Db } from "../database/handle.ts"
import { floats, ints, texts, uuids } from "../database/parameters.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { dollars } from "../domain/usage.ts"
import type { UsageGroup, UsageSum } from "./usage.ts"

export interface UsageCount {
  readonly workspace: string
  /** Days since 1970. */
  readonly day: number
  readonly agentId: string
  readonly model: string
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly reasoningTokens: number
  /** USD, as far as prices are known. */
  readonly cost: number
  /** Calls that used tokens of an unknown price. */
  readonly unpriced: number
}

const amounts = [
  "calls",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
  "cost",
  "unpriced"
] as const
const names = amounts.join(", ")
const grown = amounts.map((name) => `${name} = usage_by_day.${name} + excluded.${name}`).join(", ")
const sums = amounts.map((name) => `sum(${name})`).join(", ")
const epoch = "date '1970-01-01'"

const adding = `insert into usage_by_day (workspace, day, agent, model, node, ${names})
  select w, ${epoch} + d, a, m, $13::uuid, ${amounts.map((_, i) => `n${i}`).join(", ")}
  from unnest($1::uuid[], $2::int[], $3::uuid[], $4::text[], ${amounts.map((_, i) => `$${i + 5}::float8[]`).join(", ")})
    as given (w, d, a, m, ${amounts.map((_, i) => `n${i}`).join(", ")})
  on conflict (workspace, day, agent, model, node) do update set ${grown}`

/** One statement. Each workspace, day, agent and model stands once among the counts. */
export const addUsageCounts = (database: Database["Service"], node: string, counts: ReadonlyArray<UsageCount>) =>
  Effect.asVoid(
    database.read({
      name: "usage add",
      text: adding,
      values: [
        uuids(counts, (c) => c.workspace),
        ints(counts, (c) => c.day),
        uuids(counts, (c) => c.agentId),
        texts(counts, (c) => c.model),
        floats(counts, (c) => c.calls),
        floats(counts, (c) => c.inputTokens),
        floats(counts, (c) => c.outputTokens),
        floats(counts, (c) => c.cacheReadTokens),
        floats(counts, (c) => c.cacheWriteTokens),
        floats(counts, (c) => c.reasoningTokens),
        floats(counts, (c) => c.cost),
        floats(counts, (c) => c.unpriced),
        toUuid(node)
      ]
    })
  )

export interface UsageAsked {
  /** Days since 1970, both included. */
  readonly from: number
  readonly to: number
  readonly agentId?: string | undefined
  readonly model?: string | undefined
  readonly groups: ReadonlyArray<UsageGroup>
}

/** The place of a sum in its list: what it is not grouped by is empty. */
export interface UsagePosition {
  readonly day: string
  /** A UUID. */
  readonly agent: string
  readonly model: string
}

interface SumRow extends UsagePosition {
  readonly calls: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_read_tokens: number
  readonly cache_write_tokens: number
  readonly reasoning_tokens: number
  readonly cost: number
  readonly unpriced: number
}

const sumOf = (row: SumRow): UsageSum => ({
  ...(row.day === "" ? {} : { day: row.day }),
  ...(row.agent === "" ? {} : { agentId: fromUuid("agent", row.agent) }),
  ...(row.model === "" ? {} : { model: row.model }),
  calls: row.calls,
  inputTokens: row.input_tokens,
  outputTokens: row.output_tokens,
  cacheReadTokens: row.cache_read_tokens,
  cacheWriteTokens: row.cache_write_tokens,
  reasoningTokens: row.reasoning_tokens,
  ...(row.unpriced > 0 ? {} : { estimatedCost: dollars(row.cost) })
})

/** At most so many sums behind a position: newest day first, then by agent and model. */
export const listUsage = async (
  db: Db,
  workspace: string,
  { agentId, from, groups, model, to }: UsageAsked,
  { after, limit }: { readonly after: UsagePosition | undefined; readonly limit: number }
) => {
  const by = (group: UsageGroup, column: RawBuilder<string>) =>
    groups.includes(group) ? column : sql<string>`''::text`
  const behind =
    after === undefined
      ? sql`true`
      : sql`(day < ${after.day} or (day = ${after.day} and (agent, model) > (${after.agent}, ${after.model})))`
  const { rows } = await sql<SumRow>`select * from (
      select ${by("day", sql`to_char(day, 'YYYY-MM-DD')`)} collate "C" as day,
        ${by("agent", sql`agent::text`)} collate "C" as agent, ${by("model", sql`model`)} collate "C" as model,
        ${sql.raw(amounts.map((name) => `sum(${name})::float8 as ${name}`).join(", "))}
      from usage_by_day
      where workspace = ${toUuid(workspace)} and usage_by_day.day between ${sql.raw(epoch)} + ${from}::int and
        ${sql.raw(epoch)} + ${to}::int
        ${agentId === undefined ? sql`` : sql`and usage_by_day.agent = ${toUuid(agentId)}`}
        ${model === undefined ? sql`` : sql`and usage_by_day.model = ${model}`}
      group by 1, 2, 3) sums
    where ${behind} order by day desc, agent, model limit ${limit}`.execute(db)
  return rows.map((row) => ({
    sum: sumOf(row),
    position: { day: row.day, agent: row.agent, model: row.model } satisfies UsagePosition
  }))
}

/** USD that are set aside for an agent's calls of models. */
export const reservedOf = async (db: Db, workspace: string, agentId: string) => {
  const { rows } = await sql<{ readonly reserved: number }>`select coalesce(sum(amount), 0)::float8 as reserved
    from reservations where workspace = ${toUuid(workspace)} and subject = ${toUuid(agentId)}`.execute(db)
  return dollars(rows[0]?.reserved ?? 0)
}

/** Rows a statement. */
const portion = 2_000
/** Of no node: what several have counted is one row then. */
const nobody = "00000000-0000-0000-0000-000000000000"

/** U4: one round; how many rows went. */
export const foldUsage = Effect.fnUntraced(function* () {
  const database = yield* Database
  let gone = 0
  for (;;) {
    const {
      rows: [round]
    } = yield* database.run("fold usage", (db) =>
      sql<{ readonly gone: number }>`with old as (
        delete from usage_by_day where ctid = any (array(
          select ctid from usage_by_day where node <> ${sql.lit(nobody)} and day < (now() at time zone 'UTC')::date - 1
            limit ${portion} for update skip locked))
        returning *),
      folded as (insert into usage_by_day (workspace, day, agent, model, node, ${sql.raw(names)})
        select workspace, day, agent, model, ${nobody}::uuid, ${sql.raw(sums)} from old
          group by workspace, day, agent, model order by workspace, day, agent, model
        on conflict (workspace, day, agent, model, node) do update set ${sql.raw(grown)})
      select count(*)::int as gone from old`.execute(db)
    )
    gone += round?.gone ?? 0
    if ((round?.gone ?? 0) < portion) return gone
  }
})
