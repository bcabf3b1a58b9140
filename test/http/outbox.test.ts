import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { Hash } from "effect"
import { HttpServerResponse } from "effect/http"
import { delta, event, status } from "../../http/streams/frames.ts"
import { capacity, Crowd, Outbox } from "../../http/streams/Outbox.ts"

const of = (bytes: number, text = "#") => ({ text: text.repeat(bytes) })

/** Reads what is there until the buffer has nothing more to give. */
const drain = (outbox: Outbox) => {
  let text = ""
  for (let chunk: unknown = outbox.readable.read(); chunk !== null; chunk = outbox.readable.read())
    text += String(chunk)
  return text
}

/** For tests in which no time passes. */
const still = () => 0

const about = { workspace: "wsp_1", agentId: "agt_1", threadId: "thr_1" }
const piece = (index: number, text: string, eventId = "evt_1") =>
  delta({ ...about, type: "delta", turnId: "trn_1", eventId, index, text })

describe("an outbox", () => {
  it("gives frames in the order in which they came", () => {
    const outbox = new Outbox(() => {}, still)
    for (let i = 1; i <= 100; i++) outbox.offer(event(i, `{"seq":${i}}`))
    const text = drain(outbox)
    assert.deepStrictEqual(
      [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1])),
      Array.from({ length: 100 }, (_, i) => i + 1)
    )
  })

  it("takes no frame beyond a mebibyte, and never a part of one", () => {
    const outbox = new Outbox(() => {}, still)
    let taken = 0
    while (outbox.offer(of(10_000))) taken++
    assert.isAtMost(outbox.waitingBytes, capacity)
    assert.isAbove(taken * 10_000 + 10_000, capacity)
    assert.isTrue(outbox.offer(of(capacity - outbox.waitingBytes)))
    assert.isFalse(outbox.offer(of(1)))
    assert.strictEqual(outbox.waitingBytes, capacity)
  })

  it("beside others that hold all there is for everybody takes one frame at a time, and more again when they have read", () => {
    const crowd = new Crowd(2 * capacity)
    const [hoarders, reader] = [
      [new Outbox(() => {}, still, crowd), new Outbox(() => {}, still, crowd)],
      new Outbox(() => {}, still, crowd)
    ]
    for (const hoarder of hoarders) while (hoarder.offer(of(capacity / 4))) {}
    assert.isTrue(crowd.full)
    let told = 0
    reader.onRoom = () => {
      told++
    }
    assert.isTrue(reader.offer(of(100_000)))
    assert.isFalse(reader.offer(of(100_000)))
    assert.lengthOf(drain(reader), 100_000)
    assert.isTrue(reader.offer(of(100_000)))
    assert.strictEqual(told, 1)
    for (const hoarder of hoarders) hoarder.destroy()
    assert.strictEqual(crowd.bytes, 100_000)
    assert.isTrue(reader.offer(of(100_000)))
    reader.destroy()
    assert.strictEqual(crowd.bytes, 0)
  })

  it("takes a frame larger than that while it is at most half full", () => {
    const outbox = new Outbox(() => {}, still)
    outbox.offer(of(capacity / 2))
    assert.isTrue(outbox.offer(of(2 * capacity)))
    assert.isFalse(outbox.offer(of(1)))
  })

  it("tells of room once it is half empty again, and only after it refused something", async () => {
    const outbox = new Outbox(() => {}, still)
    let told = 0
    outbox.onRoom = () => told++
    outbox.offer(of(100))
    drain(outbox)
    assert.strictEqual(told, 0)
    while (outbox.offer(of(100_000))) {
      /* until it is full */
    }
    await new Promise(setImmediate)
    assert.strictEqual(told, 0)
    drain(outbox)
    assert.strictEqual(told, 1)
  })

  it("holds only the newest of news that replaces older news", () => {
    const outbox = new Outbox(() => {}, still)
    outbox.offer(of(20_000))
    outbox.offer(of(20_000))
    for (let i = 0; i < 1000; i++) outbox.offer(status({ threadId: "thr_1", status: "running", lastSeq: i }))
    outbox.offer(event(7, `{"seq":7}`))
    outbox.offer(status({ threadId: "thr_1", status: "idle", lastSeq: 1000 }))
    outbox.offer(status({ threadId: "thr_2", status: "idle", lastSeq: 3 }))
    const text = drain(outbox).replaceAll("#", "")
    assert.strictEqual(
      text,
      `id: 7\nevent: event\ndata: {"seq":7}\n\n` +
        `event: status\ndata: {"threadId":"thr_1","status":"idle","lastSeq":1000}\n\n` +
        `event: status\ndata: {"threadId":"thr_2","status":"idle","lastSeq":3}\n\n`
    )
  })

  it("joins pieces of one text that wait together, and no others", () => {
    const outbox = new Outbox(() => {}, still)
    outbox.offer(of(20_000))
    outbox.offer(of(20_000))
    outbox.offer(piece(0, 'a\n"b'))
    outbox.offer(piece(1, "\\c🎈"))
    outbox.offer(piece(2, "\ud800\u0000d"))
    outbox.offer(piece(0, "other", "evt_2"))
    outbox.offer(piece(3, "e"))
    const frames = drain(outbox)
      .replaceAll("#", "")
      .split("\n\n")
      .filter((frame) => frame !== "")
    const texts = frames.map((frame) => JSON.parse(frame.slice(frame.indexOf("data: ") + 6)))
    assert.deepStrictEqual(
      texts.map(({ eventId, index, text }) => [eventId, index, text]),
      [
        ["evt_1", 0, 'a\n"b\\c🎈\ud800\u0000d'],
        ["evt_2", 0, "other"],
        ["evt_1", 3, "e"]
      ]
    )
  })

  it("is compared by reference: whoever compares its response does not walk through its socket", () => {
    const { readable } = new Outbox(() => {}, still)
    let walked = false
    Object.defineProperty(readable, "socket", {
      enumerable: true,
      get: () => {
        walked = true
        return {}
      }
    })
    Hash.hash(HttpServerResponse.raw(readable))
    assert.isFalse(walked)
  })

  describe("that pauses after a write", () => {
    const pausing = (crowd = new Crowd(Infinity)) => {
      const outbox = new Outbox(
        () => {},
        still,
        crowd,
        () => 20
      )
      const writes: Array<string> = []
      outbox.readable.on("data", (chunk) => writes.push(String(chunk)))
      return { outbox, writes, next: () => once(outbox.readable, "data") }
    }

    it("gives the first frame at once, and what comes meanwhile in one piece", async () => {
      const { next, outbox, writes } = pausing()
      outbox.offer({ text: "first " })
      await next()
      const began = performance.now()
      outbox.offer({ text: "second " })
      await Promise.resolve()
      outbox.offer({ text: "third" })
      await next()
      assert.deepStrictEqual(writes, ["first ", "second third"])
      // Timers count whole milliseconds.
      assert.isAtLeast(performance.now() - began, 18)
      outbox.destroy()
    })

    it("waits neither with a whole write's worth of bytes nor with the last words", async () => {
      const { next, outbox, writes } = pausing()
      outbox.offer({ text: "first" })
      await next()
      const began = performance.now()
      outbox.offer(of(20_000))
      await next()
      outbox.offer({ text: "news" })
      outbox.end("bye")
      await once(outbox.readable, "end")
      assert.isBelow(performance.now() - began, 18)
      assert.deepStrictEqual(
        writes.map(({ length }) => length),
        [5, 20_000, 7]
      )
    })

    it("refuses nothing that would have left without the pause", async () => {
      const { next, outbox, writes } = pausing(new Crowd(0))
      outbox.offer({ text: "first" })
      await next()
      assert.isTrue(outbox.offer(of(10_000)))
      assert.isTrue(outbox.offer(of(8_000)))
      while (writes.length < 3) await next()
      assert.deepStrictEqual(
        writes.map(({ length }) => length),
        [5, 10_000, 8_000]
      )
      outbox.destroy()
    })

    it("pauses after each write, also after one that did not wait", async () => {
      const { next, outbox, writes } = pausing()
      outbox.offer({ text: "first" })
      await next()
      await new Promise((resolve) => setTimeout(resolve, 10))
      const began = performance.now()
      outbox.offer(of(20_000))
      await next()
      outbox.offer({ text: "third" })
      await next()
      assert.isAtLeast(performance.now() - began, 18)
      assert.lengthOf(writes, 3)
      outbox.destroy()
    })
  })

  it("gives frames of one moment in one piece", async () => {
    const outbox = new Outbox(() => {}, still)
    const chunks: Array<string> = []
    outbox.readable.setEncoding("utf8").on("data", (chunk: string) => chunks.push(chunk))
    outbox.offer({ text: "first" })
    await new Promise(setImmediate)
    for (const text of ["a", "b", "c"]) outbox.offer({ text })
    await new Promise(setImmediate)
    assert.deepStrictEqual(chunks, ["first", "abc"])
  })

  it("says its last words even when it is full, and takes nothing after them", () => {
    const outbox = new Outbox(() => {}, still)
    while (outbox.offer(of(100_000))) {
      /* until it is full */
    }
    outbox.end("bye")
    assert.isTrue(outbox.offer(of(5, "y")))
    const text = drain(outbox)
    assert.isTrue(text.endsWith("bye"))
    assert.notInclude(text, "y".repeat(5))
  })

  it("is stalled while something waits and nothing is asked for, and not while it is empty", async () => {
    let now = 1_000
    const outbox = new Outbox(
      () => {},
      () => now
    )
    now += 10
    assert.strictEqual(outbox.stalledFor, 0)
    outbox.offer(of(100_000))
    outbox.readable.read(0)
    outbox.offer(of(100_000))
    await new Promise(setImmediate)
    now += 20.5
    assert.strictEqual(outbox.stalledFor, 20.5)
    drain(outbox)
    assert.strictEqual(outbox.stalledFor, 0)
  })

  it("closes once, whoever closes it", async () => {
    let closed = 0
    const outbox = new Outbox(() => closed++, still)
    outbox.offer(of(10))
    outbox.destroy()
    outbox.destroy()
    outbox.end("bye")
    await new Promise(setImmediate)
    assert.strictEqual(closed, 1)
    assert.isTrue(outbox.offer(of(10)))
    assert.strictEqual(outbox.waitingBytes, 0)
  })
})
