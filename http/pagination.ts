/** Pages of lists, as clients ask for them: how many rows, and behind which. */
import { Schema } from "effect"
import { described } from "../src/domain/described.ts"
import { limits, pages } from "../src/domain/limits.ts"
import { maxChars } from "../src/domain/text.ts"
import { wholeNumber } from "./parameters.ts"

export type List = keyof typeof pages

/** The query parameter `limit` of a list. */
export const limitOf = (list: List) =>
  described(Schema.optional(wholeNumber(1, pages[list][1])), `Rows of a page. ${pages[list][0]} when absent.`)

/** How many rows to answer with. */
export const pageSize = (list: List, limit: number | undefined): number => limit ?? pages[list][0]

/** The query parameter `cursor`. */
export const CursorParam = described(
  Schema.optional(Schema.String.check(Schema.isMinLength(1), maxChars(limits.cursorChars))),
  "The `nextCursor` of the page before, for the page after it. Filters come from it."
)
