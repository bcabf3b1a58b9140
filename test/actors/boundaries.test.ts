/** Where conversations are cut: random ones, against the words of the rule said plainly. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { boundaryOf } from "../../actors/thread/memory/boundaries.ts"
import { standingAgain, summarised, summarisedTokens, toSummarise } from "../../actors/thread/memory/summaries.ts"
import type { PromptMessage } from "../../src/models/Model.ts"
import { bytesOfMessage } from "../../src/models/promptTokens.ts"

interface Drawn {
  /** Of each turn: of each response its calls, and whether a steer comes before it. */
  readonly turns: ReadonlyArray<ReadonlyArray<{ readonly calls: number; readonly steered: boolean }>>
  readonly bytes: number
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  turns: fc.array(
    fc.array(fc.record({ calls: fc.nat({ max: 3 }), steered: fc.boolean() }), { minLength: 1, maxLength: 8 }),
    { minLength: 1, maxLength: 8 }
  ),
  bytes: fc.nat({ max: 400 })
})

/** A conversation as the log tells it: the turn's end is an event, and no message. */
const conversation = ({ bytes, turns }: Drawn): ReadonlyArray<PromptMessage> => {
  const messages: Array<PromptMessage> = []
  let seq = 0
  const at = () => ({ pos: ++seq, seq })
  for (const [t, responses] of turns.entries()) {
    const turnId = `trn_${t}`
    const say = (n: number) =>
      messages.push({ role: "user", turnId, at: at(), n, content: [{ type: "text", text: "u".repeat(bytes) }] })
    say(0)
    for (const [r, { calls, steered }] of responses.entries()) {
      if (steered) say(r + 1)
      const ids = Array.from({ length: calls }, (_, c) => `call_${t}_${r}_${c}`)
      messages.push({
        role: "assistant",
        turnId,
        at: at(),
        modelId: "m/one",
        text: "a".repeat(bytes),
        calls: ids.map((toolCallId) => ({ toolCallId, providerToolCallId: toolCallId, name: "tool", input: {} }))
      })
      for (const toolCallId of ids)
        messages.push({
          role: "tool",
          turnId,
          at: at(),
          toolCallId,
          providerToolCallId: toolCallId,
          name: "tool",
          output: "o".repeat(bytes)
        })
    }
    // The running turn has no end yet.
    if (t < turns.length - 1) seq++
  }
  return messages
}

const posOf = ({ at }: PromptMessage) => at?.pos ?? 0
const tokensThrough = (messages: ReadonlyArray<PromptMessage>, pos: number) =>
  messages.filter((message) => posOf(message) <= pos).reduce((sum, message) => sum + summarisedTokens(message), 0)

/** The rule, said plainly: every place where a cut is good, by kind. */
const places = (messages: ReadonlyArray<PromptMessage>, keepTurns: number) => {
  const turnIds = [...new Set(messages.map(({ turnId }) => turnId))]
  const firstOf = (turnId: string) => messages.find((message) => message.turnId === turnId)
  const before = (message: PromptMessage | undefined) => (message === undefined ? [] : [posOf(message) - 1])
  const ends = turnIds.slice(1, Math.max(1, turnIds.length - keepTurns + 1)).flatMap((id) => before(firstOf(id)))
  const responses = (turnId: string) =>
    messages.filter((message) => message.role === "assistant" && message.turnId === turnId)
  const running = responses(turnIds.at(-1) ?? "")
  return {
    ends,
    ofFirst: responses(turnIds[0] ?? "")
      .slice(1)
      .flatMap(before),
    inside: running.slice(1, Math.max(1, running.length - 2)).flatMap(before)
  }
}

const naive = (messages: ReadonlyArray<PromptMessage>, keepTurns: number, room: number): number | undefined => {
  const { ends, inside, ofFirst } = places(messages, keepTurns)
  const fitting = (among: ReadonlyArray<number>) => among.filter((pos) => tokensThrough(messages, pos) <= room).at(-1)
  if (ends.length === 0) return fitting(inside) ?? inside[0]
  return fitting(ends) ?? fitting([...ofFirst, ...ends]) ?? [...ofFirst, ...ends][0]
}

