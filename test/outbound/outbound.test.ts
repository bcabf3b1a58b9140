/** What is asked and answered, how much of it, and for how long. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, ManagedRuntime, Result } from "effect"
import type { Socket } from "node:net"
import { gzipSync } from "node:zlib"
import { Outbound } from "../../src/outbound/Outbound.ts"
import { drip, endlessly } from "./servers.ts"
import { asked, codings, head, makeOutboundTools, names, says } from "./asking.ts"

const { body, ends, fails, outbound, serve } = makeOutboundTools()

describe("an exchange", () => {
  it("sends method, headers and body, and reads status, headers and body", async () => {
    const server = await serve((socket) => says(socket, "grüße", { "x-one": "1" }, "418 I'm a teapot"))
    const answer = await body(`${server.url}/a/b?c=d#e`, { method: "POST", headers: { "x-two": "2" }, body: "hällo" })
    assert.deepStrictEqual([answer.status, answer.headers["x-one"], answer.body], [418, "1", "grüße"])
    const [sent = ""] = server.heard
    assert.match(sent, /^POST \/a\/b\?c=d HTTP\/1\.1\r\n/)
    assert.match(sent, /\r\nx-two: 2\r\n/)
    assert.match(sent, /\r\ncontent-length: 6\r\n\r\n/)
  })

  it("keeps connections for the next ones", async () => {
    const server = await serve((socket) => says(socket, "x"))
    const client = await outbound()
    for (let i = 0; i < 10; i++) await Effect.runPromise(client.request(asked(server.url)))
    // A connection is free a moment after its body has ended: another one may have been opened by then.
    assert.isAtMost(server.connections(), 2)
  })

  it("keeps no cookies, and sends none", async () => {
    const server = await serve((socket) => says(socket, "x", { "set-cookie": "a=b" }))
    const client = await outbound()
    const first = await Effect.runPromise(client.request(asked(server.url)))
    await Effect.runPromise(client.request(asked(server.url)))
    assert.notProperty(first.headers, "set-cookie")
    assert.notMatch(server.heard.join(""), /cookie/i)
  })

  it("does not use a proxy of the environment", async () => {
    const proxy = await serve((socket) => says(socket, "proxy"))
    const server = await serve((socket) => says(socket, "server"))
    const set = { http_proxy: proxy.url, HTTP_PROXY: proxy.url, NODE_USE_ENV_PROXY: "1" }
    Object.assign(process.env, set)
    ends.push(async () => {
      for (const name of Object.keys(set)) delete process.env[name]
    })
    assert.deepStrictEqual([(await body(server.url)).body, proxy.connections()], ["server", 0])
  })

  for (const [coding, encode] of [...codings, ["x-gzip", gzipSync], ["GZIP", gzipSync]] as const) {
    it(`decodes ${coding}`, async () => {
      const server = await serve((socket) => says(socket, encode("hello"), { "content-encoding": coding }))
      const answer = await body(server.url)
      assert.deepStrictEqual(
        [answer.body, answer.headers["content-encoding"], answer.headers["content-length"]],
        ["hello", undefined, undefined]
      )
    })
  }

  it("takes an empty body whatever its coding is said to be", async () => {
    const server = await serve((socket, text) =>
      text.includes("/204")
        ? socket.write(head({ "content-encoding": "gzip" }, "204 No Content"))
        : says(socket, "", { "content-encoding": "gzip" })
    )
    assert.deepStrictEqual([(await body(server.url)).body, (await body(`${server.url}/204`)).status], ["", 204])
  })

  it("reads bytes that are no UTF-8 as replacement characters", async () => {
    const server = await serve((socket) => says(socket, Uint8Array.of(0x61, 0xff, 0x62)))
    assert.strictEqual((await body(server.url)).body, "a\uFFFDb")
  })
})

describe("sizes", () => {
  it("of a body are taken at the cap, and refused one past it", async () => {
    const server = await serve((socket, text) => says(socket, "x".repeat(Number(/\d+/.exec(text)?.[0]))))
    assert.strictEqual((await body(`${server.url}/1000`)).body.length, 1_000)
    await fails("too_large", `${server.url}/1001`)
  })

  it("are counted where no length was told", async () => {
    const server = await serve((socket, text) => {
      socket.write(head({ "transfer-encoding": "chunked" }))
      const bytes = Number(/\d+/.exec(text)?.[0])
      for (let i = 0; i < bytes; i++) socket.write("1\r\nx\r\n")
      socket.write("0\r\n\r\n")
    })
    assert.strictEqual((await body(`${server.url}/1000`)).body.length, 1_000)
    await fails("too_large", `${server.url}/1001`)
  })

  it("end an endless body at the cap, and its connection", async () => {
    const server = await serve((socket) => {
      socket.write(head({ "content-type": "text/plain" }))
      endlessly(socket, "x".repeat(10_000))
    })
    await fails("too_large", server.url)
    await server.allClosed()
  })

  for (const [coding, encode] of codings) {
    it(`of a ${coding} body are those of what is decoded: at the cap and one past it`, async () => {
      const server = await serve((socket, text) =>
        says(socket, encode("x".repeat(Number(/\d+/.exec(text)?.[0]))), { "content-encoding": coding })
      )
      assert.strictEqual((await body(`${server.url}/1000`)).body.length, 1_000)
      await fails("too_large", `${server.url}/1001`)
    })

    it(`hold a ${coding} bomb off without decoding it`, async () => {
      const bomb = encode(Buffer.alloc(128 * 1024 * 1024))
      const server = await serve((socket) => says(socket, bomb, { "content-encoding": coding }))
      const before = process.memoryUsage().rss
      await fails("too_large", server.url, { maxBytes: 512 * 1024 })
      assert.isBelow(process.memoryUsage().rss - before, 50 * 1024 * 1024)
    })
  }

  it("count what comes too: compressed nothing that never ends is refused", async () => {
    const server = await serve((socket) => {
      socket.write(head({ "content-encoding": "gzip" }))
      endlessly(socket, gzipSync(""))
    })
    await fails("too_large", server.url)
    await server.allClosed()
  })

  it("are refused by the length that is told, before a body comes", async () => {
    const server = await serve((socket) => socket.write(head({ "content-length": 1_001 })))
    await fails("too_large", server.url)
  })

  it("of headers are capped, endless ones too", async () => {
    const large = await serve((socket) => says(socket, "x", { "x-large": "y".repeat(17_000) }))
    await fails("too_large", large.url)
    const endless = await serve((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n")
      endlessly(socket, "x-more: y\r\n")
    })
    await fails("too_large", endless.url)
    await endless.allClosed()
  })
})

describe("time", () => {
  const silent = () => {}
  const slow: ReadonlyArray<readonly [string, (socket: Socket) => void]> = [
    ["no answer at all", silent],
    [
      "headers that drip",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n")
        drip(socket, "x", 20)
      }
    ],
    ["informational answers without end", (socket) => drip(socket, "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n", 20)],
    ["a body that does not come", (socket) => socket.write(head({ "content-length": 10 }))],
    [
      "a body that drips",
      (socket) => {
        socket.write(head({ "content-type": "text/plain" }))
        drip(socket, "x", 20)
      }
    ],
    [
      "a compressed body that hangs",
      (socket) => {
        socket.write(head({ "content-encoding": "gzip" }))
        socket.write(gzipSync("hello").subarray(0, 15))
      }
    ]
  ]
  for (const [what, answer] of slow) {
    it(`is over for ${what}, and the connection closed`, async () => {
      const server = await serve(answer)
      const began = performance.now()
      const failure = await fails("timeout", server.url, { timeoutMs: 300, maxBytes: 1_000_000 })
      assert.isTrue(failure.retryable)
      assert.isBelow(performance.now() - began, 2_000)
      await server.allClosed()
    })
  }

  it("for a connection is short: a name that is not resolved", async () => {
    const failure = await fails("connect", "http://a.example", {}, { connectMs: 200, resolve: () => {} })
    assert.isTrue(failure.retryable)
  })

  it("ends with an interruption: the connection is closed", async () => {
    let arrived: () => void = () => {}
    const waiting = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const server = await serve(() => arrived())
    const client = await outbound()
    const fiber = Effect.runFork(client.request(asked(server.url)))
    await waiting
    await Effect.runPromise(Fiber.interrupt(fiber))
    await server.allClosed()
  })

  it("ends with the client's own end: what is under way fails, and nothing hangs", async () => {
    let arrived: () => void = () => {}
    const waiting = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const server = await serve(() => arrived())
    const runtime = ManagedRuntime.make(Outbound.layer({ allowPrivateNetwork: true }))
    const client = await runtime.runPromise(Outbound)
    const running = Effect.runPromise(Effect.result(client.request(asked(server.url))))
    await waiting
    await runtime.dispose()
    assert.isTrue(Result.isFailure(await running))
  })
})

it("a server is let go once its connections are idle for long, and many hosts do not add up", async () => {
  const server = await serve((socket) => {
    socket.end(head({ connection: "close", "content-length": 1 }) + "x")
  })
  const client = await outbound(names(["127.0.0.1"]))
  for (let i = 0; i < 2_100; i += 100) {
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, j) =>
        Effect.runPromise(client.request(asked(`http://h${i + j}.example:${server.port}/`)))
      )
    )
    assert.isTrue(results.every(({ body }) => body === "x"))
  }
  assert.strictEqual(server.connections(), 2_100)
  await server.allClosed()
})
