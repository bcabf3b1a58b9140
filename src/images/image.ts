/** An image: what clients send of it, and what they see. */
import { Schema } from "effect"
import { ImageFormat, ImageId } from "../domain/content.ts"
import { described } from "../domain/described.ts"
import { limits } from "../domain/limits.ts"
import { Timestamp } from "../domain/time.ts"

export const imageFormats = ImageFormat.literals

const base64 = "^[A-Za-z0-9+/]*={0,2}$"

/** An upload as JSON. As raw bytes, its Content-Type says the format. */
export const ImageUpload = Schema.Struct({
  format: described(ImageFormat, "Format of the bytes: what they are not is refused."),
  data: described(
    // One class of characters: an engine of patterns goes through ten megabytes of it without a stack.
    Schema.String.check(
      Schema.isPattern(new RegExp(base64), { expected: "base64", toJsonSchema: () => ({ pattern: base64 }) })
    ),
    `The bytes as base64, at most ${limits.imageBytes} of them, ${limits.imageSide} pixels a side and ` +
      `${limits.imageMegapixels} megapixels.`
  )
}).annotate({ identifier: "ImageUpload" })
export type ImageUpload = typeof ImageUpload.Type

export const Image = Schema.Struct({
  id: described(ImageId, "Id of the image, which image blocks name. The same bytes have the same id in a workspace."),
  format: described(ImageFormat, "Format of the bytes."),
  bytes: described(Schema.Int, "How many there are."),
  width: described(Schema.Int, "How many pixels it is wide."),
  height: described(Schema.Int, "How many pixels it is high."),
  createdAt: described(Timestamp, "When it was uploaded for this agent.")
}).annotate({ identifier: "Image" })
export type Image = typeof Image.Type

/** What is told from the bytes. */
export interface Picture {
  readonly format: ImageFormat
  readonly width: number
  readonly height: number
}
