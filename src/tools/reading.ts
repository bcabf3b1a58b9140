/**
 * One place decides what a model reads of a tool's result, for every provider and for reviewing agents.
 *
 * R1. Text is read as text, everything else as JSON; a result of several parts as one text.
 * R2. Bytes are never read as text: an image, a sound or a blob is named by its type and its size, also where the
 *     output repeats what stands in a block.
 * R3. Nothing is read twice: a text that only repeats the output is left out. Neither annotations nor `_meta` are read.
 */
import { isDeepStrictEqual } from "node:util"
import { isJsonObject } from "../domain/jsonValue.ts"
import { type Block, isBlocks, nameBytes, blockText } from "./blocks.ts"

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether a text says just this value: as it is, or as its JSON. */
export const isCopyOf = (value: unknown, text: unknown) =>
  typeof text === "string" && (text === value || (typeof value !== "string" && isDeepStrictEqual(parsed(text), value)))

/**
 * What an object holds that holds nothing else: a structure is an object, and what is none is put into one, as `result`
 * or by another name.
 */
const wrapped = (output: unknown) => {
  const [inner, ...more] = isJsonObject(output) ? Object.values(output) : []
  return more.length === 0 ? inner : undefined
}

/** The blocks that say more than the output does. */
const others = (output: unknown, content: ReadonlyArray<Block>): ReadonlyArray<Block> => {
  const inner = wrapped(output)
  const texts = content.filter(({ type }) => type === "text")
  const isEach =
    Array.isArray(inner) && inner.length === texts.length && texts.every(({ text }, i) => isCopyOf(inner[i], text))
  return content.filter(
    ({ text, type }) =>
      type !== "text" || !(isEach || isCopyOf(output, text) || (inner !== undefined && isCopyOf(inner, text)))
  )
}

const asRead = (output: unknown) => (isBlocks(output) ? output.map(blockText).join("\n") : output)

/** `content` are the blocks that came beside the output, if any did. */
export const readingOf = (output: unknown, content?: unknown): unknown => {
  if (!isBlocks(content)) return asRead(output)
  const { named, value } = isBlocks(output) ? { value: output, named: new Set<Block>() } : nameBytes(output, content)
  const read = asRead(value)
  const beside = others(output, content)
    .filter((block) => !named.has(block))
    .map(blockText)
  return beside.length === 0 ? read : [typeof read === "string" ? read : JSON.stringify(read), ...beside].join("\n")
}
