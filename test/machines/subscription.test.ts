/** A subscription's chart: every message once, in order, whatever comes between; and a fold that finds it again. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { factOf, row } from "../../actors/subscription/kind.ts"
import type { WrittenFact } from "../../machines/inspected.ts"
import { chart, type Snapshot } from "../../machines/subscription/chart.ts"
import type { Command, Found } from "../../machines/subscription/commands.ts"
import { type Context, stateOf, toldNext } from "../../machines/subscription/context.ts"
import { decide, start } from "../../machines/subscription/decide.ts"
import { jobsOf } from "../../machines/subscription/draft.ts"
import type { Fact } from "../../machines/subscription/facts.ts"
import { contextOf, restore } from "../../machines/subscription/fold.ts"
import { causes, makeSubscriptionInspected } from "../../machines/subscription/inspected.ts"
import { asLogged, checkStep, possibleBehind } from "./stepChecks.ts"
import { progressOf } from "../../src/subscriptions/progress.ts"
import { mostOf, type SubscriptionSettings } from "../../src/domain/subscription.ts"

const inspected = makeSubscriptionInspected(factOf)

type Told = Command extends infer C ? (C extends Command ? Omit<C, "at"> : never) : never

const by = { type: "user", id: "ann" } as const
const immediate: SubscriptionSettings = {
  cadence: { mode: "immediate" },
  target: { mode: "spawn" },
  includeSelf: false
}
const windowed: SubscriptionSettings = {
  ...immediate,
  cadence: { mode: "window", windowSeconds: 30, maxMessages: 3 }
}
const plain = ({ context, value }: Snapshot) => ({ context, value })

/** One subscription that is told things, and checked after each. */
class Subject {
  snapshot = start()
  readonly facts: Array<Fact> = []
  readonly log: Array<WrittenFact> = []
  readonly running = new Set<string>()
  at = 1_000

  get context(): Context {
    return this.snapshot.context
  }

  tell(told: Told) {
    const before = this.snapshot
    const command = { ...told, at: this.at } as Command
    const { facts, jobs, next } = decide(before, command)
    this.snapshot = next
    this.facts.push(...facts)
    const cause = causes[command.type]
    this.log.push(...asLogged(this.log, facts.map(row), cause))
    checkStep({ chart, inspected, before, next, command, log: this.log, written: facts.length })
    for (const job of jobs) {
      if (job.type === "abandon") {
        for (const name of this.running) if (name.includes(`"${job.params.what}"`)) this.running.delete(name)
      } else this.running.add(JSON.stringify(job))
    }
    if (told.type === "listed")
      this.running.delete(JSON.stringify({ type: "enlist", params: { version: told.version } }))
    assert.deepStrictEqual(plain(restore(contextOf(this.facts))), plain(this.snapshot))
    assert.deepStrictEqual(plain(restore(JSON.parse(JSON.stringify(this.context)))), plain(this.snapshot))
    assert.strictEqual(stateOf(this.context), this.snapshot.value)
    for (const job of jobsOf(this.context))
      assert.isTrue(this.running.has(JSON.stringify(job)), `${told.type}: ${JSON.stringify(job)} was not begun`)
    return facts.map(({ type }) => type)
  }

  make(settings: SubscriptionSettings, lastSeq = 0) {
    this.tell({ type: "configure", change: "made", settings, enabled: true, cursor: lastSeq, version: 0, by })
    this.tell({ type: "listed", version: 1, lastSeq, archived: false })
    return this
  }

  configure(change: Partial<Extract<Told, { type: "configure" }>>) {
    const { disabled, settings, version } = this.context
    return this.tell({
      type: "configure",
      change: `change ${version}`,
      settings: settings ?? immediate,
      enabled: disabled === null,
      version,
      by,
      ...change
    })
  }

  /** Its feed hears of all that it has not heard of. */
  heard(lastSeq: number) {
    for (let { listing } = this.context; listing !== null; { listing } = this.context)
      this.tell({ type: "listed", version: toldNext(listing), lastSeq, archived: false })
  }

  notice(from: number, to = from, count = to - from + 1, exact = true) {
    return this.tell({ type: "notice", from, to, count, exact })
  }

