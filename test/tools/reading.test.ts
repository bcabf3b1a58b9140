/** What is kept of a tool's result, and what a model reads of it. */
import type { CallToolResult } from "@modelcontextprotocol/client"
import { assert, describe, it } from "@effect/vitest"
import { questionOf } from "../../src/hooks/reviewText.ts"
import { fitBlocks } from "../../src/tools/blocks.ts"
import { besideOf } from "../../src/tools/mcp/beside.ts"
import { readingOf } from "../../src/tools/reading.ts"

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const base64 = (length: number) => Buffer.alloc(length, 7).toString("base64")
const text = (said: string, more: object = {}) => ({ type: "text" as const, text: said, ...more })
const image = (length: number, more: object = {}) => ({
  type: "image" as const,
  mimeType: "image/png",
  data: base64(length),
  ...more
})

describe("what a model reads", () => {
  for (const [what, output, content, expected] of [
    ["a text, as it is", "seven", undefined, "seven"],
    ["JSON, as it is", { sum: 7 }, undefined, { sum: 7 }],
    ["nothing, as it is", null, undefined, null],
    ["blocks of text, as one text", [text("one"), text("two")], undefined, "one\ntwo"],
    ["an image, by its type and its size", [text("see"), image(100)], undefined, "see\n[image, image/png, 100 bytes]"],
    [
      "an image whose bytes were left out, by their number",
      [{ type: "image", mimeType: "image/png", truncated: true, bytes: 5 }],
      undefined,
      "[image, image/png, 5 bytes]"
    ],
    [
      "a sound, by its type and its size",
      [{ type: "audio", mimeType: "audio/wav", data: base64(1) }],
      undefined,
      "[audio, audio/wav, 1 bytes]"
    ],
    [
      "a resource's text",
      [{ type: "resource", resource: { uri: "file:///a", mimeType: "text/plain", text: "its text" } }],
      undefined,
      "[resource file:///a, text/plain]\nits text"
    ],
    [
      "a resource's blob, by its type and its size",
      [{ type: "resource", resource: { uri: "file:///b", mimeType: "application/pdf", blob: base64(2) } }],
      undefined,
      "[resource file:///b, application/pdf, 2 bytes]"
    ],
    [
      "a link",
      [{ type: "resource_link", uri: "file:///c", name: "c", description: "the third", size: 9 }],
      undefined,
      "[link file:///c, c, 9 bytes, the third]"
    ],
    [
      "an output and the blocks beside it",
      { sum: 7 },
      [text("The sum is seven."), image(3)],
      `{"sum":7}\nThe sum is seven.\n[image, image/png, 3 bytes]`
    ],
    [
      "an output once, whatever repeats it",
      { sum: 7 },
      [text(`{ "sum": 7 }`, { annotations: { priority: 1 } })],
      { sum: 7 }
    ],
    [
      "a text once, though its block stands beside it",
      "seven",
      [text("seven", { annotations: { priority: 1 } })],
      "seven"
    ],
    ["a wrapped result once", { result: "seven" }, [text("seven")], { result: "seven" }],
    ["a wrapped list once", { result: [{ a: 1 }, "b"] }, [text(`{"a":1}`), text("b")], { result: [{ a: 1 }, "b"] }],
    ["a result wrapped by any name once", { content: "seven" }, [text("seven")], { content: "seven" }],
    [
      "a structure without the bytes that it repeats",
      { file: { type: "image", data: base64(9) } },
      [image(9), text("see")],
      `{"file":{"type":"image","data":"[image, image/png, 9 bytes]"}}\nsee`
    ],
    [
      "a list that only looks like blocks, as JSON",
      [{ type: "text", text: 7 }],
      undefined,
      [{ type: "text", text: 7 }]
    ],
    [
      "a list of blocks and something else, as JSON",
      [text("one"), { kind: "other" }],
      undefined,
      [text("one"), { kind: "other" }]
    ],
    ["an empty list, as JSON", [], undefined, []]
  ] as const) {
    it(`is ${what}`, () => assert.deepStrictEqual(readingOf(output, content), expected))
  }
})

