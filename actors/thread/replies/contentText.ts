/**
 * JSON of a message's content. The row that keeps a message and the answer that shows it are made one after the other
 * and share the text. Of one message alone it is held, until the next: it may be as long as a body.
 */
import type { MessageContent } from "../../../src/domain/content.ts"

const none: { readonly content: MessageContent; readonly text: string } = { content: [], text: "[]" }
let last = none

const contentText = (content: MessageContent): string => {
  if (last.content !== content) last = { content, text: JSON.stringify(content) }
  return last.text
}

/** JSON of an object with content, which comes first in it. */
export const withContentText = (value: { readonly content: MessageContent }): string => {
  const others = JSON.stringify({ ...value, content: undefined })
  return `{"content":${contentText(value.content)}${others === "{}" ? "}" : `,${others.slice(1)}`}`
}
