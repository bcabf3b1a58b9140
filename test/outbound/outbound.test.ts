import { afterEach, assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, ManagedRuntime, Result } from "effect"
import type { LookupAddress } from "node:dns"
import type { Socket } from "node:net"
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib"
import type { Resolve } from "../../src/outbound/connector.ts"
import { Outbound, type OutboundOptions, type OutboundRequest } from "../../src/outbound/Outbound.ts"
import { OutboundFailure, type OutboundReason } from "../../src/outbound/OutboundFailure.ts"
import { drip, endlessly, type RawServer, rawServer } from "./servers.ts"

const ends: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const serve = async (answer: Parameters<typeof rawServer>[0], host?: string): Promise<RawServer> => {
  const server = await rawServer(answer, host)
  ends.push(server.stop)
  return server
}

/** A client of its own: open where the test's server is on this machine. */
const outbound = async (options: Partial<OutboundOptions> = {}) => {
  const runtime = ManagedRuntime.make(Outbound.layer({ allowPrivateNetwork: true, ...options }))
  ends.push(() => runtime.dispose())
  return runtime.runPromise(Outbound)
}

const asked = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  workspace: "wsp_a",
  method: "GET",
  url,
  timeoutMs: 10_000,
  maxBytes: 1_000,
  ...more
})

const ask = async (url: string, more: Partial<OutboundRequest> = {}, options: Partial<OutboundOptions> = {}) => {
  const client = await outbound(options)
  return Effect.runPromise(Effect.result(client.request(asked(url, more))))
}

const fails = async (
  reason: OutboundReason,
  url: string,
  more: Partial<OutboundRequest> = {},
  options: Partial<OutboundOptions> = {}
) => {
  const result = await ask(url, more, options)
  if (Result.isSuccess(result)) return assert.fail(`answered ${result.success.status}`)
  assert.strictEqual(result.failure.reason, reason, result.failure.message)
  return result.failure
}

const body = async (url: string, more: Partial<OutboundRequest> = {}) => {
  const result = await ask(url, more)
  return Result.isSuccess(result) ? result.success : assert.fail(result.failure.message)
}

const brotliSync = (data: string | Uint8Array) =>
  brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
const codings = [
  ["gzip", gzipSync],
  ["br", brotliSync],
  ["deflate", deflateSync]
] as const

const head = (headers: Readonly<Record<string, string | number>>, status = "200 OK") =>
  `HTTP/1.1 ${status}\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`
const says = (
  socket: Socket,
  content: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  status?: string
) => {
  socket.write(head({ "content-length": Buffer.byteLength(content), ...headers }, status))
  socket.write(content)
}

/** Names to addresses, one list per look-up; the last one stays. */
const names = (...answers: ReadonlyArray<ReadonlyArray<string>>) => {
  let asked = 0
  const resolve: Resolve = (_, done) => {
    const found = answers[Math.min(asked++, answers.length - 1)] ?? []
    setImmediate(() =>
      done(
        null,
        found.map((address): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 }))
      )
    )
  }
  return { resolve, asked: () => asked }
}

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

