/** A client for one key. A key that the server has refused is not asked with again: its answer stays the answer. */
import { connect, type Troupe } from "../../../src/client/client.ts"

export const connectWith = (key: string, onRefused: () => void): Troupe => {
  let refusal: Response | undefined
  return connect({
    url: location.origin,
    key,
    fetch: async (request) => {
      if (refusal !== undefined) return refusal.clone()
      const answer = await globalThis.fetch(request)
      if (answer.status === 401) {
        refusal ??= answer.clone()
        onRefused()
      }
      return answer
    }
  })
}
