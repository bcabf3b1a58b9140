/**
 * The hash under which a credential is remembered. The last token of each open connection is kept beside it, whose next
 * request most likely brings it again.
 */
import { hashKey } from "../src/keys/keyText.ts"

export const makeTokenHash = () => {
  const last = new WeakMap<object, { readonly token: string; readonly hash: string }>()
  return (token: string, connection?: object) => {
    if (connection === undefined) return hashKey(token)
    const held = last.get(connection)
    if (held?.token === token) return held.hash
    const hash = hashKey(token)
    last.set(connection, { token, hash })
    return hash
  }
}
