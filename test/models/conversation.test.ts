import type { LanguageModelV4Message } from "@ai-sdk/provider"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { toConversation, toTools } from "../../src/models/conversation.ts"
import type { PromptMessage } from "../../src/models/Model.ts"
import { called, promptOf, refused, result, said, turnId, user } from "./prompts.ts"
import { problemIn, type Said } from "./servers/history.ts"
import { problemInTools } from "./servers/tools.ts"

const owner = "anthropic:anthropic"

const saidIn = ({ role, content }: LanguageModelV4Message): Said | undefined => {
  if (role === "system") return undefined
  const parts = typeof content === "string" ? [] : content
  return {
    role: role === "assistant" ? "assistant" : "user",
    calls: parts.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : [])),
    results: parts.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : [])),
    reasoning: []
  }
}

const outputs = (messages: ReadonlyArray<PromptMessage>) =>
  toConversation(promptOf(messages), owner)
    .flatMap((message) => (message.role === "tool" ? message.content : []))
    .map((part) => (part.type === "tool-result" ? part.output : undefined))

/**
 * A conversation as bad as a log could ever hold it: results lost, doubled, early, late; ids that repeat or do not fit.
 */
const anyHistory = fc
  .array(
    fc.oneof(
      fc.constant<PromptMessage>(user("hello")),
      fc.record({
        text: fc.constantFrom("", " ", "well"),
        ids: fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { maxLength: 3 }),
        own: fc.constantFrom("call_0", "functions.search:0", "", "x".repeat(80)),
        parts: fc.constantFrom<unknown>(
          undefined,
          null,
          {
            provider: owner,
            content: [
              { type: "reasoning", text: "hm", meta: { anthropic: { signature: "s" } } },
              { type: "call", id: "call_0" },
              { type: "text", length: 4 }
            ]
          },
          { provider: owner, content: "?" }
        )
      }),
      fc.integer({ min: 1, max: 40 })
    ),
    { maxLength: 12 }
  )
  .map((steps) => {
    let round = 0
    return steps.map((step): PromptMessage => {
      if (typeof step === "number")
        return {
          role: "tool",
          turnId,
          toolCallId: `tc_${step % 9}_${Math.floor(step / 9)}`,
          providerToolCallId: "call_0",
          name: "search",
          output: step
        }
      if ("role" in step) return step
      round++
      return {
        role: "assistant",
        turnId,
        modelId: "m",
        text: step.text,
        calls: step.ids.map((id) => ({
          toolCallId: `tc_${id}_${round}`,
          providerToolCallId: step.own,
          name: "search",
          input: {}
        })),
        ...(step.parts === undefined ? {} : { parts: step.parts })
      }
    })
  })

