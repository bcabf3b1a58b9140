/**
 * A tool's result as a thread's log shows it, in the terms of the protocol, and what two callers of one server cannot
 * share.
 */
import { assert } from "@effect/vitest"
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { readingOf } from "../../../src/tools/reading.ts"
import type { Event } from "../../http/threadFixture.ts"

/** Times, sessions and folders are each caller's own. */
const common = (home: string) => {
  const text = (words: string) =>
    words
      .replaceAll(new RegExp(`${home}/(troupe|client)`, "g"), "FOLDER")
      .replaceAll(/\d{1,2}:\d{2}:\d{2} [AP]M/g, "TIME")
      .replaceAll(/\b(created|modified|accessed): .*/g, "$1: DATE")
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "SESSION")
  /** A blob may hold the time at which it was made. */
  const blob = (base64: string) => {
    const words = Buffer.from(base64, "base64").toString()
    return words.includes("created at") ? text(words) : base64
  }
  const without = (value: unknown, key?: string): unknown => {
    if (typeof value === "string") return key === "blob" ? blob(value) : text(value)
    if (Array.isArray(value)) return value.map((inner) => without(inner))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, without(inner, key)]))
  }
  return without
}

const texts = ({ content }: CallToolResult) => content.flatMap((block) => (block.type === "text" ? [block.text] : []))

const bytesOf = ({ content }: CallToolResult) =>
  content.flatMap((block) => {
    if (block.type === "image" || block.type === "audio") return [block.data]
    return block.type === "resource" && "blob" in block.resource ? [block.resource.blob] : []
  })

/** What the protocol says about a result, not its tool. */
const isOwn = (key: string) => key.startsWith("io.modelcontextprotocol/")
const metaOf = ({ _meta = {} }: CallToolResult) =>
  Object.fromEntries(Object.entries(_meta).filter(([key]) => !isOwn(key)))

/**
 * Fails unless the event shows all of the result: its structured content, every block with its annotations, its
 * `_meta`, or its failure.
 */
export const assertShows = (home: string, event: Event, result: CallToolResult, what: string) => {
  const same = (found: unknown, expected: unknown, part: string) =>
    assert.deepStrictEqual(common(home)(found), common(home)(expected), `${what}: ${part}`)
  const { failureCode, failureText, toolContent, toolMeta, toolOutput } = event
  if (result.isError === true) {
    assert.strictEqual(failureCode, "tool_error", what)
    return same(failureText, texts(result).join("\n"), "its words")
  }
  assert.isUndefined(failureCode, `${what}: ${String(failureText)}`)
  if (result.structuredContent !== undefined) same(toolOutput, result.structuredContent, "its structured content")
  if (toolContent !== undefined) same(toolContent, result.content, "its blocks")
  // They are not there twice: the output is the blocks, or the one text, or what the one text says.
  else if (Array.isArray(toolOutput)) same(toolOutput, result.content, "its blocks")
  else {
    const [block] = result.content
    assert.deepStrictEqual(
      result.content.map((block) => [block.type, Object.keys(block).length]),
      [["text", 2]],
      what
    )
    if (block?.type === "text")
      same(typeof toolOutput === "string" ? block.text : JSON.parse(block.text), toolOutput, "its text")
  }
  same(toolMeta ?? {}, metaOf(result), "its _meta")
  const read = readingOf(toolOutput, toolContent)
  for (const bytes of bytesOf(result))
    assert.notInclude(typeof read === "string" ? read : JSON.stringify(read), bytes, `${what}: no model reads bytes`)
}
