/** Subscriptions to which anything happens: what may come next, and what holds whatever comes. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { type Context, toldNext } from "../../machines/subscription/context.ts"
import { jobsOf } from "../../machines/subscription/draft.ts"
import { restore } from "../../machines/subscription/fold.ts"
import { possibleBehind } from "./stepChecks.ts"
import { progressOf } from "../../src/subscriptions/progress.ts"
import { mostOf, type SubscriptionSettings } from "../../src/domain/subscription.ts"
import { Subject, type Told, by, immediate, inspected, plain, windowed } from "./Subject.ts"

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
