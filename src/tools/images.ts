/** The images in a tool's result that a model may be shown, as far as their bytes were kept. */
import { ImageFormat } from "../domain/content.ts"
import type { ToolImage } from "../models/Model.ts"
import { type Block, isBlocks } from "./blocks.ts"

const formatOf = (mimeType: unknown) =>
  ImageFormat.literals.find(
    (format) => mimeType === `image/${format}` || (format === "jpeg" && mimeType === "image/jpg")
  )

const imageOf = ({ data, mimeType, type }: Block): ReadonlyArray<ToolImage> => {
  const format = type === "image" ? formatOf(mimeType) : undefined
  return format === undefined || typeof data !== "string" || data === "" ? [] : [{ format, data }]
}

/** `content` are the blocks that came beside the output, if any did; else the output may be blocks itself. */
export const imagesOf = (output: unknown, content: unknown): ReadonlyArray<ToolImage> => {
  const blocks = isBlocks(content) ? content : isBlocks(output) ? output : []
  return blocks.flatMap(imageOf)
}