describe("the guard", () => {
  const closedNet = { allowPrivateNetwork: false }

  it("connects to nothing private: not by address, not by name", async () => {
    const canary = await serve((socket) => says(socket, "canary"))
    for (const host of ["127.0.0.1", "2130706433", "0x7f000001", "0177.1", "[::ffff:7f00:1]", "127.1", "127.0.0.1."]) {
      await fails("forbidden_address", `https://${host}:${canary.port}/`, {}, closedNet)
    }
    for (const name of ["localhost", "LOCALHOST"])
      await fails("forbidden_address", `https://${name}:${canary.port}/`, {}, closedNet)
    for (const address of [
      "127.0.0.1",
      "::1",
      "::ffff:127.0.0.1",
      "10.0.0.1",
      "169.254.169.254",
      "fe80::1",
      "fd00::1",
      "100.64.0.1",
      "0.0.0.0",
      "::",
      "64:ff9b::7f00:1",
      "::127.0.0.1"
    ]) {
      await fails(
        "forbidden_address",
        `https://name.example:${canary.port}/`,
        {},
        { ...closedNet, ...names([address]) }
      )
    }
    assert.strictEqual(canary.connections(), 0)
  })

  it("refuses a name as soon as one of its addresses is private, whatever the order", async () => {
    const canary = await serve((socket) => says(socket, "canary"))
    for (const addresses of [
      ["8.8.8.8", "127.0.0.1"],
      ["127.0.0.1", "8.8.8.8"],
      ["2606:4700::1111", "8.8.8.8", "::1"]
    ]) {
      await fails(
        "forbidden_address",
        `https://name.example:${canary.port}/`,
        {},
        { ...closedNet, ...names(addresses) }
      )
    }
    assert.strictEqual(canary.connections(), 0)
  })

  it("looks a name up once a connection: what it answers the next time is not connected to", async () => {
    const canary = await serve((socket) => says(socket, "canary"))
    // Public at first, then this machine: a second look-up between check and connection would reach the canary.
    const rebinding = names(["203.0.113.1"], ["127.0.0.1"])
    await fails("forbidden_address", `https://name.example:${canary.port}/`, {}, { ...closedNet, ...rebinding })
    assert.strictEqual(rebinding.asked(), 1)
    const later = names(["192.0.2.1"], ["127.0.0.1"])
    const client = await outbound({ ...closedNet, ...later })
    for (let i = 0; i < 3; i++) {
      const result = await Effect.runPromise(
        Effect.result(client.request(asked(`https://name.example:${canary.port}/`)))
      )
      assert.isTrue(Result.isFailure(result) && result.failure.reason === "forbidden_address")
    }
    assert.deepStrictEqual([later.asked(), canary.connections()], [3, 0])
  })

  it("connects to the address that was checked, not to what the name leads to by then", async () => {
    const server = await serve((socket) => says(socket, "checked"))
    const other = await serve((socket) => says(socket, "other"), "127.0.0.2")
    const changing = names(["127.0.0.1"], ["127.0.0.2"])
    const client = await outbound(changing)
    const answer = await Effect.runPromise(client.request(asked(`http://name.example:${server.port}/`)))
    assert.deepStrictEqual([answer.body, changing.asked(), other.connections()], ["checked", 1, 0])
    assert.match(server.heard[0] ?? "", /\r\nhost: name\.example:/)
  })

  it("is not led astray by a Host header", async () => {
    const canary = await serve((socket) => says(socket, "canary"))
    await fails(
      "forbidden_address",
      `https://127.0.0.1:${canary.port}/`,
      { headers: { host: "public.example" } },
      closedNet
    )
    await fails(
      "forbidden_address",
      `https://name.example:${canary.port}/`,
      { headers: { host: "8.8.8.8" } },
      { ...closedNet, ...names(["127.0.0.1"]) }
    )
    assert.strictEqual(canary.connections(), 0)
  })

  it("asks only https, unless private networks are allowed", async () => {
    const canary = await serve((socket) => says(socket, "canary"))
    await fails("forbidden_url", canary.url, {}, closedNet)
    for (const url of ["ftp://a.example", "file:///etc/passwd", "data:,x", "nonsense", ""])
      await fails("forbidden_url", url)
    assert.strictEqual(canary.connections(), 0)
  })

  it("asks allowed hosts only, before any look-up", async () => {
    const server = await serve((socket) => says(socket, "x"))
    const lookups = names(["127.0.0.1"])
    await fails(
      "forbidden_url",
      `http://other.example:${server.port}/`,
      { reach: { hosts: ["name.example"] } },
      lookups
    )
    await fails("forbidden_url", `http://name.example:${server.port}/`, { reach: { hosts: [] } }, lookups)
    assert.deepStrictEqual([lookups.asked(), server.connections()], [0, 0])
    assert.isTrue(
      Result.isSuccess(
        await ask(`http://name.example:${server.port}/`, { reach: { hosts: ["name.example"] } }, lookups)
      )
    )
  })

  it("fails as no connection for a name that leads nowhere", async () => {
    await fails("connect", "http://name.example/", {}, names([]))
    await fails(
      "connect",
      "http://name.example/",
      {},
      { resolve: (_, done) => done(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }), []) }
    )
  })

  it("says of a URL why it would be refused", async () => {
    const [open, closed] = [await outbound(), await outbound(closedNet)]
    assert.deepStrictEqual(
      ["https://a.example", "http://a.example", "https://10.0.0.1", "https://169.254.169.254"].map((url) => [
        closed.refuses(url)?.reason,
        open.refuses(url)?.reason
      ]),
      [
        [undefined, undefined],
        ["forbidden_url", undefined],
        ["forbidden_address", undefined],
        ["forbidden_address", "forbidden_address"]
      ]
    )
  })
})