it("is what a reviewing agent reads of a result, too: no bytes, and none of the server's word about it", () => {
  const principal = { type: "api_key", id: "key_1" } as const
  const asked = questionOf(undefined, {
    agentId: "agt_1",
    threadId: "thr_1",
    turnId: "trn_1",
    principal,
    turnPrincipal: principal,
    data: {
      point: "after_tool_result",
      toolCallId: "call_1",
      toolName: "a.b",
      toolInput: {},
      toolOutput: { sum: 7 },
      toolContent: [image(300)],
      toolMeta: { cost: 3 }
    }
  })
  assert.include(asked, JSON.stringify(`{"sum":7}\n[image, image/png, 300 bytes]`))
  for (const unread of [base64(300), "toolContent", "toolMeta"]) assert.notInclude(asked, unread)
})

describe("blocks that have so much room", () => {
  const blocks = [image(300), text("after"), image(30)]
  it("stay as they are at their size", () => assert.deepStrictEqual(fitBlocks(blocks, bytes(blocks)), blocks))

  it("lose the bytes of an image that finds no room, and say how many there were", () => {
    const fitted = fitBlocks(blocks, bytes(blocks) - 1)
    // The first one's place is worth the most.
    assert.deepStrictEqual(fitted, [
      image(300),
      text("after"),
      { type: "image", mimeType: "image/png", truncated: true, bytes: 30 }
    ])
    const less = fitBlocks(blocks, bytes(blocks) - 300)
    assert.deepStrictEqual(less, [
      { type: "image", mimeType: "image/png", truncated: true, bytes: 300 },
      text("after"),
      image(30)
    ])
  })

  it("are nothing where not even their texts find room", () =>
    assert.isUndefined(fitBlocks([text("x".repeat(100))], 100)))
})

describe("what is kept beside an output", () => {
  const of = (result: CallToolResult, output: unknown, room = 1_000) => besideOf(result, output, () => room)
  it("is nothing where the output says all", () => {
    assert.isUndefined(of({ content: [text("seven")] }, "seven"))
    assert.isUndefined(of({ content: [text(`{ "sum": 7 }`)] }, { sum: 7 }))
    assert.isUndefined(of({ content: [] }, { sum: 7 }))
    const content = [text("one"), text("two")]
    assert.isUndefined(of({ content }, content))
  })

  it("is the blocks that say more, with their annotations, and the server's word about the result", () => {
    const content = [text("seven", { annotations: { audience: ["user"], priority: 0.5 } })]
    assert.deepStrictEqual(of({ content }, "seven"), { content })
    const more = [text("The sum is seven."), image(3)]
    assert.deepStrictEqual(of({ content: more, _meta: { cost: 1, "io.modelcontextprotocol/x": 2 } }, { sum: 7 }), {
      content: more,
      meta: { cost: 1 }
    })
  })

  it("has the room that the output leaves: its bytes go first, then the rest", () => {
    const content = [text("see"), image(300)]
    const meta = { a: 1 }
    assert.deepStrictEqual(of({ content, _meta: meta }, {}, bytes(content) + bytes(meta)), { content, meta })
    assert.deepStrictEqual(of({ content, _meta: meta }, {}, bytes(content) + bytes(meta) - 1), { content })
    assert.deepStrictEqual(of({ content: [image(300)], _meta: meta }, {}, 100), {
      content: [{ type: "image", mimeType: "image/png", truncated: true, bytes: 300 }],
      meta
    })
    assert.isUndefined(of({ content, _meta: meta }, {}, 5))
  })

  it("is nothing that nests deeper than what is read", () => {
    const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) })
    assert.isDefined(of({ content: [], _meta: deep(63) as Record<string, unknown> }, {}))
    assert.isUndefined(of({ content: [], _meta: deep(64) as Record<string, unknown> }, {}))
  })
})
