/** What the documents say that the code could outgrow: variables, endpoints, charts, tables, steps, paths. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { Api } from "../http/Api.ts"
import { shown, withCharts } from "../docs/charts.ts"
import { charts } from "../machines/charts.ts"
import { definitionOf } from "../machines/definition.ts"
import { paceDefaults } from "../http/Peers.ts"
import { roomDefaults } from "../http/Room.ts"
import { capacity } from "../http/streams/Outbox.ts"
import { streamDefaults } from "../http/streams/Streams.ts"
import { windowMs } from "../src/bus/signature.ts"
import { variables } from "../src/config.ts"
import { half, mostCalls } from "../src/domain/turnNumbers.ts"
import { nearMs } from "../src/journal/agenda.ts"
import { shardCount } from "../src/journal/shard.ts"
import { knownProviders } from "../src/models/knownModels.ts"
import { decodeModelsFile } from "../src/models/modelsFile.ts"
import { parseScript } from "../src/models/script.ts"
import { usualPools } from "../src/outbound/pools.ts"
import { usualLimits } from "../src/quotas/quota.ts"
import { schemaLimits } from "../src/tools/Schemas.ts"

const root = resolve(import.meta.dirname, "..")
const files = ["README.md", ...globSync("docs/**/*.md", { cwd: root }).sort()]
const textOf = (file: string) => readFileSync(join(root, file), "utf8")
const readme = textOf("README.md")
const tools = textOf("docs/tools.md")
const models = textOf("docs/models.md")
const architecture = textOf("docs/architecture.md")

/** What stands between two comments. */
const between = (text: string, name: string) =>
  new RegExp(`<!-- ${name} -->(.*?)<!-- /${name} -->`, "s").exec(text)?.[1] ?? assert.fail(`nothing is marked ${name}`)
/** What a heading's section holds. */
const section = (text: string, heading: string) =>
  text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? assert.fail(`there is no section ${heading}`)
/** The cells of a table's rows, without its head. */
const rows = (text: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(1)
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim())
    )
const bare = (cell: string | undefined) => (cell ?? "").replaceAll("`", "")

const sorted = (texts: Iterable<string>) => [...texts].sort()
/** A number as documents write it. */
const said = (figure: number) => figure.toLocaleString("en-US")
const MiB = 1024 * 1024
/** Where a document breaks its lines says nothing. */
const onOneLine = (text: string) => text.replaceAll(/\s*\n\s*/g, " ")

describe("the README", () => {
  it("is a front page: at most 8 kB", () => {
    assert.isAtMost(Buffer.byteLength(readme), 8_000)
  })

  it("has the two commands, each in a block of its own", () => {
    for (const command of ["npm ci && npm start", "npm ci && npm test"])
      assert.include(readme, `\`\`\`sh\n${command}\n\`\`\``)
  })

  it.each(["README.md", "docs/operations.md"])("wants of Node and npm what package.json does: %s", (file) => {
    const { engines } = JSON.parse(textOf("package.json")) as { readonly engines: Readonly<Record<string, string>> }
    const [node = "", npm = ""] = [engines.node, engines.npm].map((range = "") => /^>=(\d+)$/.exec(range)?.[1])
    assert.match(onOneLine(textOf(file)), new RegExp(`Node ${node} or later (?:with|and) npm ${npm} or later`))
  })

  it("has the turns per second and the memory of the last benchmark", () => {
    const measured = rows(between(textOf("docs/benchmarks.md"), "turns"))
    const of = (clients: string, column: number) =>
      Number(measured.find(([mode, n, system]) => mode === "A" && n === clients && system === "troupe")?.[column])
    const rates = ["1", "16", "64"].map((clients) => said(of(clients, 3))).join(" / ")
    assert.include(onOneLine(readme), `${rates} turns/s and ${said(of("64", 13))} MiB`)
  })
})

