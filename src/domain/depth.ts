/**
 * How deep and how wide JSON text is, before anything parses it: what walks a value may recurse, and an object of
 * very many fields is dear to make and to check; a stranger chooses both. Scans that skip strings and never recurse.
 */

const quote = 0x22,
  backslash = 0x5c,
  openBrace = 0x7b,
  closeBrace = 0x7d,
  colon = 0x3a,
  openBracket = 0x5b,
  closeBracket = 0x5d

/** The place of the quote that ends the string which begins at `from`; -1 where none does. */
const endOfString = (text: string, from: number) => {
  for (let i = text.indexOf('"', from + 1); i !== -1; i = text.indexOf('"', i + 1)) {
    let back = i
    while (text.charCodeAt(back - 1) === backslash) back--
    if ((i - back) % 2 === 0) return i
  }
  return -1
}

/** The place of the first bracket or brace, from `from` on, behind which the text is `depth` levels deep; else -1. */
const indexOfDepth = (depth: number, text: string, from: number) => {
  let now = 0
  for (let i = from; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === quote) {
      i = endOfString(text, i)
      if (i === -1) return -1
    } else if (c === openBrace || c === openBracket) {
      if (++now === depth) return i
    } else if ((c === closeBrace || c === closeBracket) && --now === depth) return i
  }
  return -1
}

/** Whether JSON text nests deeper than `most`. */
export const deeperThan = (text: string, most: number) => text.length > most && indexOfDepth(most + 1, text, 0) !== -1

/** Whether an object in JSON text, of so many levels at most, has more than `most` fields. */
export const widerThan = (text: string, most: number, levels: number) => {
  // A field has two quotes and a colon at least.
  if (text.length < 3 * most) return false
  const fields = new Uint32Array(levels + 1)
  let level = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === quote) {
      i = endOfString(text, i)
      if (i === -1) return false
    } else if (c === openBrace || c === openBracket) fields[++level] = 0
    else if (c === closeBrace || c === closeBracket) level--
    else if (c === colon && ++fields[level]! > most) return true
  }
  return false
}

/** Where the JSON object or array ends that begins at `from`: the place behind it; -1 where it has no end. */
export const endOfNested = (text: string, from: number) => {
  const end = indexOfDepth(0, text, from)
  return end === -1 ? -1 : end + 1
}
