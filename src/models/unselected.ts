/**
 * What selectors of a profile do not select today. They are no mistake for that: a key may come tomorrow, an alias with
 * the next start. Whoever writes them hears of it then, rather than from the first message that is refused.
 */
import type { Warning } from "../domain/warning.ts"
import type { Models } from "./Model.ts"

type Known = Pick<Models["Service"], "list" | "resolve">

const why = ({ list }: Known, selector: string) =>
  list.some(({ id, status }) => id === selector && status === "unavailable")
    ? `${selector} is unavailable on this server today: its key is missing, or the operator's file of models says so.`
    : `${selector} selects no model of this server today. GET /v1/models lists its models.`

export const unselected = (models: Known, selectors: ReadonlyArray<string>): ReadonlyArray<Warning> => {
  const idle = selectors.flatMap((selector, index) =>
    models.resolve(selector).length > 0 ? [] : [{ path: `models[${index}]`, message: why(models, selector) }]
  )
  return idle.length < selectors.length
    ? idle
    : [
        ...idle,
        {
          path: "models",
          message:
            "Until one of its selectors selects a model, messages to agents of this profile are refused with 422 " +
            "model_unavailable."
        }
      ]
}
