/**
 * The settings of one server process, read once from the environment.
 *
 * Every variable is checked before anything starts, and all that is wrong is said at once, each with
 * what to do about it.
 */
import { Config, ConfigProvider, Context, Data, Effect, Option, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { accessSync, constants } from "node:fs"
import { hostname } from "node:os"
import { resolve } from "node:path"
import { BadNatsUrl, type NatsServers, readNatsUrls } from "./bus/natsUrls.ts"
import { parseKey } from "./keys/keyText.ts"
import { isLoopback } from "./domain/loopback.ts"
import type { EncryptionKey } from "./crypto/envelope.ts"
import { logLevels } from "./telemetry/logs.ts"

/** `dev` is one process with everything embedded; `serve` is a production node. */
export type Mode = "dev" | "serve"

/** A problem with the environment; `problems` has one line per variable. */
export class BadConfiguration extends Data.TaggedError("BadConfiguration")<{
  readonly problems: ReadonlyArray<string>
}> {
  override get message() {
    return this.problems.join("\n")
  }
}

/** What is wrong with a value, as the sentence that follows the variable's name. */
class Wrong extends Error {}

/** `undefined` of `found` means that the variable is absent or empty. Throws Wrong. */
type Read<A> = (found: string | undefined, mode: Mode) => A

const whole =
  (minimum: number, maximum: number, fallback: number | ((mode: Mode) => number), what: string): Read<number> =>
  (found, mode) => {
    if (found === undefined) return typeof fallback === "number" ? fallback : fallback(mode)
    if (!/^\d{1,15}$/.test(found) || Number(found) < minimum || Number(found) > maximum) {
      throw new Wrong(`is ${JSON.stringify(found)}: give ${what} from ${minimum} to ${maximum}`)
    }
    return Number(found)
  }

const oneOf =
  <const A extends string>(values: ReadonlyArray<A>, fallback: () => A): Read<A> =>
  (found) => {
    if (found === undefined) return fallback()
    const value = values.find((v) => v === found.toLowerCase())
    if (value === undefined) throw new Wrong(`is ${JSON.stringify(found)}: give one of ${values.join(", ")}`)
    return value
  }

const truth =
  (fallback: (mode: Mode) => boolean): Read<boolean> =>
  (found, mode) => {
    if (found === undefined) return fallback(mode)
    if (["true", "1", "yes", "on"].includes(found.toLowerCase())) return true
    if (["false", "0", "no", "off"].includes(found.toLowerCase())) return false
    throw new Wrong(`is ${JSON.stringify(found)}: give true or false`)
  }

const isUrl = (text: string, protocols: ReadonlyArray<string>) =>
  URL.canParse(text) && protocols.includes(new URL(text).protocol)

const databaseUrl: Read<Redacted.Redacted<string> | undefined> = (found, mode) => {
  if (found === undefined) {
    if (mode === "dev") return undefined
    throw new Wrong(
      "is missing: a production node needs the URL of its PostgreSQL, such as " +
        "postgres://user:password@host:5432/troupe (npm start brings one of its own)"
    )
  }
  // The value is not repeated: it holds a password.
  if (!isUrl(found, ["postgres:", "postgresql:"]))
    throw new Wrong("is no postgres:// URL: give one such as postgres://user:password@host:5432/troupe")
  return Redacted.make(found)
}

const natsUrls: Read<NatsServers | undefined> = (found) => {
  if (found === undefined) return undefined
  try {
    return readNatsUrls(found)
  } catch (bad) {
    throw bad instanceof BadNatsUrl ? new Wrong(bad.message) : bad
  }
}

/** A file that must be there and readable from the start. */
const readable =
  (what: string): Read<string | undefined> =>
  (found) => {
    if (found === undefined) return undefined
    const path = resolve(found)
    try {
      accessSync(path, constants.R_OK)
    } catch {
      throw new Wrong(`is ${JSON.stringify(found)}, which cannot be read: give the path of ${what}`)
    }
    return path
  }

const encryptionKeys: Read<ReadonlyArray<EncryptionKey>> = (found, mode) => {
  if (found === undefined) {
    if (mode === "dev") return []
    throw new Wrong(
      "is missing: all nodes of one installation share a list of id:base64 keys of 32 bytes. Make one with: echo " +
        `"k1:$(openssl rand -base64 32)"`
    )
  }
  const keys = found.split(",").map((entry) => {
    const [, id, text] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_-]+={0,2})$/.exec(entry.trim()) ?? []
    const bytes = Buffer.from(text ?? "", "base64")
    if (id === undefined || bytes.length !== 32) {
      throw new Wrong(
        `has an entry that is not id:base64 with a key of 32 bytes. Make one with: echo "k1:$(openssl rand -base64 32)"`
      )
    }
    return { id, key: Redacted.make(new Uint8Array(bytes)) }
  })
  if (new Set(keys.map((k) => k.id)).size !== keys.length) throw new Wrong("names the same key id twice")
  return keys
}

