/** Hostile conditions: each ends its own judging, and holds neither the event loop nor a neighbour's. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, ManagedRuntime } from "effect"
import { limits } from "../../src/domain/limits.ts"
import { conditionOf, isInvalid, type JudgedMessage, takenCondition } from "../../src/subscriptions/condition.ts"
import { ConditionJudge } from "../../src/subscriptions/ConditionJudge.ts"

const runtime = ManagedRuntime.make(ConditionJudge.layer)
const run = <A>(work: (conditions: ConditionJudge["Service"]) => Effect.Effect<A>) =>
  runtime.runPromise(Effect.flatMap(ConditionJudge, work))
const judge = (source: string, messages: ReadonlyArray<JudgedMessage>, workspace = "w1") =>
  run((conditions) => conditions.judge(workspace, takenCondition(source), messages))

const message = (text: string, data?: unknown): JudgedMessage => ({
  text,
  tags: ["a"],
  ...(data === undefined ? {} : { data }),
  principal: { type: "api_key", id: "k" },
  seq: 1,
  appendedAt: 0
})
const long = "a".repeat(limits.feedTextBytes)
const many = Array.from({ length: limits.feedDataBytes / 2 - 1 }, () => 1)
/** A text over which an automaton of many states goes through very many of them. */
const mixed = (() => {
  let seed = 7
  const letter = () => "ab"[((seed = (seed * 1_103_515_245 + 12_345) & 0x7f_ff_ff_ff) >> 16) & 1]
  return `c z ${Array.from({ length: limits.feedTextBytes - 8 }, letter).join("")} z`
})()

const slow = [
  [
    "a macro over much data that reads a long text each time",
    `data.all(x, ${"size(text) > 1 && ".repeat(40)}true)`,
    message(long, many)
  ],
  [
    "a text put together anew for each element",
    `data.all(x, size(${"text + ".repeat(50)}text) > 1)`,
    message(long, many)
  ]
] as const

beforeAll(() => judge(`text.matches("a")`, [message("a")]))
afterAll(() => runtime.dispose())

/** Copying a large message to a thread, and a collection, on a slow machine; judging it would take seconds. */
const most = 600

const spentMs = () => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1_000
}

/** The most ms that this thread computed between two turns of its event loop: what others of the machine take is not in it. */
const heldDuring = async (work: () => Promise<unknown>) => {
  let longest = 0
  let last = spentMs()
  const beat = setInterval(() => {
    const now = spentMs()
    longest = Math.max(longest, now - last)
    last = now
  }, 1)
  try {
    await work()
  } finally {
    clearInterval(beat)
  }
  return longest
}

describe("a condition that takes too long over a message", () => {
  it.each(slow)("does not match it, says so, and holds nobody: %s", async (_, source, hostile) => {
    let said: unknown
    const held = await heldDuring(async () => {
      said = await judge(source, [message("short", [1]), hostile, message("short", [1])])
    })
    assert.deepStrictEqual(said, [
      { matched: true },
      { matched: false, error: "it takes too long over this message" },
      { matched: true }
    ])
    assert.isBelow(held, most)
  })

  it("leaves the others of its workspace and of others to be judged", async () => {
    const [, source, hostile] = slow[0]
    const late = judge(source, [hostile], "w2")
    assert.deepStrictEqual(await judge(`text.matches("^sh")`, [message("short")], "w3"), [{ matched: true }])
    assert.deepStrictEqual(await late, [{ matched: false, error: "it takes too long over this message" }])
    assert.deepStrictEqual(await judge(`text.matches("^sh")`, [message("short")], "w2"), [{ matched: true }])
  })

  it("is passed over where there is no time for it: whoever appends goes on", async () => {
    const [, source, hostile] = slow[0]
    const began = performance.now()
    const said = await run((conditions) => conditions.judgeWithin("w4", [takenCondition(source)], [hostile], 50))
    assert.deepStrictEqual(said, [undefined])
    assert.isBelow(performance.now() - began, 1_000)
  })
})

describe("a pattern", () => {
  it("of the most states is judged away from the event loop", async () => {
    const source = `text.matches("a[ab]{${limits.celPatternStates - 10}}c")`
    assert.isFalse(isInvalid(conditionOf(source)))
    const held = await heldDuring(() => judge(source, [message(mixed)]))
    assert.isBelow(held, most)
  })

  it.each([
    ["one repeat", `[ab]{${limits.celPatternStates + 1}}`],
    ["many repeats", `${"[a-m]{0,200}".repeat(6)}z`],
    ["repeats of repeats", "(?:(?:(?:ab){10}){10}){10}"],
    ["repeats that stand side by side", "(?:[ab]{2}){999}"]
  ])("of more is refused, where it stands: %s", (_, pattern) => {
    const found = conditionOf(`seq > 1 && text.matches("${pattern}")`)
    assert.deepStrictEqual(found, {
      invalid: `matches takes a pattern that RE2 knows, of at most ${limits.celPatternStates} states`,
      at: 24
    })
  })
})

describe("usual conditions", () => {
  it.each([
    `"urgent" in tags`,
    `text.contains("error") || text.startsWith("panic")`,
    "tags.exists(t, text.contains(t))",
    `data.status == "failed" && data.attempts > 3`,
    `data.exists(x, x == "a")`
  ])("are judged at once: %s", (source) => {
    assert.isFalse(takenCondition(source).isCostly)
  })

  it("with patterns are judged for an append, a thousand of them, in their order", async () => {
    const conditions = Array.from({ length: 1_000 }, (_, i) => takenCondition(`text.matches("order ${i}\\\\b")`))
    const messages = [message("order 17 is late"), message("order 423 is here")]
    const said = await run((service) => service.judgeWithin("w5", conditions, messages, 10_000))
    const found = said.flatMap((row, i) => (row?.some(({ matched }) => matched) === true ? [i] : []))
    assert.deepStrictEqual(found, [17, 423])
  })
})
