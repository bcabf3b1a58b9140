/** Connections of workspaces: what one holds, or uses up, is missing to no other. */
import { afterEach, assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, ManagedRuntime, Result } from "effect"
import type { Socket } from "node:net"
import { Outbound, type OutboundOptions } from "../../src/outbound/Outbound.ts"
import { eventually } from "../waiting.ts"
import { type RawServer, rawServer } from "./servers.ts"

const ends: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const serve = async (answer: Parameters<typeof rawServer>[0]): Promise<RawServer> => {
  const server = await rawServer(answer)
  ends.push(server.stop)
  return server
}

/** Every name leads to this machine. */
const outbound = async (options: Partial<OutboundOptions> = {}) => {
  const runtime = ManagedRuntime.make(
    Outbound.layer({
      allowPrivateNetwork: true,
      resolve: (_, done) => setImmediate(() => done(null, [{ address: "127.0.0.1", family: 4 }])),
      ...options
    })
  )
  ends.push(() => runtime.dispose())
  return await runtime.runPromise(Outbound)
}

/** Keeps its connections for as long as it is let. */
const answers = (socket: Socket) =>
  socket.write("HTTP/1.1 200 OK\r\nconnection: keep-alive\r\nkeep-alive: timeout=60\r\ncontent-length: 1\r\n\r\nx")

const asking = async (options?: Partial<OutboundOptions>) => {
  const client = await outbound(options)
  const request = (workspace: string, url: string) =>
    client.request({ workspace, method: "GET", url, timeoutMs: 10_000, maxBytes: 1_000 })
  const ask = async (workspace: string, url: string) => {
    const result = await Effect.runPromise(Effect.result(request(workspace, url)))
    return Result.isSuccess(result) ? result.success.body : `${result.failure.reason}: ${result.failure.message}`
  }
  /** A request that nobody answers: how to end it. */
  const hang = (workspace: string, url: string) => {
    const fiber = Effect.runFork(request(workspace, url))
    return () => Effect.runPromise(Fiber.interrupt(fiber))
  }
  return { ask, hang }
}

const tooManyHosts = "connect: the workspace is asking too many hosts at once"
const tooManyConnections = "connect: the workspace has too many connections open"

describe("a workspace's connections", () => {
  it("leave others theirs: after 2,048 hosts of one, another asks its own, and so does the first", {
    timeout: 60_000
  }, async () => {
    const server = await serve(answers)
    const { ask } = await asking()
    for (let i = 0; i < 2_048; i += 64) {
      const told = await Promise.all(
        Array.from({ length: 64 }, (_, j) => ask("wsp_a", `http://h${i + j}.example:${server.port}/`))
      )
      assert.deepStrictEqual(new Set(told), new Set(["x"]))
    }
    assert.strictEqual(await ask("wsp_b", `http://victim.example:${server.port}/`), "x")
    assert.strictEqual(await ask("wsp_a", `http://another.example:${server.port}/`), "x")
  })

  it("make room among its own hosts, the least recently used first; hosts in use stay, and only where all are the next is refused", async () => {
    const heard: Array<string> = []
    const server = await serve((socket, head) => {
      heard.push(/host: (\w+)/.exec(head)?.[1] ?? "")
      if (!head.includes("/hang")) answers(socket)
    })
    const url = (host: string, path = "") => `http://${host}.example:${server.port}/${path}`
    const { ask, hang } = await asking({ pools: { origins: 2 } })
    const ends = [hang("wsp_a", url("one", "hang"))]
    await eventually(() => heard.length === 1, "the first is asked")
    assert.deepStrictEqual(
      [await ask("wsp_a", url("two")), await ask("wsp_a", url("three")), await ask("wsp_a", url("one"))],
      ["x", "x", "x"]
    )
    ends.push(hang("wsp_a", url("three", "hang")))
    await eventually(() => heard.filter((host) => host === "three").length === 2, "both are asked")
    assert.deepStrictEqual(
      [await ask("wsp_a", url("four")), await ask("wsp_b", url("four")), await ask("wsp_a", url("three"))],
      [tooManyHosts, "x", "x"]
    )
    await ends.pop()?.()
    await eventually(async () => (await ask("wsp_a", url("four"))) === "x", "its room is free again")
    for (const end of ends) await end()
  })

  it("are bounded in number, over all its hosts: at the bound all are served, past it those that nobody uses are closed, then its next is refused", async () => {
    let open = 0
    let most = 0
    const server = await serve((socket, head) => {
      if (!head.includes("/hang")) answers(socket)
    })
    const count = await serve((socket, head) => {
      most = Math.max(most, ++open)
      socket.once("close", () => open--)
      if (!head.includes("/hang")) answers(socket)
    })
    const { ask, hang } = await asking({ pools: { connections: 3 } })
    for (const host of ["a", "b", "c", "d", "e"])
      assert.strictEqual(await ask("wsp_a", `http://${host}.example:${count.port}/`), "x")
    assert.strictEqual(count.connections(), 5)
    assert.isAtMost(most, 4, "one may still be closing while the next opens")
    const ends = [1, 2, 3].map((i) => hang("wsp_a", `http://h${i}.example:${server.port}/hang`))
    await eventually(() => server.connections() === 3, "three are open")
    assert.strictEqual(await ask("wsp_a", `http://h4.example:${server.port}/`), tooManyConnections)
    assert.strictEqual(await ask("wsp_b", `http://h4.example:${server.port}/`), "x")
    await ends.pop()?.()
    await eventually(
      async () => (await ask("wsp_a", `http://h4.example:${server.port}/`)) === "x",
      "its room is free again"
    )
    for (const end of ends) await end()
  })

  it("are no longer kept than this server wants, whatever the peer's wish", async () => {
    const server = await serve(answers)
    const { ask } = await asking({ pools: { keepAliveMs: 500 } })
    assert.strictEqual(await ask("wsp_a", server.url), "x")
    await server.allClosed()
  })

  it("are closed once too many other workspaces have asked since; nothing in use is", async () => {
    const server = await serve((socket, head) => {
      if (!head.includes("/hang")) answers(socket)
    })
    const { ask, hang } = await asking({ pools: { workspaces: 2 } })
    const end = hang("wsp_a", `${server.url}/hang`)
    await eventually(() => server.connections() === 1, "it is connected")
    for (const workspace of ["wsp_b", "wsp_c", "wsp_d"]) assert.strictEqual(await ask(workspace, server.url), "x")
    assert.strictEqual(await ask("wsp_b", server.url), "x", "a new connection, since its own was closed")
    assert.strictEqual(server.connections(), 5)
    await end()
  })

  it("are not shared: two workspaces that ask one host have a connection each", async () => {
    const server = await serve(answers)
    const { ask } = await asking()
    for (const workspace of ["wsp_a", "wsp_b"]) assert.strictEqual(await ask(workspace, server.url), "x")
    assert.strictEqual(server.connections(), 2)
  })
})
