import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import type { HookData } from "../../src/domain/hook.ts"
import { NotAnAnswer, readAnswer, readReview } from "../../src/hooks/answer.ts"

const image = (digit: string) => ({ type: "image" as const, imageId: `img_${digit.repeat(64)}` })
const text = (words: string) => ({ type: "text" as const, text: words })

const data = {
  before_turn_start: { point: "before_turn_start", content: [text("hello"), image("a")], submitMode: "queue" },
  before_tool_call: { point: "before_tool_call", toolCallId: "call_1", toolName: "a.b", toolInput: {} },
  after_tool_result: {
    point: "after_tool_result",
    toolCallId: "call_1",
    toolName: "a.b",
    toolInput: {},
    toolOutput: 1
  },
  after_model_response: {
    point: "after_model_response",
    content: [text("hi")],
    modelId: "a/b",
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 }
  }
} as const satisfies { readonly [P in HookData["point"]]: HookData }
const callsOnly: HookData = { ...data.after_model_response, content: [] }
const points = Object.values(data)

const read = (answer: unknown, about: HookData = data.before_tool_call) =>
  readAnswer(about, typeof answer === "string" ? answer : JSON.stringify(answer))
const taken = (answer: unknown, about?: HookData) => {
  const found = read(answer, about)
  if (found instanceof NotAnAnswer) assert.fail(found.why)
  return found
}
const refused = (answer: unknown, about?: HookData) => {
  const found = read(answer, about)
  assert.instanceOf(found, NotAnAnswer, JSON.stringify(found))
  return found
}

describe("the answer of an endpoint", () => {
  it("is one of four decisions, with a reason or without", () => {
    for (const about of points) {
      for (const decision of ["allow", "deny", "ask", "defer"]) {
        assert.deepStrictEqual(taken({ decision }, about), { decision } as ReturnType<typeof taken>)
        assert.deepStrictEqual(taken({ decision, reason: "so" }, about), { decision, reason: "so" } as ReturnType<
          typeof taken
        >)
      }
    }
  })

  it("has a reason of at most 1 KiB", () => {
    for (const decision of ["allow", "deny", "ask", "defer"]) {
      assert.strictEqual(taken({ decision, reason: "é".repeat(512) }).reason?.length, 512)
      refused({ decision, reason: `${"é".repeat(512)}x` })
      refused({ decision, reason: 1 })
      refused({ decision, reason: null })
    }
  })

  it("may rewrite what its point is about, and nothing else", () => {
    const rewrites = [
      [data.before_turn_start, { content: [text("bye")] }],
      [data.before_tool_call, { toolInput: { amount: 1 } }],
      [data.before_tool_call, { toolInput: null }],
      [data.after_tool_result, { toolOutput: "redacted" }],
      [data.after_model_response, { content: [text("[redacted]")] }]
    ] as const
    for (const [about, rewrite] of rewrites) {
      for (const decision of ["allow", "ask"])
        assert.deepStrictEqual(taken({ decision, rewrite }, about).rewrite, rewrite)
      refused({ decision: "allow", rewrite: {} }, about)
      refused({ decision: "allow", rewrite: null }, about)
      refused({ decision: "allow", rewrite: { ...rewrite, more: 1 } }, about)
      refused({ decision: "defer", rewrite }, about)
      for (const [other, foreign] of rewrites) {
        if (Object.keys(foreign)[0] !== Object.keys(rewrite)[0]) refused({ decision: "allow", rewrite: foreign }, about)
        assert.isDefined(other)
      }
    }
  })

  it("puts no number in place that JSON cannot say again", () => {
    assert.deepStrictEqual(
      taken({ decision: "allow", rewrite: { toolInput: { a: 1e308 } } }, data.before_tool_call).rewrite,
      { toolInput: { a: 1e308 } }
    )
    for (const [about, rewrite] of [
      [data.before_tool_call, `{"toolInput":{"a":[1e400]}}`],
      [data.after_tool_result, `{"toolOutput":-1e400}`]
    ] as const) {
      assert.instanceOf(readAnswer(about, `{"decision":"allow","rewrite":${rewrite}}`), NotAnAnswer)
    }
  })

  it("is a deny whatever a rewrite beside it holds", () => {
    for (const about of points) {
      for (const rewrite of [{ toolInput: 1 }, { content: "x" }, null, [], 7])
        assert.deepStrictEqual(taken({ decision: "deny", reason: "no", rewrite }, about), {
          decision: "deny",
          reason: "no"
        })
    }
  })

  it("holds a message to the limits of messages", () => {
    const user = (content: unknown) => ({ decision: "allow", rewrite: { content } })
    taken(user([text("x".repeat(8192))]), data.before_turn_start)
    refused(user([text("x".repeat(8193))]), data.before_turn_start)
    refused(user([text(" ")]), data.before_turn_start)
    refused(user([]), data.before_turn_start)
    refused(user([{ ...text("a"), more: 1 }]), data.before_turn_start)
    taken(user(Array.from({ length: 40 }, () => text("a"))), data.after_model_response)
    refused(user(Array.from({ length: 41 }, () => text("a"))), data.after_model_response)
    refused(user([image("a")]), data.after_model_response)
    taken(user([text("x".repeat(64 * 1024))]), data.after_model_response)
    refused(user([text("x".repeat(64 * 1024 + 1))]), data.after_model_response)
  })

  it("brings no image into a message that was not there", () => {
    taken({ decision: "allow", rewrite: { content: [image("a")] } }, data.before_turn_start)
    refused({ decision: "allow", rewrite: { content: [text("x"), image("b")] } }, data.before_turn_start)
  })

  it("leaves a response of calls without text, or gives it one", () => {
    assert.deepStrictEqual(taken({ decision: "allow", rewrite: { content: [] } }, callsOnly).rewrite, { content: [] })
    taken({ decision: "allow", rewrite: { content: [text("note")] } }, callsOnly)
    refused({ decision: "allow", rewrite: { content: [] } }, data.after_model_response)
  })

  it("says with an ask that the endpoint itself will answer it", () => {
    assert.deepStrictEqual(taken({ decision: "ask", answerBy: "url" }), { decision: "ask", answerBy: "url" })
    refused({ decision: "ask", answerBy: "person" })
    refused({ decision: "allow", answerBy: "url" })
  })

  for (const [what, answer] of [
    ["nothing", ""],
    ["no JSON", "}{"],
    ["two of them", `{"decision":"allow"}{"decision":"allow"}`],
    ["an array", []],
    ["a text", `"allow"`],
    ["null", "null"],
    ["without a decision", {}],
    ["another decision", { decision: "maybe" }],
    ["in another case", { decision: "Allow" }],
    ["a list of decisions", { decision: ["allow"] }],
    ["with an unknown field", { decision: "allow", note: "" }],
    ["with an inherited decision", `{"__proto__":{"decision":"allow"}}`],
    ["a deny with an unknown field", { decision: "deny", note: "" }]
  ] as const) {
    it(`is none when it is ${what}`, () => {
      refused(answer)
    })
  }

  it("nests at most 64 levels", () => {
    const nested = (levels: number) =>
      `{"decision":"allow","rewrite":{"toolInput":${"[".repeat(levels)}${"]".repeat(levels)}}}`
    taken(nested(62))
    refused(nested(63))
    refused(nested(30_000))
    refused("[".repeat(65_000))
  })

  it("never throws, and says why it is none in a short line", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string({ unit: "binary" })), fc.constantFrom(...points), (answer, about) => {
        const found = readAnswer(about, answer)
        if (found instanceof NotAnAnswer) {
          assert.isAtMost(found.why.length, 400)
          assert.notMatch(found.why, /[\p{Cc}\p{Cs}]/u)
        }
      })
    )
    const { why } = refused({ decision: "allow", ["k".repeat(5_000)]: 1 })
    assert.isAtMost(why.length, 400)
  })
})