describe("the reference documents", () => {
  it("tell every variable with its default and its meaning, and no other", () => {
    assert.deepStrictEqual(
      sorted(rows(between(textOf("docs/configuration.md"), "variables")).map((row) => row.join(" | "))),
      sorted(variables.map(({ meaning, standard, variable }) => `\`${variable}\` | ${standard} | ${meaning}`))
    )
  })

  it("name every endpoint with its scope, and no other", () => {
    const { paths } = OpenApi.fromApi(Api)
    const served = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) =>
          `${method.toUpperCase()} ${path} ${"x-required-scope" in operation ? operation["x-required-scope"] : ""}`
      )
    )
    const told = rows(section(textOf("docs/api.md"), "Endpoints")).map(
      ([method, path, scope]) => `${method} ${bare(path)} ${scope}`
    )
    assert.deepStrictEqual(sorted(told), sorted(served))
  })

  it("name every operation that takes more than keys, and what", () => {
    const { paths } = OpenApi.fromApi(Api)
    const served = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) => {
        const kinds =
          "x-credentials" in operation && Array.isArray(operation["x-credentials"]) ? operation["x-credentials"] : []
        const also = kinds.filter((kind) => kind !== "api_key" && kind !== "user")
        return also.length === 0 ? [] : [`${method.toUpperCase()} ${path} ${also.join(", ")}`]
      })
    )
    const told = rows(section(textOf("docs/api.md"), "Credentials")).map(
      ([method, path, also]) => `${method} ${bare(path)} ${also}`
    )
    assert.deepStrictEqual(sorted(told), sorted(served))
  })

  it("show steps that the scripted model understands, and leave none out", () => {
    const steps = rows(section(tools, "The scripted model")).map(([step]) => bare(step))
    for (const step of steps)
      assert.deepStrictEqual(
        parseScript(step).rounds.flatMap(({ failures }) => failures.filter(({ text }) => text !== "TEXT")),
        [],
        step
      )
    const known = readFileSync(join(root, "src/models/script.ts"), "utf8").match(/step === "(\/\w+)"/g) ?? []
    assert.deepStrictEqual(
      sorted(new Set(steps.map((step) => /^\/\w+/.exec(step)?.[0] ?? ""))),
      sorted(new Set(known.map((text) => /\/\w+/.exec(text)?.[0] ?? "")))
    )
  })

  it("name the providers' keys and addresses", () => {
    const told = rows(section(models, "Real models")).map((row) => row.map(bare))
    assert.deepStrictEqual(
      told,
      knownProviders.map(({ apiKeyEnv, baseUrlEnv, kind }) => [`${kind}/…`, apiKeyEnv, baseUrlEnv])
    )
  })

  it("show a file of models that is taken", async () => {
    const [, json = ""] = /```json\n(.*?)```/s.exec(section(models, "Real models")) ?? []
    await Effect.runPromise(decodeModelsFile(JSON.parse(json), "docs/models.md"))
  })

  it("name scripts that exist", () => {
    const { scripts } = JSON.parse(textOf("package.json")) as { readonly scripts: Readonly<Record<string, string>> }
    const named = files.flatMap((file) =>
      [...textOf(file).matchAll(/npm (?:run ([\w:]+)|(start|test)\b)/g)].map(([, run, script]) => run ?? script ?? "")
    )
    assert.deepStrictEqual(
      named.filter((name) => !(name in scripts)),
      []
    )
  })
})

describe("the architecture", () => {
  it("shows the charts that run: `npm run charts` writes them", () => {
    assert.strictEqual(withCharts(architecture), architecture)
  })

  it.each(Object.entries(charts))("has words for every state and transition of the %s", (_, machine) => {
    assert.notMatch(shown(definitionOf(machine)), /\| +\|\n|\|\s*\|$/)
  })

  it("names every table, and no other", () => {
    const folder = join(root, "src/database/migrations")
    const made = readdirSync(folder).flatMap((name) =>
      [...readFileSync(join(folder, name), "utf8").matchAll(/create table (?:if not exists )?(\w+)/g)].map(
        ([, table = ""]) => table
      )
    )
    assert.deepStrictEqual(sorted(rows(between(architecture, "tables")).map(([name]) => bare(name))), sorted(made))
  })

  it("names every family of built-in tools", () => {
    const family = "actors/thread/tools/families"
    const beside = ["all.ts", "pages.ts", "search.ts"]
    assert.deepStrictEqual(
      readdirSync(join(root, family)).filter((file) => !beside.includes(file) && !architecture.includes(`\`${file}\``)),
      []
    )
  })
})

