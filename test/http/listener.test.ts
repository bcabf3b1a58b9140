/** The listener under clients that pipeline, do not read, or send slowly. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { makePeers, makeServer, portOf } from "../../http/listen.ts"
import { paceDefaults } from "../../http/Peers.ts"
import { RateLimit } from "../../http/RateLimit.ts"
import { Line, request } from "./socket.ts"
import { serving } from "./tiny.ts"
import { answered, listenerStand, note, pause, thread } from "./listenerFixture.ts"

const { acceptedBy, found, key, watch, world } = listenerStand()
const patient = await serving(world, RateLimit.off, { observe: watch })
const pace = { answerMs: 400, idleMs: 400, silenceMs: 400, windowMs: 400, windowBytes: 256, sweepMs: 50 }
const strict = await serving(world, RateLimit.off, { observe: watch, pace })
/** With more patience than a loaded machine takes to turn to a socket. */
const steady = await serving(world, RateLimit.off, {
  observe: watch,
  pace: { ...pace, silenceMs: 5_000, windowMs: 1_000 }
})

/** Whose requests wait for answers that nobody reads. */
const crowded = await serving(world, RateLimit.off)

const isSpan = (body: unknown): body is { readonly from: number; readonly to: number } =>
  typeof body === "object" && body !== null && "from" in body && "to" in body

describe("connections that are made while the event loop is busy", () => {
  it("wait, more than a thousand of them: none has to be tried again", async () => {
    const { hostname, port } = new URL(patient)
    const connected = new Int32Array(new SharedArrayBuffer(8))
    const client = new Worker(
      `const { connect } = require("node:net")
      const { connected, hostname, port } = require("node:worker_threads").workerData
      for (let i = 0; i < 1_200; i++)
        connect(port, hostname, () => Atomics.add(connected, 0, 1)).on("error", () => {})`,
      { eval: true, workerData: { connected, hostname, port: Number(port) } }
    )
    await once(client, "online")
    // A second until the kernel would have a client try again.
    for (const until = performance.now() + 950; performance.now() < until && Atomics.load(connected, 0) < 1_200; )
      Atomics.wait(connected, 0, Atomics.load(connected, 0), 20)
    const during = Atomics.load(connected, 0)
    await client.terminate()
    assert.strictEqual(during, 1_200)
  })
})