describe("fetch", () => {
  const rejected = async (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => assert.fail("resolved"),
      (error) => error
    )
  const reasonOf = async (promise: Promise<unknown>) => {
    const error = await rejected(promise)
    return error instanceof OutboundFailure ? error.reason : error
  }

  it("takes what fetch takes, and answers with a Response", async () => {
    const server = await serve((socket) => says(socket, `{"a":1}`, { "content-type": "application/json" }))
    const fetch = (await outbound()).fetch("wsp_a")
    const response = await fetch(
      new Request(`${server.url}/x`, { method: "POST", body: new URLSearchParams({ q: "1" }) })
    )
    assert.instanceOf(response, Response)
    assert.deepStrictEqual(
      [response.ok, response.headers.get("content-type"), await response.json()],
      [true, "application/json", { a: 1 }]
    )
    assert.match(
      server.heard[0] ?? "",
      /content-type: application\/x-www-form-urlencoded.*\r\ncontent-length: 3\r\n\r\nq=1$/s
    )
    assert.strictEqual(await (await fetch(new URL(server.url))).text(), `{"a":1}`)
  })

  it("streams a body as it comes, also through gzip", async () => {
    const { promise: resumed, resolve: resume } = Promise.withResolvers<void>()
    const server = await serve((socket) => {
      socket.write(head({ "content-type": "text/event-stream", "transfer-encoding": "chunked" }))
      socket.write("7\r\ndata: 1\r\n")
      resumed.then(() => socket.write("7\r\ndata: 2\r\n0\r\n\r\n"))
    })
    const response = await (await outbound()).fetch("wsp_a")(server.url)
    const reader = response.body?.getReader()
    assert.strictEqual(Buffer.from((await reader?.read())?.value ?? []).toString(), "data: 1")
    resume()
    assert.strictEqual(Buffer.from((await reader?.read())?.value ?? []).toString(), "data: 2")
    assert.isTrue((await reader?.read())?.done)
  })

  it("fails with the guard's failures: forbidden, redirected, too large, late", async () => {
    const server = await serve((socket, text) => {
      if (text.includes("/redirect")) says(socket, "", { location: "/" }, "302 Found")
      else if (text.includes("/large")) says(socket, "x".repeat(2_000))
      else if (text.includes("/endless")) {
        socket.write(head({}))
        endlessly(socket, "x".repeat(500))
      } else if (text.includes("/drip")) {
        socket.write(head({}))
        drip(socket, "x", 20)
      }
    })
    const fetch = (await outbound()).fetch("wsp_a", { headerTimeoutMs: 200, bodyTimeoutMs: 300, maxBytes: 1_000 })
    assert.deepStrictEqual(
      [
        await reasonOf(fetch("http://169.254.169.254/")),
        await reasonOf(fetch(`${server.url}/redirect`, { redirect: "follow" })),
        await reasonOf(fetch(`${server.url}/large`)),
        await reasonOf(fetch(`${server.url}/endless`).then((response) => response.text())),
        await reasonOf(fetch(`${server.url}/silent`)),
        await reasonOf(fetch(`${server.url}/drip`).then((response) => response.text()))
      ],
      ["forbidden_address", "redirect", "too_large", "too_large", "timeout", "timeout"]
    )
    await server.allClosed()
  })

  it("ends with the caller's signal, before the headers and within the body", async () => {
    const server = await serve((socket, text) => {
      if (text.includes("/body")) socket.write(head({}) + "x")
    })
    const fetch = (await outbound()).fetch("wsp_a")
    const reason = new Error("enough")
    assert.strictEqual(await rejected(fetch(server.url, { signal: AbortSignal.abort(reason) })), reason)
    assert.strictEqual(server.connections(), 0)
    const early = new AbortController()
    const waiting = rejected(fetch(server.url, { signal: early.signal }))
    while (server.connections() === 0) await new Promise(setImmediate)
    early.abort(reason)
    assert.strictEqual(await waiting, reason)
    const late = new AbortController()
    const response = await fetch(`${server.url}/body`, { signal: late.signal })
    const reading = rejected(response.text())
    late.abort(reason)
    assert.strictEqual(await reading, reason)
    await server.allClosed()
  })

  it("closes the connection of a body that is not wanted, or never read", async () => {
    const server = await serve((socket) => {
      socket.write(head({}) + "x")
    })
    const client = await outbound()
    await (await client.fetch("wsp_a")(server.url)).body?.cancel()
    await server.allClosed()
    // Nobody reads this one: its time runs out.
    await client.fetch("wsp_a", { bodyTimeoutMs: 200 })(server.url)
    await server.allClosed()
    assert.strictEqual(server.connections(), 2)
  })

  it("gives a null body where there is none, and the connection back", async () => {
    const server = await serve((socket) => socket.write(head({}, "204 No Content")))
    const fetch = (await outbound()).fetch("wsp_a")
    for (let i = 0; i < 10; i++) {
      const response = await fetch(server.url)
      assert.deepStrictEqual([response.status, response.body], [204, null])
    }
    assert.isAtMost(server.connections(), 2)
  })

  it("asks allowed hosts only", async () => {
    const server = await serve((socket) => says(socket, "x"))
    const client = await outbound()
    assert.strictEqual(
      await reasonOf(client.fetch("wsp_a", { reach: { hosts: ["a.example"] } })(server.url)),
      "forbidden_url"
    )
    assert.strictEqual((await client.fetch("wsp_a", { reach: { hosts: ["127.0.0.1"] } })(server.url)).status, 200)
  })

  it("refuses URLs with credentials as fetch does", async () => {
    const error = await rejected((await outbound()).fetch("wsp_a")("https://u:p@a.example"))
    assert.instanceOf(error, Error)
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
