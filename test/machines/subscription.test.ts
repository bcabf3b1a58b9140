/** A subscription's chart: every message once, in order, whatever comes between; and a fold that finds it again. */
import { assert, describe, it } from "@effect/vitest"
import { jobsOf } from "../../machines/subscription/draft.ts"
import type { Fact } from "../../machines/subscription/facts.ts"
import { contextOf } from "../../machines/subscription/fold.ts"
import { Subject, by, immediate, windowed } from "./Subject.ts"

describe("an immediate subscription", () => {
  it("looks at once, hands over, and goes on with what came meanwhile", () => {
    const s = new Subject().make(immediate)
    assert.deepStrictEqual(s.notice(1, 2), ["noticed", "looked"])
    assert.deepStrictEqual(s.batch(1, 1, [1]), ["began"])
    assert.deepStrictEqual(s.notice(3), ["noticed"])
    assert.deepStrictEqual(s.submitted(), ["escalated", "looked"])
    assert.strictEqual(s.context.cursor, 1)
    s.batch(2, 2, [2])
    s.submitted()
    s.batch(3, 3, [3])
    s.submitted()
    assert.deepStrictEqual([s.snapshot.value, s.context.cursor], ["waiting", 3])
  })

  it("tries a batch that is refused again under the same ids, later each time, and is disabled by the fifth", () => {
    const s = new Subject().make(immediate)
    s.notice(1)
    s.batch(1, 1, [1])
    const { batch } = s.context
    for (const pause of [5, 10, 20, 40]) {
      s.refused()
      assert.deepStrictEqual([s.snapshot.value, s.context.retryAt], ["backingOff", s.at + pause * 1000])
      s.at += pause * 1000 - 1
      assert.deepStrictEqual(s.tell({ type: "due" }), [])
      s.at += 1
      assert.deepStrictEqual(s.tell({ type: "due" }), ["retried"])
      assert.deepStrictEqual(s.context.batch, batch)
    }
    assert.deepStrictEqual(s.refused(), ["failed", "disabled"])
    assert.strictEqual(s.context.disabled, "failures")
    s.configure({ enabled: true })
    assert.deepStrictEqual([s.snapshot.value, s.context.batch], ["escalating", batch])
  })

  it("looks again at what a thread refused for good, once it is enabled with another one", () => {
    const to = (threadId: string) => ({ ...immediate, target: { mode: "thread" as const, threadId } })
    for (const disables of ["thread_archived", "thread_not_found"] as const) {
      const s = new Subject().make(to("thr 1"))
      s.notice(1)
      s.batch(1, 1, [1])
      assert.deepStrictEqual(s.refused({ disables }), ["failed", "disabled"])
      const { batch } = s.context
      s.configure({ enabled: true })
      assert.deepStrictEqual([s.snapshot.value, s.context.batch], ["escalating", batch], "the same thread")
      s.refused({ disables })
      s.configure({ enabled: true, settings: to("thr 2") })
      assert.isNull(s.context.batch)
      s.heard(1)
      assert.deepStrictEqual(
        [s.snapshot.value, s.context.noticed.map(({ from, to }) => [from, to])],
        ["evaluating", [[1, 1]]]
      )
    }
    // Nobody has refused it: it may have been taken.
    const s = new Subject().make(to("thr 1"))
    s.notice(1)
    s.batch(1, 1, [1])
    const { batch } = s.context
    s.configure({ enabled: false })
    s.configure({ enabled: true, settings: to("thr 2") })
    assert.deepStrictEqual([s.snapshot.value, s.context.batch], ["escalating", batch])
  })

  it("makes another batch where the thread is another one and the one before has refused it each time", () => {
    const other = { ...immediate, target: { mode: "thread" as const, threadId: "thr 2" } }
    const refused = new Subject().make(immediate)
    refused.notice(1)
    refused.batch(1, 1, [1])
    refused.refused()
    refused.configure({ settings: { ...immediate, name: "Another" } })
    assert.strictEqual(refused.snapshot.value, "backingOff")
    refused.configure({ settings: other })
    assert.deepStrictEqual([refused.snapshot.value, refused.context.batch], ["evaluating", null])
    // One attempt was out of reach: it may have been taken.
    const lost = new Subject().make(immediate)
    lost.notice(1)
    lost.batch(1, 1, [1])
    lost.refused({ refused: false })
    lost.configure({ settings: other })
    assert.deepStrictEqual([lost.snapshot.value, lost.context.batch?.threadId], ["backingOff", "thr 1"])
  })

  it("is not disabled by a thread out of reach, nor by a budget, whose batch is looked at anew", () => {
    const s = new Subject().make(immediate)
    s.notice(1)
    s.batch(1, 1, [1])
    for (let i = 0; i < 12; i++) {
      s.refused({ refused: false })
      assert.isAtMost((s.context.retryAt ?? 0) - s.at, 900_000)
      s.at = s.context.retryAt ?? 0
      s.tell({ type: "due" })
    }
    s.refused({ budget: true, retryAfterMs: 9_999_999 })
    assert.strictEqual(s.context.retryAt, s.at + 3_600_000)
    s.notice(2)
    s.at += 3_600_000
    assert.deepStrictEqual(s.tell({ type: "due" }), ["looked"])
    s.batch(1, 1, [1])
    s.submitted()
    assert.deepStrictEqual([s.snapshot.value, s.context.cursor], ["evaluating", 1])
  })

  it("is disabled where its work breaks its node again and again, and has its batch when it is enabled", () => {
    const s = new Subject().make(immediate)
    s.notice(1)
    s.batch(1, 1, [1])
    const { batch } = s.context
    assert.deepStrictEqual(s.tell({ type: "poison" }), ["disabled"])
    assert.deepStrictEqual([s.context.disabled, s.context.cursor], ["poisoned", 0])
    s.configure({ enabled: true })
    assert.deepStrictEqual([s.snapshot.value, s.context.batch], ["escalating", batch])
  })

  it("does not look before its feed has been looked through, and then at all of it", () => {
    const s = new Subject()
    s.tell({ type: "configure", change: "made", settings: immediate, enabled: true, cursor: 2, version: 0, by })
    s.notice(6)
    assert.strictEqual(s.snapshot.value, "waiting")
    s.tell({ type: "listed", version: 1, lastSeq: 6, archived: false })
    assert.strictEqual(s.snapshot.value, "evaluating")
    assert.deepStrictEqual(
      s.context.noticed.map(({ from, to }) => [from, to]),
      [[3, 6]]
    )
    // One of those that it has looked through: on its way since before.
    assert.deepStrictEqual(s.notice(5), [])
  })

  it("told another condition, looks at what came before its feed knew of that, behind what came before it", () => {
    const s = new Subject().make(immediate)
    const other = { ...immediate, condition: "true" }
    const listed = (lastSeq: number) => s.tell({ type: "listed", version: s.context.version, lastSeq, archived: false })
    const noticed = () => s.context.noticed.map(({ from, to }) => [from, to])
    s.configure({ settings: other, lastSeq: 5 })
    // Judged by the condition before: what it has passed over behind 5 is still to be looked at, and comes first.
    s.notice(5)
    s.notice(7)
    assert.deepStrictEqual([s.snapshot.value, s.context.cursor], ["waiting", 0])
    listed(8)
    assert.deepStrictEqual([s.snapshot.value, noticed()], ["evaluating", [[5, 8]]])
    assert.deepStrictEqual(s.notice(7), [])

    // Changed again before the feed knew of the first change: from the earlier one on.
    s.batch(5, 8, [5, 6, 7, 8])
    s.submitted()
    s.configure({ settings: { ...other, includeSelf: true }, lastSeq: 9 })
    s.configure({ settings: other, lastSeq: 10 })
    s.configure({ settings: { ...other, name: "Another" }, lastSeq: 11 })
    listed(12)
    assert.deepStrictEqual(noticed(), [[10, 12]])
  })

  it("passes over what is skipped, though a notice of that comes late", () => {
    const s = new Subject().make(immediate)
    s.configure({ cursor: 3 })
    assert.deepStrictEqual(s.notice(1, 2), [])
    s.notice(3, 5)
    s.tell({ type: "listed", version: s.context.version, lastSeq: 5, archived: false })
    assert.deepStrictEqual(
      s.context.noticed.map(({ from, to }) => [from, to]),
      [[4, 5]]
    )
  })

  it("told another condition, and disabled before its feed knew, goes on from there", () => {
    const s = new Subject().make(immediate)
    s.configure({ settings: { ...immediate, condition: "true" }, lastSeq: 5 })
    s.configure({ enabled: false })
    s.tell({ type: "listed", version: s.context.version, lastSeq: 7, archived: false })
    assert.strictEqual(s.context.cursor, 5)
  })

  it("told another name or cadence, does not look", () => {
    const s = new Subject().make(immediate)
    s.configure({ settings: { ...windowed, name: "Another" }, lastSeq: 3 })
    s.tell({ type: "listed", version: s.context.version, lastSeq: 4, archived: false })
    assert.deepStrictEqual([s.snapshot.value, s.context.noticed], ["waiting", []])
  })

  it("forgets a batch where the cursor is set anew, and names what is repeated otherwise", () => {
    const s = new Subject().make(immediate)
    s.notice(1)
    s.batch(1, 1, [1])
    const inputId = s.context.batch?.inputId
    s.configure({ cursor: 0 })
    assert.deepStrictEqual(s.tell({ type: "submitted", inputId: inputId ?? "", turnId: "trn" }), [])
    s.tell({ type: "listed", version: s.context.version, lastSeq: 1, archived: false })
    s.batch(1, 1, [1])
    assert.notStrictEqual(s.context.batch?.inputId, inputId)
  })
})

