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
import { variables } from "../src/config.ts"
import { knownProviders } from "../src/models/knownModels.ts"
import { decodeModelsFile } from "../src/models/modelsFile.ts"
import { parseScript } from "../src/models/script.ts"
import { onOneLine, root, said, textOf } from "./repository.ts"

const files = ["README.md", ...globSync("docs/**/*.md", { cwd: root }).sort()]
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

describe("the documents", () => {
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