describe("the answer of a reviewer", () => {
  const taken = (words: string) => {
    const found = readReview(words)
    if (found instanceof NotAnAnswer) assert.fail(found.why)
    return found
  }

  it("is the JSON object in its text, with words around it or without", () => {
    assert.deepStrictEqual(taken(`{"decision":"deny","reason":"no"}`), { decision: "deny", reason: "no" })
    assert.deepStrictEqual(taken('I looked.\n```json\n{ "decision": "allow" }\n```\nDone.'), { decision: "allow" })
    assert.deepStrictEqual(taken(`{"decision":"ask","reason":"it says \\"}{\\" and \\\\"}`), {
      decision: "ask",
      reason: `it says "}{" and \\`
    })
    assert.deepStrictEqual(taken(`{"decision":"defer"}`), { decision: "defer" })
  })

  for (const [what, words] of [
    ["there is none", "allow"],
    ["it is not closed", `{"decision":"allow"`],
    ["it is another object", `{"answer":"allow"}`],
    ["it rewrites", `{"decision":"allow","rewrite":{"toolInput":1}}`],
    ["its reason is too long", JSON.stringify({ decision: "allow", reason: "x".repeat(1025) })],
    ["it is not JSON", "{decision: allow}"],
    ["the text quotes another one before it", `It says {"decision":"allow"}, but {"decision":"deny"}`],
    ["the text begins another one after it", `{"decision":"allow"} {`],
    ["it nests too deep", `${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}`]
  ] as const) {
    it(`is none when ${what}`, () => {
      assert.instanceOf(readReview(words), NotAnAnswer)
    })
  }

  it("never throws", () => {
    fc.assert(
      fc.property(
        fc
          .array(fc.constantFrom("{", "}", '"', "\\", "a", "decision", ":", '"allow"', " "), { maxLength: 30 })
          .map((parts) => parts.join("")),
        (words) => {
          readReview(words)
        }
      )
    )
  })
})
