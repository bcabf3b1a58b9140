/** What was read of a toolset less than a second ago. */
import { LRUCache } from "lru-cache"

const freshMs = 1_000
const heldToolsets = 20_000

/** Values that are true for a second, unless told otherwise; what was read before a `forget` is not put. */
export const makeFresh = <A>() => {
  const held = new LRUCache<string, { readonly value: A; readonly until: number }>({ max: heldToolsets })
  let forgotten = 0
  return {
    get: (key: string) => {
      const found = held.get(key)
      return found !== undefined && found.until > performance.now() ? found.value : undefined
    },
    /** To be taken before a read; puts what it found. */
    reading: () => {
      const began = { forgotten, at: performance.now() }
      return (key: string, value: A) => {
        if (forgotten !== began.forgotten) return
        held.set(key, { value, until: began.at + freshMs })
      }
    },
    forget: (key: string) => {
      forgotten++
      held.delete(key)
    }
  }
}
