/** When a thing came to be, as its id says: the first 48 bits of its body are milliseconds (contract C1.6). */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
const bodyLength = 26
/** Characters of five bits; the first of them has three. */
const timeLength = 10

/** Milliseconds since 1970; undefined where it is no id: a file that is opened may hold any text. */
export const bornAt = (id: string): number | undefined => {
  const body = id.slice(-bodyLength)
  if (body.length < bodyLength) return undefined
  let ms = 0
  for (const character of body.slice(0, timeLength)) {
    const digit = alphabet.indexOf(character)
    if (digit < 0) return undefined
    ms = ms * 32 + digit
  }
  return ms
}
