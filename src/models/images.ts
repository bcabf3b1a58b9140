/** Which images of a prompt a model does not accept, and the failure that says so. */
import type { ImageFormat } from "../domain/content.ts"
import { ModelFailure, type Prompt, type PromptMessage } from "./Model.ts"

/** Ids of the images that a conversation names. Asked of every prompt, and most have none. */
export const imagesIn = (messages: ReadonlyArray<PromptMessage>): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (const message of messages) {
    if (message.role !== "user") continue
    for (const block of message.content) if (block.type === "image") found.push(block.imageId)
  }
  return found
}

/** Formats of the prompt's images, each once. */
export const formatsIn = ({ images }: Prompt): ReadonlyArray<ImageFormat> =>
  images === undefined ? [] : [...new Set([...images.values()].map(({ format }) => format))]

/** Those that a model does not accept. */
export const refusedFormats = (prompt: Prompt, accepted: ReadonlyArray<ImageFormat>): ReadonlyArray<ImageFormat> =>
  formatsIn(prompt).filter((format) => !accepted.includes(format))

/**
 * Contract C16.8: details name the exact target and 1 to 4 unique formats, sorted. A target's id of 512 characters
 * keeps them below 4 KiB. Another target may accept them.
 */
export const imageFormatFailure = (targetId: string, formats: ReadonlyArray<ImageFormat>, text: string) =>
  new ModelFailure({
    code: "model_image_format_unsupported",
    text,
    details: { targetId, formats: [...new Set(formats)].sort() },
    transient: false,
    unavailable: true
  })
