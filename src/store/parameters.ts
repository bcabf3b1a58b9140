/**
 * Arrays as statement parameters, in PostgreSQL's binary form: no quoting here, no parsing there.
 * The statement must cast each to its type.
 */
import { writeBytes } from "../domain/ids.ts"

const oid = { bool: 16, int4: 23, text: 25, float8: 701, timestamptz: 1184, uuid: 2950 } as const

const start = (type: keyof typeof oid, count: number, nulls: boolean, bytes: number) => {
  const buffer = Buffer.allocUnsafe(20 + bytes)
  buffer.writeInt32BE(1, 0)
  buffer.writeInt32BE(nulls ? 1 : 0, 4)
  buffer.writeInt32BE(oid[type], 8)
  buffer.writeInt32BE(count, 12)
  buffer.writeInt32BE(1, 16)
  return buffer
}

/** Arrays whose elements have all the same width. */
const fixed = <A>(type: keyof typeof oid, width: number, write: (buffer: Buffer, at: number, value: A) => void) =>
  (values: ReadonlyArray<A | null>) => {
    let nulls = 0
    for (const value of values) if (value === null) nulls++
    const buffer = start(type, values.length, nulls > 0, 4 * values.length + width * (values.length - nulls))
    let at = 20
    for (const value of values) {
      if (value === null) {
        at = buffer.writeInt32BE(-1, at)
      } else {
        at = buffer.writeInt32BE(width, at)
        write(buffer, at, value)
        at += width
      }
    }
    return buffer
  }

/** The UUIDs of ids with any prefix. */
export const uuids = fixed("uuid", 16, writeBytes)
export const ints = fixed<number>("int4", 4, (buffer, at, value) => { buffer.writeInt32BE(value, at) })
export const floats = fixed<number>("float8", 8, (buffer, at, value) => { buffer.writeDoubleBE(value, at) })
export const booleans = fixed<boolean>("bool", 1, (buffer, at, value) => { buffer[at] = value ? 1 : 0 })
/** Milliseconds since 1970. */
export const moments = fixed<number>("timestamptz", 8, (buffer, at, value) => {
  buffer.writeBigInt64BE(BigInt(Math.round(value) - 946_684_800_000) * 1000n, at)
})

export const texts = (values: ReadonlyArray<string | null>) => {
  let bytes = 0
  let nulls = false
  const lengths = new Array<number>(values.length)
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (value === null) nulls = true
    bytes += lengths[i] = value === null ? 0 : Buffer.byteLength(value)
  }
  const buffer = start("text", values.length, nulls, 4 * values.length + bytes)
  let at = 20
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (value === null) {
      at = buffer.writeInt32BE(-1, at)
    } else {
      at = buffer.writeInt32BE(lengths[i]!, at)
      at += buffer.write(value, at)
    }
  }
  return buffer
}
