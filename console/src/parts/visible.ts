/**
 * Text of others as text that can be seen: control characters and those that turn the direction of what follows are
 * shown by their names, so that nothing looks like something else.
 */
const hidden = /[[\p{Cc}--[\t\n\r]]\p{Bidi_C}\u200b\u2060-\u2064\ufeff]/gv

export const visible = (text: string): string =>
  text.replace(
    hidden,
    (character) => `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`
  )

/** The same on one line. */
export const visibleLine = (text: string): string => visible(text).replace(/\s+/g, " ")