describe("a cut", () => {
  it("is where the rule says", () => {
    fc.assert(
      fc.property(
        drawn,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 3_000 }),
        (what, keepTurns, room) => {
          const messages = conversation(what)
          const turnId = messages.at(-1)?.turnId ?? ""
          assert.strictEqual(boundaryOf(messages, { turnId, keepTurns, room })?.pos, naive(messages, keepTurns, room))
        }
      ),
      { numRuns: 2_000 }
    )
  })

  it("leaves no result without its call, and the running turn its messages, behind one summary", () => {
    fc.assert(
      fc.property(
        drawn,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 3_000 }),
        (what, keepTurns, room) => {
          let messages = conversation(what)
          const turnId = messages.at(-1)?.turnId ?? ""
          const own = messages.filter((message) => message.role === "user" && message.turnId === turnId)
          for (let round = 0; round < 8; round++) {
            const boundary = boundaryOf(messages, { turnId, keepTurns, room })
            if (boundary === undefined) break
            const { pos, seq: throughSeq } = boundary
            const again = standingAgain(messages, turnId, pos)
            const cut = summarised(
              messages,
              { turnId, event: { compaction: { throughSeq, attempt: "build:0" }, modelId: "m/one", usage: none } },
              { summary: "s", pos, messages: again }
            )
            assert.isBelow(cut.length, messages.length + 1)
            messages = cut
            assert.deepStrictEqual(
              messages.map(({ role }) => role === "summary"),
              messages.map((_, index) => index === 0)
            )
            const open = new Set<string>()
            for (const message of messages) {
              if (message.role === "assistant") for (const call of message.calls) open.add(call.toolCallId)
              if (message.role === "tool") assert.isTrue(open.delete(message.toolCallId))
            }
            assert.strictEqual(open.size, 0)
            const kept = messages.filter((message) => message.role === "user" && message.turnId === turnId)
            assert.deepStrictEqual(
              kept.map((message) => message.role === "user" && message.n),
              own.map((message) => message.role === "user" && message.n)
            )
          }
        }
      ),
      { numRuns: 1_000 }
    )
  })

  it("counts the responses that have followed a message", () => {
    const calls = (n: number) => ({ calls: n, steered: false })
    const messages = conversation({ turns: [[calls(2), calls(0), calls(1), calls(1), calls(1), calls(1)]], bytes: 10 })
    const boundary = boundaryOf(messages, { turnId: "trn_0", keepTurns: 2, room: 10_000 })
    assert.deepStrictEqual(standingAgain(messages, "trn_0", boundary?.pos ?? 0), [
      { n: 0, content: [{ type: "text", text: "uuuuuuuuuu" }], replaced: { responses: 2, calls: 3 } }
    ])
  })
})

describe("what a summary is made of", () => {
  it("fits, however long its texts are, and names images", () => {
    const text = "x".repeat(100_000)
    const messages: ReadonlyArray<PromptMessage> = [
      {
        role: "user",
        turnId: "trn_1",
        at: { pos: 1, seq: 1 },
        content: [
          { type: "text", text },
          { type: "image", imageId: "img_1" }
        ]
      },
      { role: "assistant", turnId: "trn_1", at: { pos: 2, seq: 2 }, modelId: "m/one", text, calls: [] }
    ]
    const told = toSummarise(messages, 2, 1_000)
    assert.isAtMost(
      told.reduce((sum, message) => sum + summarisedTokens(message), 0),
      1_000
    )
    assert.include(JSON.stringify(told), "[image img_1]")
    assert.deepStrictEqual(toSummarise(messages, 1, 1_000_000).length, 1)
  })

  it("fits, however much its calls were given, and however long they say why they failed", () => {
    const long = "x".repeat(100_000)
    const call = { turnId: "trn_1", toolCallId: "call_1", providerToolCallId: "call_1", name: "tool" }
    const messages: ReadonlyArray<PromptMessage> = [
      { role: "user", turnId: "trn_1", at: { pos: 1, seq: 1 }, content: [{ type: "text", text: "go" }] },
      {
        role: "assistant",
        turnId: "trn_1",
        at: { pos: 2, seq: 2 },
        modelId: "m/one",
        text: "",
        calls: [{ ...call, input: { begins: "here", of: long } }]
      },
      {
        role: "tool",
        ...call,
        at: { pos: 3, seq: 3 },
        output: null,
        failure: { code: "tool_error", text: `why${long}` }
      }
    ]
    const told = toSummarise(messages, 3, 1_000)
    assert.isAtMost(
      told.reduce((sum, message) => sum + bytesOfMessage(message), 0),
      4_000
    )
    for (const words of ["begins", "tool_error", "why"]) assert.include(JSON.stringify(told), words)
  })
})

const none = { inputTokens: 0, outputTokens: 0, totalTokens: 0 }
