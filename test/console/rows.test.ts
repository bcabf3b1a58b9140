/** A log as it is read (console/src/threads): turn by turn, and drawn again only where it is new. */
import { assert, describe, it } from "@effect/vitest"
import { duration } from "../../console/src/parts/duration.ts"
import { rangeOf } from "../../console/src/setup/range.ts"
import { fitting, everything } from "../../console/src/threads/filter.ts"
import { joined } from "../../console/src/threads/listed.ts"
import { openTurn, reworded, rowsMaker, textOf, writingRows } from "../../console/src/threads/rows.ts"
import { stretchOf } from "../../console/src/threads/stretch.ts"
import { appended, came, empty, mostHeld, prepended, reachesEnd, wrote } from "../../console/src/threads/window.ts"
import { logEvents } from "./events.ts"

const log = logEvents()
const kinds = (rows: ReturnType<ReturnType<typeof rowsMaker>>) => rows.map(({ kind }) => kind).join(" ")

describe("rows", () => {
  it("stand turn by turn, a call with its result and what was decided of it", () => {
    const rows = rowsMaker()(log)
    assert.strictEqual(kinds(rows), "turn user call call assistant other turn user assistant other")
    const calls = rows.filter((row) => row.kind === "call")
    assert.deepStrictEqual(
      calls.map(({ begins, beside, result }) => [begins, beside.map(({ type }) => type), result?.type]),
      [
        [true, ["hook_decision"], "tool_result"],
        [false, ["wait_created", "wait_resolved"], "tool_result"]
      ]
    )
  })

  it("are the same objects as before where nothing of them is new", () => {
    const rowsOf = rowsMaker()
    const before = rowsOf(log.slice(0, -3))
    const after = rowsOf(log)
    assert.isAbove(after.length, before.length)
    for (const [i, row] of before.entries()) assert.strictEqual(after[i], row, row.key)
    const half = rowsOf(log.slice(0, 5))
    const open = half.find((row) => row.kind === "call")
    assert.isDefined(open)
    assert.notStrictEqual(
      rowsOf(log).find(({ key }) => key === open.key),
      open
    )
  })

  it("of text that is being written are behind the last event", () => {
    assert.deepStrictEqual(writingRows(new Map([["evt_x", { text: "so far" }]]), 7), [
      { kind: "writing", key: "evt_x", seq: 7, text: "so far" }
    ])
  })

  it("tell of a turn that runs only at the end of a log", () => {
    assert.isUndefined(openTurn(log))
    assert.strictEqual(openTurn(log.slice(0, 3)), log[0]?.turnId)
  })
})

describe("an input that is reworded", () => {
  const image = { type: "image", imageId: "img_1" } as const

  it("keeps its images, and only its words are typed", () => {
    const content = [{ type: "text", text: "What is this?" } as const, image, { type: "text", text: "Say." } as const]
    assert.strictEqual(textOf(content), "What is this?\n\nSay.")
    assert.deepStrictEqual(reworded(content, "Who is this?"), [{ type: "text", text: "Who is this?" }, image])
  })

  it("of images alone has no words, and keeps none", () => {
    assert.strictEqual(textOf([image]), "")
    assert.deepStrictEqual(reworded([image], " "), [image])
    assert.deepStrictEqual(reworded([image], "Look"), [{ type: "text", text: "Look" }, image])
  })
})

describe("a stretch of a log", () => {
  /** A server that ends its pages early, as it does where events are large. */
  const pageOf = (afterSeq: number, limit: number) => {
    const events = log.slice(afterSeq, afterSeq + Math.min(limit, 3))
    return Promise.resolve({ events, ...(events.length < 3 ? {} : { nextCursor: "more" }) })
  }

  it("has no gaps where the server ends its pages early", async () => {
    assert.deepStrictEqual(await stretchOf(pageOf, 1, 8), log.slice(1, 9))
    assert.deepStrictEqual(await stretchOf(pageOf, 2, 200), log.slice(2))
    assert.deepStrictEqual(await stretchOf(pageOf, log.length, 200), [])
  })
})

describe("a range of a feed", () => {
  it("is read to its end where the server ends its pages early, and no further than is wanted", async () => {
    const messages = Array.from({ length: 9 }, (_, i) => ({ seq: i + 1 }))
    const ask = (startSeq = 1) => {
      const page = messages.slice(startSeq - 1, startSeq + 1)
      const nextSeq = startSeq + page.length
      return Promise.resolve({ messages: page, ...(nextSeq > messages.length ? {} : { nextSeq }) })
    }
    assert.deepStrictEqual(await rangeOf(ask, 50), messages)
    assert.lengthOf(await rangeOf(ask, 4), 4)
  })
})

