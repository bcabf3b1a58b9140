/** Outputs of tools as they are kept: within the limit, whole or cut. */
import { limits } from "../domain/limits.ts"
import { encodedBytes } from "./blocks.ts"

/** At most that many bytes once encoded, never within a code point. */
const cutText = (text: string, bytes: number) => {
  let length = Math.min(text.length, bytes)
  for (;;) {
    const high = text.charCodeAt(length - 1)
    if (high >= 0xd800 && high < 0xdc00) length--
    const cut = { truncated: true, text: text.slice(0, length) }
    const found = encodedBytes(cut)
    if (found <= bytes) return cut
    length = Math.floor((length * bytes) / found) - 1
  }
}

/** The output, or the beginning of its text: `{truncated: true, text}`. */
export const cutOutput = (output: unknown, bytes: number = limits.toolOutputBytes): unknown =>
  encodedBytes(output) <= bytes ? output : cutText(typeof output === "string" ? output : JSON.stringify(output), bytes)
