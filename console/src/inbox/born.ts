/** When a thing came to be, as its id says: the first 48 bits of the body are milliseconds (contract C1.6). */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
const bodyLength = 26
const timeLength = 10

export const bornAt = (id: string): number => {
  let ms = 0
  for (const digit of id.slice(-bodyLength).slice(0, timeLength)) ms = ms * 32 + alphabet.indexOf(digit)
  return ms
}
