/** `reserve_costs` of migration 26 beside the one of migration 24, on random states: TROUPE_TEST_SEED says which. */
import { assert, describe, it } from "@effect/vitest"
import { Kysely, PostgresDialect } from "kysely"
import pg from "pg"
import { up as earlierVersion } from "../../src/database/migrations/024_spend_totals.ts"
import { short } from "../../src/database/shorthand.ts"
import { randomOf } from "../process/Mixed.ts"
import { databaseDuring } from "../setup/database.ts"
import { during } from "../setup/during.ts"

const { url } = await databaseDuring()
const client = await during(new pg.Client({ connectionString: url }).connect(), (connected) => connected.end())

// The earlier function stands in a schema of its own; the tables that it names are the same.
await client.query("create schema earlier")
const before = new URL(url)
before.searchParams.set("options", "-c search_path=earlier,public")
const db = new Kysely<unknown>({
  dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: before.href, max: 1 }) })
})
await earlierVersion(db)
await db.destroy()
await client.query("drop table earlier.spend_totals")

const uuid = (kind: number, n: number) => `00000000-0000-7000-800${kind}-${String(n).padStart(12, "0")}`
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
const workspaces = numbers(2).map((n) => uuid(0, n))
const agents = numbers(4).map((n) => uuid(1, n))
const threads = numbers(6).map((n) => uuid(2, n))
const profile = uuid(3, 0)

const random = (seed: number) => {
  const next = randomOf(seed)
  const below = (n: number) => Math.floor(next() * n)
  const one = <A>(some: ReadonlyArray<A>): A => some[below(some.length)]!
  return { below, one, often: (share: number) => next() < share }
}
type Random = ReturnType<typeof random>

/** Sums of them are exact in whatever order. */
const amounts = [0, 0.125, 0.25, 0.5, 1, 2]
const limits = [0.25, 0.5, 1, 1.5, 3, 1e300]
const oddities = [{}, { description: "C:\\u0000" }, { budget: null }, { budget: "1" }, { budget: [1] }, { budget: {} }]
/** As JSON it is what PostgreSQL stores and refuses to read: the function of migration 24 finds it replaced. */
const unreadable = "\u0000\ud800"

const insert = (table: string, row: Record<string, unknown>) =>
  client.query(
    `insert into ${table} (${Object.keys(row).join(", ")})
      values (${Object.keys(row).map((_, n) => `$${n + 1}`)}) on conflict do nothing`,
    Object.values(row)
  )

const minute = Math.floor(Date.now() / 60_000)
const minutes = [0, -1, -59, -61, -1_430, -1_445, -10_070, -10_085, -20_000].map((ago) => minute + ago)

const addAgent = async ({ often, one }: Random, workspace: string, id: string) => {
  const budget = { limit: one(limits), window: one(["24h", "7d", "total", "year"]) }
  const body = often(0.25)
    ? one(oddities)
    : { name: one([unreadable, "\\u0000"]), budget, metadata: { budget: { limit: 0 } } }
  await insert("agents", {
    workspace,
    id,
    profile,
    body: JSON.stringify(body),
    rev: 1,
    created_at: new Date(),
    updated_at: new Date(),
    archived_at: often(0.2) ? new Date() : null
  })
  for (const at of minutes) {
    const spend = { workspace, subject: id, minute: at, amount: one(amounts) }
    if (often(0.2)) await insert("spend_by_node", { ...spend, node: profile })
    if (often(0.05)) await insert("spend", spend)
  }
  if (often(0.3)) await insert("spend_totals", { workspace, subject: id, until: one(minutes), amount: one(amounts) })
}

const addThread = async ({ often, one }: Random, workspace: string, id: string) => {
  const said = { title: "\u0000 maxCost", metadata: { maxCost: "0" }, createdBy: { type: "api_key", id: "key_x" } }
  const attributes = { ...(often(0.6) ? { maxCost: one(limits) } : {}), ...(often(0.5) ? said : {}) }
  const usage = () => (often(0.5) ? { usage: { inputTokens: 1, estimatedCost: one(amounts) } } : {})
  await insert("heads", {
    workspace,
    id,
    kind: "thread",
    attributes: short(JSON.stringify(attributes)),
    epoch: 1,
    touched: minute,
    pos: 1,
    seq: 1,
    rev: 1,
    created_at: new Date(),
    updated_at: new Date(),
    status: "idle",
    carry: short(JSON.stringify(often(0.5) ? { turn: usage(), ...usage() } : usage()))
  })
  if (often(0.3)) await insert("thread_spend", { workspace, thread: id, amount: one(amounts) })
}

