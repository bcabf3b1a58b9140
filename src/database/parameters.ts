/**
 * Arrays as statement parameters, in PostgreSQL's binary form: no quoting here, no parsing there.
 * Each takes rows and what to pick of a row; the statement must cast it to its type.
 */
import { writeBytes } from "../domain/ids.ts"

const oid = { bool: 16, int4: 23, text: 25, float8: 701, timestamptz: 1184, uuid: 2950 } as const

/** What a column has for a row, by the row and its place. */
type Column<Row, A> = (row: Row, place: number) => A | null

const header = 20

/** The low 32 bits of a whole number. */
const writeInt = (buffer: Buffer, at: number, value: number) => {
  buffer[at] = value >>> 24
  buffer[at + 1] = value >>> 16
  buffer[at + 2] = value >>> 8
  buffer[at + 3] = value
  return at + 4
}

/** One dimension, of `count` elements from 1. */
const writeHeader = (buffer: Buffer, type: keyof typeof oid, count: number, nulls: boolean) => {
  writeInt(buffer, 0, 1)
  writeInt(buffer, 4, nulls ? 1 : 0)
  writeInt(buffer, 8, oid[type])
  writeInt(buffer, 12, count)
  writeInt(buffer, 16, 1)
}

/** Arrays whose elements have all the same width. */
const fixed =
  <A>(type: keyof typeof oid, width: number, write: (buffer: Buffer, at: number, value: A) => void) =>
  <Row>(rows: ReadonlyArray<Row>, pick: Column<Row, A>) => {
    const buffer = Buffer.allocUnsafe(header + (4 + width) * rows.length)
    let nulls = false
    let at = header
    for (let i = 0; i < rows.length; i++) {
      const value = pick(rows[i]!, i)
      if (value === null) {
        nulls = true
        at = writeInt(buffer, at, -1)
      } else {
        at = writeInt(buffer, at, width)
        write(buffer, at, value)
        at += width
      }
    }
    writeHeader(buffer, type, rows.length, nulls)
    return at === buffer.length ? buffer : buffer.subarray(0, at)
  }

/** The UUIDs of ids with any prefix. */
export const uuids = fixed("uuid", 16, writeBytes)
/** Whole numbers of 32 bits; a RangeError for any other: the journal must not hold what was meant otherwise. */
export const ints = fixed<number>("int4", 4, (buffer, at, value) => {
  if (value !== (value | 0)) throw new RangeError(`not a whole number of 32 bits: ${value}`)
  writeInt(buffer, at, value)
})
export const floats = fixed<number>("float8", 8, (buffer, at, value) => {
  buffer.writeDoubleBE(value, at)
})
export const booleans = fixed<boolean>("bool", 1, (buffer, at, value) => {
  buffer[at] = value ? 1 : 0
})
/** Milliseconds since 1970; a RangeError from the year 2285 on, where microseconds are no exact numbers any more. */
export const moments = fixed<number>("timestamptz", 8, (buffer, at, value) => {
  const microseconds = (Math.round(value) - 946_684_800_000) * 1_000
  if (!Number.isSafeInteger(microseconds)) throw new RangeError(`not a moment: ${value}`)
  writeInt(buffer, at, Math.floor(microseconds / 2 ** 32))
  writeInt(buffer, at + 4, microseconds)
})

/** The places of rows, from 0. */
export const places = (rows: ReadonlyArray<unknown>) => ints(rows, (_, place) => place)

export const texts = <Row>(rows: ReadonlyArray<Row>, pick: Column<Row, string>) => {
  const values = rows.map(pick)
  let bytes = 0
  let nulls = false
  const lengths = new Array<number>(values.length)
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (value === null) nulls = true
    bytes += lengths[i] = value === null ? 0 : Buffer.byteLength(value)
  }
  const buffer = Buffer.allocUnsafe(header + 4 * values.length + bytes)
  writeHeader(buffer, "text", values.length, nulls)
  let at = header
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    at = writeInt(buffer, at, value === null ? -1 : lengths[i]!)
    if (value !== null) at += buffer.write(value, at)
  }
  return buffer
}
