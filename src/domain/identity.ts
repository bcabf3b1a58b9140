/** Identity (contract C7.1): trimmed on input, 1 to 512 UTF-8 bytes, no control characters. */
import { Schema, SchemaTransformation } from "effect"
import { described } from "./described.ts"
import { limits } from "./limits.ts"
import { controls, maxBytes, singleLine } from "./text.ts"

const plain = `[^\\s${controls}]`

/** As it is sent, for those who read the contract: whether it fits is judged once it is trimmed. */
const Sent = Schema.String.check(
  Schema.makeFilter<string>(() => true, {
    toJsonSchema: () => ({
      pattern: `^\\s*${plain}(?:[^${controls}]*${plain})?\\s*$`,
      description:
        `At most ${limits.identityBytes} bytes of UTF-8 without control characters, once surrounding whitespace is ` +
        "trimmed."
    })
  })
)

const Trimmed = Schema.Trimmed.check(
  Schema.makeFilter((text) => text.length > 0 || "an identity of at least one character"),
  maxBytes(limits.identityBytes),
  singleLine
)

/** An identity that means something where it stands. The reference shows what is sent, so that is what is described. */
export const identityOf = (meaning: string) =>
  described(Sent, meaning).pipe(Schema.decodeTo(Trimmed, SchemaTransformation.trim()))

export const Identity = identityOf("Who or what acts, in words of your own: a person, a team, a service.")
