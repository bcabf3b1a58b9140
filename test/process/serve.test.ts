/** A production node as an operator handles it: its database's tables, and what it tells a collector. */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { createServer, type IncomingMessage } from "node:http"
import { resolve } from "node:path"
import { migrations } from "../../src/database/migrations/all.ts"
import { type FreshDatabase, freshDatabase } from "../setup/database.ts"
import { cutProxy } from "../contract/CutProxy.ts"
import { Child } from "./Child.ts"

const cli = resolve(import.meta.dirname, "../../src/start.mjs")

let database: FreshDatabase
let children: Array<Child>
beforeEach(async () => {
  database = await freshDatabase({ migrated: false })
  children = []
})
afterEach(async () => {
  await Promise.all(children.map((child) => child.end("SIGKILL")))
  await database.drop()
})

const troupe = (args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) => {
  const child = new Child(process.execPath, [cli, ...args], {
    env: {
      TROUPE_DATABASE_URL: database.url,
      TROUPE_PORT: "0",
      TROUPE_LOG_FORMAT: "json",
      TROUPE_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
      ...more
    }
  })
  children.push(child)
  return child
}
const serving = /"message":"serving","url":"(http:[^"]+)"/

describe("a node", () => {
  it("that may not migrate refuses older tables and names what they lack; troupe migrate brings them, once", async () => {
    const refused = troupe(["serve", "--no-migrate"])
    assert.strictEqual(await refused.ended(), 1)
    assert.match(refused.output, /the database lacks .*: start once without --no-migrate/)
    for (const name of Object.keys(migrations)) assert.include(refused.output, name)

    const migrate = async () => {
      const child = troupe(["migrate"])
      assert.strictEqual(await child.ended(), 0, child.output)
      return child.output
    }
    assert.include(await migrate(), `Ran ${Object.keys(migrations).join(", ")}.`)
    assert.include(await migrate(), "The database is up to date.")

    const node = troupe(["serve", "--no-migrate"])
    await node.until(serving)
    assert.strictEqual(await node.end(), 0)
  })

  it("whose drain takes longer than it may, since its database does not answer, is cut off and says so", async () => {
    const proxy = await cutProxy(database.url)
    try {
      const node = troupe(["serve"], { TROUPE_DATABASE_URL: proxy.url, TROUPE_DRAIN_SECONDS: "1" })
      await node.until(serving)
      proxy.hold(true)
      assert.strictEqual(await node.end(), 0, node.output)
      assert.match(node.output, /^the drain took longer than 1 s and was cut off$/m)
    } finally {
      await proxy.close()
    }
  })

  it("sends traces and metrics to the collector that it is told of, by its name, the last of them before it ends", async () => {
    const got = new Map<string, string>()
    const collector = createServer((incoming: IncomingMessage, outgoing) => {
      const { url = "" } = incoming
      incoming
        .on("data", (bytes: Buffer) => got.set(url, (got.get(url) ?? "") + bytes.toString()))
        .on("end", () => outgoing.writeHead(200, { "content-type": "application/json" }).end("{}"))
    })
    const port = await new Promise<number>((found) =>
      collector.listen(0, "127.0.0.1", () => {
        const address = collector.address()
        found(typeof address === "object" && address !== null ? address.port : 0)
      })
    )
    try {
      const node = troupe(["serve"], {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        TROUPE_NODE_ID: "node-of-the-collector"
      })
      const [, base = ""] = await node.until(serving)
      assert.strictEqual((await fetch(`${base}/v1/auth`)).status, 401)
      assert.strictEqual(await node.end(), 0, node.output)
      for (const path of ["/v1/traces", "/v1/metrics"]) assert.include(got.get(path), "node-of-the-collector", path)
      assert.include(got.get("/v1/traces"), "cli.startNode")
      assert.include(got.get("/v1/metrics"), "troupe_")
    } finally {
      collector.close()
    }
  })
})
