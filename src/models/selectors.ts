/** What a selector means now: an exact id, `provider/*`, or `@alias`. */
import type { ModelEntry } from "./Model.ts"

/** Aliases: `@name` to ids and `provider/*`, best first. */
export type Aliases = Readonly<Record<string, ReadonlyArray<string>>>

const none: ReadonlyArray<string> = []

/**
 * A look-up that answers ids that can be sampled, best first: available ones before deprecated ones within
 * `provider/*`.
 */
export const makeResolveSelector = (
  entries: ReadonlyArray<ModelEntry>,
  aliases: Aliases
): ((selector: string) => ReadonlyArray<string>) => {
  const meaning = new Map<string, ReadonlyArray<string>>()
  const usable = [
    ...entries.filter((entry) => entry.status === "available"),
    ...entries.filter((entry) => entry.status === "deprecated")
  ]
  for (const { id } of usable) {
    meaning.set(id, [id])
    const wild = `${id.slice(0, id.indexOf("/"))}/*`
    meaning.set(wild, [...(meaning.get(wild) ?? none), id])
  }
  for (const [alias, selectors] of Object.entries(aliases)) {
    meaning.set(alias, [...new Set(selectors.flatMap((selector) => meaning.get(selector) ?? none))])
  }
  return (selector) => meaning.get(selector) ?? none
}
