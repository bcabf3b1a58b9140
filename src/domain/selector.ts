/**
 * Selectors of tools: `github.create_issue`, `github.*`, `*`. A `*` stands for any
 * characters, none included; every other character stands for itself, case and all.
 *
 * S1. Matching never goes back: each piece between two stars is looked for once, behind the one
 *     before it. The leftmost place is always as good as a later one, so no selector is slow.
 */
import { Schema } from "effect"
import { limits } from "./limits.ts"
import { maxBytes, singleLine } from "./text.ts"

export const ToolSelector = Schema.String.check(
  Schema.isMinLength(1),
  maxBytes(limits.toolSelectorBytes),
  singleLine
).annotate({
  identifier: "ToolSelector",
  description: "`namespace.tool`, `namespace.*` or `*`: `*` stands for any characters, all others for themselves."
})

export type Matches = (toolName: string) => boolean

/** Taken apart once, for those who ask often. */
export const compileSelector = (selector: string): Matches => {
  const [first = "", ...middle] = selector.split("*")
  const last = middle.pop()
  if (last === undefined) return (name) => name === selector
  // Stars in a row say what one says.
  const pieces = middle.filter((piece) => piece !== "")
  return (name) => {
    const end = name.length - last.length
    if (end < first.length || !name.startsWith(first) || !name.endsWith(last)) return false
    let at = first.length
    for (const piece of pieces) {
      const found = name.indexOf(piece, at)
      if (found === -1) return false
      at = found + piece.length
    }
    return at <= end
  }
}

export const selects = (selector: string, toolName: string): boolean => compileSelector(selector)(toolName)