  found(found: Found) {
    return this.tell({ type: "evaluated", look: this.context.look?.number ?? -1, found })
  }

  batch(from: number, to: number, seqs: ReadonlyArray<number>) {
    const batch = {
      from,
      to,
      count: seqs.length,
      hops: 0,
      text: "",
      threadId: `thr ${from}`,
      inputId: `inp ${this.context.generation} ${from} ${to}`
    }
    return this.found({ is: "batch", batch, seqs })
  }

  submitted() {
    return this.tell({ type: "submitted", inputId: this.context.batch?.inputId ?? "", turnId: "trn" })
  }

  refused(more: object = {}) {
    const failure = { code: "internal", text: "", refused: true, budget: false, ...more }
    return this.tell({ type: "refused", inputId: this.context.batch?.inputId ?? "", failure })
  }
}

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

/** What a feed does to it, its jobs, its clients and its node: numbers choose. */
const walked = (settings: SubscriptionSettings, choices: ReadonlyArray<number>) => {
  const s = new Subject().make(settings)
  /** Seqs that match; all that the feed holds is one more each time. */
  const matching = new Set<number>()
  /** Those that it is done with, in that order: handed over, or passed over with a fact that says so. */
  const dealtWith: Array<number> = []
  const reasons = new Set<string>()
  let lastSeq = 0
  let isListed = true
  /** The condition by which appends are judged. */
  let told = settings.condition
  /** The next instant of a cadence that waits for such. */
  const instant = () => s.at + 50_000
  const waiting = () =>
    [...matching].filter((seq) => s.context.noticed.some(({ from, to }) => from <= seq && seq <= to))
  const look = (isScreened = false) => {
    const { look, noticed } = s.context
    if (look === null) return
    const found = waiting().sort((a, b) => a - b)
    const to = noticed.at(-1)?.to ?? 0
    const [from] = found
    if (from === undefined) return void s.found({ is: "nothing", to })
    if (!look.closes && found.length < mostOf(settings))
      return void s.found({ is: "few", from, to, count: found.length })
    const seqs = found.slice(0, mostOf(settings))
    const last = seqs.length < mostOf(settings) ? to : (seqs.at(-1) ?? to)
    if (!isScreened) return void s.batch(from, last, seqs)
    s.found({ is: "dismissed", from, to: last, count: seqs.length })
    dealtWith.push(...seqs)
  }
  /** Notices that were written with their messages, and not taken yet. */
  const underway: Array<Extract<Told, { type: "notice" }>> = []
  const take = () => {
    for (const notice of underway.splice(0)) s.tell(notice)
  }
  /** The feed was told, and its word has not come yet. Told again it says the same. */
  let word: Extract<Told, { type: "listed" }> | undefined
  const tellFeed = () => {
    const { disabled, listing, settings } = s.context
    if (listing === null) return
    told = settings?.condition
    const version = toldNext(listing)
    const [first] = underway
    const isEnabled = disabled === null && listing.pause === undefined
    const isSame = word?.version === version || (!isListed && !isEnabled)
    isListed = isEnabled
    word = {
      type: "listed",
      version,
      lastSeq: isSame ? (word?.lastSeq ?? lastSeq) : lastSeq,
      ...(first === undefined ? {} : { from: first.from }),
      archived: false
    }
  }
  const hear = () => void (word !== undefined && s.tell(word))
  const list = () => {
    tellFeed()
    hear()
  }
  /** The batch in hand comes to its end. */
  const end = (tell: () => void) => {
    if (s.context.batch === null) return
    const began = s.facts.findLast((fact) => fact.type === "began")
    tell()
    assert.isNull(s.context.batch)
    if (began?.type === "began") dealtWith.push(...began.seqs)
  }
  const submit = () => end(() => s.submitted())
  const escalating = (tell: () => void) => () => void (s.snapshot.value === "escalating" && tell())
  const append = (isMatch: boolean, isNoticed: boolean, exact = true) => {
    lastSeq++
    if (isMatch) matching.add(lastSeq)
    // Until the feed is told of another condition, some of what matches does not match the one before.
    const isJudgedByOther = s.context.settings?.condition !== told && lastSeq % 2 === 0
    if (isListed && isNoticed && !isJudgedByOther)
      underway.push({ type: "notice", from: lastSeq, to: lastSeq, count: 1, exact, instant: instant() })
  }
  const failure = { code: "internal", text: "", refused: false, budget: false }
  const enable = () => void s.configure({ enabled: true })
  const steps: ReadonlyArray<() => void> = [
    () => {
      append(true, true)
      take()
    },
    () => append(false, false),
    look,
    submit,
    list,
    escalating(() => s.refused({ refused: false })),
    () => {
      s.at += 40_000
      s.tell({ type: "due", instant: instant() })
    },
    () => s.configure({ enabled: false }),
    enable,
    // There was no time to judge it, and it does not match.
    () => {
      append(false, true, false)
      take()
    },
    () => append(true, true, false),
    () => look(true),
    escalating(() => s.refused()),
    // As often as it takes.
    () => {
      while (s.snapshot.value === "escalating") {
        s.refused()
        s.at = s.context.retryAt ?? s.at
        s.tell({ type: "due", instant: instant() })
      }
    },
    escalating(() => s.refused({ budget: true, retryAfterMs: 60_000 })),
    escalating(() => {
      const { batch } = s.context
      s.tell({ type: "refused", inputId: batch?.inputId ?? "", failure, threadId: `${batch?.threadId} next` })
    }),
    escalating(() =>
      end(() => s.tell({ type: "passed", inputId: s.context.batch?.inputId ?? "", reason: "identity_disabled" }))
    ),
    () => s.tell({ type: "unevaluated", look: s.context.look?.number ?? -1, failure: { ...failure, refused: true } }),
    () => s.tell({ type: "poison" }),
    () => s.tell({ type: "disable", reason: "agent_archived" }),
    () => s.configure({ settings: { ...settings, name: `Name ${s.context.version}` }, lastSeq }),
    () => void s.configure({ settings: { ...settings, condition: `${s.context.version} > 0` }, lastSeq }),
    // Of another look, another batch, another version: nobody waits for these.
    () => {
      const before = plain(s.snapshot)
      s.tell({ type: "evaluated", look: -1, found: { is: "nothing", to: lastSeq } })
      for (const type of ["submitted", "passed", "refused"] as const)
        s.tell(
          type === "submitted"
            ? { type, inputId: "another", turnId: "trn" }
            : type === "passed"
              ? { type, inputId: "another", reason: "identity_disabled" }
              : { type, inputId: "another", failure }
        )
      s.tell({ type: "listed", version: -1, lastSeq, archived: false })
      assert.deepStrictEqual(plain(s.snapshot), before)
    },
    // Its node dies: another one takes it up from what it has kept, and begins what that implies.
    () => {
      s.snapshot = restore(JSON.parse(JSON.stringify(s.context)))
      s.running.clear()
      for (const job of jobsOf(s.context)) s.running.add(JSON.stringify(job))
    }
  ]
  // What disables it is one of many: it is to get somewhere before.
  const all = [
    ...steps,
    ...steps.slice(0, 5),
    ...steps.slice(0, 5),
    ...Array.from({ length: 3 }, () => enable),
    () => append(true, true),
    take,
    tellFeed,
    hear
  ]
  let shown = 0
  /** What clients see as dealt with is never handed over, nor looked at under another condition. */
  const check = () => {
    const [first] = underway
    const judgedSeq = isListed ? lastSeq : (word?.lastSeq ?? lastSeq)
    const { cursor } = progressOf(s.context, { lastSeq, judgedSeq, lastAt: undefined, underway: first?.from })
    assert.isAtLeast(cursor, shown, "the cursor that clients see goes back")
    shown = cursor
  }
  for (const choice of choices) {
    all[choice % all.length]?.()
    check()
  }
  s.configure({ enabled: true })
  const isAtRest = ({ batch, listing, look, noticed }: Context) =>
    batch === null && listing === null && look === null && noticed.length === 0
  for (let i = 0; i < 150 && (underway.length > 0 || !isAtRest(s.context)); i++) {
    list()
    take()
    look()
    submit()
    s.at += 1_000_000
    s.tell({ type: "due", instant: instant() })
  }
  for (const fact of s.facts) if (fact.type === "disabled") reasons.add(fact.reason)
  return { dealtWith, matching: [...matching], context: s.context, reasons }
}

