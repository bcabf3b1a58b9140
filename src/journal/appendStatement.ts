/**
 * The one statement that appends for many actors (J1): heads first, then everything of the winners.
 *
 * A batch brings arrays, a row's `o` saying which append it belongs to. What a batch does not need is
 * not in the text: each combination of sections (appendSections.ts) is a prepared statement of its own.
 */
import type { Statement } from "../database/Database.ts"
import { places } from "../database/parameters.ts"
import {
  booking,
  born,
  bornKeyed,
  heads,
  keys,
  moved,
  type OwnedAppend,
  type Section,
  sections
} from "./appendSections.ts"
import type { Append } from "./Journal.ts"

/** The text of the statement with the sections of these bits. */
const textOf = (mask: number) => {
  const has = ({ bit }: Pick<Section, "bit">) => (mask & bit) !== 0
  const births = has(born) ? [has(keys) ? bornKeyed : born] : []
  const winners = sections.filter(has)
  let parameter = 0
  // Only the first array becomes rows, the others are read by position: `unnest` of all makes a table of each one
  // first.
  const given = [{ name: "h", columns: heads }, ...births, ...winners].map(({ name, columns }) => {
    const rows = `unnest($${++parameter}::int[]) with ordinality as given(o, i)`
    return `${name} as (select o,
      ${columns.map(({ title, type }) => `($${++parameter}::${type}[])[i] as ${title}`).join(", ")} from ${rows})`
  })
  const winning = [...(has(moved) ? ["moved"] : []), ...births.map(() => "born")]
  const won = `won as (${winning.map((name) => `select o, w, id from ${name}`).join(" union all ")})`
  const booked = booking(has)
  const parts = [
    ...given,
    ...(has(moved) ? [moved.writes] : []),
    ...births.map(({ writes }) => writes),
    won,
    ...winners.flatMap(({ writes }) => (writes === "" ? [] : [writes])),
    ...(booked === undefined ? [] : [booked])
  ]
  return `with
    ${parts.join(",\n")}\nselect
    o from won`
}

const variants = new Map<number, string>()
const bringing = [born, ...sections]

/** The statement for these appends; its rows say by `o`, the place in the array, which have won. */
export const appendStatement = (appends: ReadonlyArray<OwnedAppend>): Statement => {
  let mask = appends.some(({ birth }) => birth === undefined) ? moved.bit : 0
  const values: Array<unknown> = [places(appends), ...heads.map(({ arrayOf }) => arrayOf(appends))]
  for (const { arraysOf, bit } of bringing) {
    const arrays = arraysOf(appends)
    if (arrays === undefined) continue
    mask |= bit
    values.push(...arrays)
  }
  let text = variants.get(mask)
  if (text === undefined) {
    text = textOf(mask)
    variants.set(mask, text)
  }
  return { name: `append ${mask}`, text, values }
}

/** Characters of its texts, about. */
export const sizeOf = ({ announces, birth, facts, head, inputs, keys, waits }: Append) => {
  let size = head.carry.length + (birth?.attributes.length ?? 0)
  for (const { detail, event } of facts) size += event.length + (detail?.length ?? 0)
  for (const rows of [inputs?.put, keys, waits, announces])
    if (rows !== undefined) for (const { body } of rows) size += body.length
  return size
}

/** Sorted, so that two nodes take their locks in the same order. */
export const byActor = (a: Append, b: Append) => (a.actor.id < b.actor.id ? -1 : a.actor.id > b.actor.id ? 1 : 0)
