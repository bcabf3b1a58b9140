/** Checks of text that schemas share: byte lengths, control characters, lone surrogates. */
import { Schema } from "effect"

/** UTF-8 bytes, without encoding. A lone surrogate counts 3, as the replacement character does. */
export const utf8Bytes = (text: string) => Buffer.byteLength(text, "utf8")

export const maxBytes = (bytes: number) =>
  Schema.makeFilter<string>((text) => utf8Bytes(text) <= bytes || `a text of at most ${bytes} bytes`, {
    // JSON Schema has no word for bytes: the number of characters is the looser bound.
    toJsonSchema: () => [{ maxLength: bytes, description: `At most ${bytes} bytes of UTF-8.` }, true]
  })

/** Characters as people count them: code points. */
export const maxChars = (chars: number) =>
  Schema.makeFilter<string>((text) => text.length <= chars || [...text].length <= chars || `a text of at most ${chars} characters`, {
    toJsonSchema: () => ({ maxLength: chars })
  })

const control = /\p{Cc}/u
const loneSurrogate = /\p{Cs}/u

/** Unicode's control characters, C0, DEL and C1, as a class of a pattern that every client's library reads. */
export const controls = "\\x00-\\x1f\\x7f-\\x9f"

/** For names, titles, tags and metadata: one line of well-formed text. */
export const singleLine = Schema.makeFilter<string>((text) =>
  control.test(text) ? "a text without control characters" : loneSurrogate.test(text) ? "well-formed text" : true, {
  // A lone surrogate is no character, so no pattern names it.
  toJsonSchema: () => [{ pattern: `^[^${controls}]*$` }, true]
})

export const nonBlank = Schema.makeFilter<string>((text) => /\S/u.test(text) || "a text with a non-whitespace character", {
  toJsonSchema: () => ({ pattern: "\\S" })
})
