import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Streams } from "../../http/streams/Streams.ts"
import { EventPage } from "../../src/threads/threadEvent.ts"
import { sharedServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { assertRefused } from "./refusals.ts"
import { ended, type Event, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"

/** Three turns, nine events. */
let log: ReadonlyArray<Event>
const server = await sharedServer()
const alpha = server.alpha
const agentId = await makeAgent(alpha)
const threadId = await makeThread(alpha, agentId)
for (let turn = 1; turn <= 3; turn++) {
  await submit(alpha, threadId, `turn ${turn}`)
  log = await logOf(alpha, threadId, ended(turn))
}

const decodePage = Schema.decodeUnknownSync(EventPage, { onExcessProperty: "error" })
const list = (query = "", client = alpha, thread = threadId) => client.get(`/v1/threads/${thread}/events${query}`)
const page = async (query = "", thread = threadId) => {
  const answer = await list(query, alpha, thread)
  assert.strictEqual(answer.status, 200, answer.text)
  return { ...decodePage(answer.body), text: answer.text }
}
const seqs = ({ events }: { readonly events: ReadonlyArray<{ readonly seq: number }> }) => events.map(({ seq }) => seq)

/** Follows nextCursor to the end. */
const all = async (query: string, thread = threadId) => {
  const pages: Array<ReadonlyArray<number>> = []
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const part =
      cursor === undefined
        ? query
        : `?cursor=${encodeURIComponent(cursor)}${/limit=\d+/.exec(query)?.[0].replace(/^/, "&") ?? ""}`
    const found = await page(part, thread)
    pages.push(seqs(found))
    cursor = found.nextCursor
  }
  return pages
}

describe("the event log", () => {
  it("is gapless from 1, ascending, as the contract shapes it", async () => {
    const found = await page()
    assert.deepStrictEqual(seqs(found), [1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert.notProperty(found, "nextCursor")
    for (const event of found.events) {
      assert.strictEqual(event.threadId, threadId)
      assert.match(event.eventId, /^evt_/)
      assert.match(event.turnId, /^trn_/)
    }
    const [user, assistant, completed] = found.events
    assert.deepInclude(user, { type: "user_message", content: text("turn 1"), submitMode: "queue" })
    assert.deepInclude(assistant, {
      type: "assistant_message",
      content: text("You said: turn 1"),
      modelId: "troupe/scripted",
      inReplyToSeq: 1
    })
    assert(user?.type === "user_message" && completed?.type === "turn_completed")
    assert.deepStrictEqual(completed.principal, user.principal)
    assert.isAbove(completed.usage.totalTokens, 0)
  })

  it("of a thread without events is an empty page", async () => {
    const empty = await makeThread(alpha, agentId)
    for (const query of ["", "?order=desc", "?afterSeq=5", `?turnId=${log[0]!.turnId}`]) {
      assert.deepStrictEqual((await list(query, alpha, empty)).body, { events: [] })
    }
  })

  it("begins strictly after afterSeq; 0 is as if absent, above the last the page is empty", async () => {
    assert.deepStrictEqual(seqs(await page("?afterSeq=4")), [5, 6, 7, 8, 9])
    assert.deepStrictEqual(seqs(await page("?afterSeq=0")), [1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert.deepStrictEqual(seqs(await page("?afterSeq=0&order=desc")), [9, 8, 7, 6, 5, 4, 3, 2, 1])
    for (const after of [
      "9",
      "10",
      "2147483647",
      "2147483648",
      "9007199254740993",
      "9223372036854775807",
      "0000000000000000009"
    ]) {
      assert.deepStrictEqual((await list(`?afterSeq=${after}`)).body, { events: [] })
    }
    assert.deepStrictEqual(seqs(await page("?afterSeq=8&order=asc")), [9])
  })

  it("comes in pages of the limit that was asked for, both ways, with a cursor while rows remain", async () => {
    assert.deepStrictEqual(await all("?limit=4"), [[1, 2, 3, 4], [5, 6, 7, 8], [9]])
    assert.deepStrictEqual(await all("?limit=3"), [
      [1, 2, 3],
      [4, 5, 6],
      [7, 8, 9]
    ])
    assert.deepStrictEqual(await all("?limit=9"), [[1, 2, 3, 4, 5, 6, 7, 8, 9]])
    assert.deepStrictEqual(await all("?limit=4&order=desc"), [[9, 8, 7, 6], [5, 4, 3, 2], [1]])
    assert.deepStrictEqual(await all("?limit=2&afterSeq=5"), [
      [6, 7],
      [8, 9]
    ])
    assert.deepStrictEqual(
      await all("?limit=1&order=desc"),
      [9, 8, 7, 6, 5, 4, 3, 2, 1].map((seq) => [seq])
    )
  })

  it("may be narrowed to a turn", async () => {
    const { turnId } = log[3]!
    assert.deepStrictEqual(seqs(await page(`?turnId=${turnId}`)), [4, 5, 6])
    assert.deepStrictEqual(seqs(await page(`?turnId=${turnId}&order=desc`)), [6, 5, 4])
    assert.deepStrictEqual(seqs(await page(`?turnId=${turnId}&afterSeq=5`)), [6])
    assert.deepStrictEqual(await all(`?turnId=${turnId}&limit=2`), [[4, 5], [6]])
    assert.deepStrictEqual(await all(`?turnId=${turnId}&limit=2&order=desc`), [[6, 5], [4]])
    for (const other of [`trn_${"0".repeat(26)}`, "x", "%00", "🎈"])
      assert.deepStrictEqual((await list(`?turnId=${encodeURIComponent(other)}`)).body, { events: [] })
    const foreign = await makeThread(alpha, agentId)
    assert.deepStrictEqual((await list(`?turnId=${turnId}`, alpha, foreign)).body, { events: [] })
  })

  it("has a page of 100 unless told, and of 200 at most", async () => {
    const long = await makeThread(alpha, agentId)
    for (let turn = 1; turn <= 70; turn++) await submit(alpha, long, "x")
    await logOf(alpha, long, ended(70))
    assert.deepStrictEqual(
      (await all("", long)).map(({ length }) => length),
      [100, 100, 10]
    )
    assert.deepStrictEqual(
      (await all("?limit=200", long)).map(({ length }) => length),
      [200, 10]
    )
    assert.deepStrictEqual(
      (await all("?limit=200&order=desc", long)).flat(),
      Array.from({ length: 210 }, (_, i) => 210 - i)
    )
  })

  it("ends a page at four mebibytes, with at least one event and a cursor for the rest", async () => {
    const long = await makeThread(alpha, agentId)
    // A control character is one byte of text and six of JSON.
    const words = "x" + "\u0001".repeat(8_000)
    for (let turn = 1; turn <= 60; turn++) await submit(alpha, long, words)
    await logOf(alpha, long, ended(60))
    const found = await page("?limit=200", long)
    assert.isBelow(Buffer.byteLength(found.text), 4.1 * 1024 * 1024)
    assert.isAbove(Buffer.byteLength(found.text), 3.5 * 1024 * 1024)
    assert.isDefined(found.nextCursor)
    assert.deepStrictEqual(
      (await all("?limit=200", long)).flat(),
      Array.from({ length: 180 }, (_, i) => i + 1)
    )
  })

  it("refuses what the contract refuses, with its code", async () => {
    const { nextCursor } = await page("?limit=2")
    const cursor = encodeURIComponent(nextCursor!)
    const cases: ReadonlyArray<readonly [string, string]> = [
      [`?afterSeq=1&cursor=${cursor}`, "after_seq_with_cursor"],
      ["?afterSeq=1&order=desc", "after_seq_with_desc"],
      ["?limit=0", "limit_out_of_range"],
      ["?limit=201", "limit_out_of_range"],
      ["?limit=-1", "limit_out_of_range"],
      ["?limit=", "limit_out_of_range"],
      ["?limit=1e2", "limit_out_of_range"],
      ["?limit=1.0", "limit_out_of_range"],
      ["?limit=0x10", "limit_out_of_range"],
      ["?limit=+1", "limit_out_of_range"],
      ["?limit=99999999999999999999", "limit_out_of_range"],
      ["?cursor=", "invalid_cursor"],
      ["?cursor=x", "invalid_cursor"],
      [`?cursor=${cursor}x`, "invalid_cursor"],
      [`?cursor=${"x".repeat(2049)}`, "invalid_cursor"],
      ["?afterSeq=-1", "invalid_parameter"],
      ["?afterSeq=", "invalid_parameter"],
      ["?afterSeq=1.5", "invalid_parameter"],
      ["?afterSeq=1e3", "invalid_parameter"],
      ["?afterSeq=%201", "invalid_parameter"],
      ["?afterSeq=9223372036854775808", "invalid_parameter"],
      ["?afterSeq=99999999999999999999", "invalid_parameter"],
      ["?afterSeq=٣", "invalid_parameter"],
      ["?order=ASC", "invalid_parameter"],
      ["?order=", "invalid_parameter"],
      ["?order=newest", "invalid_parameter"],
      ["?turnId=", "invalid_parameter"],
      ["?waitSeconds=31", "invalid_parameter"],
      ["?waitSeconds=-1", "invalid_parameter"],
      ["?waitSeconds=0.5", "invalid_parameter"],
      [`?waitSeconds=1&cursor=${cursor}`, "wait_with_cursor"],
      ["?waitSeconds=1&order=desc", "wait_with_desc"],
      ["?after_seq=1", "unknown_parameter"],
      ["?afterseq=1", "unknown_parameter"],
      ["?limit=1&unknown=2", "unknown_parameter"],
      ["?limit=1&limit=1", "repeated_parameter"],
      ["?order=asc&order=desc", "repeated_parameter"],
      ["?afterSeq=1&afterSeq=1", "repeated_parameter"]
    ]
    for (const [query, code] of cases) assertRefused(await list(query), 400, "invalid_request", code)
  })

  it("is 404 for an unknown thread, another workspace's, and what is no thread's id", async () => {
    for (const thread of [`thr_${"0".repeat(26)}`, "thr_1", agentId])
      assertRefused(await list("", alpha, thread), 404, "not_found")
    assertRefused(await list("", server.beta), 404, "not_found")
    assertRefused(await list("?waitSeconds=5", server.beta), 404, "not_found")
  })
})

describe("a cursor of the event log", () => {
  it("holds its filter and order: both may be left out, or must agree", async () => {
    const { turnId } = log[3]!
    const { nextCursor } = await page(`?turnId=${turnId}&order=desc&limit=1`)
    const cursor = encodeURIComponent(nextCursor!)
    assert.deepStrictEqual(seqs(await page(`?cursor=${cursor}`)), [5, 4])
    assert.deepStrictEqual(seqs(await page(`?cursor=${cursor}&order=desc&turnId=${turnId}`)), [5, 4])
    assert.deepStrictEqual(seqs(await page(`?cursor=${cursor}&afterSeq=0`)), [5, 4])
    assert.deepStrictEqual(seqs(await page(`?cursor=${cursor}&limit=1`)), [5])
    assertRefused(await list(`?cursor=${cursor}&order=asc`), 400, "invalid_request", "invalid_cursor")
    assertRefused(await list(`?cursor=${cursor}&turnId=${log[0]!.turnId}`), 400, "invalid_request", "invalid_cursor")
    const unfiltered = encodeURIComponent((await page("?limit=1")).nextCursor!)
    assertRefused(await list(`?cursor=${unfiltered}&turnId=${turnId}`), 400, "invalid_request", "invalid_cursor")
    assertRefused(await list(`?cursor=${unfiltered}&order=desc`), 400, "invalid_request", "invalid_cursor")
    assert.deepStrictEqual(seqs(await page(`?cursor=${unfiltered}&order=asc&limit=2`)), [2, 3])
  })

  it("is of use for its thread, its list and its workspace only", async () => {
    const { nextCursor } = await page("?limit=1")
    const cursor = encodeURIComponent(nextCursor!)
    const other = await makeThread(alpha, agentId)
    assertRefused(await list(`?cursor=${cursor}`, alpha, other), 400, "invalid_request", "invalid_cursor")
    assertRefused(await alpha.get(`/v1/threads?cursor=${cursor}`), 400, "invalid_request", "invalid_cursor")
    const threads = await alpha.get("/v1/threads?limit=1")
    assertRefused(
      await list(`?cursor=${encodeURIComponent(threads.body.nextCursor)}`),
      400,
      "invalid_request",
      "invalid_cursor"
    )
    assert.notStrictEqual((await list(`?cursor=${cursor}`, server.beta)).status, 200)
  })

  it("cannot be forged: any change of it is refused", async () => {
    const { nextCursor } = await page("?limit=1")
    const cursor = nextCursor!
    const [body, signature] = cursor.split(".")
    const moved = Buffer.from(Buffer.from(body!, "base64url").toString().replace("[1]", "[2]")).toString("base64url")
    assert.notStrictEqual(moved, body)
    const forged = [
      `${moved}.${signature}`,
      `${body}.`,
      body!,
      `.${signature}`,
      `${cursor}.${signature}`,
      `${cursor}=`,
      `${body}.${signature!.slice(0, -2)}${signature!.endsWith("AA") ? "QQ" : "AA"}`
    ]
    for (const text of forged)
      assertRefused(await list(`?cursor=${encodeURIComponent(text)}`), 400, "invalid_request", "invalid_cursor")
  })
})

describe("a long poll", () => {
  it("waits until there is an event after afterSeq, and answers at once when there is one", async () => {
    const thread = await makeThread(alpha, agentId)
    const waiting = list("?waitSeconds=20", alpha, thread)
    const began = Date.now()
    await submit(alpha, thread, "/wait 200ms\nhello")
    const first = await waiting
    assert.deepStrictEqual(
      first.body.events.map(({ seq }: Event) => seq),
      [1]
    )
    const second = await list("?waitSeconds=20&afterSeq=1", alpha, thread)
    assert.deepStrictEqual(
      second.body.events.map(({ type }: Event) => type),
      ["assistant_message", "turn_completed"]
    )
    assert.isBelow(Date.now() - began, 1_500)
    const third = await list("?waitSeconds=20&afterSeq=1", alpha, thread)
    assert.strictEqual(third.body.events.length, 2)
  })

  it("waits for events of the turn that was named", async () => {
    const thread = await makeThread(alpha, agentId)
    const a = await submit(alpha, thread, "/wait 200ms\nA")
    const q = await submit(alpha, thread, "Q")
    const ofQ = await list(`?waitSeconds=20&turnId=${q.turnId}`, alpha, thread)
    assert.strictEqual(ofQ.body.events[0].inputId, q.id)
    assert.notStrictEqual(ofQ.body.events[0].turnId, a.turnId)
  })

  it("is an empty page when the time is over", async () => {
    const began = Date.now()
    const answer = await list("?waitSeconds=1&afterSeq=9")
    assert.deepStrictEqual([answer.status, answer.body], [200, { events: [] }])
    assert.isAtLeast(Date.now() - began, 950)
    assert.isBelow(Date.now() - began, 1_900)
    assert.deepStrictEqual((await list("?waitSeconds=0&afterSeq=9")).body, { events: [] })
  })

  it("sees an event that no hint told of", async () => {
    const thread = await makeThread(alpha, agentId)
    const streams = await server.runtime.runPromise(Streams)
    const before = streams.waiting()
    const waiting = list("?waitSeconds=20", alpha, thread)
    // As another node would: an event committed without a word on this node's bus.
    const { toUuid } = await import("../../src/domain/ids.ts")
    const { storedEvent } = await import("../../src/journal/storedFact.ts")
    await eventually(() => streams.waiting() > before, "it waits")
    await server.runtime.runPromise(
      server.database.atomically("test.event", async (tx) => {
        const [workspace, actor] = [toUuid(server.workspaces.alpha), toUuid(thread)]
        const head = { pos: 1, seq: 1 }
        await tx.updateTable("heads").set(head).where("workspace", "=", workspace).where("id", "=", actor).execute()
        await tx
          .insertInto("facts")
          .values({
            workspace: null,
            actor,
            pos: 1,
            seq: 1,
            n: 0,
            turn: toUuid(log[0]!.turnId),
            at: new Date(),
            once: null,
            detail: null,
            event: storedEvent({ type: "user_message", event: "{}" })
          })
          .execute()
      })
    )
    const answer = await waiting
    assert.strictEqual(answer.body.events.length, 1)
  })
})