describe("what may come next of a subscription", () => {
  const possible = ({ log }: Subject) => possibleBehind(inspected, log)

  it("is refused by the guard that no outcome passes: of a listing, a look or a batch that nobody waits for", () => {
    const s = new Subject()
    assert.deepStrictEqual(possible(s), { configure: ["waiting"] })
    s.tell({
      type: "configure",
      change: "made",
      settings: windowed,
      enabled: true,
      cursor: 0,
      version: 0,
      by
    })
    const alive = {
      configure: ["waiting"],
      delete: ["deleted"],
      notice: [],
      disable: ["disabled"],
      poison: ["disabled"]
    }
    assert.deepStrictEqual(possible(s), { ...alive, listed: ["waiting"], submitted: "staleBatch" })
    s.tell({ type: "listed", version: 1, lastSeq: 0, archived: false })
    const settled = { ...alive, listed: "staleListing", submitted: "staleBatch" }
    assert.deepStrictEqual(possible(s), settled)
    s.notice(1)
    assert.deepStrictEqual(possible(s), { ...settled, due: ["evaluating"] })
    s.notice(2, 3)
    assert.deepStrictEqual(possible(s), {
      ...settled,
      evaluated: ["escalating", "waiting"],
      unevaluated: ["waiting"]
    })
    s.batch(1, 3, [1, 2, 3])
    const handing = { ...alive, listed: "staleListing", submitted: ["waiting"] }
    assert.deepStrictEqual(possible(s), { ...handing, refused: ["escalating", "waiting"], passed: ["waiting"] })
    s.refused({ refused: false })
    assert.deepStrictEqual(possible(s), { ...handing, due: ["escalating"] })
    s.configure({ enabled: false })
    // Only one that is enabled is disabled by its feed's end.
    assert.deepStrictEqual(possible(s).listed, [])
    s.tell({ type: "delete" })
    assert.deepStrictEqual(possible(s), { listed: [] })
    s.tell({ type: "listed", version: s.context.listing?.version ?? 0, lastSeq: 3, archived: false })
    assert.deepStrictEqual(possible(s), { listed: "staleListing" })
  })

  it("is a look, not a batch, where an attempt to look came to nothing", () => {
    const s = new Subject().make(immediate)
    s.notice(1)
    const failure = { code: "internal", text: "", refused: false, budget: false }
    s.tell({ type: "unevaluated", look: s.context.look?.number ?? -1, failure })
    assert.deepStrictEqual(possible(s).due, ["evaluating"])
  })
})

