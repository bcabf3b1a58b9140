/**
 * A credential or a lease that a server repeats goes no further: not to the model, not into the log, not into a status.
 */
import { leasePattern } from "../../keys/AgentLeases.ts"

const stand = "[secret]"
/** Shorter ones are in many words that are none. */
const leastChars = 8

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

/**
 * Takes secrets out of all texts of a message, names of fields included, in place: whoever reads it next finds none.
 * Leases go with them, whichever call brought them: another one of the same turn could use them.
 */
export const hide = (message: unknown, secrets: Iterable<string>): void => {
  const long = [...secrets].filter(({ length }) => length >= leastChars)
  const without = (text: string) => {
    const bare = long.reduce((left, secret) => (left.includes(secret) ? left.replaceAll(secret, stand) : left), text)
    return bare.includes("trl_") ? bare.replace(leasePattern, stand) : bare
  }
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
