import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import { type Mode, Settings } from "../src/config.ts"
import { generateKey } from "../src/keys/keyText.ts"

const key = Buffer.alloc(32, 1).toString("base64")
const production = { TROUPE_DATABASE_URL: "postgres://u:secret@db:5432/troupe", TROUPE_ENCRYPTION_KEYS: `k1:${key}` }

const problems = (mode: Mode, record: Readonly<Record<string, string>>) =>
  Effect.flip(Settings.fromRecord(mode, record)).pipe(Effect.map((error) => error.message))

describe("settings", () => {
  it.effect("need nothing in development", () =>
    Effect.gen(function* () {
      const settings = yield* Settings.fromRecord("dev", {})
      assert.strictEqual(settings.host, "127.0.0.1")
      assert.strictEqual(settings.port, 4100)
      assert.isUndefined(settings.databaseUrl)
      assert.isUndefined(settings.natsUrls)
      assert.match(settings.dataFolder, /^\/.*\/\.troupe$/)
      assert.strictEqual(settings.leaseTtlMs, 5_000)
      assert.strictEqual(settings.drainSeconds, 20)
      assert.deepStrictEqual(
        [settings.rateLimit, settings.rateBurst, settings.workspaceRateLimit, settings.maxStreams],
        [0, undefined, 0, 1_000]
      )
      assert.strictEqual(settings.metrics, "api")
      assert.deepStrictEqual([settings.maxTurns, settings.maxCalls], [1_000, 256])
      assert.isTrue(settings.allowPrivateNetwork)
      assert.isTrue(settings.scriptedModels)
      assert.isTrue(settings.migrate)
      assert.match(settings.nodeId, /^[a-z0-9-]+-[0-9a-f]{8}$/)
    })
  )

  it.effect("are stricter in production: limits on, private networks and scripted models off", () =>
    Effect.gen(function* () {
      const settings = yield* Settings.fromRecord("serve", production, { migrate: false })
      assert.deepStrictEqual(
        [settings.rateLimit, settings.rateBurst, settings.workspaceRateLimit, settings.maxStreams],
        [50, undefined, 500, 1_000]
      )
      assert.deepStrictEqual(settings.metrics, { host: "127.0.0.1", port: 9464 })
      assert.deepStrictEqual([settings.maxTurns, settings.maxCalls], [1_000, 256])
      assert.isFalse(settings.allowPrivateNetwork)
      assert.isFalse(settings.scriptedModels)
      assert.isFalse(settings.migrate)
      assert.deepStrictEqual(
        settings.encryptionKeys.map((k) => [k.id, Redacted.value(k.key).length]),
        [["k1", 32]]
      )
    })
  )

  it.effect("say all that is wrong at once, each with what to do", () =>
    Effect.gen(function* () {
      const message = yield* problems("serve", {
        TROUPE_PORT: "70000",
        TROUPE_LOG_LEVEL: "loud",
        TROUPE_ALLOW_PRIVATE_NETWORK: "maybe"
      })
      for (const part of [
        /TROUPE_DATABASE_URL is missing: .*postgres:\/\//,
        /TROUPE_ENCRYPTION_KEYS is missing: .*openssl rand/,
        /TROUPE_PORT is "70000": .*65535/,
        /TROUPE_LOG_LEVEL is "loud": give one of trace, debug/,
        /TROUPE_ALLOW_PRIVATE_NETWORK is "maybe": give true or false/
      ])
        assert.match(message, part)
      assert.strictEqual(message.split("\n").length, 5)
    })
  )

  it.effect("never repeat a secret in an error", () =>
    Effect.gen(function* () {
      const message = yield* problems("serve", {
        TROUPE_DATABASE_URL: "mysql://u:hunter2@db",
        TROUPE_ENCRYPTION_KEYS: "k1:c2hvcnQ=",
        TROUPE_DEV_KEY: "hunter3"
      })
      assert.notMatch(message, /hunter|c2hvcnQ/)
      assert.strictEqual(message.split("\n").length, 3)
    })
  )

  const wrong: ReadonlyArray<readonly [name: string, value: string]> = [
    ["TROUPE_PORT", "-1"],
    ["TROUPE_PORT", "1e3"],
    ["TROUPE_PORT", "80 81"],
    ["TROUPE_LEASE_TTL_MS", "499"],
    ["TROUPE_LEASE_TTL_MS", "5s"],
    ["TROUPE_DRAIN_SECONDS", "3601"],
    ["TROUPE_RATE_LIMIT", "0.5"],
    ["TROUPE_RATE_BURST", "0"],
    ["TROUPE_WORKSPACE_RATE_LIMIT", "-1"],
    ["TROUPE_MAX_STREAMS", "many"],
    ["TROUPE_METRICS", "9464"],
    ["TROUPE_METRICS", "::1:9464"],
    ["TROUPE_METRICS", "127.0.0.1:65536"],
    ["TROUPE_MAX_TURNS", "-1"],
    ["TROUPE_MAX_TURNS", "1000001"],
    ["TROUPE_MAX_CALLS", "many"],
    ["TROUPE_NODE_ID", "a b"],
    ["TROUPE_NODE_ID", "-a"],
    ["TROUPE_NODE_ID", "x".repeat(64)],
    ["TROUPE_NATS_URL", "http://nats:4222"],
    ["TROUPE_NATS_URL", "ws://nats:4222"],
    ["TROUPE_NATS_URL", ","],
    ["TROUPE_NATS_URL", "nats://nats:4222/path"],
    ["TROUPE_NATS_URL", "nats://a:b@n1,nats://c:d@n2"],
    ["TROUPE_NATS_URL", "nats://a:%zz@n1"],
    ["TROUPE_NATS_CREDS", "/nowhere/x.creds"],
    ["TROUPE_NATS_CA", "/nowhere/ca.pem"],
    ["TROUPE_DATABASE_URL", "db"],
    ["TROUPE_ENCRYPTION_KEYS", `k1:${key},k1:${key}`],
    ["TROUPE_ENCRYPTION_KEYS", key],
    ["TROUPE_LOG_FORMAT", "xml"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
    ["TROUPE_ALLOWED_HOSTS", "troupe.example.com:4100"],
    ["TROUPE_ALLOWED_HOSTS", ","],
    ["TROUPE_CONSOLE", "perhaps"],
    ["TROUPE_PUBLIC_URL", "troupe.example.com"],
    ["TROUPE_PUBLIC_URL", "ftp://troupe.example.com"],
    ["TROUPE_PUBLIC_URL", "https://ann:pw@troupe.example.com"],
    ["TROUPE_PUBLIC_URL", "https://troupe.example.com/?a=b"],
    ["TROUPE_PUBLIC_URL", "https://troupe.example.com/#"],
    ["TROUPE_DEV_KEY", "trp_12345678_abc"]
  ]
  for (const [name, value] of wrong) {
    it.effect(`refuse ${name}=${value.slice(0, 40)}`, () =>
      Effect.gen(function* () {
        assert.match(yield* problems("dev", { [name]: value }), new RegExp(`^${name} .+\\.$`))
      })
    )
  }

  it.effect("take every value of the table", () =>
    Effect.gen(function* () {
      const { key: devKey } = generateKey()
      const settings = yield* Settings.fromRecord("dev", {
        TROUPE_PORT: "0",
        TROUPE_HOST: "::1",
        TROUPE_NATS_URL: "nats://a, b:4223",
        TROUPE_DATA: "/var/x",
        TROUPE_DEV_KEY: devKey,
        TROUPE_NODE_ID: "node-1",
        TROUPE_LEASE_TTL_MS: "3000",
        TROUPE_RATE_LIMIT: "7",
        TROUPE_RATE_BURST: "9",
        TROUPE_WORKSPACE_RATE_LIMIT: "70",
        TROUPE_MAX_STREAMS: "0",
        TROUPE_METRICS: "[::1]:0",
        TROUPE_MAX_TURNS: "0",
        TROUPE_MAX_CALLS: "1000000",
        TROUPE_ALLOW_PRIVATE_NETWORK: "FALSE",
        TROUPE_MODELS: "models.json",
        TROUPE_LOG_LEVEL: "DEBUG",
        TROUPE_LOG_FORMAT: "json",
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://otel:4318/"
      })
      assert.deepStrictEqual(settings.natsUrls, { servers: ["a:4222", "b:4223"], tls: false })
      assert.strictEqual(settings.otlpEndpoint, "http://otel:4318")
      assert.deepStrictEqual(
        [settings.rateLimit, settings.rateBurst, settings.workspaceRateLimit, settings.maxStreams],
        [7, 9, 70, 0]
      )
      assert.deepStrictEqual(settings.metrics, { host: "::1", port: 0 })
      assert.strictEqual((yield* Settings.fromRecord("serve", { ...production, TROUPE_METRICS: "off" })).metrics, "off")
      assert.strictEqual(settings.logLevel, "debug")
      assert.deepStrictEqual([settings.maxTurns, settings.maxCalls], [0, 1_000_000])
      assert.isTrue(settings.modelsFile?.endsWith("/models.json"))
      assert.strictEqual(settings.devKey && Redacted.value(settings.devKey), devKey)
    })
  )

  it.effect("read logins out of NATS URLs, and keep them to themselves", () =>
    Effect.gen(function* () {
      const read = (url: string) =>
        Effect.map(Settings.fromRecord("dev", { TROUPE_NATS_URL: url }), ({ natsUrls }) => natsUrls)
      const user = yield* read("tls://ann:p%40ss:word@n1:4443,tls://n2,tls://[::1]:4444")
      assert.deepStrictEqual([user?.servers, user?.tls], [["n1:4443", "n2:4222", "[::1]:4444"], true])
      assert(user?.login !== undefined && "user" in user.login)
      assert.deepStrictEqual([user.login.user, Redacted.value(user.login.password)], ["ann", "p@ss:word"])
      const token = yield* read("nats://s3cret@n1")
      assert(token?.login !== undefined && "token" in token.login)
      assert.strictEqual(Redacted.value(token.login.token), "s3cret")
      assert.notMatch(JSON.stringify([user, token]), /p@ss|s3cret/)
      assert.notMatch(
        yield* problems("dev", { TROUPE_NATS_URL: "nats://ann:hunter2@n1,nats://bob:hunter3@n2" }),
        /hunter/
      )
    })
  )

  it.effect("take the public URL as what paths are appended to, and say what is wrong with another", () =>
    Effect.gen(function* () {
      const read = (url: string) =>
        Effect.map(Settings.fromRecord("dev", { TROUPE_PUBLIC_URL: url }), (settings) => settings.publicUrl)
      for (const [given, taken] of [
        ["https://troupe.example.com", "https://troupe.example.com"],
        ["https://Troupe.example.com/", "https://troupe.example.com"],
        ["http://127.0.0.1:4100", "http://127.0.0.1:4100"],
        ["https://example.com/troupe//", "https://example.com/troupe"],
        ["", undefined]
      ] as const)
        assert.strictEqual(yield* read(given), taken)
      assert.strictEqual(
        yield* problems("serve", { ...production, TROUPE_PUBLIC_URL: "troupe.example.com" }),
        "TROUPE_PUBLIC_URL is no such URL: give the http:// or https:// URL under which others reach this installation, such as https://troupe.example.com."
      )
      const message = yield* problems("dev", { TROUPE_PUBLIC_URL: "https://ann:hunter2@example.com" })
      assert.match(message, /holds a login/)
      assert.notMatch(message, /hunter2/)
    })
  )

  it.effect("tell names that are most likely mistyped, and start all the same", () =>
    Effect.gen(function* () {
      const record = { TROUPE_PROT: "1", TROUPE_KEY: "of a command", HOME: "/x", TROUP_PORT: "2" }
      const { port, strangers } = yield* Settings.fromRecord("dev", record)
      assert.strictEqual(port, 4_100)
      const told = "TROUPE_PROT is no variable of Troupe's: docs/configuration.md has their names."
      assert.deepStrictEqual(strangers, [told])
      // What is wrong may come of what is mistyped.
      assert.strictEqual(
        yield* problems("dev", { ...record, TROUPE_HOST: "0.0.0.0" }).pipe(Effect.map((m) => m.split("\n")[1])),
        told
      )
    })
  )

  it.effect("are looked for among a production node's, where a database is named", () =>
    Effect.gen(function* () {
      const suited = (record: Readonly<Record<string, string>>) =>
        Effect.provide(Settings.suited, ConfigProvider.layer(ConfigProvider.fromUnknown(record)))
      assert.deepStrictEqual(
        [yield* suited({ TROUPE_DATABASE_URL: "x" }), yield* suited({ TROUPE_DATABASE_URL: "" })],
        ["serve", "dev"]
      )
    })
  )

  it.effect("treat an empty variable as absent", () =>
    Effect.gen(function* () {
      const settings = yield* Settings.fromRecord("dev", { TROUPE_PORT: "", TROUPE_DATABASE_URL: "  " })
      assert.strictEqual(settings.port, 4100)
      assert.isUndefined(settings.databaseUrl)
    })
  )

  it.effect("keep a development server on the loopback interface", () =>
    Effect.gen(function* () {
      assert.match(yield* problems("dev", { TROUPE_HOST: "0.0.0.0" }), /loopback/)
      assert.strictEqual(
        (yield* Settings.fromRecord("serve", { ...production, TROUPE_HOST: "0.0.0.0" })).host,
        "0.0.0.0"
      )
    })
  )

  it.effect("tell an operator's command where the database is, whatever else is wrong", () =>
    Effect.gen(function* () {
      const found = yield* Settings.readDatabase.pipe(
        Effect.provide(
          ConfigProvider.layer(ConfigProvider.fromUnknown({ ...production, TROUPE_PORT: "x", TROUPE_HOST: "0.0.0.0" }))
        )
      )
      assert.strictEqual(found.databaseUrl && Redacted.value(found.databaseUrl), production.TROUPE_DATABASE_URL)
    })
  )
})
