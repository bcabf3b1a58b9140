/** What PostgreSQL counted between two moments. */
import pg from "pg"

export interface Counters {
  readonly statements: number
  readonly commits: number
  readonly walBytes: number
}

export interface StatementCost {
  readonly calls: number
  readonly ms: number
  /** The longest call, milliseconds. */
  readonly longest: number
  readonly rows: number
  readonly walRecords: number
  readonly walBytes: number
  /** Pages logged whole, because they were the first change after a checkpoint. */
  readonly walPages: number
  readonly text: string
}

/** A connection to the database `postgres`, so that measuring does not count itself. */
export const openMeter = async (url: string) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query("create extension if not exists pg_stat_statements")
  await client.query("create extension if not exists pg_walinspect")
  return {
    createDatabase: async (name: string) => {
      await client.query(`drop database if exists ${name} with (force)`)
      await client.query(`create database ${name}`)
      const named = new URL(url)
      named.pathname = `/${name}`
      return named.href
    },
    read: async (database: string): Promise<Counters> => {
      const {
        rows: [row]
      } = await client.query<{ statements: string; commits: string; wal: string }>(
        `
        select (select coalesce(sum(calls), 0) from pg_stat_statements where dbid = d.oid and toplevel) as statements,
               pg_stat_get_db_xact_commit(d.oid) as commits,
               pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as wal
          from pg_database d where d.datname = $1`,
        [database]
      )
      if (row === undefined) throw new Error(`no database ${database}`)
      return { statements: Number(row.statements), commits: Number(row.commits), walBytes: Number(row.wal) }
    },
    /**
     * Bytes of the write-ahead log between two readings that are pages logged whole: their first change after a
     * checkpoint.
     */
    wholePages: async (before: Counters, after: Counters) => {
      const {
        rows: [row]
      } = await client.query<{ bytes: string }>(
        `select coalesce(sum(fpi_size), 0) as bytes from pg_get_wal_stats('0/0'::pg_lsn + $1::numeric,
          '0/0'::pg_lsn + $2::numeric)`,
        [before.walBytes, after.walBytes]
      )
      return Number(row?.bytes)
    },
    /** Full pages after a checkpoint would be counted to whoever comes next. */
    checkpoint: async () => {
      await client.query("checkpoint")
    },
    forget: async () => {
      await client.query("select pg_stat_statements_reset()")
    },
    costs: async (database: string): Promise<ReadonlyArray<StatementCost>> => {
      const { rows } = await client.query<{
        calls: string
        ms: number
        longest: number
        rows: string
        records: string
        bytes: string
        pages: string
        text: string
      }>(
        `
        select calls, total_exec_time + total_plan_time as ms, max_exec_time as longest, rows, wal_records as records, wal_bytes as bytes, wal_fpi as pages, regexp_replace(query, '\\s+', ' ', 'g') as text
          from pg_stat_statements s join pg_database d on d.oid = s.dbid
         where d.datname = $1 and toplevel order by 2 desc limit 12`,
        [database]
      )
      return rows.map(({ calls, ms, longest, rows, records, bytes, pages, text }) => ({
        calls: Number(calls),
        ms,
        longest,
        rows: Number(rows),
        walRecords: Number(records),
        walBytes: Number(bytes),
        walPages: Number(pages),
        text
      }))
    },
    close: () => client.end()
  }
}

export type Meter = Awaited<ReturnType<typeof openMeter>>
