/**
 * Text of others as text that can be seen: characters that nobody sees, and those that turn the direction of what
 * follows, are shown by their names, so that nothing looks like something else and nothing is said unseen.
 *
 * V1. Characters that Unicode draws as nothing (Default_Ignorable_Code_Point: soft hyphens, fillers, tags, selectors,
 *     marks of direction) are shown, and so are control characters, separators that break no line here, and the braille
 *     blank.
 * V2. Such a character stays as it is only where it does its work: within an emoji that Unicode lists, as the one
 *     selector behind the character whose form it chooses, between letters of scripts that join.
 */
const hidden = /[[\p{Cc}--[\t\n\r]]\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\ufff9-\ufffb]/v

/** Scripts whose letters neither join nor part by U+200C and U+200D. */
const apart = String.raw`\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}`

/** V2, each with what it belongs to. */
const drawn = [
  String.raw`\p{RGI_Emoji}(?:(?<![\ufe0e\ufe0f])[\ufe0e\ufe0f])?`,
  String.raw`\p{Extended_Pictographic}[\ufe0e\ufe0f]`,
  String.raw`\p{Ideographic}[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
  String.raw`[\p{sc=Mongolian}&&\p{L}][\u180b-\u180d\u180f]`,
  String.raw`[[\p{L}\p{M}]--[${apart}\p{sc=Inherited}\p{Default_Ignorable_Code_Point}]][\u200c\u200d](?=[\p{L}\p{M}])`
]

const drawnOrHidden = new RegExp(`(${drawn.join("|")})|${hidden.source}`, "gv")

const nameOf = (character: string) =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`

export const visible = (text: string): string =>
  hidden.test(text)
    ? text.replace(drawnOrHidden, (found, isDrawn: string | undefined) => isDrawn ?? nameOf(found))
    : text

/** The same on one line. */
export const visibleLine = (text: string): string => visible(text).replace(/\s+/g, " ")
