/**
 * What an answer holds that its output does not say: kept for the log, for hooks and for what a model reads.
 *
 * All of a result together keeps the limit of an output: what comes beside it has the room that it leaves.
 */
import type { CallToolResult } from "@modelcontextprotocol/client"
import type { Beside } from "../../domain/beside.ts"
import { type JsonObject, nestsDeeper } from "../../domain/jsonValue.ts"
import { limits } from "../../domain/limits.ts"
import { type Block, encodedBytes, fitBlocks } from "../blocks.ts"
import { isCopyOf } from "../reading.ts"

/** Of the protocol's own, which say nothing about what the tool has done. */
const isOwn = (key: string) => key.startsWith("io.modelcontextprotocol/")

const isPlain = (block: Block) => block.type === "text" && Object.keys(block).length === 2

/** Whether the output is all that the blocks say. */
const isSaid = (content: ReadonlyArray<Block>, output: unknown) =>
  content.every((block) => isPlain(block) && isCopyOf(output, block.text))

const metaOf = ({ _meta = {} }: CallToolResult): JsonObject =>
  Object.fromEntries(Object.entries(_meta).filter(([key]) => !isOwn(key)))

/** Undefined where there is nothing more, or no room for it. */
export const besideOf = (result: CallToolResult, output: unknown, room: () => number): Beside | undefined => {
  const blocks: ReadonlyArray<Block> = result.content === output ? [] : result.content.map((block) => ({ ...block }))
  const more = isSaid(blocks, output) || nestsDeeper(blocks, limits.jsonDepth) ? [] : blocks
  const about = metaOf(result)
  const said = Object.keys(about).length > 0 && !nestsDeeper(about, limits.jsonDepth)
  if (more.length === 0 && !said) return undefined
  const bytes = room()
  const content = more.length === 0 ? undefined : fitBlocks(more, bytes)
  const meta =
    said && encodedBytes(about) <= bytes - (content === undefined ? 0 : encodedBytes(content)) ? about : undefined
  return content === undefined && meta === undefined
    ? undefined
    : { ...(content !== undefined && { content }), ...(meta !== undefined && { meta }) }
}
