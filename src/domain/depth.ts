/**
 * How deep JSON text nests, before anything parses it: what walks a value may recurse, and a stranger chooses how far.
 */

const quote = 0x22,
  backslash = 0x5c,
  openBrace = 0x7b,
  closeBrace = 0x7d,
  openBracket = 0x5b,
  closeBracket = 0x5d

/** Whether JSON text nests deeper than `most`: a scan that skips strings and never recurses. */
export const deeperThan = (text: string, most: number) => {
  if (text.length <= most) return false
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === quote) {
      for (;;) {
        i = text.indexOf('"', i + 1)
        if (i === -1) return false
        let back = i
        while (text.charCodeAt(back - 1) === backslash) back--
        if ((i - back) % 2 === 0) break
      }
    } else if (c === openBrace || c === openBracket) {
      if (++depth > most) return true
    } else if (c === closeBrace || c === closeBracket) depth--
  }
  return false
}
