/**
 * The id of an identity's actor: a hash of workspace and text, so that every node finds the same actor without a
 * look-up.
 */
import { createHash } from "node:crypto"
import { fromBytes, prefixes } from "../domain/ids.ts"

/** `idn_…`: a UUIDv8 whose last 15 bits are free for what derives from it (src/domain/ids.ts, D1). */
export const identityActorId = (workspace: string, identity: string) => {
  const bytes = createHash("sha256").update(workspace).update("\0").update(identity).digest().subarray(0, 16)
  bytes[6] = 0x80 | (bytes[6]! & 0x0f)
  bytes[8] = 0x80 | (bytes[8]! & 0x3f)
  bytes[14] = bytes[14]! & 0x80
  bytes[15] = 0
  return prefixes.identity + fromBytes(bytes)
}
