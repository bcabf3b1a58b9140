/**
 * Names of tools on their way to a provider and back.
 *
 * Providers take letters, digits, `_` and `-`, at most 64, Google only with a letter or `_` in front. Any other name
 * is rewritten with a hash of itself at the end, so that the rewriting needs no state and two names never meet.
 */
import { createHash } from "node:crypto"
import type { Prompt } from "./Model.ts"

/** `code_execution` is the providers' own: the packages read its results in their own way. */
const safe = /^(?!code_execution$)[A-Za-z_][A-Za-z0-9_-]{0,63}$/

export const toProviderName = (name: string): string => {
  if (safe.test(name)) return name
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8)
  return `${name
    .replace(/[^A-Za-z0-9_-]/g, "_")
    .replace(/^(?![A-Za-z_])/, "_")
    .slice(0, 55)}_${hash}`
}

/** Back to the exact names of the prompt's tools and calls; a name that the model invented stays as it is. */
export const fromProviderName = (prompt: Prompt): ((name: string) => string) => {
  const exact = new Map<string, string>()
  const remember = (name: string) => {
    if (!safe.test(name)) exact.set(toProviderName(name), name)
  }
  for (const tool of prompt.tools) remember(tool.name)
  for (const message of prompt.messages)
    if (message.role === "assistant") for (const call of message.calls) remember(call.name)
  return (name) => exact.get(name) ?? name
}