const nodeId: Read<string> = (found) => {
  if (found === undefined) {
    const host = hostname()
      .toLowerCase()
      .replace(/[^a-z0-9-]/g, "-")
      .slice(0, 40)
    return `${host}-${randomBytes(4).toString("hex")}`
  }
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/.test(found)) {
    throw new Wrong(
      `is ${JSON.stringify(found)}: give a name of 1 to 63 letters, digits, - or _, different on every node`
    )
  }
  return found
}

const devKey: Read<Redacted.Redacted<string> | undefined> = (found) => {
  if (found === undefined) return undefined
  if (parseKey(found) === undefined) {
    throw new Wrong(
      "is no key (trp_ and 8 characters, _ and 38 characters, the last six a checksum): leave it out, and one is " +
        "made and kept in the data folder"
    )
  }
  return Redacted.make(found)
}

const host: Read<string> = (found, mode) => {
  const value = found ?? "127.0.0.1"
  if (mode === "dev" && !isLoopback(value))
    throw new Wrong(
      `is ${JSON.stringify(value)}: the development server listens on the loopback interface only; use npm run ` +
        "serve to serve others"
    )
  return value
}

const endpoint: Read<string | undefined> = (found) => {
  if (found !== undefined && !isUrl(found, ["http:", "https:"]))
    throw new Wrong(
      `is ${JSON.stringify(found)}: give the http:// or https:// URL of an OTLP collector, such as ` +
        "http://127.0.0.1:4318"
    )
  return found?.replace(/\/+$/, "")
}

/** What paths are appended to: without a slash at its end. A proxy may serve the API below a path of its own. */
const publicUrl: Read<string | undefined> = (found) => {
  if (found === undefined) return undefined
  const why =
    "give the http:// or https:// URL under which others reach this installation, such as https://troupe.example.com"
  // The value is not repeated: it may hold a password.
  if (!isUrl(found, ["http:", "https:"])) throw new Wrong(`is no such URL: ${why}`)
  const { hash, href, password, search, username } = new URL(found)
  if (username !== "" || password !== "") throw new Wrong(`holds a login, which would be sent to everybody: ${why}`)
  if (search !== "" || hash !== "" || /[?#]/.test(found))
    throw new Wrong(`has a query or a fragment, behind which no path can be appended: ${why}`)
  return href.replace(/\/+$/, "")
}

/** Where something listens. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** `api` is the API's own listener. */
const metrics: Read<Address | "api" | "off"> = (found, mode) => {
  const value = found ?? (mode === "dev" ? "api" : "127.0.0.1:9464")
  if (value === "api" || value === "off") return value
  const [, host, port] = /^(\[[0-9a-fA-F:.]+\]|[^\s:[\]]+):(\d{1,5})$/.exec(value) ?? []
  if (host === undefined || Number(port) > 65_535) {
    throw new Wrong(
      `is ${JSON.stringify(value)}: give an address and a port (0 takes a free one) such as 127.0.0.1:9464, api ` +
        "for the API's own listener, or off"
    )
  }
  return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) }
}

interface Variable<A> {
  readonly name: string
  readonly read: Read<A>
}
const variable = <A>(name: string, read: Read<A>): Variable<A> => ({ name, read })

