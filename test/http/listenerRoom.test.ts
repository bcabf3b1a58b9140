/** What clients may hold of a node, each and together: memory, and connections. */
import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { RateLimit } from "../../http/RateLimit.ts"
import { send } from "./client.ts"
import { Line, request } from "./socket.ts"
import { serving } from "./tiny.ts"
import { answered, listenerStand, note, pause, thread } from "./listenerFixture.ts"

const { acceptedBy, found, key, taken, watch, world } = listenerStand()

describe("what clients hold of a node", async () => {
  const MiB = 1024 * 1024
  const crowded = await serving(world, RateLimit.off, {
    observe: watch,
    room: { answersPerKey: 2, answerBytes: 40 * MiB, bodiesPerKey: 2, bodyBytes: 300_000, shareBytes: 30 * MiB }
  })
  const call = async (made: string, base = crowded) => {
    const { body, status } = await send(`${base}/v1/pause?ms=0`, { headers: { authorization: `Bearer ${made}` } })
    return typeof body === "object" && body !== null && "error" in body
      ? `${status} ${String(body.error)}`
      : String(status)
  }
  const becomes = async (made: string, answer: string, base = crowded) => {
    while ((await call(made, base)) !== answer) await pause(20)
  }
  const hoard = async (made: string, kib: number) => {
    const { end, line } = await acceptedBy(crowded)
    line.socket.pause()
    line.send(request("GET", `/v1/large?kib=${kib}`, made))
    while (end.writableLength === 0) await pause(1)
    // What was seen of all answers may be 50 ms old.
    await pause(60)
    return line
  }
  /** A body of which that much has come. */
  const begin = async (made: string, bytes: number) => {
    const { end, line } = await acceptedBy(crowded)
    line.send(
      request("POST", `/v1/threads/${thread}/notes`, made, {
        headers: ["Content-Type: application/json", "Content-Length: 1000000"]
      }) + " ".repeat(bytes)
    )
    while (end.bytesRead < bytes) await pause(1)
    // What is asked later is answered: the body has been counted by then.
    await answered(crowded)
    return line
  }

  it("in answers is counted by key: with two unread the next request is 429, and others' are not", async () => {
    const [mine, theirs] = [world.issue(["read"]).key, world.issue(["read"]).key]
    const one = await hoard(mine, 8 * 1024)
    assert.strictEqual(await call(mine), "200")
    const two = await hoard(mine, 8 * 1024)
    assert.strictEqual(await call(mine), "429 rate_limited")
    assert.strictEqual(await call(theirs), "200")
    one.close()
    await becomes(mine, "200")
    two.close()
  })

  it("in bytes of answers is counted for all: above it everybody gets 503, until they are read or their connections end", async () => {
    const lines: Array<Line> = []
    const quiet = world.issue(["read"]).key
    // The system's own buffers take some megabytes of each.
    while ((await call(quiet)) === "200" && lines.length < 20)
      lines.push(await hoard(world.issue(["read"]).key, 16 * 1024))
    assert.isAtLeast(lines.length, 3)
    assert.strictEqual(await call(quiet), "503 runtime_unavailable")
    assert.strictEqual((await send(`${crowded}/healthz`)).status, 200)
    for (const line of lines) line.close()
    await becomes(quiet, "200")
  })

  it("in answers to nobody in particular keeps nobody out, and is held once", async () => {
    await send(`${crowded}/docs`)
    const before = process.memoryUsage().arrayBuffers
    const lines: Array<Line> = []
    for (let i = 0; i < 40; i++) {
      const { end, line } = await acceptedBy(crowded)
      line.socket.pause()
      line.send(request("GET", "/docs").repeat(4))
      while (end.writableLength === 0) await pause(1)
      lines.push(line)
    }
    await pause(60)
    const held = process.memoryUsage().arrayBuffers - before
    assert.strictEqual(await call(world.issue(["read"]).key), "200")
    for (const line of lines) line.close()
    assert.isBelow(held, 40 * MiB)
  })

  const tight = await serving(world, RateLimit.off, {
    observe: watch,
    room: { answerBytes: 7 * MiB, shareBytes: 4 * MiB }
  })

  it("in answers of one key, however much came between two looks, counts for no more than its share", async () => {
    const [mine, theirs] = [world.issue(["read"]).key, world.issue(["read"]).key]
    const { end, line } = await acceptedBy(tight)
    line.socket.pause()
    line.send(request("GET", "/v1/large?kib=32768", mine))
    while (end.writableLength < 7 * MiB) await pause(1)
    await becomes(mine, "429 rate_limited", tight)
    assert.strictEqual(await call(theirs, tight), "200")
    line.close()
  })

  it("in bodies that are on their way is counted by key: the third is 429", async () => {
    const [mine, theirs] = [world.issue(["run"]).key, world.issue(["run"]).key]
    const lines = [await begin(mine, 1_000), await begin(mine, 1_000)]
    const third = await begin(mine, 1_000)
    await third.until(({ statuses }) => statuses.length === 1)
    assert.deepStrictEqual(third.statuses, [429])
    const other = await begin(theirs, 1_000)
    assert.deepStrictEqual(other.statuses, [])
    for (const line of [...lines, third, other]) line.close()
  })

  it("in bytes of bodies is counted for all: the one that is too much is 503", async () => {
    const lines = [await begin(world.issue(["run"]).key, 200_000), await begin(world.issue(["run"]).key, 90_000)]
    for (const line of lines) assert.deepStrictEqual(line.statuses, [])
    const last = await begin(world.issue(["run"]).key, 20_000)
    await last.until(({ statuses }) => statuses.length === 1)
    assert.deepStrictEqual(last.statuses, [503])
    for (const line of [...lines, last]) line.close()
  })

  it("in bodies that come whole is nothing", async () => {
    const made = world.issue(["run"]).key
    const bodies = Array.from({ length: 20 }, () =>
      send(`${crowded}/v1/threads/${thread}/notes`, {
        method: "POST",
        body: note("x".repeat(1_000)),
        headers: { authorization: `Bearer ${made}`, "content-type": "application/json" }
      })
    )
    for (const { status } of await Promise.all(bodies)) assert.strictEqual(status, 200)
  })
})