describe("the way back", () => {
  it("to a version before migration 5 names every migration since, and each is explained", () => {
    const since = readdirSync(join(root, "src/database/migrations"))
      .flatMap((name) => /^(\d{3}_\w+)\.ts$/.exec(name)?.[1] ?? [])
      .filter((name) => name >= "005")
    const told = textOf("docs/operations.md")
    const [, forgotten = ""] = /delete from kysely_migration\s+where name in \((.*?)\)/s.exec(told) ?? []
    assert.deepStrictEqual(sorted([...forgotten.matchAll(/'(\w+)'/g)].map(([, name = ""]) => name)), sorted(since))
    const explained = rows(section(told, "Draining, restarts, upgrades")).flatMap(([names = ""]) =>
      [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)
    )
    assert.deepStrictEqual(sorted(explained), sorted(since))
  })
})

describe("the decisions", () => {
  const decisions = files.filter((file) => /^docs\/decisions\/\d/.test(file))

  it("are numbered without gaps, and the list names each with its date", () => {
    const listed = rows(textOf("docs/decisions/README.md"))
    assert.deepStrictEqual(
      listed.map(([link = "", date]) => [/\((.*)\)/.exec(link)?.[1], date]),
      decisions.map((file) => [basename(file), /^Date: (\d{4}-\d\d-\d\d)$/m.exec(textOf(file))?.[1]])
    )
    assert.deepStrictEqual(
      decisions.map((file) => Number(basename(file).slice(0, 3))),
      decisions.map((_, i) => i + 1)
    )
  })

  it.each(decisions)("%s has context, decision, alternatives and consequences", (file) => {
    const headings = [...textOf(file).matchAll(/^## (.*)\n\n\S/gm)].map(([, heading]) => heading)
    assert.deepStrictEqual(headings, ["Context", "Decision", "Alternatives", "Consequences"])
  })
})

/** What a document says, made from the figure that the code exports. */
const imported: ReadonlyArray<readonly [document: string, says: string]> = [
  ["docs/architecture.md", `more than ${nearMs === 60_000 ? "a minute" : `${nearMs} ms`} ahead`],
  ["docs/architecture.md", `one of ${said(shardCount)}`],
  ["docs/architecture.md", `${half} + step`],
  ["docs/architecture.md", `More than ${mostCalls} calls`],
  ["docs/api.md", `A response of more than ${mostCalls} calls`],
  ["docs/architecture.md", `takes nothing for ${streamDefaults.stallMs / 1_000} s`],
  [
    "docs/api.md",
    `may have ${said(streamDefaults.perKey)} streams on a node. A stream has a ping every ${streamDefaults.pingMs / 1_000} s`
  ],
  ["docs/operations.md", `what waits for all watchers of streams | ${streamDefaults.waitingBytes / MiB} MiB`],
  ["docs/architecture.md", `buffer of ${capacity / MiB} MiB`],
  [
    "docs/architecture.md",
    `at most ${usualPools.origins} hosts and ${said(usualPools.connections)} connections, ${usualPools.connectionsPerOrigin} with one host`
  ],
  ["docs/architecture.md", `nobody uses are closed after ${usualPools.keepAliveMs / 1_000} s`],
  ["docs/operations.md", `hosts (scheme, host and port) with connections | ${usualPools.origins}`],
  ["docs/operations.md", `workspaces that keep unused connections, by node | ${usualPools.workspaces}`],
  ["docs/operations.md", `| connections | ${said(paceDefaults.connections)} |`],
  ["docs/operations.md", `an answer that the client does not read | ${paceDefaults.answerMs / 60_000} min`],
  ["docs/operations.md", `a connection without a request | ${paceDefaults.idleMs / 1_000} s`],
  ["docs/operations.md", `a body that does not come | ${paceDefaults.silenceMs / 1_000} s`],
  [
    "docs/operations.md",
    `the least pace of a body | ${paceDefaults.windowBytes / 1024} KiB in ${paceDefaults.windowMs / 1_000} s`
  ],
  ["docs/operations.md", `${roomDefaults.answersPerKey} at once, ${roomDefaults.shareBytes / MiB} MiB together`],
  ["docs/operations.md", `${roomDefaults.bodiesPerKey} at once, ${roomDefaults.shareBytes / MiB} MiB together`],
  ["docs/operations.md", `bodies of all on their way | ${roomDefaults.bodyBytes / MiB} MiB`],
  ["docs/operations.md", `${roomDefaults.answerBytes / MiB} MiB in answers that nobody reads`],
  ["docs/operations.md", `${schemaLimits.checkMs} ms of processor time, ${schemaLimits.wallMs / 1_000} s by the clock`],
  [
    "docs/operations.md",
    `${schemaLimits.budget.ms} ms of processor time in ${schemaLimits.budget.windowMs / 1_000} s, one under way`
  ],
  ["docs/operations.md", `stands in line; after ${schemaLimits.lineMs / 1_000} s it fails`],
  ...(["agents", "connections", "keys", "roles", "threads", "toolsets"] as const).map(
    (name) => ["docs/operations.md", `| ${said(usualLimits[name])} |`] as const
  ),
  ["docs/operations.md", `\`stored_bytes\` within 24 hours | ${usualLimits.stored_bytes / 1024 ** 3} GiB`],
  ["docs/operations.md", `A message is taken for ${windowMs / 1_000} s`]
]

/** A figure as a document gives it, and the text of a source that nothing exports. */
const figures: ReadonlyArray<readonly [document: string, says: string, source: string, as: string]> = [
  ["docs/architecture.md", "Three without a new fact", "actors/layer.ts", "takeoverLimit = 3"],
  ["docs/architecture.md", "up to 200 actors", "actors/Sweep.ts", "claimed = 200"],
  ["docs/architecture.md", "resumes 50 at once", "actors/Sweep.ts", "atOnce = 50"],
  ["docs/architecture.md", "ten times a second", "actors/Sweep.ts", 'Schedule.spaced("100 millis")'],
  ["docs/architecture.md", "at most 128.", "src/journal/appends.ts", "maxBatch = 128"],
  ["docs/architecture.md", "8 Mi characters", "src/journal/appends.ts", "maxCharacters = 8 * 1024 * 1024"],
  ["docs/architecture.md", "in pages of 4 MiB", "src/journal/loads.ts", "shared: { facts: 4_000, bytes: 4 * MiB }"],
  ["docs/architecture.md", "50 actors at once", "actors/activation.ts", "servedAtOnce = 50"],
  ["docs/architecture.md", "from 0.25 s to 2 s", "actors/obligations.ts", "unansweredMs = { first: 250, most: 2_000 }"],
  ["docs/architecture.md", "from 1 s to 5 min", "actors/obligations.ts", "brokenMs = { first: 1_000, most: 300_000 }"],
  ["docs/architecture.md", "fails twice too", "actors/activation.ts", "farewells = 2"],
  ["docs/architecture.md", "up to 64 in their order", "actors/inboxDrain.ts", "rows: 64"],
  ["docs/api.md", "about 14,900 events (2,500", "test/machines/turnEvents.test.ts", "[true, 2_484], [false, 14_948]"],
  ["docs/architecture.md", "tried three times a target", "machines/thread/turn.ts", "attempts = 3"],
  ["docs/architecture.md", "about 0.5 s and 1 s", "machines/thread/turn.ts", "firstPauseMs = 500"],
  ["docs/architecture.md", "up to 60 s", "machines/thread/turn.ts", "60_000"],
  ["docs/architecture.md", "Past 0.8 of the TTL", "src/journal/leaseKeeper.ts", "0.8 * ttl"],
  [
    "docs/architecture.md",
    "every second or a fifth of the TTL",
    "src/journal/leaseKeeper.ts",
    "Math.min(1_000, ttl / 5)"
  ],
  ["docs/architecture.md", "the TTL is 5 s", "docs/configuration.md", "`TROUPE_LEASE_TTL_MS` | 5000 |"],
  ["docs/architecture.md", "Statements end after 5 s", "src/database/Database.ts", "statement_timeout: 5_000"],
  ["docs/architecture.md", "waits for a lock after 2 s", "src/database/Database.ts", "lock_timeout: 2_000"],
  ["docs/models.md", "silence of 120 s", "src/models/layer.ts", "idleTimeoutMs = 120_000"],
  ["docs/api.md", "at most five seconds old", "src/agents/Spending.ts", "freshMs = 5000"],
  ["docs/operations.md", "at most 20 a second", "src/telemetry/requests.ts", "perSecond = 20"],
  ["docs/operations.md", "more than 512 MiB", "src/journal/loads.ts", "most: 512 * MiB"],
  ["docs/operations.md", "conversations of threads, 16 MiB", "actors/layer.ts", "promptBytes = 16 * 1024 * 1024"],
  ["docs/operations.md", "hold 512 MiB of conversations", "actors/layer.ts", "underWayBytes = 512 * 1024 * 1024"],
  ["docs/operations.md", "8 million characters", "actors/layer.ts", "tailCharacters = 8_000_000"],
  ["docs/operations.md", "two for whole logs, three for all else", "src/database/Database.ts", "options.logs ?? 2"],
  ["docs/architecture.md", "at most 16 KiB", "src/outbound/pools.ts", "maxHeaderSize: 16 * 1024"],
  ["docs/operations.md", "answer before them | 100 a connection", "http/Peer.ts", "mostInRow = 100"],
  ["docs/operations.md", "commands in a mailbox, by thread | 256", "actors/Host.ts", "mailboxCapacity = 256"],
  ["docs/operations.md", "actors of a kind in memory, by node | 10,000", "actors/layer.ts", "mostActors = 10_000"],
  ["docs/operations.md", "sessions with MCP servers | 256", "src/tools/mcp/Sessions.ts", "Sessions.layerOf(256)"],
  ["docs/operations.md", "looks at | 5,000", "src/hooks/decisions.ts", "looked = 5_000"],
  [
    "docs/operations.md",
    "calls of one response | 10 s together",
    "actors/thread/tools/toolbox.ts",
    "patienceMs = 10_000"
  ],
  [
    "docs/operations.md",
    "states of all patterns of a schema | 10,000",
    "src/tools/jsonSchema.ts",
    "mostStates = 10_000"
  ],
  ["docs/operations.md", "With Node 22.19 or later", "src/cli/lacking.mjs", "minor >= 19"],
  ["docs/operations.md", "Version 18 is what is tested, 15 or later should do", "src/cli/doctor.ts", ">= 15"],
  [
    "docs/architecture.md",
    "Each run draws a fifth of the plain crashes, and a fifteenth of the others",
    "test/actors/crashes.ts",
    "TROUPE_CRASH_STRIDE ?? 15"
  ],
  ["docs/architecture.md", "draws a fifteenth of the points", "test/actors/crashes.ts", "TROUPE_CRASH_STRIDE ?? 15"],
  ["docs/CONTRIBUTING.md", "not one in twenty-four", "test/setup/consolePage.ts", "TROUPE_AXE_STRIDE ?? 24"],
  ["docs/CONTRIBUTING.md", "not one in eight", "test/browser/docs.test.ts", "TROUPE_DOCS_STRIDE ?? 8"],
  ["docs/CONTRIBUTING.md", "`machines/thread/turn.ts`, `joins`", "machines/thread/turn.ts", "export const joins"],
  [
    "docs/CONTRIBUTING.md",
    "`src/journal/Journal.ts`, J1 and J5",
    "src/journal/Journal.ts",
    "J5. A claim raises the epoch"
  ],
  ["docs/CONTRIBUTING.md", "`http/waits/resolving.ts`, the one way", "http/waits/resolving.ts", "threads.resolve("],
  [
    "docs/CONTRIBUTING.md",
    "`machines/thread/judging.ts` says",
    "machines/thread/judging.ts",
    "export const answerTurn"
  ],
  ["docs/CONTRIBUTING.md", "which asks `src/tools/Schemas.ts`", "actors/thread/tools/judging.ts", "schemas.misfit("],
  ["docs/CONTRIBUTING.md", "(`defineKind`)", "actors/Kind.ts", "export const defineKind"],
  ["docs/CONTRIBUTING.md", "`actors/layer.ts` puts it", "actors/layer.ts", "Identity.layer(options)"],
  ["docs/CONTRIBUTING.md", "`machines/charts.ts` shows", "machines/charts.ts", "Record<ChartKind, AnyStateMachine>"],
  ["docs/CONTRIBUTING.md", "in `src/domain/chartKinds.ts`", "src/domain/chartKinds.ts", "export const chartKinds"],
  ["docs/CONTRIBUTING.md", "`src/journal/appendStatement.ts` is", "src/journal/appendStatement.ts", "J1"]
]

describe("the documents", () => {
  it.each(imported)("%s says %j", (document, says) => {
    assert.include(onOneLine(textOf(document)), says)
  })

  it.each(figures)("%s says %j, as %s does", (document, says, source, as) => {
    assert.include(onOneLine(textOf(document)), says)
    assert.include(onOneLine(textOf(source)), as, "the document must change with it")
  })

  it.each(files)("%s links to what exists", (file) => {
    const broken = [...textOf(file).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) => {
      if (/^[a-z]+:/.test(target)) return []
      const [path = "", anchor] = target.split("#")
      const whole = path === "" ? join(root, file) : resolve(root, dirname(file), path)
      if (!existsSync(whole)) return [target]
      if (anchor === undefined) return []
      const headings = [...readFileSync(whole, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
        title
          .toLowerCase()
          .replace(/[^\w\s-]/g, "")
          .replaceAll(" ", "-")
      )
      return headings.includes(anchor) ? [] : [target]
    })
    assert.deepStrictEqual(broken, [])
  })

  /** A file beside another one of the same line or row may be named without its folder. */
  it.each(files)("%s names files that exist", (file) => {
    const missing = textOf(file)
      .split("\n")
      .flatMap((line) => {
        const named = [...line.matchAll(/`((?:[\w.@-]+\/)*[\w.-]+\.(?:ts|yml|md|json))`/g)].map(([, path = ""]) => path)
        const folders = ["", ...named.map(dirname)]
        return named.filter((path) => !folders.some((folder) => existsSync(join(root, folder, path))))
      })
    assert.deepStrictEqual(missing, [])
    const pictured = [...textOf(file).matchAll(/^\s*participant \w+ as (\S+\.ts)$/gm)].map(([, path = ""]) => path)
    assert.deepStrictEqual(
      pictured.filter((path) => !existsSync(join(root, path))),
      []
    )
    const rooms = [...textOf(file).matchAll(/^([\w-]+\/) {2,}/gm)].map(([, room = ""]) => room)
    assert.deepStrictEqual(
      rooms.filter((room) => !existsSync(join(root, room))),
      []
    )
  })

  it.each(files)("%s names nothing of the machine it was written on", (file) => {
    assert.notMatch(textOf(file), /\/(?:work|root|home|tmp)\/|\u2014/)
  })
})
