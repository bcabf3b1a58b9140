/** Images that a message names: where it names one that is not its agent's (contract C15.2). */
import type { MessageContent } from "../domain/content.ts"

export const imagesNamedIn = (content: MessageContent): ReadonlyArray<string> =>
  content.flatMap((block) => (block.type === "image" ? [block.imageId] : []))

/** The words that refuse the first of the missing ones. `within` is where the message stands in the body: `message.` */
export const missingImage = (content: MessageContent, missing: ReadonlySet<string>, within: string) => {
  const at = content.findIndex((block) => block.type === "image" && missing.has(block.imageId))
  return at === -1
    ? undefined
    : ({ error: "image_not_found", message: `${within}content[${at}].imageId: no such image` } as const)
}
