/** All variables that Troupe reads, each once: docs/configuration.md tells them with these words. */
import { Result } from "effect"
import { randomBytes } from "node:crypto"
import { hostname } from "node:os"
import { resolve } from "node:path"
import { logLevels } from "../telemetry/logs.ts"
import * as forms from "./forms.ts"
import type { Mode } from "./forms.ts"
import { always, made, none, perMode, requiredInServe, variable } from "./variable.ts"

const ownNodeId = () => {
  const host = hostname()
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, "-")
    .slice(0, 40)
  return `${host}-${randomBytes(4).toString("hex")}`
}

const network = (mode: Mode) => {
  const is = variable(mode)
  return {
    host: is("TROUPE_HOST", forms.host, always("127.0.0.1"), "address to listen on; `npm start` allows loopback only"),
    port: is(
      "TROUPE_PORT",
      forms.whole(0, 65_535, "a port (0 takes a free one)"),
      always(4_100),
      "port; 0 takes a free one"
    ),
    allowedHosts: is(
      "TROUPE_ALLOWED_HOSTS",
      forms.hostNames,
      {
        shownAs: "`localhost` in dev, any in serve",
        of: (mode) => Result.succeed(mode === "dev" ? ["localhost"] : undefined)
      },
      "host names that requests may come by, comma-separated; `*` is any. IP addresses always pass. A page elsewhere " +
        "cannot reach this server by having its own name resolved to it"
    ),
    console: is(
      "TROUPE_CONSOLE",
      forms.truth,
      made("on", () => true),
      "whether the web console is served under `/console`"
    ),
    publicUrl: is(
      "TROUPE_PUBLIC_URL",
      forms.publicUrl,
      none("the listener's address under `npm start` (none where `TROUPE_PORT` is 0); none in serve"),
      "URL under which others reach this installation, such as `https://troupe.example.com`; a path of a proxy " +
        "may follow. The `answerUrl` of hook deliveries begins with it; without it `answerUrl` is a path. Leases " +
        "hold it as `baseUrl`"
    ),
    databaseUrl: is(
      "TROUPE_DATABASE_URL",
      forms.databaseUrl,
      requiredInServe(
        "embedded; required in serve",
        undefined,
        "a production node needs the URL of its PostgreSQL, such as postgres://user:password@host:5432/troupe " +
          "(npm start brings one of its own)"
      ),
      "`postgres://` URL"
    )
  }
}

const bus = (mode: Mode) => {
  const is = variable(mode)
  return {
    natsUrls: is(
      "TROUPE_NATS_URL",
      forms.natsUrls,
      none("none: one node"),
      "NATS servers, comma-separated: `nats://host:4222`, or `tls://` to insist on TLS (`ws://` is refused); a " +
        "login as `user:password@` or `token@` before the host. For more than one node. Nodes warn of a server " +
        "on another machine that is reached without TLS or without a login"
    ),
    natsCreds: is(
      "TROUPE_NATS_CREDS",
      forms.readable("a .creds file, as nsc writes it"),
      none(),
      "file with a user's credentials, JWT and seed, as `nsc` writes them; read again at each connection, as " +
        "are the files below"
    ),
    natsNkey: is(
      "TROUPE_NATS_NKEY",
      forms.readable("a file with the seed of an nkey"),
      none(),
      "file with the seed of an nkey"
    ),
    natsCa: is(
      "TROUPE_NATS_CA",
      forms.readable("a PEM file of the certificates to trust"),
      none("the system's"),
      "PEM file of the certificates that NATS servers may show"
    ),
    natsCert: is(
      "TROUPE_NATS_CERT",
      forms.readable("a PEM file with this node's certificate"),
      none(),
      "PEM file of this node's own certificate, for NATS servers that ask for one"
    ),
    natsKey: is(
      "TROUPE_NATS_KEY",
      forms.readable("a PEM file with the key of TROUPE_NATS_CERT"),
      none(),
      "PEM file of the key of that certificate"
    )
  }
}

const node = (mode: Mode) => {
  const is = variable(mode)
  return {
    dataFolder: is(
      "TROUPE_DATA",
      forms.path,
      made("`.troupe`", () => resolve(".troupe")),
      "folder of the embedded database, the development key and the development secret"
    ),
    devKey: is(
      "TROUPE_DEV_KEY",
      forms.devKey,
      none("made once, kept in `dev-key` of the data folder"),
      "key of the development workspace, all scopes"
    ),
    encryptionKeys: is(
      "TROUPE_ENCRYPTION_KEYS",
      forms.encryptionKeys,
      requiredInServe(
        "made once in dev, kept in `encryption-key` of the data folder; required in serve",
        [],
        `all nodes of one installation share a list of id:base64 keys of 32 bytes. ${forms.makeOne}`
      ),
      "list of `id:base64`, 32 bytes each, the same on all nodes. The first encrypts the secrets of " +
        "connections and webhooks and keys of images, signs cursors and messages between nodes; all decrypt, and " +
        "verify such messages. To change keys append the new one on all nodes, then put it first on all, and keep " +
        "the old ones until `troupe doctor` finds nothing that needs them"
    ),
    nodeId: is(
      "TROUPE_NODE_ID",
      forms.nodeId,
      made("host name and a random part", ownNodeId),
      "name of this node, different on each"
    ),
    leaseTtlMs: is(
      "TROUPE_LEASE_TTL_MS",
      forms.whole(500, 600_000, "milliseconds"),
      always(5_000),
      "a node that has not renewed its lease for so long is dead"
    ),
    drainSeconds: is(
      "TROUPE_DRAIN_SECONDS",
      forms.whole(0, 3_600, "seconds"),
      always(20),
      "time that SIGTERM, Ctrl-C or a closed terminal (SIGHUP) leaves for what runs"
    )
  }
}

