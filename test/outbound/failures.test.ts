/** Redirects, which are not followed, and answers that are none. */
import { assert, describe, it } from "@effect/vitest"
import type { Socket } from "node:net"
import { gzipSync } from "node:zlib"
import { rawServer } from "./servers.ts"
import { head, makeOutboundTools, names, says } from "./asking.ts"

const { fails, serve } = makeOutboundTools()

describe("redirects", () => {
  for (const status of [300, 301, 302, 303, 304, 307, 308, 399]) {
    it(`by ${status} are not followed`, async () => {
      const canary = await serve((socket) => says(socket, "canary"))
      const server = await serve((socket) =>
        says(socket, "", { location: `${canary.url}/secret` }, `${status} Elsewhere`)
      )
      const failure = await fails("redirect", server.url, { headers: { authorization: "Bearer x" } })
      assert.deepStrictEqual([failure.retryable, canary.connections()], [false, 0])
    })
  }
})

describe("what is no answer", () => {
  const broken: ReadonlyArray<readonly [string, (socket: Socket) => void, retryable: boolean]> = [
    ["a reset", (socket) => socket.resetAndDestroy(), true],
    ["an end without a word", (socket) => socket.end(), true],
    ["an end within the headers", (socket) => socket.end("HTTP/1.1 200 OK\r\nx-"), true],
    ["an end within the body", (socket) => socket.end(head({ "content-length": 10 }) + "hello"), true],
    [
      "a reset within the body",
      (socket) => socket.write(head({ "content-length": 10 }) + "hello", () => socket.resetAndDestroy()),
      true
    ],
    ["an end within a chunk", (socket) => socket.end(head({ "transfer-encoding": "chunked" }) + "ff\r\nhello"), true],
    ["another protocol", (socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"), false],
    ["a status that is none", (socket) => socket.write("HTTP/1.1 abc OK\r\n\r\n"), false],
    ["a status beyond the last", (socket) => says(socket, "", {}, "700 Odd"), false],
    [
      "two lengths",
      (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx"),
      false
    ],
    [
      "a length and chunks",
      (socket) => socket.write(head({ "content-length": 5, "transfer-encoding": "chunked" }) + "0\r\n\r\n"),
      false
    ],
    [
      "a change of protocols",
      (socket) => socket.write(head({ upgrade: "websocket", connection: "upgrade" }, "101 Switching Protocols")),
      true
    ],
    ["a header that is none", (socket) => socket.write("HTTP/1.1 200 OK\r\nno header\r\n\r\n"), false],
    ["gzip that is none", (socket) => says(socket, "hello", { "content-encoding": "gzip" }), false],
    [
      "gzip that is cut",
      (socket) => says(socket, gzipSync("hello").subarray(0, 15), { "content-encoding": "gzip" }),
      false
    ],
    ["brotli that is none", (socket) => says(socket, "\xff\xffhello", { "content-encoding": "br" }), false],
    ["a coding that nobody asked for", (socket) => says(socket, "hello", { "content-encoding": "zstd" }), false],
    ["two codings", (socket) => says(socket, gzipSync(gzipSync("hello")), { "content-encoding": "gzip, gzip" }), false]
  ]
  for (const [what, answer, retryable] of broken) {
    it(`${what} fails`, async () => {
      const server = await serve(answer)
      assert.strictEqual((await fails("protocol", server.url, { timeoutMs: 5_000 })).retryable, retryable)
    })
  }

  it("a port where nobody listens fails as no connection", async () => {
    const server = await rawServer(() => {})
    await server.stop()
    assert.isTrue((await fails("connect", server.url)).retryable)
  })

  it("a server that speaks no TLS fails as no connection", async () => {
    const server = await serve(() => {})
    const failure = await fails("connect", server.url.replace("http:", "https:"), {}, { connectMs: 1_000 })
    assert.isTrue(failure.retryable)
  })

  it("a request that is none fails, without a word of its secrets", async () => {
    const server = await serve((socket) => says(socket, "x"))
    const failure = await fails("protocol", server.url, { headers: { authorization: "Bearer a\r\nb" } })
    assert.notInclude(failure.message, "Bearer")
    assert.strictEqual(server.connections(), 0)
    await fails("protocol", server.url, { method: "GET /x HTTP/1.1" })
  })

  it("says nothing of addresses, paths and secrets", async () => {
    const server = await serve((socket) => socket.resetAndDestroy())
    const { port } = server
    const told = [
      await fails("protocol", `${server.url}/path-canary?q=canary`, {
        headers: { authorization: "Bearer canary" },
        body: "canary",
        method: "POST"
      }),
      await fails("connect", "http://name.example:1/path-canary", {}, names(["127.0.0.1"])),
      await fails(
        "forbidden_address",
        "https://name.example/path-canary",
        {},
        { allowPrivateNetwork: false, ...names(["10.11.12.13"]) }
      )
    ]
    for (const { message } of told) assert.notMatch(message, new RegExp(`canary|127\\.0|10\\.11|${port}`))
  })
})