describe("whatever comes", () => {
  const instants = { mode: "schedule", expression: "0 9 * * *", timezone: "Europe/Berlin" } as const
  it.each<readonly [string, SubscriptionSettings]>([
    ["immediate", immediate],
    ["immediate, three at a time", { ...immediate, cadence: { mode: "immediate", maxMessages: 3 } }],
    ["window", windowed],
    ["instants", { ...immediate, cadence: instants, target: { mode: "reuse" } }]
  ])("each message that matches is dealt with once and in order (%s), and a fold finds the live one", (_, settings) => {
    const reasons = new Set<string>()
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 40 }), { maxLength: 60, size: "max" }), (choices) => {
        const walk = walked(settings, choices)
        assert.deepStrictEqual(walk.dealtWith, walk.matching)
        assert.deepStrictEqual(walk.context.noticed, [])
        assert.isAtLeast(walk.context.cursor, Math.max(0, ...walk.matching))
        for (const reason of walk.reasons) reasons.add(reason)
      }),
      {
        numRuns: 60,
        examples: [
          [[0, 0, 0, 6, 6, 2, 13]],
          [[1, 18, 21, 0, 33]],
          [[0, 2, 21, 0, 0, 7, 3]],
          [[7]],
          [[18]],
          [[19]],
          [[37, 21]],
          [[18, 39, 20, 0, 33]],
          [[1, 7, 8]],
          [[18, 1, 0]],
          [[21, 39, 1, 0, 40, 2]]
        ]
      }
    )
    assert.sameMembers([...reasons], ["requested", "failures", "poisoned", "agent_archived"])
  })
})
