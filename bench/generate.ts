/**
 * Threads and events that nobody had to wait for: copies of real rows, made by SQL.
 *
 * Columns are read from the catalogue, so that a new one needs no change here.
 */
import pg from "pg"
import { body, toUuid } from "../src/domain/ids.ts"
import { freshId } from "../src/seed.ts"

type Changes = Readonly<Record<string, string>>

const columnsOf = async (client: pg.Client, table: string) => {
  const { rows } = await client.query<{ name: string }>(
    "select column_name as name from information_schema.columns where table_schema = 'public' and table_name = " +
      "$1 and is_generated = 'NEVER' order by ordinal_position",
    [table]
  )
  if (rows.length === 0) throw new Error(`there is no table ${table}`)
  return rows.map((row) => row.name)
}

/** Inserts copies of the rows that `where` picks, one for each row of `source`, with some columns changed. */
export const copy = async (client: pg.Client, table: string, where: string, source: string, changes: Changes) => {
  const columns = await columnsOf(client, table)
  const unknown = Object.keys(changes).filter((name) => !columns.includes(name))
  if (unknown.length > 0) throw new Error(`${table} has no column ${unknown.join(", ")}`)
  await client.query(
    `insert into ${table} (${columns.join(", ")}) select
      ${columns.map((name) => changes[name] ?? `t.${name}`).join(", ")} from ${table} t, ${source} g where
      ${where}`
  )
}

export const connected = async <A>(url: string, work: (client: pg.Client) => Promise<A>) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Makes the thread's log so long by repeating what it holds; the thread must be at rest and in nobody's memory. */
export const lengthen = (url: string, thread: string, events: number) =>
  connected(url, async (client) => {
    const {
      rows: [head]
    } = await client.query<{ pos: number; seq: number }>("select pos, seq from heads where id = $1", [thread])
    if (head === undefined) throw new Error("no such thread")
    const rounds = Math.ceil((events - head.seq) / head.pos)
    if (rounds <= 0) return
    // One turn id for each copy of the turn; nothing of them is looked up by what may happen only once.
    await client.query(
      "create temporary table rounds as select n, uuidv7() as turn from generate_series(1, $1::int) as n",
      [rounds]
    )
    await copy(client, "facts", `t.actor = '${thread}' and t.pos <= ${head.pos}`, "rounds", {
      pos: `t.pos + g.n * ${head.pos}`,
      seq: `t.seq + g.n * ${head.seq}`,
      turn: "case when t.turn is null then null else g.turn end",
      once: "null"
    })
    await client.query(
      `update heads set pos = pos * $2::int, seq = seq * $2::int, owner = null, since = case when since is null
        then null else $3::int end where id = $1`,
      [thread, rounds + 1, head.pos * (rounds + 1) + 1]
    )
    await client.query("drop table rounds")
    await client.query("vacuum analyze facts")
  })

/** Adds resting threads, each with the events of the one that is copied. */
export const multiply = (url: string, thread: string, threads: number) =>
  connected(url, async (client) => {
    await client.query("set synchronous_commit = off")
    await client.query(
      `create temporary table made as select n, uuidv7(-make_interval(secs => $1::int - n)) as id from
        generate_series(1, $1::int) as n`,
      [threads]
    )
    await client.query("analyze made")
    await copy(client, "heads", `t.id = '${thread}'`, "made", {
      id: "g.id",
      owner: "null",
      created_at: "t.created_at - make_interval(secs => g.n)",
      updated_at: "t.updated_at - make_interval(secs => g.n)",
      touched: "t.touched - g.n / 60"
    })
    // What may happen only once happens to the one that is copied.
    await copy(client, "facts", `t.actor = '${thread}'`, "made", { actor: "g.id", once: "null" })
    await client.query("drop table made")
    for (const table of ["heads", "facts"]) await client.query(`vacuum analyze ${table}`)
    await client.query("checkpoint")
  })

/**
 * What runs and what is ahead, of living nodes: heads with their notes on the agenda, a row for each, which is the
 * worst. Nobody performs it: the nodes are rows.
 */
export const generateWork = (
  url: string,
  nodes: ReadonlyArray<string>,
  { ahead, running }: { readonly ahead: number; readonly running: number }
) =>
  connected(url, async (client) => {
    await client.query("set synchronous_commit = off")
    await client.query(
      `insert into nodes (incarnation, name, deadline, status) select id, 'n' || i, now() + interval '1 day',
        '{"notes":true}' from unnest($1::uuid[]) with ordinality as n(id, i)`,
      [nodes]
    )
    await client.query(
      `create temporary table made as select uuidv7() as id, ($1::uuid[])[1 + n % cardinality($1::uuid[])] as owner,
      case when n <= $2::int then now() + interval '1 hour' + make_interval(secs => n) else now() - make_interval(secs => (n % 600)) end as at, n <= $2::int as ahead
      from generate_series(1, $2::int + $3::int) as n`,
      [nodes, ahead, running]
    )
    await client.query(`insert into heads (workspace, id, created_at, kind, attributes, owner, epoch, touched, pos, seq, rev, since, updated_at, runnable_at, status, carry)
      select uuidv7(), id, now(), 'thread', '{}', owner, 1, 0, 1, 1, 1, 1, now(), at, 'running', '{}' from made`)
    await client.query("insert into agenda (owner, at, actors) select owner, at, array[id] from made where not ahead")
    await client.query("insert into agenda_later (owner, at, actors) select owner, at, array[id] from made where ahead")
    await client.query("drop table made")
    for (const table of ["heads", "agenda", "agenda_later", "nodes"]) await client.query(`vacuum analyze ${table}`)
    await client.query("checkpoint")
  })

/**
 * Threads in the middle of the turn of the one that is copied, each with a turn of its own, all of one owner; what
 * their messages tell the model to wait is left out.
 */
export const copies = (
  url: string,
  original: { readonly thread: string; readonly turn: string; readonly wait: string; readonly owner: string },
  threads: number
) =>
  connected(url, async (client) => {
    await client.query("set synchronous_commit = off")
    const made = Array.from({ length: threads }, () => ({ id: toUuid(freshId("thread")), turn: freshId("turn") }))
    await client.query(
      "create temporary table made as select * from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality " +
        "as m(id, turn, body, n)",
      [made.map(({ id }) => id), made.map(({ turn }) => toUuid(turn)), made.map(({ turn }) => body(turn))]
    )
    const own = (column: string) => `replace(t.${column}, '${original.turn}', g.body)`
    await copy(client, "heads", `t.id = '${original.thread}'`, "made", {
      id: "g.id",
      owner: `'${original.owner}'::uuid`,
      carry: own("carry")
    })
    await copy(client, "facts", `t.actor = '${original.thread}'`, "made", {
      actor: "g.id",
      turn: "case when t.turn is null then null else g.turn end",
      once: "null",
      event: `replace(${own("event")}, '${original.wait}', '')`,
      detail: own("detail")
    })
    await client.query(
      `insert into agenda (owner, at, actors) select $1::uuid, now(), array_agg(id) from made group by n / 10`,
      [original.owner]
    )
    await client.query("drop table made")
    for (const table of ["heads", "facts", "agenda"]) await client.query(`vacuum analyze ${table}`)
    await client.query("checkpoint")
  })
