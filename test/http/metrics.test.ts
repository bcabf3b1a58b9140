/** `/metrics`: made seldom, and where it is told to be. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { connect, createServer, type Server } from "node:net"
import { once } from "node:events"
import { makePeers, makeServer } from "../../http/listen.ts"
import { layerAt, makeRendered } from "../../http/metrics.ts"
import { RateLimit } from "../../http/RateLimit.ts"
import { eventually } from "../waiting.ts"
import { send } from "./client.ts"
import { serving, World } from "./tiny.ts"

const portOf = (server: Server) => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

/** What a node says while its metrics have a listener of their own there. */
const at = <A>(port: number, work: (logs: ReadonlyArray<string>) => Promise<A>) => {
  const logs: Array<string> = []
  const logger = Logger.layer([
    Logger.map(Logger.formatJson, (line) => {
      logs.push(line)
    })
  ])
  return Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        yield* Layer.build(layerAt({ host: "127.0.0.1", port }).pipe(Layer.provide(logger)))
        return yield* Effect.promise(() => work(logs))
      })
    )
  )
}

describe("the text of all metrics", async () => {
  it("is made at most once a second, and is the same bytes to all who ask in between", () => {
    let [now, made] = [0, 0]
    const text = makeRendered(
      () => `made ${++made}`,
      () => now
    )
    const first = text()
    now = 999
    assert.strictEqual(text(), first)
    assert.strictEqual(made, 1)
    now = 1_000
    assert.strictEqual(text().toString(), "made 2")
  })

  const world = new World()
  const base = await serving(world, RateLimit.off)

  it("does not change within a second, whatever happens", async () => {
    const first = await send(`${base}/metrics`)
    await send(`${base}/healthz`)
    const second = await send(`${base}/metrics`)
    assert.strictEqual(second.text, first.text)
    assert.match(second.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/)
  })
})

describe("a listener for metrics alone", () => {
  it("serves them, and nothing else", () =>
    at(0, async (logs) => {
      const [, url = ""] = /"url":"(http:[^"]+)"/.exec(logs.join("\n")) ?? assert.fail("nothing tells where")
      const found = await send(url)
      assert.strictEqual(found.status, 200)
      assert.match(found.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/)
      assert.match(found.text, /^# /)
      for (const path of ["/", "/healthz", "/v1/threads", "/metrics/"])
        assert.strictEqual((await send(new URL(path, url).href)).status, 404, path)
      assert.strictEqual((await send(url, { method: "POST" })).status, 404)
    }))

  it("leaves the count of connections to the API's listener", () =>
    at(0, async (logs) => {
      const [, url = ""] = /"url":"(http:[^"]+)"/.exec(logs.join("\n")) ?? assert.fail("nothing tells where")
      const server = makeServer(makePeers())
      server.on("request", (_, response) => response.end()).listen(0, "127.0.0.1")
      await once(server, "listening")
      let accepted = 0
      server.on("connection", () => accepted++)
      const clients = [1, 2, 3].map(() => connect(portOf(server), "127.0.0.1"))
      await eventually(() => accepted === clients.length, "the API has accepted them")
      // Asking is a connection too, and none of the API's.
      assert.match((await send(url)).text, /^troupe_connections_open 3$/m)
      for (const client of clients) client.destroy()
      server.close()
    }))

  it("that cannot be had is one warning, and the node runs without", async () => {
    const other = createServer().listen(0, "127.0.0.1")
    await once(other, "listening")
    await at(portOf(other), async (logs) => {
      assert.lengthOf(logs, 1)
      assert.include(logs[0], "TROUPE_METRICS")
      assert.match(logs[0] ?? "", /warn/i)
    })
    other.close()
  })
})
