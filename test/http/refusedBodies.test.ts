/** Bodies of requests too many (P6 of http/Peer.ts): how much of them is read, and how their connections end. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import type { Server } from "node:http"
import type { Socket } from "node:net"
import { makePeers, makeServer, portOf } from "../../http/listen.ts"
import { RateLimit } from "../../http/RateLimit.ts"
import { metric } from "../metric.ts"
import { Line, request } from "./socket.ts"
import { serving, World } from "./tiny.ts"

const world = new World()
/** The servers' ends of connections. */
const taken: Array<Socket> = []
const watch = (server: Server) => {
  server.on("connection", (socket: Socket) => taken.push(socket))
}
const limited = await serving(world, RateLimit.layer({ credential: 0.01, burst: 1 }), { observe: watch })

const MiB = 1024 * 1024
const path = "/v1/threads/thr_01h455vb4pex5vsknk084sn02q/notes"
const small = JSON.stringify({ content: [{ type: "text", text: "x".repeat(1_000) }] })
const head = (key: string | undefined, length: string) =>
  request("POST", path, key, { headers: ["Content-Type: application/json", length] })
const announced = (bytes: number) => `Content-Length: ${bytes}`
const inChunks = "Transfer-Encoding: chunked"
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

/** A connection whose key has used up its rate. */
const refusedLine = async () => {
  const { key } = world.issue(["run"])
  const line = new Line(limited)
  await line.send(request("GET", "/v1/pause?ms=0", key)).until(({ statuses }) => statuses.length === 1)
  return { line, key, end: taken.at(-1)! }
}

/** How many connections were ended, by reason. */
const cuts = async () => {
  const count = (reason: string) => Effect.runPromise(metric("connections_cut_total", `"${reason}"`))
  return { refused: await count("body_refused"), slow: await count("slow_body"), unread: await count("unread") }
}

describe("a body of a request too many", () => {
  it("is not read, and whoever sends it reads the answer", async () => {
    const { end, key, line } = await refusedLine()
    const before = await cuts()
    line.send(head(key, announced(MiB)))
    for (let i = 0; i < 16; i++) line.send("x".repeat(64 * 1024 - 100))
    await line.untilClosed()
    assert.deepStrictEqual(line.statuses, [403, 429])
    assert.include(line.text, `"error":"rate_limited"`)
    assert.isBelow(end.bytesRead, 256 * 1024)
    assert.deepStrictEqual(await cuts(), { ...before, refused: before.refused + 1 })
  })

  it("is read where it is small, and leaves the connection open", async () => {
    const { key, line } = await refusedLine()
    for (let n = 1; n <= 3; n++) {
      line.send(head(key, announced(small.length)) + small)
      await line.until(({ statuses }) => statuses.length === 2 * n)
      line.send(head(key, inChunks) + chunk(small) + chunk(""))
      await line.until(({ statuses }) => statuses.length === 2 * n + 1)
    }
    assert.deepStrictEqual(line.statuses, [403, 429, 429, 429, 429, 429, 429])
    assert.isFalse(line.closed)
    line.close()
  })

  it("is not read on in chunks that do not end, and whoever sends them reads the answer", async () => {
    const { end, key, line } = await refusedLine()
    line.send(head(key, inChunks))
    await line.until(({ statuses }) => statuses.length === 2)
    const piece = chunk("x".repeat(MiB / 16))
    const sendOn = () => {
      while (!line.closed && line.socket.write(piece));
    }
    line.socket.on("drain", sendOn)
    sendOn()
    await line.untilClosed()
    assert.deepStrictEqual(line.statuses, [403, 429])
    assert.isBelow(end.bytesRead, MiB)
  })
})

describe("a body of a request too many whose answer nobody reads", () => {
  /** It answers with more than the kernels take. */
  const stubborn = makeServer(makePeers({ answerMs: 1_500, idleMs: 1_500, silenceMs: 400, windowMs: 400, sweepMs: 50 }))
  stubborn.on("request", (_, response) => response.writeHead(429).end(Buffer.alloc(32 * MiB)))
  beforeAll(() => once(stubborn.listen(0, "127.0.0.1"), "listening"))
  afterAll(() => once(stubborn.close(), "close"))

  // The silence and the pace of the body end it much earlier where they count what is not read.
  it.each([
    ["with a length", announced(MiB), "x".repeat(MiB / 4), undefined],
    ["in chunks", inChunks, chunk("x".repeat(MiB / 16)).repeat(4), undefined],
    // Less than Node's buffers hold: what comes later is read from the kernel all the same.
    ["with a length, of which more and more comes,", announced(MiB), "x", "x"],
    ["in chunks, of which more and more come,", inChunks, chunk("x"), chunk("x")]
  ])("%s ends with its connection when the time of the answer is over", async (_, length, body, more) => {
    const before = await cuts()
    const line = new Line(`http://127.0.0.1:${await Effect.runPromise(portOf({ address: stubborn.address() }))}`)
    const connected = once(stubborn, "connection")
    line.socket.pause()
    line.send(head(undefined, length) + body)
    const [end] = await connected
    const sending = more === undefined ? undefined : setInterval(() => line.send(more), 100)
    await once(end, "close")
    clearInterval(sending)
    assert.deepStrictEqual(await cuts(), { ...before, unread: before.unread + 1 })
    line.close()
  })
})