describe("requests of one connection", () => {
  it("are answered in order, and each begins when the one before was answered", async () => {
    const line = new Line(patient).send([60, 0, 30].map((ms) => request("GET", `/v1/pause?ms=${ms}`, key)).join(""))
    await line.until(({ bodies }) => bodies.length === 3)
    line.close()
    const spans = line.bodies.filter(isSpan)
    assert.deepStrictEqual(line.statuses, [200, 200, 200])
    assert.isAtLeast(spans[0]!.to - spans[0]!.from, 55)
    for (const [i, { from }] of spans.entries()) if (i > 0) assert.isAtLeast(from, spans[i - 1]!.to)
  })

  it("do not begin while one before them is unanswered", async () => {
    found.length = 0
    const line = new Line(patient).send(
      request("GET", "/v1/pause?ms=400", key) + request("GET", "/v1/pause?ms=0", key).repeat(98)
    )
    while (found.length === 0) await pause(1)
    // Another connection's, which came later, is found and answered meanwhile.
    await answered(patient)
    assert.deepStrictEqual(found, ["/v1/pause?ms=400", "/healthz"])
    await line.until(({ statuses }) => statuses.length === 99)
    line.close()
  })

  it("of one packet leave others their turn", async () => {
    const [flood, other] = [new Line(patient), new Line(patient)]
    await Promise.all([once(flood.socket, "connect"), once(other.socket, "connect")])
    found.length = 0
    flood.send(request("GET", "/healthz").repeat(99))
    other.send(request("GET", "/v1/nothing", key))
    await other.until(({ statuses }) => statuses.length === 1)
    assert.isBelow(found.indexOf("/v1/nothing"), 70)
    await flood.until(({ statuses }) => statuses.length === 99)
    flood.close()
    other.close()
  })

  it.each([100, 101, 200])(
    "that are %i in a row get a hundred answers: the last one says that the connection ends with it",
    async (many) => {
      found.length = 0
      const line = await new Line(patient).send(request("GET", "/healthz").repeat(many)).untilClosed()
      assert.deepStrictEqual(
        line.statuses,
        Array.from({ length: 100 }, () => 200)
      )
      assert.lengthOf(found, 100)
      assert.lengthOf([...line.text.matchAll(/connection: close/gi)], 1)
      assert.isAbove(line.text.search(/connection: close/i), line.text.lastIndexOf("HTTP/1.1 200"))
    }
  )

  it("that are twice as many are cut off", async () => {
    found.length = 0
    const line = await new Line(patient).send(request("GET", "/healthz").repeat(1_800)).untilClosed()
    assert.isAtMost(line.statuses.length, 1)
    assert.lengthOf(found, 1)
  })

  it("that come behind twice as many in one read are not begun by Node either", async () => {
    let begun = 0
    const count = () => {
      begun++
    }
    subscribe("http.server.request.start", count)
    await new Line(patient).send(request("GET", "/healthz").repeat(1_800)).untilClosed()
    unsubscribe("http.server.request.start", count)
    assert.strictEqual(begun, 201)
  })

  it("that wait for the answers before them may be as many as they like", async () => {
    const line = new Line(patient)
    for (let asked = 1; asked <= 250; asked++) {
      line.send(request("GET", "/healthz"))
      await line.until(({ statuses }) => statuses.length === asked)
    }
    assert.isFalse(line.closed)
    line.close()
  })

  it("are told apart wherever packets end, whatever bodies they have", async () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    let state = seed
    const next = (most: number) => {
      state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0
      return 1 + ((state >>> 8) % most)
    }
    const chunked = (body: string) =>
      `${request("POST", `/v1/threads/${thread}/notes`, key, { headers: ["Content-Type: application/json", "Transfer-Encoding: chunked"] })}${body
        .match(/.{1,7}/gs)
        ?.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`)
        .join("")}0\r\n\r\n`
    const requests: Array<readonly [text: string, answers: string]> = Array.from({ length: 30 }, (_, i) => {
      const words = `number ${i}: \\r\\n\\r\\nGET / HTTP/1.1\\r\\n\\r\\n`
      return i % 3 === 0
        ? [request("POST", `/v1/threads/${thread}/notes`, key, { body: note(`plain ${i}`) }), `plain ${i}`]
        : i % 3 === 1
          ? [chunked(note(`chunked ${i} ${words}`)), `chunked ${i} `]
          : [request("GET", `/v1/threads/${thread}/notes?afterSeq=${i}`, key), `"afterSeq":${i}`]
    })
    const bytes = requests.map(([text]) => text).join("")
    const line = new Line(patient)
    await once(line.socket, "connect")
    line.socket.setNoDelay(true)
    for (let at = 0; at < bytes.length; ) {
      const size = next(next(2) === 1 ? 8 : 400)
      line.send(bytes.slice(at, at + size))
      at += size
      if (next(4) === 1) await pause(0)
    }
    await line.until(({ statuses }) => statuses.length === requests.length)
    line.close()
    const answers = line.text.split(/(?=HTTP\/1\.1 \d{3} )/)
    for (const [i, [, says]] of requests.entries()) {
      assert.match(answers[i]!, /^HTTP\/1\.1 200 /, `seed ${seed}`)
      assert.include(answers[i], says, `seed ${seed}`)
    }
  })

  it("that cannot be parsed end the connection after the answers before them", async () => {
    const { end, line } = await acceptedBy(patient)
    line.send(`${request("GET", "/v1/pause?ms=20", key)}NONSENSE\r\n\r\n${request("GET", "/healthz")}`)
    await line.untilClosed()
    assert.deepStrictEqual(line.statuses, [200, 400])
    // The client has left: so does the server's end, though it is not read any more.
    if (!end.destroyed) await once(end, "close")
  })

  it("that name no host are refused in their turn", async () => {
    const hostless = "GET /healthz HTTP/1.1\r\n\r\n"
    const line = new Line(patient).send(request("GET", "/v1/pause?ms=20", key) + hostless)
    await line.until(({ statuses }) => statuses.length === 2)
    line.close()
    assert.deepStrictEqual(line.statuses, [200, 400])
    assert.include(line.text, `"error":"invalid_request"`)
    assert.lengthOf([...line.text.matchAll(/x-request-id: req_/gi)], 2)
    // They wait as others, and no more of them: Node answers them itself otherwise, and holds all that came.
    const { end, line: flood } = await acceptedBy(patient)
    flood.send(request("GET", "/v1/pause?ms=60000", key) + hostless.repeat(1_800))
    if (!end.destroyed) await once(end, "close")
    assert.deepStrictEqual(flood.statuses, [])
  })

  it("that wait on all connections are ten thousand at most, on twenty if they have bodies in chunks", async () => {
    const slow = request("GET", "/v1/pause?ms=1500", key)
    const chunked = request("POST", `/v1/threads/${thread}/notes`, key, { headers: ["Transfer-Encoding: chunked"] })
    const lines = Array.from({ length: 20 }, () => new Line(crowded).send(slow + chunked))
    await Promise.race(lines.map((line) => line.untilClosed()))
    const open = lines.filter(({ closed }) => !closed)
    assert.lengthOf(open, 19)
    // Whoever sends one request after the other hears nothing of it.
    await answered(crowded)
    for (const line of open) line.close()
  })

  it("may expect something, or ask for an upgrade: they are answered as others", async () => {
    const expecting = request("GET", "/healthz", undefined, { headers: ["Expect: the-unexpected"] })
    const upgrading = request("GET", "/healthz", undefined, { headers: ["Connection: Upgrade", "Upgrade: websocket"] })
    const line = new Line(patient).send(expecting.repeat(3) + request("GET", "/healthz") + upgrading)
    await line.untilClosed()
    assert.deepStrictEqual(line.statuses, [200, 200, 200, 200, 200])
    // The connection ends with an upgrade's answer, which says so.
    assert.lengthOf([...line.text.matchAll(/connection: close/gi)], 1)
  })

  it("that come without end while an answer is not read are not read either", async () => {
    const { end, line } = await acceptedBy(patient)
    line.socket.pause()
    line.send(request("GET", "/v1/large?kib=16384", key))
    const flood = request("GET", "/healthz", undefined, { headers: [`Cookie: ${"x".repeat(1_000)}`] }).repeat(100)
    // What the kernels hold is not the server's: the client's own end tells how much goes no further.
    for (let i = 0; i < 20; i++) line.send(flood)
    for (let i = 0; i < 20; i++) await answered(patient)
    assert.isFalse(end.destroyed)
    assert.isBelow(end.bytesRead, 512 * 1024)
    line.close()
  })
})

describe("an answer", async () => {
  it.each([
    ["", undefined],
    [", however much comes of a request behind it", "x"]
  ])("of which nothing is taken for its time ends its connection%s", async (_, more) => {
    const { end, line } = await acceptedBy(strict)
    line.socket.pause()
    line.send(request("GET", "/v1/large?kib=32768", key))
    // Less than Node's buffers hold: the kernel is read all the same.
    const sending = more === undefined ? undefined : setInterval(() => line.send(more), 50)
    await once(end, "close")
    clearInterval(sending)
    line.close()
  })

  const slower = { ...pace, answerMs: 1_500, idleMs: 1_500 }
  const lenient = await serving(world, RateLimit.off, { observe: watch, pace: slower })

  it.each([
    ["", ""],
    [" where another request waits behind it", request("GET", "/healthz")]
  ])("that is taken slowly is not cut%s", async (_, behind) => {
    const { end, line } = await acceptedBy(lenient)
    line.socket.pause()
    line.send(request("GET", "/v1/large?kib=12288", key) + behind)
    const began = performance.now()
    let bytes = 0
    line.socket.removeAllListeners("data")
    while (bytes < 12_288 * 1024) {
      const chunk: Buffer | null = line.socket.read(128 * 1024) ?? line.socket.read()
      bytes += chunk?.length ?? 0
      assert.isFalse(end.destroyed, `after ${bytes} bytes`)
      await pause(40)
    }
    assert.isAbove(performance.now() - began, 2 * slower.answerMs)
    line.close()
  })

  it("of which as much waits as did before all was taken is not cut", async () => {
    const server = makeServer(makePeers(pace))
    server.on("request", async ({ socket }, response) => {
      response.flushHeaders()
      for (let i = 0; i < 2; i++) {
        await pause(2 * pace.answerMs)
        socket.cork()
        response.write("x".repeat(100))
        // As long as several looks take.
        await pause(3 * pace.sweepMs)
        socket.uncork()
      }
      response.end("the end")
    })
    await once(server.listen(0, "127.0.0.1"), "listening")
    const port = await Effect.runPromise(portOf({ address: server.address() }))
    const line = new Line(`http://127.0.0.1:${port}`).send(request("GET", "/"))
    await line.until(({ text }) => text.includes("the end"))
    line.close()
    await once(server.close(), "close")
  })

  it("of text is written in one piece", async () => {
    const { end, line } = await acceptedBy(patient)
    const gather = end._writev
    let gathered = 0
    end._writev = (...pieces) => {
      gathered++
      gather?.apply(end, pieces)
    }
    line.send(request("GET", "/v1/pause?ms=0", key))
    await line.until(({ bodies }) => bodies.length === 1)
    line.close()
    assert.strictEqual(gathered, 0)
  })

  it("that takes its time to be made is not cut", async () => {
    const line = new Line(strict).send(request("GET", `/v1/pause?ms=${3 * pace.answerMs}`, key))
    await line.until(({ statuses }) => statuses.length === 1)
    line.close()
    assert.deepStrictEqual(line.statuses, [200])
  })
})