const variables = {
  host: variable("TROUPE_HOST", host),
  port: variable("TROUPE_PORT", whole(0, 65_535, 4_100, "a port (0 takes a free one)")),
  publicUrl: variable("TROUPE_PUBLIC_URL", publicUrl),
  databaseUrl: variable("TROUPE_DATABASE_URL", databaseUrl),
  natsUrls: variable("TROUPE_NATS_URL", natsUrls),
  natsCreds: variable("TROUPE_NATS_CREDS", readable("a .creds file, as nsc writes it")),
  natsNkey: variable("TROUPE_NATS_NKEY", readable("a file with the seed of an nkey")),
  natsCa: variable("TROUPE_NATS_CA", readable("a PEM file of the certificates to trust")),
  natsCert: variable("TROUPE_NATS_CERT", readable("a PEM file with this node's certificate")),
  natsKey: variable("TROUPE_NATS_KEY", readable("a PEM file with the key of TROUPE_NATS_CERT")),
  dataFolder: variable("TROUPE_DATA", (found) => resolve(found ?? ".troupe")),
  devKey: variable("TROUPE_DEV_KEY", devKey),
  encryptionKeys: variable("TROUPE_ENCRYPTION_KEYS", encryptionKeys),
  nodeId: variable("TROUPE_NODE_ID", nodeId),
  leaseTtlMs: variable("TROUPE_LEASE_TTL_MS", whole(500, 600_000, 5_000, "milliseconds")),
  drainSeconds: variable("TROUPE_DRAIN_SECONDS", whole(0, 3_600, 20, "seconds")),
  metrics: variable("TROUPE_METRICS", metrics),
  rateLimit: variable(
    "TROUPE_RATE_LIMIT",
    whole(0, 1_000_000, (mode) => (mode === "dev" ? 0 : 50), "requests a second for one credential, 0 for no limit,")
  ),
  rateBurst: variable("TROUPE_RATE_BURST", (found, mode) =>
    found === undefined ? undefined : whole(1, 1_000_000, 1, "requests at once for one credential")(found, mode)
  ),
  workspaceRateLimit: variable(
    "TROUPE_WORKSPACE_RATE_LIMIT",
    whole(0, 1_000_000, (mode) => (mode === "dev" ? 0 : 500), "requests a second in one workspace, 0 for no limit,")
  ),
  maxStreams: variable(
    "TROUPE_MAX_STREAMS",
    whole(0, 1_000_000, 1_000, "streams and long polls for one key, 0 for no limit,")
  ),
  maxTurns: variable(
    "TROUPE_MAX_TURNS",
    whole(0, 1_000_000, 1_000, "turns of one workspace that run at once on a node, 0 for no limit,")
  ),
  maxCalls: variable(
    "TROUPE_MAX_CALLS",
    whole(0, 1_000_000, 256, "calls of models, tools and hooks of one workspace at once on a node, 0 for no limit,")
  ),
  allowPrivateNetwork: variable(
    "TROUPE_ALLOW_PRIVATE_NETWORK",
    truth((mode) => mode === "dev")
  ),
  quotasFile: variable("TROUPE_QUOTAS", readable("a JSON file of quotas")),
  scriptedModels: variable(
    "TROUPE_SCRIPTED_MODELS",
    truth((mode) => mode === "dev")
  ),
  modelsFile: variable("TROUPE_MODELS", (found) => (found === undefined ? undefined : resolve(found))),
  logLevel: variable(
    "TROUPE_LOG_LEVEL",
    oneOf(logLevels, () => "info")
  ),
  logFormat: variable(
    "TROUPE_LOG_FORMAT",
    oneOf(["pretty", "json"], () => (process.stdout.isTTY ? "pretty" : "json"))
  ),
  otlpEndpoint: variable("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
}

/** What each of the variables was read as. */
type Values = { readonly [K in keyof typeof variables]: (typeof variables)[K] extends Variable<infer A> ? A : never }

/** Names of all variables, for `troupe doctor` and the documentation's test. */
export const variableNames: ReadonlyArray<string> = Object.values(variables).map((v) => v.name)

const environment = Config.all(
  Object.fromEntries(variableNames.map((name) => [name, Config.option(Config.String(name))]))
)

export class Settings extends Context.Service<
  Settings,
  Values & {
    readonly mode: Mode
    /** False under `--no-migrate`: refuse to start on an old schema instead of changing it. */
    readonly migrate: boolean
  }
>()("troupe/Settings") {
  /** Reads the environment of the ConfigProvider in context: the process's own, or a test's record. */
  static readonly read = Effect.fn("Settings.read")(function* (
    mode: Mode,
    options: { readonly migrate?: boolean } = {}
  ) {
    const found = yield* environment
    const text = (name: string) => {
      const value = Option.getOrUndefined(found[name] ?? Option.none())?.trim()
      return value === "" ? undefined : value
    }
    const problems = Object.values(variables).flatMap((v) => {
      try {
        v.read(text(v.name), mode)
        return []
      } catch (wrong) {
        if (wrong instanceof Wrong) return [`${v.name} ${wrong.message}.`]
        throw wrong
      }
    })
    if (problems.length > 0) return yield* new BadConfiguration({ problems })
    const get = <A>(v: Variable<A>) => v.read(text(v.name), mode)
    return Settings.of({
      mode,
      migrate: options.migrate ?? true,
      host: get(variables.host),
      port: get(variables.port),
      publicUrl: get(variables.publicUrl),
      databaseUrl: get(variables.databaseUrl),
      natsUrls: get(variables.natsUrls),
      natsCreds: get(variables.natsCreds),
      natsNkey: get(variables.natsNkey),
      natsCa: get(variables.natsCa),
      natsCert: get(variables.natsCert),
      natsKey: get(variables.natsKey),
      dataFolder: get(variables.dataFolder),
      devKey: get(variables.devKey),
      encryptionKeys: get(variables.encryptionKeys),
      nodeId: get(variables.nodeId),
      leaseTtlMs: get(variables.leaseTtlMs),
      drainSeconds: get(variables.drainSeconds),
      metrics: get(variables.metrics),
      rateLimit: get(variables.rateLimit),
      rateBurst: get(variables.rateBurst),
      workspaceRateLimit: get(variables.workspaceRateLimit),
      maxStreams: get(variables.maxStreams),
      maxTurns: get(variables.maxTurns),
      maxCalls: get(variables.maxCalls),
      allowPrivateNetwork: get(variables.allowPrivateNetwork),
      quotasFile: get(variables.quotasFile),
      scriptedModels: get(variables.scriptedModels),
      modelsFile: get(variables.modelsFile),
      logLevel: get(variables.logLevel),
      logFormat: get(variables.logFormat),
      otlpEndpoint: get(variables.otlpEndpoint)
    })
  })

  /** Only where the database is: for operators' commands, which need nothing else to be right. */
  static readonly readDatabase = Effect.gen(function* () {
    const found = yield* environment
    const text = (name: string) => Option.getOrUndefined(found[name] ?? Option.none())?.trim() || undefined
    const get = <A>(v: Variable<A>) =>
      Effect.try({
        try: () => v.read(text(v.name), "dev"),
        catch: (wrong) =>
          new BadConfiguration({ problems: [`${v.name} ${wrong instanceof Error ? wrong.message : String(wrong)}.`] })
      })
    return { databaseUrl: yield* get(variables.databaseUrl), dataFolder: yield* get(variables.dataFolder) }
  })

  /** The same from a record, for tests. */
  static readonly fromRecord = (
    mode: Mode,
    record: Readonly<Record<string, string>>,
    options: { readonly migrate?: boolean } = {}
  ) => Effect.provide(Settings.read(mode, options), ConfigProvider.layer(ConfigProvider.fromUnknown(record)))
}

/** What a node runs on: the embedded database has a URL by then, and there is a key to sign with. */
export type NodeSettings = Settings["Service"] & { readonly databaseUrl: Redacted.Redacted<string> }
