/**
 * Text of others on a terminal: it may hold anything, and a terminal must neither obey it nor show another text.
 * Controls (the eight-bit ones included), marks that turn the direction of writing, and characters that are not
 * seen stand as `\u` escapes. The two joiners stay, which scripts and emoji are written with.
 */
const unsafe = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Each unit of UTF-16, as JSON has it. */
const escaped = (character: string) =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("")

export const printable = (text: string) => text.replace(unsafe, escaped)

/** The same value for whoever parses it. */
export const printableJson = (value: unknown, indent = 0) => printable(JSON.stringify(value, null, indent))
