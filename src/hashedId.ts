/** Ids that are hashes of names: whoever knows the names has the id, on every node and however often. */
import { createHash } from "node:crypto"
import { fromBytes, type Noun, prefixes } from "./domain/ids.ts"

/** A UUIDv8 whose last 15 bits are free for what derives from it (src/domain/ids.ts, D1). */
export const hashedId = (noun: Noun, ...names: ReadonlyArray<string | number>) => {
  const bytes = createHash("sha256").update(names.join("\0")).digest().subarray(0, 16)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(6) & 0x0f), 6)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
  bytes.writeUInt16BE((bytes.readUInt8(14) & 0x80) << 8, 14)
  return prefixes[noun] + fromBytes(bytes)
}
