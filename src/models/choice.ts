/** Which models an input runs on: the selectors of the input itself, else of its thread, else of the profile. */
import type { Models } from "./Model.ts"

type Resolving = Pick<Models["Service"], "resolve">

interface Choosing {
  /** A selector. */
  readonly model?: string
}

interface Selecting {
  /** Selectors, tried in order. */
  readonly models: ReadonlyArray<string>
}

export const selectorsOf = (profile: Selecting, thread: Choosing, input: Choosing): ReadonlyArray<string> => {
  const wanted = input.model ?? thread.model
  return wanted === undefined ? profile.models : [wanted]
}

/** Exact ids, each once, in the order in which they are tried. */
export const targetsOf = ({ resolve }: Resolving, selectors: ReadonlyArray<string>): ReadonlyArray<string> =>
  selectors.length === 1 ? resolve(selectors[0]!) : [...new Set(selectors.flatMap((selector) => resolve(selector)))]

/** Whether all that the selector means is among what the profile selects. */
export const isSelected = (models: Resolving, profile: Selecting, selector: string): boolean => {
  const selected = targetsOf(models, profile.models)
  return models.resolve(selector).every((id) => selected.includes(id))
}
