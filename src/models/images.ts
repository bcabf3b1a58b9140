/** Which images of a prompt a model does not accept, and the failure that says so. */
import type { ImageFormat } from "../domain/content.ts"
import { ModelFailure, type Prompt } from "./Model.ts"

/** The format of a stored image; undefined where it is not known. */
export type FormatOf = (imageId: string) => ImageFormat | undefined

/** No image is stored yet, so no format is known: the images room replaces this. */
export const noImages: FormatOf = () => undefined

/** Formats of the prompt's images, each once, as far as they are known. */
export const formatsIn = (prompt: Prompt, formatOf: FormatOf): ReadonlyArray<ImageFormat> => {
  if (formatOf === noImages) return []
  const found = new Set<ImageFormat>()
  for (const message of prompt.messages) {
    if (message.role !== "user") continue
    for (const block of message.content) {
      const format = block.type === "image" ? formatOf(block.imageId) : undefined
      if (format !== undefined) found.add(format)
    }
  }
  return [...found]
}

/**
 * Contract C16.8: details name the exact target and 1 to 4 unique formats, sorted. A target's id of 512 characters
 * keeps them below 4 KiB.
 */
export const imageFormatFailure = (targetId: string, formats: ReadonlyArray<ImageFormat>, text: string) =>
  new ModelFailure({
    code: "model_image_format_unsupported",
    text,
    details: { targetId, formats: [...new Set(formats)].sort() },
    transient: false,
    unavailable: false
  })
