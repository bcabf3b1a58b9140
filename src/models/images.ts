/** Which images of a prompt a model does not accept, and the failure that says so. */
import type { ImageFormat } from "../domain/content.ts"
import { ModelFailure, type Prompt } from "./Model.ts"

/** The format of a stored image; undefined where it is not known. */
export type FormatOf = (imageId: string) => ImageFormat | undefined

/** No image is stored yet, so no format is known: the images room replaces this. */
export const noImages: FormatOf = () => undefined

export const unsupportedFormats = (prompt: Prompt, accepted: ReadonlyArray<ImageFormat>, formatOf: FormatOf): ReadonlyArray<ImageFormat> => {
  if (formatOf === noImages) return []
  const found = new Set<ImageFormat>()
  for (const message of prompt.messages) {
    if (message.role !== "user") continue
    for (const block of message.content) {
      if (block.type !== "image") continue
      const format = formatOf(block.imageId)
      if (format !== undefined && !accepted.includes(format)) found.add(format)
    }
  }
  return [...found]
}

/** Specification: details name the exact target and 1 to 4 unique formats. */
export const imageFormatFailure = (targetId: string, formats: ReadonlyArray<ImageFormat>, text: string) =>
  new ModelFailure({
    code: "model_image_format_unsupported",
    text,
    details: { targetId, formats: [...formats] },
    transient: false,
    unavailable: false
  })
