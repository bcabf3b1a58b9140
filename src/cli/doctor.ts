/** `troupe doctor`: checks what a server needs, and says what to do about what is missing. */
import { Console, Effect, type Option, Redacted, Result } from "effect"
import { access, constants, stat } from "node:fs/promises"
import { createServer } from "node:net"
import { dirname } from "node:path"
import pg from "pg"
import { exposures, natsSettings } from "../bus/natsSettings.ts"
import { makeNodePeers } from "../bus/peers.ts"
import { busKeys } from "../bus/signature.ts"
import { type Mode, Settings } from "../config.ts"
import type { EncryptionKey } from "../crypto/envelope.ts"
import { makeEnvelope } from "../crypto/envelope.ts"
import { runningUrl } from "../postgres/Embedded.ts"
import { type SealedSample, sampleSealed } from "./sealedTexts.ts"
import { checkMigrated } from "../database/migrate.ts"
import { liveNodes } from "../nodes/rows.ts"
import { checkNats } from "./checkNats.ts"
import { explainStart, failure } from "./failure.ts"
import { onDatabase } from "./node.ts"
import { type Output, print } from "./output.ts"
import { findEncryptionKey } from "./secrets.ts"

interface Finding {
  readonly check: string
  readonly state: "ok" | "note" | "bad"
  readonly detail: string
}

const bad = (check: string, detail: string): Finding => ({ check, state: "bad", detail })
const ok = (check: string, detail: string): Finding => ({ check, state: "ok", detail })
const note = (check: string, detail: string): Finding => ({ check, state: "note", detail })

const checkNode = (): Finding => {
  const major = Number(process.versions.node.split(".")[0])
  return major >= 24
    ? ok("node", process.versions.node)
    : note("node", `${process.versions.node} works; the project's own is newer: npm start uses it`)
}

/** Undefined when something can listen there. */
const takenBy = (host: string, port: number) =>
  Effect.promise(
    () =>
      new Promise<Error | undefined>((resolve) => {
        const server = createServer()
        server.once("error", resolve)
        server.listen(port, host, () => server.close(() => resolve(undefined)))
      })
  )

const checkPort = (host: string, port: number) =>
  Effect.map(takenBy(host, port), (error) =>
    error === undefined
      ? ok("port", `${host}:${port} is free`)
      : bad("port", explainStart(error, port).userMessage ?? error.message)
  )

/** Metrics that cannot be served are no reason not to start. */
const checkMetrics = (metrics: Settings["Service"]["metrics"]) => {
  if (metrics === "off") return Effect.succeed(note("metrics", "off"))
  if (metrics === "api") return Effect.succeed(ok("metrics", "/metrics on the API's own listener"))
  const { host, port } = metrics
  return Effect.map(takenBy(host, port), (error) =>
    error === undefined
      ? ok("metrics", `${host}:${port} is free`)
      : note(
          "metrics",
          `${host}:${port} cannot be listened on, and the node will run without: give another address in ` +
            "TROUPE_METRICS, or off"
        )
  )
}

/** The folder itself, or the nearest one above it that exists: there it will be made. */
const checkFolder = (folder: string) =>
  Effect.promise(async (): Promise<Finding> => {
    for (let path = folder; ; path = dirname(path)) {
      const found = await stat(path).catch(() => undefined)
      if (found === undefined && path !== dirname(path)) continue
      const writable =
        found?.isDirectory() === true &&
        (await access(path, constants.W_OK | constants.X_OK).then(
          () => true,
          () => false
        ))
      return writable
        ? ok("data", folder)
        : bad("data", `${folder} cannot be ${path === folder ? "written" : "made"}: give another folder in TROUPE_DATA`)
    }
  })

const version = (url: Redacted.Redacted<string>) =>
  Effect.tryPromise({
    try: async () => {
      const client = new pg.Client({ connectionString: Redacted.value(url), connectionTimeoutMillis: 5_000 })
      client.on("error", () => {})
      await client.connect()
      try {
        const { rows } = await client.query<{ version: string; fsync: string }>(
          "select current_setting('server_version') as version, current_setting('fsync') as fsync"
        )
        return rows[0] ?? { version: "unknown", fsync: "unknown" }
      } finally {
        await client.end()
      }
    },
    catch: (cause) => cause
  })

/** What is sealed, and how it is sealed with another key. */
const sealedWords: Readonly<Record<SealedSample["kind"], readonly [what: string, renewed: string]>> = {
  connection: ["connections", "or replace their secrets"],
  webhook: ["webhooks", "or rotate their secrets, and wait for the day for which the old ones count"],
  images: [
    "workspaces' keys of images",
    "and keep it there until an image was sent to each: its key is then sealed anew. Where that key is lost, delete " +
      "the row of image_keys: the same picture then gets another id"
  ]
}

/**
 * Whether what is sealed in the database opens with the keys that are set: a key that is gone is noticed here, not at
 * the first tool call.
 */
const checkSecrets = Effect.fn("cli.doctor.secrets")(
  function* (url: Redacted.Redacted<string>, keys: ReadonlyArray<EncryptionKey>) {
    const samples = yield* onDatabase(url, sampleSealed)
    const envelope = keys.length === 0 ? undefined : makeEnvelope(keys)
    const unreadable = samples.filter(({ place, sealed }) => {
      try {
        if (envelope === undefined) return true
        envelope.open(place, sealed)
        return false
      } catch {
        // Why is of no use here: the key is another one, or none.
        return true
      }
    })
    if (unreadable.length === 0) return [ok("secrets", samples.length === 0 ? "none are kept" : "can be opened")]
    return unreadable.map(({ count, key, kind }) => {
      const [what, renewed] = sealedWords[kind]
      return bad(
        "secrets",
        `${what} sealed with ${key} cannot be opened (${count}): put that key back into TROUPE_ENCRYPTION_KEYS, ` +
          renewed
      )
    })
  },
  Effect.catch((error) => Effect.succeed([bad("secrets", explainStart(error, 0).userMessage ?? "")]))
)

