/** `nextCursor` of every page (contract C4.1). */
import { Schema } from "effect"
import { described } from "./described.ts"

export const NextCursor = described(
  Schema.optionalKey(Schema.String),
  "Present while more rows remain: passed back as `cursor`, it gives the next page."
)