describe("a subscription with a window", () => {
  it("gathers from the first message that matches to the end of the window", () => {
    const s = new Subject().make(windowed)
    assert.deepStrictEqual(s.notice(1), ["noticed", "opened"])
    s.at += 29_999
    s.notice(4)
    assert.deepStrictEqual(s.tell({ type: "due" }), [])
    s.at += 1
    assert.deepStrictEqual(s.tell({ type: "due" }), ["looked"])
    assert.strictEqual(s.context.look?.closes, true)
  })

  it("ends as soon as as many match as it takes", () => {
    const s = new Subject().make(windowed)
    s.notice(1, 2)
    assert.strictEqual(s.snapshot.value, "collecting")
    assert.deepStrictEqual(s.notice(3), ["noticed", "looked"])
  })

  it("counts first where nobody knows how many match, and begins with what it has counted", () => {
    const s = new Subject().make(windowed)
    s.notice(1, 9, 9, false)
    assert.deepStrictEqual([s.snapshot.value, s.context.look?.closes], ["evaluating", false])
    s.at += 5_000
    s.found({ is: "few", from: 4, to: 9, count: 1 })
    assert.deepStrictEqual([s.snapshot.value, s.context.until, s.context.cursor], ["collecting", s.at + 30_000, 3])
    s.notice(10)
    assert.strictEqual(s.snapshot.value, "collecting")
  })

  it("keeps its window when only its name changes, and counts again when its condition does", () => {
    const s = new Subject().make(windowed)
    s.notice(1)
    const { until } = s.context
    s.configure({ settings: { ...windowed, name: "Another" } })
    assert.deepStrictEqual([s.snapshot.value, s.context.until], ["collecting", until])
    s.configure({ settings: { ...windowed, condition: "true" } })
    assert.strictEqual(s.snapshot.value, "evaluating")
  })

  it("is disabled in its window when the feed is archived, and has its messages in front of it when enabled", () => {
    const s = new Subject().make(windowed)
    s.notice(3)
    s.tell({ type: "disable", reason: "feed_archived" })
    s.tell({ type: "listed", version: s.context.version, lastSeq: 5, archived: true })
    assert.deepStrictEqual([s.snapshot.value, s.context.cursor], ["disabled", 2])
  })
})