const addReservation = ({ below, often, one }: Random) =>
  insert("reservations", {
    workspace: one(workspaces),
    id: uuid(4, below(24)),
    subject: one(agents),
    threads: threads.filter(() => often(0.3)),
    amount: one(amounts),
    prompt: one(amounts),
    created_at: new Date()
  })

interface Call {
  readonly workspace: string
  readonly id: string
  readonly agent: string
  readonly chain: ReadonlyArray<string>
  readonly amount: number
  readonly prompt: number
  readonly known: number
}

/**
 * Calls of an agent stand together, as they are taken: of calls that share a thread the first in line is asked first.
 * One may come twice.
 */
const makeBatch = ({ below, often, one }: Random): ReadonlyArray<Call> =>
  numbers(1 + below(12))
    .map((n) => ({
      workspace: one(workspaces),
      id: uuid(4, n),
      agent: often(0.1) ? uuid(1, 99) : one(agents),
      chain: [uuid(2, 99), ...threads].filter(() => often(0.4)),
      amount: one(amounts),
      prompt: one(amounts),
      known: one(amounts)
    }))
    .flatMap((call) => (often(0.15) ? [call, call] : [call]))
    .toSorted((a, b) => (a.agent < b.agent ? -1 : a.agent > b.agent ? 1 : 0))

/** What a function answers, and what it leaves behind. */
const outcomeOf = async (name: "reserve_costs" | "earlier.reserve_costs", calls: ReadonlyArray<Call>) => {
  const all = async (text: string, values: ReadonlyArray<unknown> = []) =>
    (await client.query<Record<string, unknown>>(text, [...values])).rows
  await client.query("savepoint state")
  if (name === "earlier.reserve_costs")
    await all("update agents set body = replace(body::text, $1, '\"\"')::json", [JSON.stringify(unreadable)])
  const verdicts = await all(
    `select place, verdict from ${name}($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::float8[], $6::float8[],
      $7::float8[]) order by place`,
    [
      calls.map(({ workspace }) => workspace),
      calls.map(({ id }) => id),
      calls.map(({ agent }) => agent),
      calls.map(({ chain }) => `{${chain.join(",")}}`),
      calls.map(({ amount }) => amount),
      calls.map(({ prompt }) => prompt),
      calls.map(({ known }) => known)
    ]
  )
  const reservations = await all(`select workspace, id, subject, amount, prompt,
    array(select t from unnest(threads) t order by 1) as threads from reservations order by 1, 2`)
  const spent = await all("select * from thread_spend order by 1, 2")
  await client.query("rollback to savepoint state")
  return { verdicts, reservations, spent }
}

const seed = Number(process.env.TROUPE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))

describe("what is set aside for many calls at once", () => {
  it(`is what was set aside for one after the other (TROUPE_TEST_SEED=${seed})`, async () => {
    const seen = new Set<unknown>()
    for (const round of numbers(100)) {
      const dice = random(seed + round)
      await client.query("begin")
      for (const [n, workspace] of workspaces.entries()) {
        await insert("workspaces", { id: workspace, name: workspace })
        await insert("profiles", { workspace, id: profile, version: 1, created_at: new Date() })
        for (const agent of agents) if (dice.often(0.6)) await addAgent(dice, workspace, agent)
        // An actor's id is the only one of its kind.
        for (const thread of threads) if (dice.below(2) === n) await addThread(dice, workspace, thread)
      }
      for (const _ of numbers(dice.below(8))) await addReservation(dice)
      const calls = makeBatch(dice)
      const outcome = await outcomeOf("reserve_costs", calls)
      assert.deepStrictEqual(
        outcome,
        await outcomeOf("earlier.reserve_costs", calls),
        JSON.stringify({ seed, round, calls })
      )
      for (const { verdict } of outcome.verdicts) seen.add(verdict)
      await client.query("rollback")
    }
    assert.sameMembers([...seen], ["reserved", "budget_exceeded", "thread_cost_exceeded"])
  })
})
