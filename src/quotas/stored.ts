/**
 * How much an append stores for good or for a day: the UTF-8 bytes of its texts. The carry replaces the one before, and
 * does not count.
 */
import type { Append } from "../journal/Journal.ts"

export const storedBytes = ({
  birth,
  facts,
  inputs,
  keys,
  waits
}: Pick<Append, "birth" | "facts" | "inputs" | "keys" | "waits">) => {
  let bytes = birth === undefined ? 0 : Buffer.byteLength(birth.attributes)
  for (const { detail, event } of facts)
    bytes += Buffer.byteLength(event) + (detail === null ? 0 : Buffer.byteLength(detail))
  for (const rows of [inputs?.put, keys, waits])
    if (rows !== undefined) for (const { body } of rows) bytes += Buffer.byteLength(body)
  return bytes
}