describe("a duration", () => {
  it("is rounded before it is told in minutes", () => {
    assert.deepStrictEqual([4, 999.7, 1_000, 59_949, 59_999, 119_700, 3_600_000].map(duration), [
      "4 ms",
      "1.0 s",
      "1.0 s",
      "59.9 s",
      "1 min 0 s",
      "2 min 0 s",
      "60 min 0 s"
    ])
  })
})

describe("a window", () => {
  const some = appended(empty, log.slice(0, 4))

  it("takes each event once, and its text goes when it is recorded", () => {
    const answer = log.find(({ type }) => type === "assistant_message")
    assert.isDefined(answer)
    const { eventId, turnId } = answer
    const writing = wrote(
      { ...some, writing: wrote(some, { eventId, turnId, text: "a" }) },
      { eventId, turnId, text: "b" }
    )
    assert.strictEqual(writing.get(eventId)?.text, "ab")
    const whole = appended({ ...some, writing }, log)
    assert.deepStrictEqual(whole.events, log)
    assert.strictEqual(whole.writing.size, 0)
  })

  it("on an earlier stretch stays there, and knows that there is more", () => {
    const early = { ...some, lastSeq: 9 }
    const [last] = log.slice(-1)
    assert.isDefined(last)
    const told = came(early, last)
    assert.deepStrictEqual(told.events, early.events)
    assert.strictEqual(told.lastSeq, last.seq)
    assert.isFalse(reachesEnd(told))
    assert.strictEqual(told.news, early.news + 1)
  })

  it("holds so many events and no more, without a gap", () => {
    const [first] = log
    assert.isDefined(first)
    const at = (seq: number) => ({ ...first, seq, eventId: `evt_${seq}` })
    const many = Array.from({ length: mostHeld }, (_, i) => at(i + 101))
    const full = prepended(
      { ...empty, events: many, lastSeq: mostHeld + 100 },
      Array.from({ length: 100 }, (_, i) => at(i + 1))
    )
    assert.lengthOf(full.events, mostHeld)
    assert.strictEqual(full.events[0]?.seq, 1)
    assert.strictEqual(full.events.at(-1)?.seq, mostHeld)
    assert.isFalse(reachesEnd(full))
  })
})

describe("a filter", () => {
  const found = (filter: Partial<typeof everything>) => log.filter(fitting({ ...everything, ...filter })).length
  it("goes by type, by words in any case, and by failure", () => {
    assert.strictEqual(found({}), log.length)
    assert.strictEqual(found({ type: "tool_result" }), 2)
    assert.strictEqual(found({ words: "DONE HERE" }), 1)
    assert.strictEqual(found({ failures: true }), 2)
    assert.strictEqual(found({ failures: true, type: "turn_failed" }), 1)
  })
})

describe("a list of which the first page is asked for again", () => {
  const row = (id: string, second: number) => ({
    thread: { id },
    updatedAt: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
  })
  const ids = (rows: ReturnType<typeof joined>) => rows?.map(({ thread }) => thread.id).join("")
  const known = [row("a", 9), row("b", 8), row("c", 7), row("d", 6)]
  const more = { nextCursor: "more" }
  const cases: ReadonlyArray<
    readonly [string, Parameters<typeof joined>[1], ReadonlyArray<string>, string | undefined]
  > = [
    ["keeps what is behind it", { threads: [row("a", 9), row("b", 8)], ...more }, [], "abcd"],
    ["moves up what has changed", { threads: [row("d", 10), row("a", 9)], ...more }, ["d"], "dabc"],
    ["keeps what new ones have pushed off it", { threads: [row("n", 10), row("a", 9)], ...more }, ["n"], "nabcd"],
    ["drops what has changed and is not on it", { threads: [row("a", 9), row("b", 8)], ...more }, ["c"], "abd"],
    ["drops what would stand on it, and does not", { threads: [row("a", 9), row("c", 7)], ...more }, [], "acd"],
    ["is the whole list where there is no more", { threads: [row("b", 8)] }, [], "b"],
    ["is not joined to what it does not reach", { threads: [row("x", 12), row("y", 11)], ...more }, [], undefined]
  ]
  for (const [title, first, changed, is] of cases)
    it(title, () => assert.strictEqual(ids(joined(known, first, new Set(changed))), is))
})
