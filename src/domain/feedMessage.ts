/** Parts of a feed's message: those who append it and those who subscribe to it know them. */
import { Schema } from "effect"
import { JsonValue } from "./jsonValue.ts"
import { limits } from "./limits.ts"
import { maxBytes, nonBlankLine, storable, utf8Bytes } from "./text.ts"

export const Tag = Schema.String.check(nonBlankLine, maxBytes(limits.tagBytes))

const isShort = (value: unknown) =>
  utf8Bytes(JSON.stringify(value) ?? "") <= limits.feedDataBytes || `JSON of at most ${limits.feedDataBytes} bytes`
export const MessageData = JsonValue.check(
  Schema.makeFilter(isShort, {
    toJsonSchema: () => ({ description: `At most ${limits.feedDataBytes} bytes as JSON.` })
  })
)

export const MessageText = Schema.String.check(Schema.isMinLength(1), maxBytes(limits.feedTextBytes), storable)
