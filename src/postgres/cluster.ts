/** Starts and stops the programs of PostgreSQL on one data folder: initdb, postgres, and what postmaster.pid says. */
import { spawn } from "node:child_process"
import { chown, mkdir, open, readFile, readlink, rename, rm, stat, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { environment as inherited } from "../config.ts"
import type { Account } from "./account.ts"
import { isAlive } from "./alive.ts"
import type { Binaries } from "./binaries.ts"

export interface Cluster {
  readonly binaries: Binaries
  readonly account: Account | undefined
  /** Data folder; must be reachable by `account`. */
  readonly folder: string
}

/** The same on every machine, whatever the shell that started us exports. */
const environment = { LC_ALL: "C", LANG: "C", TZ: "UTC", PATH: inherited.PATH ?? "" }

/** PostgreSQL looks at its working directory: one that the account can enter. */
export const spawnOptions = (account: Account | undefined) => ({ cwd: "/", env: environment, ...account })

const program = (cluster: Cluster, name: string) => join(cluster.binaries.folder, "bin", name)

export const isInitialised = (folder: string) =>
  stat(join(folder, "PG_VERSION")).then(
    () => true,
    () => false
  )

/**
 * Creates the data folder: UTF8, locale C, a password for the user postgres. It is made aside and
 * renamed, so that one cut short is never taken for a database. With `sync` off it may not survive a
 * power cut right after.
 */
export const initialise = async (cluster: Cluster, password: string, sync: boolean) => {
  const draft = `${cluster.folder}.new`
  const secret = `${cluster.folder}.secret`
  await mkdir(dirname(cluster.folder), { recursive: true, mode: 0o755 })
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { mode: 0o700 })
  await writeFile(secret, password, { mode: 0o600 })
  try {
    if (cluster.account) {
      await chown(draft, cluster.account.uid, cluster.account.gid)
      await chown(secret, cluster.account.uid, cluster.account.gid)
    }
    const child = spawn(
      program(cluster, "initdb"),
      [
        `--pgdata=${draft}`,
        "--username=postgres",
        "--auth=scram-sha-256",
        `--pwfile=${secret}`,
        "--encoding=UTF8",
        "--no-locale",
        "--no-instructions",
        ...(sync ? [] : ["--no-sync"])
      ],
      { ...spawnOptions(cluster.account), stdio: ["ignore", "pipe", "pipe"] }
    )
    let said = ""
    child.stdout.on("data", (b: Buffer) => (said += b.toString()))
    child.stderr.on("data", (b: Buffer) => (said += b.toString()))
    const code = await new Promise<number | null>((resolve, reject) =>
      child.once("error", reject).once("close", resolve)
    )
    if (code !== 0) throw new Error(`initdb failed (${code}):\n${said.trim()}`)
    await rename(draft, cluster.folder)
  } finally {
    await rm(secret, { force: true })
  }
}

/** A port of the loopback interface that is free now: `wanted` if it can be had. */
export const freePort = (wanted = 0) =>
  new Promise<number>((resolve, reject) => {
    const server = createServer()
    server.once("error", (error) => (wanted === 0 ? reject(error) : freePort().then(resolve, reject)))
    server.listen(wanted, "127.0.0.1", () => {
      const address = server.address()
      server.close(() =>
        typeof address === "object" && address !== null ? resolve(address.port) : reject(new Error("no port"))
      )
    })
  })

export interface Postmaster {
  readonly pid: number
  readonly port: number
  readonly ready: boolean
}

/** What postmaster.pid says, if the process it names is alive and serves this folder. */
export const postmaster = async (folder: string): Promise<Postmaster | undefined> => {
  const text = await readFile(join(folder, "postmaster.pid"), "utf8").catch(() => "")
  const [pid, , , port, , , , status] = text.split("\n")
  if (pid === undefined || !(Number(pid) > 0) || !(await isAlive(Number(pid)))) return undefined
  // The number may have been given to another process since.
  const directory = await readlink(`/proc/${Number(pid)}/cwd`).catch(() => undefined)
  if (directory !== undefined && directory !== folder) return undefined
  return { pid: Number(pid), port: Number(port), ready: status?.trim() === "ready" }
}

/** Fast shutdown (SIGINT), immediate (SIGQUIT) after 5 s. Resolves when the process is gone. */
export const halt = async (pid: number) => {
  for (const [signal, patience] of [
    ["SIGINT", 5_000],
    ["SIGQUIT", 5_000],
    ["SIGKILL", 2_000]
  ] as const) {
    try {
      process.kill(pid, signal)
    } catch {
      return
    }
    for (const until = performance.now() + patience; performance.now() < until; ) {
      if (!(await isAlive(pid))) return
      await sleep(5)
    }
  }
  throw new Error(`PostgreSQL (pid ${pid}) does not end`)
}

/** Loopback TCP only, and nothing that depends on the machine's own settings. */
export const serverFlags = (cluster: Cluster, port: number, settings: Readonly<Record<string, string>>) => [
  "-D",
  cluster.folder,
  "-p",
  String(port),
  ...Object.entries({
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    timezone: "UTC",
    log_timezone: "UTC",
    ...settings
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`])
]

/**
 * Starts postgres in a process group of its own, so that Ctrl-C in our terminal does not reach it
 * before we have drained. Its log goes to `log`. Resolves when it accepts connections; `started` is given
 * what asks it to end as soon as there is something to ask.
 */
export const startPostgres = async (
  cluster: Cluster,
  port: number,
  settings: Readonly<Record<string, string>>,
  log: string,
  started: (end: () => void) => void = () => {}
) => {
  const file = await open(log, "w", 0o600)
  try {
    const child = spawn(program(cluster, "postgres"), serverFlags(cluster, port, settings), {
      ...spawnOptions(cluster.account),
      detached: true,
      stdio: ["ignore", file.fd, file.fd]
    })
    // Fast shutdown.
    started(() => {
      child.kill("SIGINT")
    })
    let ended: string | undefined
    child
      .once("error", (error) => (ended = error.message))
      .once("exit", (code, signal) => (ended = `${code ?? signal}`))
    child.unref()
    await untilReady(
      cluster.folder,
      () => ended,
      () => readFile(log, "utf8")
    )
    return child.pid!
  } finally {
    await file.close()
  }
}

/** Waits until postmaster.pid says ready (recovery of a large WAL may take a while): at most 60 s. */
export const untilReady = async (folder: string, ended: () => string | undefined, log: () => Promise<string>) => {
  for (const until = performance.now() + 60_000; performance.now() < until; ) {
    if ((await postmaster(folder))?.ready) return
    const reason = ended()
    if (reason !== undefined)
      throw new Error(`PostgreSQL ended at once (${reason}):\n${(await log()).trim().slice(-2_000)}`)
    await sleep(5)
  }
  throw new Error(`PostgreSQL is not ready after 60 s:\n${(await log()).trim().slice(-2_000)}`)
}