/** Whether the nodes that run could verify what a node with these keys says to them, and it what they say. */
const checkPeers = Effect.fn("cli.doctor.peers")(
  function* (url: Redacted.Redacted<string>, keys: ReadonlyArray<EncryptionKey>) {
    const nodes = yield* onDatabase(url, liveNodes)
    const own = busKeys(keys.map(({ key }) => Redacted.value(key))).map(({ name }) => name)
    return makeNodePeers(own, () => nodes)
      .strangers()
      .map(({ name }) =>
        bad(
          "nodes",
          `${name} runs with other TROUPE_ENCRYPTION_KEYS: it and a node with these would not believe each ` +
            "other's messages"
        )
      )
  },
  Effect.catch((error) => Effect.succeed([bad("nodes", explainStart(error, 0).userMessage ?? "")]))
)

const checkDatabase = Effect.fn("cli.doctor.database")(function* (
  url: Redacted.Redacted<string>,
  keys: ReadonlyArray<EncryptionKey>
) {
  const reached = yield* Effect.result(version(url))
  if (Result.isFailure(reached)) return [bad("database", explainStart(reached.failure, 0).userMessage ?? "")]
  const { version: number, fsync } = reached.success
  const found =
    Number.parseInt(number, 10) >= 15
      ? ok("database", `PostgreSQL ${number}`)
      : bad("database", `PostgreSQL ${number} is too old: use 15 or later, best 18`)
  const durable = fsync === "off" ? [bad("fsync", "is off: a power cut loses acknowledged work. Set fsync = on")] : []
  const migrated = yield* Effect.result(checkMigrated(url))
  return [
    found,
    ...durable,
    Result.isSuccess(migrated)
      ? ok("migrations", "up to date")
      : migrated.failure._tag === "MigrationsPending"
        ? note("migrations", "some are missing: troupe migrate, or the next start, runs them")
        : bad("migrations", explainStart(migrated.failure, 0).userMessage ?? ""),
    ...(Result.isSuccess(migrated) ? [...(yield* checkSecrets(url, keys)), ...(yield* checkPeers(url, keys))] : [])
  ]
})

/** The keys that a start would use, and what there is to say of them. */
const checkKeys = Effect.fn("cli.doctor.keys")(function* ({ dataFolder, encryptionKeys }: Settings["Service"]) {
  const [first] = encryptionKeys
  if (first !== undefined)
    return {
      keys: encryptionKeys,
      finding: ok("encryption", `${first.id} encrypts; ${encryptionKeys.map(({ id }) => id).join(", ")} decrypt`)
    }
  const kept = yield* Effect.result(findEncryptionKey(dataFolder))
  if (Result.isFailure(kept)) return { keys: [], finding: bad("encryption", kept.failure.userMessage ?? "") }
  return kept.success === undefined
    ? { keys: [], finding: note("encryption", "the first start makes a key and keeps it in the data folder") }
    : { keys: [kept.success], finding: ok("encryption", "the key of the data folder") }
})

export const doctor = Effect.fn("cli.doctor")(function* ({
  output,
  mode
}: {
  readonly output: Output
  readonly mode: Option.Option<Mode>
}) {
  const chosen = mode._tag === "Some" ? mode.value : yield* Settings.suited
  const read = yield* Effect.result(Settings.read(chosen))
  const findings: Array<Finding> = [checkNode()]
  if (Result.isFailure(read)) {
    findings.push(...read.failure.message.split("\n").map((line) => bad("settings", line)))
  } else {
    const settings = read.success
    findings.push(ok("settings", `for ${chosen}`), ...settings.strangers.map((line) => note("settings", line)))
    const running = settings.databaseUrl === undefined ? yield* runningUrl(settings.dataFolder) : undefined
    if (running?._tag === "Some") findings.push(note("server", "a development server is running on this data folder"))
    else findings.push(yield* checkPort(settings.host, settings.port), yield* checkMetrics(settings.metrics))
    if (chosen === "dev") findings.push(yield* checkFolder(settings.dataFolder))
    const { finding, keys } = yield* checkKeys(settings)
    findings.push(finding)
    const url = settings.databaseUrl ?? (running?._tag === "Some" ? running.value : undefined)
    if (url !== undefined) findings.push(...(yield* checkDatabase(url, keys)))
    else findings.push(note("database", "embedded: it starts with npm start"))
    const nats = natsSettings(settings)
    if (nats !== undefined) {
      findings.push(...exposures(nats).map((exposure) => note("nats", exposure)))
      const reached = yield* Effect.result(checkNats(nats))
      findings.push(
        Result.isSuccess(reached)
          ? ok("nats", reached.success)
          : bad(
              "nats",
              `${nats.servers.join(", ")}: ${reached.failure}. Check TROUPE_NATS_URL; nodes start without it, ` +
                "and are slow for each other's threads"
            )
      )
    }
  }
  yield* print(
    output,
    { findings },
    ["", "check", "detail"],
    findings.map((f) => [f.state, f.check, f.detail])
  )
  if (findings.some((f) => f.state === "bad")) return yield* failure("Not ready: see the lines that say bad.")
  yield* Console.error("Ready.")
})
