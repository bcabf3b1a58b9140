/** A migrated database of its own for a test file, copied from the run's template in tens of milliseconds. */
import { randomBytes } from "node:crypto"
import pg from "pg"
import { inject } from "vitest"
import { during } from "./during.ts"

export interface FreshDatabase {
  readonly url: string
  /** Closes what is still connected and removes it. */
  readonly drop: () => Promise<void>
}

const run = async (sql: string) => {
  const client = new pg.Client({ connectionString: inject("databaseUrl") })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}

/** `migrated: false` gives an empty database, for tests of the migrations themselves. */
export const freshDatabase = async (options: { readonly migrated?: boolean } = {}): Promise<FreshDatabase> => {
  const name = `${inject("templateDatabase")}_${randomBytes(6).toString("hex")}`
  const source = options.migrated === false ? "template0" : inject("templateDatabase")
  // Files are copied as they are: a log of it would be of use to nobody.
  await run(`create database ${name} template ${source} strategy file_copy`)
  const url = new URL(inject("databaseUrl"))
  url.pathname = `/${name}`
  return { url: url.href, drop: () => run(`drop database if exists ${name} with (force)`) }
}

/** The same for the tests of a file. */
export const databaseDuring = () => during(freshDatabase(), ({ drop }) => drop())

/** A connection to a database of its own, for the tests that stand beside the call. */
export const ownConnection = async () => {
  const { url } = await databaseDuring()
  const client = await during(new pg.Client({ connectionString: url }).connect(), (connected) => connected.end())
  return {
    url,
    query: <Row extends pg.QueryResultRow>(text: string, values: ReadonlyArray<unknown>) =>
      client.query<Row>(text, [...values])
  }
}
