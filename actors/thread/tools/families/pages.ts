/** Pages of what tools list: how long, with how much of each, and where the next one of the newest first begins. */
import { Schema } from "effect"
import { toUuid } from "../../../../src/domain/ids.ts"
import { fromTimestamp } from "../../../../src/domain/time.ts"
import type { Position } from "../../../../src/database/newestFirst.ts"

const most = 50
export const usual = 20

/** Not signed: a model can only ask for what the list holds anyway. */
const form = /^(\d{1,15})-([0-7][0-9a-hjkmnp-tv-z]{25})$/

const Cursor = Schema.String.check(
  Schema.isPattern(form, { expected: "the nextCursor of the page before", toJsonSchema: () => ({}) })
)

export const limitField = Schema.optionalKey(
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: most })).annotate({
    description: `How many to list; ${usual} when left out.`
  })
)

/** Of a description in a list; the tool that gets one has all of it. */
const descriptionChars = 500
export const shortened = (text: string) =>
  text.length <= descriptionChars ? text : `${text.slice(0, descriptionChars)}…`

export const pageFields = {
  limit: limitField,
  cursor: Schema.optionalKey(
    Cursor.annotate({ description: "nextCursor of the page before, for what comes after it." })
  )
}

export interface PageAsked {
  readonly limit?: number
  readonly cursor?: string
}

/** One row more than is shown says whether there is another page. */
export const rowsAsked = ({
  cursor = "",
  limit = usual
}: PageAsked): { readonly after: Position | undefined; readonly limit: number } => {
  const [, at, id] = form.exec(cursor) ?? []
  return {
    after: at === undefined || id === undefined ? undefined : { at: Number(at), id: toUuid(id) },
    limit: limit + 1
  }
}

export const pageOf = <Row extends { readonly id: string; readonly createdAt: string }>(
  { limit = usual }: PageAsked,
  found: ReadonlyArray<Row>
) => {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return found.length <= limit || last === undefined
    ? { rows }
    : { rows, nextCursor: `${fromTimestamp(last.createdAt)}-${last.id.slice(-26)}` }
}
