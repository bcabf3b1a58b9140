/**
 * One PostgreSQL 18 for the whole test run, with fsync off, or the one that TROUPE_TEST_DATABASE_URL names.
 *
 * It hangs on a pipe of this process: however the run ends, kill -9 included, it stops and its folder goes.
 */
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { chown, mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import type { TestProject } from "vitest/node"
import { account } from "../../src/postgres/account.ts"
import { locate, reachable, sharedHome } from "../../src/postgres/binaries.ts"
import { freePort, initialise, untilReady, serverFlags, spawnOptions } from "../../src/postgres/cluster.ts"
import { migrateTemplate } from "./template.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /**
     * Superuser's URL of the run's PostgreSQL, database `postgres`. Use freshDatabase() of ./database.ts for tables.
     */
    readonly databaseUrl: string
    /** Migrated database that fresh ones are copied from. */
    readonly templateDatabase: string
  }
}

const settings = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "300",
  shared_buffers: "64MB",
  autovacuum_naptime: "10min",
  max_wal_size: "4GB",
  file_copy_method: "clone",
  checkpoint_timeout: "1h"
}

/** Ends with its standard input, and takes the folder along. */
const keeper = `"$@" & server=$!; cat > /dev/null; kill -QUIT $server; wait $server; rm -rf "$folder"`

const startServer = async () => {
  const owner = await account()
  const binaries = await locate(owner)
  const base = (await reachable(tmpdir(), owner)) ? tmpdir() : sharedHome
  await mkdir(base, { recursive: true })
  const home = await mkdtemp(join(base, "troupe-test-"))
  if (owner) await chown(home, owner.uid, owner.gid)
  const cluster = { binaries, account: owner, folder: join(home, "data") }
  const password = randomBytes(12).toString("hex")
  await initialise(cluster, password, false)
  const port = await freePort()
  const options = spawnOptions(owner)
  const child = spawn(
    "sh",
    ["-c", keeper, "sh", join(binaries.folder, "bin", "postgres"), ...serverFlags(cluster, port, settings)],
    {
      ...options,
      env: { ...options.env, folder: home },
      stdio: ["pipe", "ignore", "pipe"],
      detached: true
    }
  )
  let log = ""
  let ended: string | undefined
  child.stderr.on("data", (b: Buffer) => (log = (log + b.toString()).slice(-10_000)))
  child.once("error", (e) => (ended = e.message))
  const gone = new Promise<void>((resolve) =>
    child.once("exit", (code) => {
      ended ??= String(code)
      resolve()
    })
  )
  const stop = async () => {
    child.stdin.end()
    await gone
    await rm(home, { recursive: true, force: true })
  }
  await untilReady(
    cluster.folder,
    () => ended ?? (log.includes("FATAL") ? "fatal" : undefined),
    async () => log
  ).catch(async (cause: unknown) => {
    await stop()
    throw cause
  })
  return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, stop }
}

export default async (project: TestProject) => {
  const given = process.env.TROUPE_TEST_DATABASE_URL
  const server = given === undefined ? await startServer() : { url: given, stop: async () => {} }
  const template = `troupe_template_${randomBytes(4).toString("hex")}`
  const admin = async (sql: string) => {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    return client.query<{ name: string }>(sql).finally(() => client.end())
  }
  try {
    await admin(`create database ${template}`)
    const url = new URL(server.url)
    url.pathname = `/${template}`
    await migrateTemplate(url.href)
  } catch (cause) {
    await server.stop()
    throw cause
  }
  project.provide("databaseUrl", server.url)
  project.provide("templateDatabase", template)
  return async () => {
    if (given !== undefined) {
      // Its copies have names that begin with its own; those of a worker's server are still there.
      const { rows } = await admin(`select datname as name from pg_database where starts_with(datname, '${template}')`)
      for (const { name } of rows) await admin(`drop database if exists ${name} with (force)`)
    }
    await server.stop()
  }
}
