/** Three real nodes on one PostgreSQL and one nats-server, each connection through a proxy of its own. */
import { randomBytes } from "node:crypto"
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Effect, Redacted } from "effect"
import pg from "pg"
import { onDatabase } from "../../src/cli/node.ts"
import { generateKey } from "../../src/keys/keyText.ts"
import { scopes } from "../../src/keys/scopes.ts"
import { createKey } from "../../src/keys/rows.ts"
import { migrate } from "../../src/database/migrate.ts"
import { ensureWorkspace } from "../../src/workspaces/ensure.ts"
import { NatsServer } from "../setup/nats.ts"
import { type McpServer, startMcpServer } from "../tools/mcpServer.ts"
import { installAudit } from "./audit.ts"
import { installPlants } from "./planted.ts"
import { guardFolder } from "./guarded.ts"
import { ModelServer } from "./ModelServer.ts"
import { Node } from "./Node.ts"
import { Postgres } from "./postgres.ts"
import { Proxy } from "./Proxy.ts"

export interface Workspace {
  readonly name: string
  readonly id: string
  readonly key: string
  /** In every text that this workspace's clients send, and in no other's answers (J13). */
  readonly canary: string
}

export interface ClusterOptions {
  readonly nodes?: number
  /** Without, nodes run on the in-process bus. */
  readonly nats?: boolean
  readonly ttlMs?: number
  readonly planted?: string
  /** PostgreSQL's volume has so many megabytes. */
  readonly volumeMb?: number
  /** The database's clock can jump: `postgres.jump`. */
  readonly fakeTime?: boolean
}

const until = async (what: string, ms: number, holds: () => Promise<boolean>) => {
  for (const end = performance.now() + ms; !(await holds()); await sleep(25)) {
    if (performance.now() > end) throw new Error(`${what}: not within ${ms} ms`)
  }
}

export class Cluster {
  readonly nodes: ReadonlyArray<Node>
  /** One more, which does not run until a fault starts it. */
  readonly spare: Node
  readonly postgres: Postgres
  readonly nats: NatsServer | undefined
  readonly pool: pg.Pool
  readonly models: ModelServer
  readonly tools: McpServer
  /** The way to it. */
  readonly toTools: Proxy
  readonly workspaces: ReadonlyArray<Workspace>
  readonly folder: string
  readonly ttlMs: number

  private constructor(parts: Omit<Cluster, "keepLogs" | "stop" | "pick" | "healthy" | "toolsUrl">) {
    this.nodes = parts.nodes
    this.spare = parts.spare
    this.postgres = parts.postgres
    this.nats = parts.nats
    this.pool = parts.pool
    this.models = parts.models
    this.tools = parts.tools
    this.toTools = parts.toTools
    this.workspaces = parts.workspaces
    this.folder = parts.folder
    this.ttlMs = parts.ttlMs
  }

