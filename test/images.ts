/** Small images made by hand, as large as their headers say. */
import { crc32, deflateSync } from "node:zlib"

const chunk = (type: string, data: Buffer) => {
  const head = Buffer.from(type, "latin1")
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(Buffer.concat([head, data])))
  return Buffer.concat([length, head, data, sum])
}

const uint32 = (...values: ReadonlyArray<number>) => {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, i * 4)
  return bytes
}

/** `padding`: bytes more, in a chunk that says nothing. */
export const png = (width = 1, height = 1, padding = 0) =>
  Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", Buffer.concat([uint32(width, height), Buffer.from([8, 0, 0, 0, 0])])),
    ...(padding === 0 ? [] : [chunk("tEXt", Buffer.alloc(padding, 0x20))]),
    chunk("IDAT", deflateSync(Buffer.from([0, 0]))),
    chunk("IEND", Buffer.alloc(0))
  ])

/** A PNG of exactly so many bytes. */
export const pngOf = (bytes: number) => png(1, 1, bytes - png(1, 1, 1).length + 1)

export const gif = () =>
  Buffer.from("47494638396101000100800000ffffff00000021f90401000000002c00000000010001000002024401003b", "hex")

export const webp = () => {
  const data = Buffer.from("2f00000010071011118888fe0700", "hex")
  const length = Buffer.alloc(4)
  length.writeUInt32LE(data.length)
  const inner = Buffer.concat([Buffer.from("WEBPVP8L", "latin1"), length, data])
  const size = Buffer.alloc(4)
  size.writeUInt32LE(inner.length)
  return Buffer.concat([Buffer.from("RIFF", "latin1"), size, inner])
}

export const jpeg = () =>
  Buffer.from(
    "ffd8ffe000104a46494600010100000100010000ffdb004300" +
      "03".repeat(64) +
      "ffc0000b080001000101011100ffc40014000100000000000000000000000000000009ffc40014100100000000000000000000000000000000" +
      "ffda0008010100003f0054dfffd9",
    "hex"
  )
