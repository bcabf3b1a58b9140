/** Checks of text that schemas share: byte lengths, control characters, lone surrogates. */
import { Schema } from "effect"

const encoder = new TextEncoder()

/** UTF-8 bytes; Node counts them without encoding. A lone surrogate counts 3, as the replacement character does. */
export const utf8Bytes: (text: string) => number =
  typeof Buffer === "undefined" ? (text) => encoder.encode(text).length : (text) => Buffer.byteLength(text, "utf8")

/** Its beginning, cut at a code point. */
export const cutToBytes = (text: string, bytes: number) => {
  if (utf8Bytes(text) <= bytes) return text
  let size = 0
  let end = 0
  for (const character of text) {
    size += utf8Bytes(character)
    if (size > bytes) break
    end += character.length
  }
  return text.slice(0, end)
}

export const maxBytes = (bytes: number) =>
  Schema.makeFilter<string>((text) => utf8Bytes(text) <= bytes || `a text of at most ${bytes} bytes`, {
    // JSON Schema has no word for bytes: the number of characters is the looser bound.
    toJsonSchema: () => [{ maxLength: bytes, description: `At most ${bytes} bytes of UTF-8.` }, true]
  })

/** Characters as people count them: code points. */
export const maxChars = (chars: number) =>
  Schema.makeFilter<string>(
    (text) => text.length <= chars || [...text].length <= chars || `a text of at most ${chars} characters`,
    {
      toJsonSchema: () => ({ maxLength: chars })
    }
  )

const control = /\p{Cc}/u
const loneSurrogate = /\p{Cs}/u

/** Unicode's control characters, C0, DEL and C1, as a class of a pattern that every client's library reads. */
export const controls = "\\x00-\\x1f\\x7f-\\x9f"

const isLine = (text: string) =>
  control.test(text) ? "a text without control characters" : loneSurrogate.test(text) ? "well-formed text" : true
const isNonBlank = (text: string) => /\S/u.test(text) || "a text with a non-whitespace character"

/** What PostgreSQL keeps as text: any well-formed text without U+0000. */
export const storable = Schema.makeFilter<string>(
  (text) => (text.includes("\0") ? "a text without U+0000" : loneSurrogate.test(text) ? "well-formed text" : true),
  { toJsonSchema: () => [{ pattern: "^[^\\x00]*$" }, true] }
)

/** For titles and metadata: one line of well-formed text. */
export const singleLine = Schema.makeFilter<string>(isLine, {
  // A lone surrogate is no character, so no pattern names it.
  toJsonSchema: () => [{ pattern: `^[^${controls}]*$` }, true]
})

/**
 * The same beside a pattern that leaves out control characters itself: there are generators that take one pattern for a
 * text, not two.
 */
export const singleLineOfPattern = Schema.makeFilter<string>(isLine, { toJsonSchema: () => [{}, true] })

export const nonBlank = Schema.makeFilter<string>(isNonBlank, { toJsonSchema: () => ({ pattern: "\\S" }) })

/** For names and tags: one line of well-formed text, with something in it. */
export const nonBlankLine = Schema.makeFilter<string>(
  (text) => {
    const line = isLine(text)
    return line === true ? isNonBlank(text) : line
  },
  { toJsonSchema: () => [{ pattern: `^[^${controls}]*[^\\s${controls}][^${controls}]*$` }, true] }
)