  static async start({
    nats: withNats = true,
    nodes: count = 3,
    planted,
    ttlMs = 3_000,
    ...database
  }: ClusterOptions = {}): Promise<Cluster> {
    const folder = await mkdtemp(join(tmpdir(), "troupe-faults-"))
    guardFolder(folder)
    const names = Array.from({ length: count + 1 }, (_, i) => `n${i + 1}`)
    const [postgres, nats, models, tools] = await Promise.all([
      Postgres.start(database),
      withNats ? NatsServer.start() : undefined,
      ModelServer.start(),
      startMcpServer({
        tools: [
          { name: "charge", description: "Must not run twice", run: () => sleep(150, "charged") },
          {
            name: "look",
            description: "Changes nothing",
            annotations: { readOnlyHint: true },
            run: () => sleep(50, "seen")
          }
        ]
      })
    ])
    const toTools = await Proxy.to(Number(new URL(tools.url).port))
    await postgres.admit(names)
    const url = postgres.url()
    await Effect.runPromise(migrate(Redacted.make(url)))
    const pool = new pg.Pool({ connectionString: url, max: 4 })
    pool.on("error", () => {})
    await installAudit(pool)
    await installPlants(pool)
    const workspaces: Array<Workspace> = []
    for (const name of ["alpha", "beta", "gamma"]) {
      const made = generateKey()
      const id = await Effect.runPromise(
        onDatabase(Redacted.make(url), (db) =>
          db.transaction().execute(async (tx) => {
            const workspace = await ensureWorkspace(tx, name)
            await createKey(
              tx,
              workspace,
              { public: made.publicPart, hash: made.hash, name: "faults", scopes },
              Date.now()
            )
            return workspace
          })
        )
      )
      workspaces.push({ name, id, key: made.key, canary: `canary-${name}-${randomBytes(4).toString("hex")}` })
    }
    const encryption = `k1:${randomBytes(32).toString("base64")}`
    const all = await Promise.all(
      names.map(async (name) => {
        const file = join(folder, `${name}.models.json`)
        await writeFile(file, models.fileFor(name))
        const toPostgres = await Proxy.to(postgres.port)
        const toNats = nats === undefined ? undefined : await Proxy.to(nats.port)
        return new Node({
          name,
          postgres: toPostgres,
          nats: toNats,
          planted,
          log: join(folder, `${name}.log`),
          env: {
            TROUPE_DATABASE_URL: postgres.url(name, toPostgres.port),
            TROUPE_PORT: "0",
            TROUPE_NODE_ID: name,
            TROUPE_LEASE_TTL_MS: String(ttlMs),
            TROUPE_RATE_LIMIT: "0",
            TROUPE_WORKSPACE_RATE_LIMIT: "0",
            TROUPE_METRICS: "api",
            TROUPE_LOG_FORMAT: "json",
            TROUPE_LOG_LEVEL: "info",
            TROUPE_ENCRYPTION_KEYS: encryption,
            TROUPE_ALLOW_PRIVATE_NETWORK: "true",
            TROUPE_SCRIPTED_MODELS: "true",
            // The herd is one workspace's, and is to run whole.
            TROUPE_MAX_TURNS: "0",
            TROUPE_MAX_CALLS: "0",
            TROUPE_MODELS: file,
            TROUPE_NATS_URL: toNats === undefined ? "" : `nats://127.0.0.1:${toNats.port}`
          }
        })
      })
    )
    const nodes = all.slice(0, count)
    const [spare] = all.slice(count)
    if (spare === undefined) throw new Error("no spare node")
    const cluster = new Cluster({
      nodes,
      spare,
      postgres,
      nats,
      pool,
      models,
      tools,
      toTools,
      workspaces,
      folder,
      ttlMs
    })
    try {
      await Promise.all(nodes.map((node) => node.start()))
    } catch (cause) {
      await cluster.stop()
      throw cause
    }
    return cluster
  }

  get toolsUrl() {
    const url = new URL(this.tools.url)
    url.port = String(this.toTools.port)
    return url.href
  }

  /** One of the nodes that are meant to answer. */
  pick(random: () => number): Node | undefined {
    const up = [...this.nodes, this.spare].filter((node) => node.up)
    return up[Math.floor(random() * up.length)]
  }

  /** All proxies let everything through, all nodes run and are ready. */
  async healthy() {
    for (const { options } of this.nodes) {
      options.postgres.heal()
      options.nats?.heal()
    }
    if (this.spare.running) await this.spare.leave()
    for (const node of this.nodes) if (!node.running) await node.start()
    await until("every node is ready", 60_000, async () =>
      (await Promise.all(this.nodes.map((node) => node.ready()))).every(Boolean)
    )
  }

  /** What its processes have written, in a folder that stays. */
  async keepLogs() {
    const folder = await mkdtemp(join(tmpdir(), "troupe-logs-"))
    await cp(this.folder, folder, { recursive: true })
    await writeFile(join(folder, "postgres.log"), await this.postgres.log())
    return folder
  }

  async stop() {
    await Promise.all([...this.nodes, this.spare].map((node) => node.kill()))
    await Promise.all(
      [...this.nodes, this.spare].flatMap(({ options }) => [options.postgres.close(), options.nats?.close()])
    )
    await Promise.all([this.pool.end(), this.toTools.close()])
    await Promise.all([this.postgres.stop(), this.nats?.stop(), this.models.stop(), this.tools.close()])
    await rm(this.folder, { recursive: true, force: true })
  }
}
