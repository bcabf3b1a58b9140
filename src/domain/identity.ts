/** Identity (specification, Scalar types): trimmed on input, 1 to 512 UTF-8 bytes, no control characters. */
import { Schema } from "effect"
import { limits } from "./limits.ts"
import { maxBytes, singleLine } from "./text.ts"

export const Identity = Schema.Trim.check(
  Schema.makeFilter((text) => text.length > 0 || "an identity of at least one character"),
  maxBytes(limits.identityBytes),
  singleLine
)