describe("connections", async () => {
  const few = await serving(world, RateLimit.off, { observe: watch, pace: { connections: 3 } })

  it("above the most are closed at once while all others are answered, and a place that becomes free is taken", async () => {
    const lines = [await acceptedBy(few), await acceptedBy(few), await acceptedBy(few)]
    const begun = found.length
    for (const { line } of lines) line.send(request("GET", "/v1/pause?ms=300", key))
    while (found.length < begun + 3) await pause(1)
    await new Line(few).untilClosed()
    for (const { line } of lines) await line.until(({ statuses }) => statuses.length === 1)
    const [first] = lines
    const ended = once(first!.end, "close")
    first!.line.close()
    await ended
    const next = new Line(few).send(request("GET", "/healthz"))
    await next.until(({ statuses }) => statuses.length === 1)
    for (const { line } of lines) line.close()
    next.close()
  })

  it("with requests that wait make no room between two of them", async () => {
    const before = taken.length
    const lines = [new Line(few), new Line(few), new Line(few)].map((line) =>
      line.send(request("GET", "/healthz").repeat(99))
    )
    for (const line of lines) await line.until(({ statuses }) => statuses.length > 0)
    const others = Array.from({ length: 20 }, () => new Line(few))
    for (const line of lines) await line.until(({ statuses }) => statuses.length === 99)
    for (const line of [...lines, ...others]) line.close()
    await Promise.all(taken.slice(before).map((end) => end.closed || once(end, "close")))
  })

  it("on which nothing happens make room, the oldest of whoever has the most: they keep nobody out", async () => {
    const mine = await acceptedBy(few)
    mine.line.send(request("GET", "/v1/pause?ms=0", key))
    await mine.line.until(({ statuses }) => statuses.length === 1)
    const silent = await acceptedBy(few)
    const kept = await acceptedBy(few)
    kept.line.send(request("GET", "/healthz"))
    await kept.line.until(({ statuses }) => statuses.length === 1)
    const next = new Line(few).send(request("GET", "/healthz"))
    await next.until(({ statuses }) => statuses.length === 1)
    await silent.line.untilClosed()
    assert.deepStrictEqual([mine.line.closed, kept.line.closed, next.closed], [false, false, false])
    for (const line of [mine.line, kept.line, next]) line.close()
  })
})