describe("a prompt on its way to a provider", () => {
  it("is a valid history whatever the log holds (C1, C2, C3)", () => {
    // A failure prints its seed.
    fc.assert(
      fc.property(anyHistory, (messages) => {
        const conversation = toConversation(promptOf([user("first"), ...messages]), owner)
        expect(
          problemIn(
            conversation.flatMap((message) => saidIn(message) ?? []),
            new Map()
          )
        ).toBeUndefined()
        for (const message of conversation) expect(message.content.length).toBeGreaterThan(0)
      }),
      { numRuns: 500 }
    )
  })

  it("tells the model how each call ended", () => {
    expect(
      outputs([
        user("go"),
        called(["1", "a"], ["2", "a"], ["3", "a"], ["4", "a"], ["5", "a"]),
        result("1", "a", { x: [1, null] }),
        result("2", "a", "plain"),
        refused("3", "a", "tool_timeout", "too slow"),
        result("5", "a", undefined)
      ])
    ).toEqual([
      { type: "json", value: { x: [1, null] } },
      { type: "text", value: "plain" },
      { type: "error-text", value: "tool_timeout: too slow" },
      { type: "error-text", value: "no result: the call was given up" },
      { type: "json", value: null }
    ])
  })

  it("puts a steer after the results of the calls that it came upon", () => {
    const roles = toConversation(
      promptOf([user("go"), called(["1", "a"]), user("wait"), result("1", "a", 1)], { system: "be" }),
      owner
    ).map(({ role }) => role)
    expect(roles).toEqual(["system", "user", "assistant", "tool", "user"])
  })

  it("gives signed parts back in their order, with the log's own text and calls", () => {
    const parts = {
      provider: owner,
      content: [
        { type: "reasoning", text: "hm", meta: { anthropic: { signature: "s1" } } },
        { type: "text", length: 2 },
        { type: "reasoning", text: "oh", meta: { anthropic: { signature: "s2" } } },
        { type: "text", length: 3, meta: { anthropic: { mark: 1 } } },
        { type: "call", id: "p_1", meta: { anthropic: { caller: "x" } } },
        { type: "call", id: "p_gone" }
      ]
    }
    const before = {
      role: "assistant",
      turnId,
      modelId: "m",
      text: "abcde",
      parts,
      calls: [{ toolCallId: "1", providerToolCallId: "p_1", name: "a", input: { q: 1 } }]
    } as const
    const [, message] = toConversation(promptOf([user("go"), before]), owner)
    expect(message?.content).toEqual([
      { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "s1" } } },
      { type: "text", text: "ab" },
      { type: "reasoning", text: "oh", providerOptions: { anthropic: { signature: "s2" } } },
      { type: "text", text: "cde", providerOptions: { anthropic: { mark: 1 } } },
      {
        type: "tool-call",
        toolCallId: "p_1",
        toolName: "a",
        input: { q: 1 },
        providerOptions: { anthropic: { caller: "x" } }
      }
    ])
    const [, cut] = toConversation(promptOf([user("go"), { ...before, text: "abc" }]), owner)
    expect(cut?.content).toContainEqual({ type: "text", text: "abc" })
    const [, foreign] = toConversation(promptOf([user("go"), before]), "google:google")
    expect(foreign?.content).toEqual([
      { type: "text", text: "abcde" },
      { type: "tool-call", toolCallId: "p_1", toolName: "a", input: { q: 1 } }
    ])
  })

  it("ends with a request for the summary when one is wanted", () => {
    const last = toConversation(promptOf([user("go"), said("well")], { purpose: "summary" }), owner).at(-1)
    expect(last?.role).toBe("user")
    expect(JSON.stringify(last?.content)).toContain("Summarize")
  })

  it("tells whoever makes a summary in words what was called, and shows it no tools (C4)", () => {
    const history = [
      user("go"),
      called(["1", "old:tool", { of: "x" }], ["2", "other"]),
      result("1", "old:tool", { found: 7 }),
      refused("2", "other", "tool_error", "broke"),
      said("well")
    ]
    const prompt = promptOf(history, { purpose: "summary" })
    const conversation = toConversation(prompt, owner)
    expect(conversation.map(({ content, role }) => [role, content.length])).toEqual(
      ["user", "assistant", "user", "user", "assistant", "user"].map((role) => [role, 1])
    )
    const kinds = conversation.flatMap(({ content }) =>
      typeof content === "string" ? ["string"] : content.map(({ type }) => type)
    )
    expect(new Set(kinds)).toEqual(new Set(["text"]))
    const whole = conversation.map(({ content }) =>
      typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join()
    )
    for (const words of ['old:tool with {"of":"x"}', 'old:tool gave {"found":7}', "other failed: tool_error: broke"])
      expect(whole.join("\n")).toContain(words)
    expect(toTools(prompt)).toEqual([])
  })

  it("adds to that request what the profile says of it", () => {
    const prompt = promptOf([user("go"), said("well")], { purpose: "summary", instructions: "Keep the names." })
    expect(JSON.stringify(toConversation(prompt, owner).at(-1)?.content)).toContain("Keep the names.")
  })

  it("begins with the summary of what came before, as somebody's words", () => {
    const summary = { role: "summary" as const, turnId: "trn_1", text: "They met." }
    const [first, second] = toConversation(promptOf([summary, user("go")]), owner)
    expect([first?.role, second?.role]).toEqual(["user", "user"])
    expect(JSON.stringify(first?.content)).toContain("They met.")
  })

  it.each([
    ["says nothing of properties", { type: "object" }, { type: "object", properties: {} }],
    ["is none", null, { type: "object", properties: {} }],
    [
      "chooses at its top",
      {
        type: "object",
        required: ["a"],
        properties: { a: { type: "string" } },
        not: { required: ["d"] },
        oneOf: [
          { properties: { b: { type: "number" } }, required: ["b"] },
          { properties: { a: { const: "x" }, c: {} } },
          { $ref: "#/$defs/d" }
        ],
        $defs: { d: {} }
      },
      {
        type: "object",
        required: ["a"],
        properties: { b: { type: "number" }, a: { type: "string" }, c: {} },
        $defs: { d: {} }
      }
    ]
  ])("shows a tool whose schema %s as every provider takes it", (_, inputSchema, shown) => {
    const [tool] = toTools(promptOf([user("go")], { tools: [{ name: "a", inputSchema }] }))
    expect(tool?.inputSchema).toEqual(shown)
    expect(problemInTools([{ name: tool?.name, schema: tool?.inputSchema }])).toBeUndefined()
  })

  it("still names the tools of its history when none is offered any more", () => {
    expect(
      toTools(promptOf([user("go"), called(["1", "old:tool"], ["2", "old:tool"])])).map(({ name }) => name)
    ).toHaveLength(1)
    expect(toTools(promptOf([user("go")]))).toEqual([])
  })

  it("is split nowhere but at what was said: one message of the log is one of the conversation", () => {
    expect(
      toConversation(promptOf([user("a"), user("b"), said("c"), user("d")]), owner).map(({ role }) => role)
    ).toEqual(["user", "user", "assistant", "user"])
  })
})
