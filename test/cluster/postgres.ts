/** A PostgreSQL for the fault suite: fsync on, killed and started again at will. */
import { randomBytes } from "node:crypto"
import { chown, mkdtemp, mkdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import { account } from "../../src/postgres/account.ts"
import { locate, reachable, sharedHome } from "../../src/postgres/binaries.ts"
import { type Cluster, freePort, halt, initialise, start } from "../../src/postgres/cluster.ts"
import { forgetProcess, guardFolder, guardProcess } from "./guarded.ts"

const settings = { max_connections: "200", shared_buffers: "64MB", max_wal_size: "1GB", log_min_messages: "warning" }

export class Postgres {
  readonly #cluster: Cluster
  readonly #home: string
  readonly #password: string
  readonly port: number
  #pid: number

  private constructor(cluster: Cluster, home: string, password: string, port: number, pid: number) {
    this.#cluster = cluster
    this.#home = home
    this.#password = password
    this.port = port
    this.#pid = pid
  }

  static async start(): Promise<Postgres> {
    const owner = await account()
    const binaries = await locate(owner)
    const base = (await reachable(tmpdir(), owner)) ? tmpdir() : sharedHome
    await mkdir(base, { recursive: true })
    const home = await mkdtemp(join(base, "troupe-faults-"))
    guardFolder(home)
    if (owner) await chown(home, owner.uid, owner.gid)
    const cluster: Cluster = { binaries, account: owner, folder: join(home, "data") }
    const password = randomBytes(12).toString("hex")
    await initialise(cluster, password, true)
    const port = await freePort()
    const pid = await start(cluster, port, settings, join(home, "log"))
    guardProcess(pid)
    return new Postgres(cluster, home, password, port, pid)
  }

  get log() {
    return join(this.#home, "log")
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

  /** Recovers and accepts connections again. */
  async again() {
    for (const until = performance.now() + 30_000;;) {
      try {
        this.#pid = await start(this.#cluster, this.port, settings, join(this.#home, "log"))
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
    await rm(this.#home, { recursive: true, force: true })
  }
}
