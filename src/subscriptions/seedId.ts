/** The id of a subscription that one request makes, however often it comes. */
import { createHash } from "node:crypto"
import { fromBytes, prefixes } from "../domain/ids.ts"

/** A UUIDv8 whose last 15 bits are free for what derives from it (src/domain/ids.ts, D1). */
export const seedId = (workspace: string, seed: string) => {
  const bytes = createHash("sha256").update(workspace).update("\0").update(seed).digest().subarray(0, 16)
  bytes[6] = 0x80 | (bytes[6]! & 0x0f)
  bytes[8] = 0x80 | (bytes[8]! & 0x3f)
  bytes[14] = bytes[14]! & 0x80
  bytes[15] = 0
  return prefixes.subscription + fromBytes(bytes)
}
