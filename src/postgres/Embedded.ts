/**
 * The PostgreSQL that `troupe dev` brings along: one of npm's packages, kept in the data folder.
 *
 * E1. One server per data folder: a second one is refused with the first one's pid.
 * E2. It ends with us: the scope's finalizer stops it, and a process that leaves without its finalizers
 *     tells it to stop. After a kill -9 it lives on, and the next start takes it over (or stops it, if
 *     it cannot be used). There are never two.
 * E3. fsync stays on: this is the journal of someone's work, if only a demo.
 * E4. Port and password are chosen once and kept in `embedded.json` (mode 0600) in the data folder.
 * E5. As root it runs as the user postgres. What that user cannot reach (a clone inside root's home,
 *     mode 0700) is put under /var/lib/troupe, and one log line says so.
 */
import { Context, Data, Effect, Layer, Option, Redacted, Schedule, Schema } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { readFile, realpath, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import pg from "pg"
import { account } from "./account.ts"
import { locate, reachable, sharedHome } from "./binaries.ts"
import { type Cluster, freePort, halt, initialise, isInitialised, postmaster, startPostgres } from "./cluster.ts"
import { ensureDataFolder } from "./dataFolder.ts"
import { type Leash, makeLeash } from "./leash.ts"
import { holder, lock } from "./lock.ts"

export class EmbeddedFailed extends Data.TaggedError("EmbeddedFailed")<{
  readonly reason: string
  readonly cause?: unknown
}> {
  override get message() {
    return `The embedded PostgreSQL did not start: ${this.reason}`
  }
}

const Kept = Schema.Struct({ port: Schema.Int, password: Schema.String })
const decodeKept = Schema.decodeUnknownOption(Schema.fromJsonString(Kept))

const writePrivate = async (path: string, text: string) => {
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  await rename(`${path}.new`, path)
}

const urlOf = (kept: typeof Kept.Type) => `postgres://postgres:${kept.password}@127.0.0.1:${kept.port}/postgres`

/** The server's version if it answers with our password. */
const ask = async (kept: typeof Kept.Type) => {
  const client = new pg.Client({ connectionString: urlOf(kept), connectionTimeoutMillis: 3_000 })
  client.on("error", () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ server_version: string }>("show server_version")
    return rows[0]?.server_version
  } catch {
    return undefined
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * Where the data lies: in the data folder, unless PostgreSQL's account cannot go there, or could not when it was made.
 */
const place = async (dataFolder: string, owner: Cluster["account"]) => {
  const own = join(dataFolder, "postgres")
  const elsewhere = join(sharedHome, createHash("sha256").update(own).digest("hex").slice(0, 16), "postgres")
  if (!(await reachable(dataFolder, owner))) return elsewhere
  return !(await isInitialised(own)) && (await isInitialised(elsewhere)) ? elsewhere : own
}

/**
 * A postmaster.pid whose number is another process's by now, or a zombie's, would make postgres refuse to start.
 * PostgreSQL passes over the number of its own parent, and then looks for processes of that life by the shared memory
 * that the file names.
 */
const disownPidFile = async (folder: string) => {
  const path = join(folder, "postmaster.pid")
  const text = await readFile(path, "utf8").catch(() => "")
  if (text !== "") await writeFile(path, text.replace(/^-?\d+/, String(process.pid)))
}

interface Ready {
  /** The pid of what runs: of what was left running, or of what this starts. */
  readonly up: () => Promise<number>
  readonly kept: typeof Kept.Type
  readonly folder: string
  /** What is worth a line in the log. */
  readonly remarks: ReadonlyArray<string>
}

/** Backends of a postmaster that was killed need a moment to notice. */
const lingering = {
  schedule: Schedule.spaced("200 millis"),
  times: 50,
  while: ({ reason }: EmbeddedFailed) => /shared memory block|still in use/.test(reason)
}

const prepare = async (
  dataFolder: string,
  settings: Readonly<Record<string, string>>,
  { hold }: Leash
): Promise<Ready> => {
  const remarks: Array<string> = []
  const owner = await account()
  const binaries = await locate(owner)
  const folder = await place(dataFolder, owner)
  if (binaries.copied || !folder.startsWith(dataFolder)) {
    remarks.push(
      `The user postgres cannot enter this folder; PostgreSQL runs from ${binaries.folder} with its data in ${folder}`
    )
  }
  const cluster: Cluster = { binaries, account: owner, folder }
  const keptPath = join(dataFolder, "embedded.json")
  let kept = Option.getOrUndefined(decodeKept(await readFile(keptPath, "utf8").catch(() => "")))
  const initialised = await isInitialised(folder)
  if (initialised && kept === undefined) {
    throw new Error(
      `${folder} is a database, but its password (${keptPath}) is gone. Bring that file back, or remove the ` +
        "folder to start anew."
    )
  }
  const major = initialised ? (await readFile(join(folder, "PG_VERSION"), "utf8")).trim() : undefined
  if (major !== undefined && !binaries.version.startsWith(`${major}.`)) {
    throw new Error(
      `${folder} was made by PostgreSQL ${major}, this is ${binaries.version}. Dump and restore it, or remove ` +
        "the folder to start anew."
    )
  }
  const old = await postmaster(folder)
  if (old !== undefined && kept !== undefined) {
    hold(() => {
      process.kill(old.pid, "SIGINT")
    })
    const reachableAt = { ...kept, port: old.port }
    const version = await ask(reachableAt)
    if (version !== undefined && binaries.version.startsWith(`${version}.`)) {
      await writePrivate(keptPath, JSON.stringify(reachableAt))
      remarks.push(`Took over the PostgreSQL that a killed server left running (pid ${old.pid})`)
      return { up: async () => old.pid, kept: reachableAt, folder, remarks }
    }
    await halt(old.pid)
    remarks.push(`Stopped a PostgreSQL that was left running (pid ${old.pid}): it did not answer`)
  }
  kept = { port: await freePort(kept?.port), password: kept?.password ?? randomBytes(18).toString("base64url") }
  await writePrivate(keptPath, JSON.stringify(kept))
  if (!initialised) await initialise(cluster, kept.password, true)
  await disownPidFile(folder)
  const log = join(dataFolder, "postgres.log")
  const { port } = kept
  return { up: () => startPostgres(cluster, port, settings, log, hold), kept, folder, remarks }
}

export class Embedded extends Context.Service<
  Embedded,
  {
    /** Superuser's URL of the database `postgres`, loopback. */
    readonly url: Redacted.Redacted<string>
    readonly pid: number
    /** PostgreSQL's own folder. */
    readonly folder: string
  }
>()("troupe/Embedded") {
  /** Up as long as the scope is open. `settings` are PostgreSQL's, for benchmarks and tests. */
  static readonly make = Effect.fn("Embedded.make")(function* (
    dataFolder: string,
    settings: Readonly<Record<string, string>> = {}
  ) {
    const fail = (cause: unknown) =>
      new EmbeddedFailed({ reason: cause instanceof Error ? cause.message : String(cause), cause })
    const folder = yield* Effect.tryPromise({
      try: async () => {
        await ensureDataFolder(dataFolder, await account())
        return realpath(dataFolder)
      },
      catch: (cause) =>
        new EmbeddedFailed({
          reason: `the data folder ${dataFolder} cannot be made: give another in TROUPE_DATA`,
          cause
        })
    })
    yield* Effect.acquireRelease(
      Effect.tryPromise({ try: () => lock(join(folder, "server.pid")), catch: fail }),
      (unlock) => Effect.promise(unlock)
    )
    const leash = yield* Effect.acquireRelease(Effect.sync(makeLeash), ({ release }) => Effect.sync(release))
    const running = yield* Effect.acquireRelease(
      Effect.gen(function* () {
        const { up, ...ready } = yield* Effect.tryPromise({ try: () => prepare(folder, settings, leash), catch: fail })
        const pid = yield* Effect.tryPromise({ try: up, catch: fail }).pipe(Effect.retry(lingering))
        return { ...ready, pid }
      }),
      ({ pid }) => Effect.promise(() => halt(pid))
    )
    for (const remark of running.remarks) yield* Effect.logInfo(remark)
    return Embedded.of({ url: Redacted.make(urlOf(running.kept)), pid: running.pid, folder: running.folder })
  })

  static readonly layer = (dataFolder: string, settings: Readonly<Record<string, string>> = {}) =>
    Layer.effect(Embedded, Embedded.make(dataFolder, settings))
}

/** The URL of the embedded PostgreSQL that another process has running on this data folder. */
export const runningUrl = (dataFolder: string): Effect.Effect<Option.Option<Redacted.Redacted<string>>> =>
  Effect.promise(async () => {
    const folder = await realpath(dataFolder).catch(() => dataFolder)
    const kept = decodeKept(await readFile(join(folder, "embedded.json"), "utf8").catch(() => ""))
    if (Option.isNone(kept) || (await holder(join(folder, "server.pid"))) === undefined) return Option.none()
    return (await ask(kept.value)) === undefined ? Option.none() : Option.some(Redacted.make(urlOf(kept.value)))
  })