describe("a subscription that waits for instants", () => {
  it("gathers until the next one that it was told of, which is nothing where nothing matches", () => {
    const cadence = { mode: "schedule", expression: "0 9 * * *", timezone: "Europe/Berlin" } as const
    const s = new Subject().make({ ...immediate, cadence })
    assert.deepStrictEqual(s.tell({ type: "due", instant: 5_000 }), [])
    s.tell({ type: "notice", from: 1, to: 1, count: 1, exact: true, instant: 5_000 })
    assert.deepStrictEqual([s.snapshot.value, s.context.until], ["collecting", 5_000])
    s.notice(2)
    s.at = 5_000
    assert.deepStrictEqual(s.tell({ type: "due", instant: 9_000 }), ["looked"])
    s.batch(1, 2, [1, 2])
    s.submitted()
    assert.strictEqual(s.snapshot.value, "waiting")
  })
})

describe("a disabled subscription", () => {
  it("has dealt with what was judged while it was enabled, and goes on behind that", () => {
    const s = new Subject().make(immediate)
    s.configure({ enabled: false })
    s.tell({ type: "listed", version: s.context.version, lastSeq: 7, archived: false })
    assert.strictEqual(s.context.cursor, 7)
    s.configure({ settings: { ...immediate, name: "Later" } })
    s.tell({ type: "listed", version: s.context.version, lastSeq: 9, archived: false })
    assert.strictEqual(s.context.cursor, 7)
    s.configure({ enabled: true })
    s.tell({ type: "listed", version: s.context.version, lastSeq: 9, archived: false })
    assert.deepStrictEqual(
      s.context.noticed.map(({ from, to }) => [from, to]),
      [[8, 9]]
    )
  })

  describe("that is enabled before its feed was known to know of the pause", () => {
    const other = { ...immediate, condition: "true" }
    const tell = (s: Subject, version: number, lastSeq: number) =>
      s.tell({ type: "listed", version, lastSeq, archived: false })
    const noticed = ({ context }: Subject) => context.noticed.map(({ from, to }) => [from, to])
    const paused = () => {
      const s = new Subject().make(immediate)
      s.configure({ enabled: false })
      return s
    }

    it("goes on behind what was judged before the pause, of which the feed is told first", () => {
      const s = paused()
      s.configure({ enabled: true })
      assert.deepStrictEqual(jobsOf(s.context), [{ type: "enlist", params: { version: 2 } }])
      assert.deepStrictEqual(tell(s, 3, 9), [])
      tell(s, 2, 7)
      assert.deepStrictEqual([s.context.cursor, s.snapshot.value], [7, "waiting"])
      tell(s, 3, 9)
      assert.deepStrictEqual([noticed(s), s.snapshot.value], [[[8, 9]], "evaluating"])
    })

    it("looks by another condition at what came after that was asked for, or after the feed knew of the pause", () => {
      for (const pausedAt of [5, 8]) {
        const s = paused()
        s.configure({ enabled: true, settings: other, lastSeq: 6 })
        s.configure({ settings: { ...other, includeSelf: true }, lastSeq: 7 })
        // Judged by the condition before, while the feed knew of no pause.
        s.notice(4)
        assert.strictEqual(s.snapshot.value, "waiting")
        tell(s, 2, pausedAt)
        tell(s, 4, 9)
        assert.deepStrictEqual(noticed(s), [[4, 9]])
        const without = paused()
        without.configure({ enabled: true, settings: other, lastSeq: 6 })
        without.configure({ settings: { ...other, includeSelf: true }, lastSeq: 7 })
        tell(without, 2, pausedAt)
        tell(without, 4, 9)
        assert.deepStrictEqual(noticed(without), [[Math.min(pausedAt, 6) + 1, 9]])
      }
    })

    it("is read from facts of a version that told the feed of no such pause", () => {
      const s = paused()
      s.configure({ enabled: true })
      tell(s, 2, 7)
      tell(s, 3, 9)
      const before = s.facts.flatMap((fact): ReadonlyArray<Fact> => {
        if (fact.type !== "listed") return [fact]
        const { version: _, ...rest } = fact
        return fact.version === 2 ? [] : [rest]
      })
      assert.strictEqual(before.length, s.facts.length - 1)
      const { cursor, listing, noticed } = contextOf(before)
      assert.deepStrictEqual([cursor, listing], [0, null])
      assert.deepStrictEqual(noticed, [{ from: 1, to: 9, count: 9, exact: false }])
    })

    it("does not lose, paused again, where that was", () => {
      const s = paused()
      s.configure({ enabled: true, settings: other, lastSeq: 6 })
      s.configure({ enabled: false })
      tell(s, 4, 8)
      assert.strictEqual(s.context.cursor, 6)
    })
  })

  it("told another condition after its feed knew of the pause, has dealt with nothing that came since", () => {
    const s = new Subject().make(immediate)
    s.configure({ enabled: false })
    s.configure({ settings: { ...immediate, condition: "true" }, lastSeq: 7 })
    s.tell({ type: "listed", version: 3, lastSeq: 5, archived: false })
    assert.strictEqual(s.context.cursor, 5)
  })

  it("hears that its batch was taken all the same", () => {
    const s = new Subject().make(immediate)
    s.notice(1)
    s.batch(1, 1, [1])
    s.tell({ type: "disable", reason: "agent_archived" })
    assert.deepStrictEqual(s.submitted(), ["escalated"])
    assert.deepStrictEqual([s.snapshot.value, s.context.cursor], ["disabled", 1])
  })
})
