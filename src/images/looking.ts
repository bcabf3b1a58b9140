/**
 * An image's header tells its format and its size. Nothing is decoded: an image that would be huge in memory costs its
 * bytes.
 *
 * L1. The bytes are of the declared format, whatever else they may be as well.
 * L2. Of formats that say where they end, they end there: nothing hides behind a picture.
 */
import { imageSize } from "image-size"
import type { ImageFormat } from "../domain/content.ts"
import { limits } from "../domain/limits.ts"
import type { Picture } from "./image.ts"

/** Why bytes are no image that models may see. */
export type ImageProblem =
  | { readonly error: "image_too_large"; readonly message: string }
  | { readonly error: "image_format_mismatch"; readonly message: string }
  | { readonly error: "image_malformed"; readonly message: string }

const { imageMegapixels: megapixels, imageSide: side } = limits

const names: Readonly<Record<string, ImageFormat>> = { jpg: "jpeg", png: "png", gif: "gif", webp: "webp" }

/** The chunk that every PNG ends with. */
const pngEnd = Buffer.from("0000000049454e44ae426082", "hex")
const gifTrailer = 0x3b

/** Whether the format's own end is where the bytes end (L2). JPEG does not say where it ends. */
const endsWell = (bytes: Buffer, format: ImageFormat) => {
  switch (format) {
    case "png":
      return bytes.subarray(-pngEnd.length).equals(pngEnd)
    case "gif":
      return bytes.at(-1) === gifTrailer
    case "webp":
      // RIFF: the size of what follows its first eight bytes.
      return bytes.length >= 12 && bytes.readUInt32LE(4) + 8 === bytes.length
    case "jpeg":
      return true
  }
}

const signatures: Readonly<Record<ImageFormat, (bytes: Buffer) => boolean>> = {
  png: (bytes) => bytes.subarray(0, 8).equals(Buffer.from("89504e470d0a1a0a", "hex")),
  jpeg: (bytes) => bytes.subarray(0, 3).equals(Buffer.from("ffd8ff", "hex")),
  gif: (bytes) => /^GIF8[79]a$/.test(bytes.subarray(0, 6).toString("latin1")),
  webp: (bytes) => /^RIFF....WEBP$/s.test(bytes.subarray(0, 12).toString("latin1"))
}

const malformed = (why: string): ImageProblem => ({ error: "image_malformed", message: why })

const sizeIn = (bytes: Buffer) => {
  try {
    return imageSize(bytes)
  } catch {
    // It throws errors of several kinds, all of which mean this.
    return undefined
  }
}

export const readPicture = (bytes: Buffer, declared: ImageFormat): Picture | ImageProblem => {
  if (!signatures[declared](bytes))
    return { error: "image_format_mismatch", message: `the bytes are no ${declared} image` }
  const found = sizeIn(bytes)
  if (found === undefined || names[found.type ?? ""] !== declared)
    return malformed(`the bytes begin like a ${declared} image and go on like none`)
  const { height, width } = found
  if (width < 1 || height < 1) return malformed("the image has no width or no height")
  if (width > side || height > side || width * height > megapixels * 1_000_000)
    return {
      error: "image_too_large",
      message:
        `the image has ${width} x ${height} pixels; at most ${side} a side and ${megapixels} megapixels are ` + `taken`
    }
  return endsWell(bytes, declared)
    ? { format: declared, width, height }
    : malformed(`the bytes do not end where a ${declared} image ends: they are cut short, or something follows them`)
}
