/** Which of the 256 shards an actor belongs to: a hash of its id (FNV-1a). */
import { body } from "../domain/ids.ts"

export const shards = 256

export const shardOf = (id: string) => {
  const text = body(id)
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 16)) & 255
}
