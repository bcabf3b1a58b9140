/** A PostgreSQL for the fault suite: fsync on, killed and started again at will. */
import { randomBytes } from "node:crypto"
import { execFileSync } from "node:child_process"
import { chown, mkdtemp, mkdir, open, readFile, rm, statfs, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import { account } from "../../src/postgres/account.ts"
import { type Binaries, locate, reachable, sharedHome } from "../../src/postgres/binaries.ts"
import { type Cluster, freePort, halt, initialise, startPostgres } from "../../src/postgres/cluster.ts"
import { sqlStateOf } from "../../src/database/Database.ts"
import { jumping } from "./faketime.ts"
import { forgetProcess, guardFolder, guardProcess } from "./guarded.ts"

const settings = { max_connections: "200", shared_buffers: "64MB", max_wal_size: "1GB", log_min_messages: "warning" }

/** PostgreSQL empties a log as it starts: each of its lives has one of its own. */
const logOf = (home: string, life: number) => join(home, `log.${life}`)

const clockOf = (home: string) => join(home, "clock")

/** PostgreSQL behind a script that gives it a clock of its own. */
const jumpingBinaries = async (binaries: Binaries, home: string): Promise<Binaries> => {
  await writeFile(clockOf(home), "+0\n", { mode: 0o644 })
  const folder = join(home, "jumping")
  await mkdir(join(folder, "bin"), { recursive: true, mode: 0o755 })
  const environment = Object.entries(jumping(clockOf(home)))
    .map(([name, value]) => `${name}=${value}`)
    .join(" ")
  await writeFile(
    join(folder, "bin/postgres"),
    `#!/bin/sh\n${environment} exec ${join(binaries.folder, "bin/postgres")} "$@"\n`,
    { mode: 0o755 }
  )
  return { ...binaries, folder }
}

export class Postgres {
  readonly #cluster: Cluster
  readonly #home: string
  readonly #password: string
  readonly port: number
  #pid: number
  #lives = 1
  readonly #mounted: boolean

  private constructor(cluster: Cluster, home: string, password: string, port: number, pid: number, mounted: boolean) {
    this.#mounted = mounted
    this.#cluster = cluster
    this.#home = home
    this.#password = password
    this.port = port
    this.#pid = pid
  }

  /** `volumeMb`: on a volume of that size (a tmpfs, which takes root), to be filled. `fakeTime`: its clock can jump. */
  static async start({
    fakeTime = false,
    volumeMb
  }: {
    readonly volumeMb?: number
    readonly fakeTime?: boolean
  } = {}): Promise<Postgres> {
    const owner = await account()
    const binaries = await locate(owner)
    const base = (await reachable(tmpdir(), owner)) ? tmpdir() : sharedHome
    await mkdir(base, { recursive: true })
    const home = await mkdtemp(join(base, "troupe-faults-"))
    guardFolder(home)
    if (volumeMb !== undefined) execFileSync("mount", ["-t", "tmpfs", "-o", `size=${volumeMb}m`, "tmpfs", home])
    if (owner) await chown(home, owner.uid, owner.gid)
    const made: Cluster = { binaries, account: owner, folder: join(home, "data") }
    const password = randomBytes(12).toString("hex")
    await initialise(made, password, true)
    const cluster = fakeTime ? { ...made, binaries: await jumpingBinaries(binaries, home) } : made
    const port = await freePort()
    const pid = await startPostgres(cluster, port, settings, logOf(home, 1))
    guardProcess(pid)
    return new Postgres(cluster, home, password, port, pid, volumeMb !== undefined)
  }

  /** What it has written, in all of its lives. */
  async log() {
    const lives = Array.from({ length: this.#lives }, (_, i) => readFile(logOf(this.#home, i + 1), "utf8"))
    return (await Promise.all(lives)).join("")
  }

  /** Facts that stood there already, which only an index kept from being written twice; also where nobody waited. */
  async factsKeptOut() {
    return (await this.log()).match(/duplicate key value violates unique constraint "facts_/g)?.length ?? 0
  }

  /** `user` is postgres, or one of the nodes' own. */
  url(user = "postgres", port = this.port, database = "troupe") {
    return `postgres://${user}:${this.#password}@127.0.0.1:${port}/${database}`
  }

  /** A superuser of that name for a node, so that what it writes is known by it. */
  async admit(names: ReadonlyArray<string>) {
    const client = new pg.Client({ connectionString: this.url("postgres", this.port, "postgres") })
    await client.connect()
    await client.query("create database troupe")
    for (const name of names) await client.query(`create role ${name} superuser login password '${this.#password}'`)
    await client.end()
  }

  /** The whole server at once: `SIGKILL`, or `SIGQUIT`, which is its immediate shutdown. */
  async kill(signal: "SIGKILL" | "SIGQUIT") {
    process.kill(this.#pid, signal)
    for (;;) {
      try {
        process.kill(this.#pid, 0)
      } catch {
        forgetProcess(this.#pid)
        return
      }
      await sleep(5)
    }
  }

  /** Its wall clock goes so many seconds off this machine's, as `+3600`. */
  async jump(offset: string) {
    await writeFile(clockOf(this.#home), `${offset}\n`)
  }

  /** Takes what space its volume has left. */
  async fill() {
    const { bavail, bsize } = await statfs(this.#home)
    const file = await open(join(this.#home, "filler"), "w")
    const block = Buffer.alloc(1024 * 1024)
    try {
      for (let left = bavail * bsize; left > 0; left -= block.length) await file.write(block)
    } catch (cause) {
      if (sqlStateOf(cause) !== "ENOSPC") throw cause
    } finally {
      await file.close()
    }
  }

  /** Gives it back. */
  async free() {
    await rm(join(this.#home, "filler"))
  }

  get alive() {
    try {
      process.kill(this.#pid, 0)
      return true
    } catch {
      return false
    }
  }

  /** Recovers and accepts connections again. */
  async again() {
    for (const until = performance.now() + 30_000; ; ) {
      try {
        this.#pid = await startPostgres(this.#cluster, this.port, settings, logOf(this.#home, this.#lives + 1))
        this.#lives++
        guardProcess(this.#pid)
        return
      } catch (cause) {
        // Processes of the life before may still hold its memory.
        if (performance.now() > until) throw cause
        await sleep(50)
      }
    }
  }

  async stop() {
    await halt(this.#pid)
    forgetProcess(this.#pid)
    if (this.#mounted) execFileSync("umount", [this.#home])
    await rm(this.#home, { recursive: true, force: true })
  }
}
