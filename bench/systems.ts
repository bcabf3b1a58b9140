/** The systems under test as real, separate processes, and a PostgreSQL with fsync on for both. */
import { Effect, Exit, Redacted, Scope } from "effect"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { mkdirSync, openSync, readFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { freePort } from "../src/postgres/cluster.ts"
import { Embedded } from "../src/postgres/Embedded.ts"
import { at, connect, pause, type Target, text } from "./adapters/Adapter.ts"

export const root = resolve(import.meta.dirname, "..")
export const scratch = join(root, ".troupe", "bench")
const run = promisify(execFile)

export interface System {
  readonly name: string
  readonly database: string
  readonly pid: number
  readonly target: Target
  /** File of its output. */
  readonly log: string
  /** From spawn to the first answer, milliseconds. */
  readonly startMs: number
  readonly stop: () => Promise<void>
}

/** PostgreSQL as it comes: default settings, fsync on. Only the counting of statements is added. */
export const startPostgres = async (settings: Readonly<Record<string, string>> = {}) => {
  const scope = Effect.runSync(Scope.make())
  const folder = join(scratch, String(process.pid))
  const made = await Effect.runPromise(
    Embedded.make(folder, { shared_preload_libraries: "pg_stat_statements", ...settings }).pipe(
      Effect.provideService(Scope.Scope, scope)
    )
  )
  return {
    url: Redacted.value(made.url),
    pid: made.pid,
    stop: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await rm(folder, { recursive: true, force: true })
      if (!made.folder.startsWith(folder)) await rm(made.folder, { recursive: true, force: true })
    }
  }
}

const answers = async (child: ChildProcess, origin: string, path: string, log: string) => {
  let ended: string | undefined
  child.once("exit", (code, signal) => {
    ended = String(code ?? signal)
  })
  const until = performance.now() + 60_000
  while (ended === undefined && performance.now() < until) {
    const ok = await fetch(origin + path).then(
      (r) => r.status < 500,
      () => false
    )
    if (ok) return
    await pause(5)
  }
  throw new Error(`the server did not start (${ended ?? "no answer in 60 s"}); its log is ${log}`)
}

const stop = (child: ChildProcess) =>
  new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    const timer = setTimeout(() => child.kill("SIGKILL"), 10_000)
    child.once("exit", () => {
      clearTimeout(timer)
      resolve()
    })
    child.kill("SIGTERM")
  })

/** What a checkout's script "serve" runs: older versions have another file for the command. */
const serveScript = (checkout: string) => {
  const { scripts }: { readonly scripts: { readonly serve: string } } = JSON.parse(
    readFileSync(join(checkout, "package.json"), "utf8")
  )
  const [, environment, flags, command] = /^(.*)exec node ((?:--\S+ )*)(\S+) serve$/.exec(scripts.serve) ?? []
  if (environment === undefined || flags === undefined || command === undefined)
    throw new Error(`${checkout}: the script "serve" is not what is expected: ${scripts.serve}`)
  return { environment, flags, command }
}

/** `npm run serve` of a checkout without npm: its words, this Node, and more flags for it. */
const serveCommand = (checkout: string, flags: ReadonlyArray<string>) => {
  const script = serveScript(checkout)
  return [
    "-c",
    `${script.environment}exec "$0" ${script.flags}${[...flags, script.command].join(" ")} serve`,
    process.execPath
  ]
}

const launch = (
  name: string,
  command: string,
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
  checkout = root
) => {
  mkdirSync(scratch, { recursive: true })
  const log = join(scratch, `${name}.log`)
  const out = openSync(log, "w")
  const child = spawn(command, args, {
    cwd: checkout,
    env: { ...process.env, ...environment },
    stdio: ["ignore", out, out]
  })
  if (child.pid === undefined) throw new Error(`${name} could not be started`)
  return { child, pid: child.pid, log }
}

export const startYardstick = async (database: string, url: string): Promise<System> => {
  const port = await freePort()
  const started = performance.now()
  const { child, pid, log } = launch(
    "yardstick",
    process.execPath,
    ["bench/yardstick/server.ts", url, String(port)],
    {}
  )
  const origin = `http://127.0.0.1:${port}`
  await answers(child, origin, "/v1/threads/00000000-0000-4000-8000-000000000000/events?after=0", log)
  return {
    name: "yardstick",
    database,
    pid,
    log,
    target: { origin, agents: [] },
    startMs: performance.now() - started,
    stop: () => stop(child)
  }
}

/** A nats-server of its own, of Debian's package; its URL. */
export const startNats = async () => {
  const port = await freePort()
  const server = spawn("nats-server", ["-a", "127.0.0.1", "-p", String(port)], { stdio: "ignore" })
  return { url: `nats://127.0.0.1:${port}`, stop: async () => void server.kill() }
}

/** A production node with everything on: authentication, claims, idempotency, metrics, logs. */
export const startTroupe = async (
  database: string,
  url: string,
  options: {
    readonly agents: number
    readonly flags?: ReadonlyArray<string>
    readonly environment?: Readonly<Record<string, string>>
    /** The checkout whose program it runs; this one unless told. */
    readonly checkout?: string
  }
): Promise<System> => {
  const { checkout = root } = options
  const port = await freePort()
  const environment = {
    TROUPE_DATABASE_URL: url,
    TROUPE_PORT: String(port),
    TROUPE_HOST: "127.0.0.1",
    TROUPE_NATS_URL: "",
    TROUPE_MODELS: "",
    // Limits would measure themselves.
    TROUPE_RATE_LIMIT: "0",
    TROUPE_WORKSPACE_RATE_LIMIT: "0",
    TROUPE_MAX_TURNS: "0",
    TROUPE_MAX_CALLS: "0",
    TROUPE_METRICS: "api",
    TROUPE_SCRIPTED_MODELS: "true",
    TROUPE_ENCRYPTION_KEYS: `bench:${Buffer.alloc(32, 7).toString("base64")}`,
    TROUPE_NODE_ID: "bench",
    TROUPE_LOG_FORMAT: "json",
    TROUPE_LOG_LEVEL: "info",
    OTEL_EXPORTER_OTLP_ENDPOINT: "",
    NODE_ENV: "production",
    ...options.environment
  }
  const { command } = serveScript(checkout)
  const { stdout } = await run(process.execPath, [command, "keys", "create", "--name", "bench", "-o", "json"], {
    cwd: checkout,
    env: { ...process.env, ...environment }
  })
  const key = text(JSON.parse(stdout), "key")
  const started = performance.now()
  const { child, pid, log } = launch(database, "sh", serveCommand(checkout, options.flags ?? []), environment, checkout)
  const origin = `http://127.0.0.1:${port}`
  await answers(child, origin, "/readyz", log)
  const startMs = performance.now() - started
  const http = connect({ origin, key, agents: [] })
  const profile = await http.post("/v1/profiles", { name: "bench", models: ["troupe/scripted"] })
  const agents: Array<string> = []
  for (let i = 0; i < options.agents; i++) {
    const made = await http.post("/v1/agents", { name: `bench ${i}`, profileId: text(profile, "profile", "id") })
    agents.push(String(at(made, "agent", "id")))
  }
  await http.close()
  return { name: "troupe", database, pid, log, target: { origin, key, agents }, startMs, stop: () => stop(child) }
}