const limits = (mode: Mode) => {
  const is = variable(mode)
  return {
    rateLimit: is(
      "TROUPE_RATE_LIMIT",
      forms.whole(0, 1_000_000, "requests a second for one credential, 0 for no limit,"),
      perMode(0, 50),
      "requests a second for one credential and node, and for one address that sends no good credential; a " +
        "body or an answer counts as one more for each 64 KiB of it; 0 is no limit"
    ),
    rateBurst: is(
      "TROUPE_RATE_BURST",
      forms.whole(1, 1_000_000, "requests at once for one credential"),
      none("twice the rate"),
      "requests at once"
    ),
    workspaceRateLimit: is(
      "TROUPE_WORKSPACE_RATE_LIMIT",
      forms.whole(0, 1_000_000, "requests a second in one workspace, 0 for no limit,"),
      perMode(0, 500),
      "requests a second for one workspace and node, twice that at once; 0 is no limit"
    ),
    maxStreams: is(
      "TROUPE_MAX_STREAMS",
      forms.whole(0, 1_000_000, "streams and long polls for one key, 0 for no limit,"),
      always(1_000),
      "streams and long polls that one key may have open on a node; 0 is no limit"
    ),
    maxTurns: is(
      "TROUPE_MAX_TURNS",
      forms.whole(0, 1_000_000, "turns of one workspace that run at once on a node, 0 for no limit,"),
      always(1_000),
      "turns of one workspace that run at once on a node. Further turns stand in line; 0 is no limit"
    ),
    maxCalls: is(
      "TROUPE_MAX_CALLS",
      forms.whole(0, 1_000_000, "calls of models, tools and hooks of one workspace at once on a node, 0 for no limit,"),
      always(256),
      "calls of models, tools and hooks of one workspace at once on a node. Further calls stand in line; 0 " +
        "is no limit"
    ),
    quotasFile: is(
      "TROUPE_QUOTAS",
      forms.readable("a JSON file of quotas"),
      none(),
      'JSON file of quotas, `{"defaults": {…}, "workspaces": {"wsp_…": {…}}}`, of `agents`, ' +
        "`connections`, `keys`, `stored_bytes`, `threads`, `toolsets`"
    ),
    allowPrivateNetwork: is(
      "TROUPE_ALLOW_PRIVATE_NETWORK",
      forms.truth,
      perMode(true, false),
      "whether the servers of tools, hooks and connections may be `http://` and on private addresses. " +
        "Link-local ones never are"
    ),
    scriptedModels: is(
      "TROUPE_SCRIPTED_MODELS",
      forms.truth,
      perMode(true, false),
      "whether the [scripted models](tools.md#the-scripted-model) are there. Whoever may send a message to an " +
        "agent that runs on one of them writes its tool calls"
    ),
    modelsFile: is("TROUPE_MODELS", forms.path, none(), "file of models, prices and aliases")
  }
}

const telemetry = (mode: Mode) => {
  const is = variable(mode)
  return {
    metrics: is(
      "TROUPE_METRICS",
      forms.metrics,
      {
        shownAs: "`api` in dev, `127.0.0.1:9464` in serve",
        of: (mode) => Result.succeed(mode === "dev" ? "api" : { host: "127.0.0.1", port: 9_464 })
      },
      "where `/metrics` is served: an address and a port (0 takes a free one), `api` for the API's own " +
        "listener, or `off`. If it is taken, there is one warning, and the node runs without"
    ),
    logLevel: is("TROUPE_LOG_LEVEL", forms.oneOf(logLevels), always("info"), logLevels.join(", ")),
    logFormat: is(
      "TROUPE_LOG_FORMAT",
      forms.oneOf(["pretty", "json"]),
      made("pretty on a terminal, else json", () => (process.stdout.isTTY ? "pretty" : "json")),
      "pretty or json"
    ),
    otlpEndpoint: is(
      "OTEL_EXPORTER_OTLP_ENDPOINT",
      forms.collector,
      none("off"),
      "OTLP collector for traces and metrics, over HTTP"
    )
  }
}

/** Of a server process. */
export const serverVariables = (mode: Mode) => ({
  ...network(mode),
  ...bus(mode),
  ...node(mode),
  ...limits(mode),
  ...telemetry(mode)
})

/** Of the commands that talk to a server; they read some of a development server's as well. */
export const commandVariables = {
  url: variable("dev")(
    "TROUPE_URL",
    forms.serverUrl,
    none("the development server's"),
    "where the server is, such as `http://127.0.0.1:4100`"
  ),
  key: variable("dev")(
    "TROUPE_KEY",
    forms.secret,
    none("the development server's key, for addresses of this machine only"),
    "API key"
  )
}
