/** JSON of a message's content, made once of each: the row that keeps it and the answer that shows it share it. */
import type { MessageContent } from "../../../src/domain/content.ts"

const texts = new WeakMap<MessageContent, string>()

const contentText = (content: MessageContent): string => {
  const known = texts.get(content)
  if (known !== undefined) return known
  const text = JSON.stringify(content)
  texts.set(content, text)
  return text
}

/** JSON of an object with content, which comes first in it. */
export const withContentText = ({ content, ...rest }: { readonly content: MessageContent }): string => {
  const others = JSON.stringify(rest)
  return `{"content":${contentText(content)}${others === "{}" ? "}" : `,${others.slice(1)}`}`
}