describe("a body", () => {
  const head = (length: number) =>
    request("POST", `/v1/threads/${thread}/notes`, key, {
      headers: ["Content-Type: application/json", `Content-Length: ${length}`]
    })

  it("that does not come is 408, soon", async () => {
    const began = performance.now()
    const line = await new Line(strict).send(`${head(1_000)}{"content":`).untilClosed()
    assert.deepStrictEqual(line.statuses, [408])
    assert.include(line.text, `"error":"invalid_request"`)
    assert.isBelow(performance.now() - began, 10 * pace.silenceMs)
  })

  it("that comes by drops is 408 too", async () => {
    const line = new Line(strict).send(`${head(100_000)}{"content":`)
    const drip = setInterval(() => line.send(" "), 40)
    await line.untilClosed()
    clearInterval(drip)
    assert.deepStrictEqual(line.statuses, [408])
  })

  it("that comes slowly, but at the least pace, is taken", async () => {
    const body = note("x".repeat(8_000))
    const line = new Line(steady).send(head(body.length))
    for (let at = 0; at < body.length; at += 200) {
      await pause(40)
      line.send(body.slice(at, at + 200))
    }
    await line.until(({ statuses }) => statuses.length === 1)
    line.close()
    assert.deepStrictEqual(line.statuses, [200])
  })

  it("may come at 1 KiB a second, with pauses, and has 10 s of silence", () => {
    assert.isAtMost((paceDefaults.windowBytes / paceDefaults.windowMs) * 1_000, 0.5 * 1024)
    assert.deepInclude(paceDefaults, { silenceMs: 10_000, answerMs: 120_000, idleMs: 30_000 })
  })

  it("of a refused request that goes on and on ends with its connection", async () => {
    const line = new Line(strict).send(
      request("POST", `/v1/threads/${thread}/notes`, undefined, {
        headers: ["Content-Type: application/json", "Content-Length: 100000"]
      })
    )
    await line.untilClosed()
    assert.deepStrictEqual(line.statuses, [401])
  })
})
