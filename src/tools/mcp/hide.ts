/**
 * A credential that a server repeats goes no further: not to the model, not into the log, not into a status.
 */

const stand = "[secret]"
/** Shorter ones are in many words that are none. */
const leastChars = 8

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

/**
 * Takes a secret out of all texts of a message, names of fields included, in place: whoever reads it next finds none.
 */
export const hide = (message: unknown, secret: string): void => {
  if (secret.length < leastChars) return
  const without = (text: string) => (text.includes(secret) ? text.replaceAll(secret, stand) : text)
  // A list of its own: a message may nest as deep as its bytes allow.
  const open: Array<unknown> = [message]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (!isObject(value)) continue
    for (const [key, inner] of Object.entries(value)) {
      const name = without(key)
      if (name !== key) delete value[key]
      if (typeof inner === "string") value[name] = without(inner)
      else {
        value[name] = inner
        open.push(inner)
      }
    }
  }
}
