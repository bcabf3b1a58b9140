/** A thread's file (console/src/file): written, read again, and refused where it is none. */
import { assert, describe, it } from "@effect/vitest"
import { type Chart, headLine, logLines, type Step, type Thread } from "../../console/src/file/format.ts"
import type { LogEvent } from "../../src/client/follow.ts"
import { parseFile } from "../../console/src/file/parse.ts"
import { logEvents } from "./events.ts"

const log = logEvents()
const by = { type: "user", id: "key_1", identity: "ann@example.com" } as const
const thread: Thread = {
  id: "thr_1",
  agentId: "agt_1",
  workspaceId: "wsp_1",
  title: "Secret plans",
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
  createdBy: by,
  updatedBy: by
}
const chart: Chart = { kind: "thread", version: "v1", initial: "idle", states: [], transitions: [] }
const step = (pos: number, more: Partial<Step>): Step => ({
  pos,
  fromPos: pos,
  at: "2026-01-01T00:00:00.000Z",
  cause: "submit",
  from: "idle",
  to: "running",
  path: ["running"],
  facts: [{ type: "user_message" }],
  ...more
})
/** Five steps; the second one wrote nothing that the log shows, the last one has not come when the steps were read. */
const steps = [step(1, { fromSeq: 1, toSeq: 1 }), step(2, {}), step(5, { fromPos: 3, fromSeq: 2, toSeq: 4 })]

async function* each<A>(values: ReadonlyArray<A>) {
  yield* values
}

const written = async (withoutContent: boolean) => {
  const lines = [headLine({ thread, chart, exportedAt: "2026-01-02T00:00:00.000Z" }, withoutContent)]
  for await (const line of logLines(each(log), each(steps), withoutContent)) lines.push(line)
  return lines
}

describe("a thread's file", () => {
  it("has each step behind the events that it wrote", async () => {
    const order = (await written(false)).slice(1).map((line) => {
      const { event, step } = JSON.parse(line)
      return event === undefined ? `step ${step.pos}` : event.seq
    })
    assert.deepStrictEqual(order, [1, "step 1", "step 2", 2, 3, 4, "step 5", ...log.slice(4).map(({ seq }) => seq)])
  })

  it("read again is what was written", async () => {
    const file = parseFile((await written(false)).join("\n"))
    assert.deepStrictEqual(file.events, log)
    assert.deepStrictEqual(file.steps, steps)
    assert.deepStrictEqual(file.thread, { id: "thr_1", title: "Secret plans" })
    assert.isFalse(file.withoutContent)
  })

  it("without content has no words, and is read with their sizes", async () => {
    const lines = await written(true)
    for (const words of ["Secret", "ann@", "done here", "broken"]) assert.notInclude(lines.join("\n"), words)
    const { events } = parseFile(lines.join("\n"))
    assert.deepStrictEqual(
      events.map(({ occurredAt, seq, type }) => [seq, type, occurredAt]),
      log.map(({ occurredAt, seq, type }) => [seq, type, occurredAt])
    )
    const answer = events[8]
    assert.strictEqual(answer?.type, "assistant_message")
    assert.include(JSON.stringify(answer), "bytes, left out of the file")
  })

  it("without content keeps who answered and what failed, and the size of all that it leaves out within", async () => {
    const base = { seq: 1, eventId: "evt_1", threadId: "thr_1", turnId: "trn_1", occurredAt: thread.createdAt }
    const lines = async (event: LogEvent) => {
      const made = [headLine({ thread, chart, exportedAt: thread.createdAt }, true)]
      for await (const line of logLines(each([event]), each([]), true)) made.push(line)
      return made
    }
    const kept = async (event: LogEvent) => JSON.parse((await lines(event))[1] ?? "").event
    const resolved: LogEvent = {
      ...base,
      type: "wait_resolved",
      waitId: "wait_1",
      waitResult: { outcome: "allow", by, reason: "Secret reason" }
    }
    assert.deepStrictEqual((await kept(resolved)).waitResult, {
      outcome: "allow",
      by: { type: "user", id: "key_1", sizes: { identity: 15 } },
      sizes: { reason: 13 }
    })
    const details = { targetId: "a/b", formats: ["webp" as const] }
    const failed: LogEvent = {
      ...base,
      type: "turn_failed",
      failureCode: "model_image_format_unsupported",
      failureText: "Secret text",
      failureDetails: details,
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
    }
    assert.deepStrictEqual((await kept(failed)).failureDetails, details)
    const [read] = parseFile((await lines(resolved)).join("\n")).events
    assert.deepInclude(read?.type === "wait_resolved" ? read.waitResult : undefined, {
      reason: "(13 bytes, left out of the file)"
    })
  })

  it("has all of what looks like sizes in what people wrote", async () => {
    const event = { ...log[1], toolInput: { sizes: { a: 1 }, b: 2 } }
    const lines = (await written(false)).with(3, JSON.stringify({ type: "event", event: { ...event, seq: 1 } }))
    const { events } = parseFile([lines[0], lines[3]].join("\n"))
    assert.deepInclude(events[0], { toolInput: event.toolInput })
  })

  it("that is none is refused with the line and the reason", async () => {
    const lines = await written(false)
    const event = (change: object) => JSON.stringify({ type: "event", event: { ...log[0], ...change } })
    const rows: ReadonlyArray<readonly [at: number, line: string, says: RegExp]> = [
      [0, "", /^Line 1: this is no JSON/],
      [0, "[]", /^Line 1: this is no object/],
      [0, JSON.stringify({ type: "other" }), /^Line 1: this is no downloaded thread/],
      [0, JSON.stringify({ type: "troupe.thread", version: 2 }), /^Line 1: .*version 1 .* this is 2/],
      [0, JSON.stringify({ type: "troupe.thread", version: 1 }), /^Line 1: it names no thread/],
      [1, "{", /^Line 2: this is no JSON/],
      [1, event({ content: { hostile: true } }), /^Line 2: this is no event/],
      [1, event({ content: [{ type: "text", text: {} }] }), /^Line 2: this is no event/],
      [1, event({ occurredAt: "never" }), /^Line 2: this is no event/],
      [1, event({ principal: "me" }), /^Line 2: this is no event/],
      [2, JSON.stringify({ type: "step", step: { ...steps[0], path: [{}] } }), /^Line 3: this is no step/],
      [3, lines[2] ?? "", /^Line 4: this step is out of order/],
      [5, lines[5] ?? "", /^Line \d+: event 3 does not follow on event 1/],
      [6, JSON.stringify({ type: "other" }), /^Line 7: it is neither event nor step/]
    ]
    for (const [at, line, says] of rows) {
      const broken = lines.with(at, line)
      // A line of the log that is left out, and not another one in its place.
      const file = at === 5 ? lines.toSpliced(4, 1) : broken
      assert.throws(() => parseFile(file.join("\n")), says)
    }
  })

  it("of a later version may have types of events that nobody knows here", async () => {
    const lines = await written(false)
    const last = log.at(-1)
    const strange = {
      seq: (last?.seq ?? 0) + 1,
      eventId: "evt_x",
      threadId: "thr_1",
      turnId: "trn_2",
      type: "constructor"
    }
    const line = JSON.stringify({ type: "event", event: { ...strange, occurredAt: last?.occurredAt } })
    assert.lengthOf(parseFile([...lines, line].join("\n")).events, log.length + 1)
  })
})
