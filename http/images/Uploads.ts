/**
 * Images on their way to this node: larger than any other body, so they are few at once.
 *
 * U1. At most eight uploads at once on a node, and half of them of one key; a ninth is 429.
 * U2. An upload that says its length is read into one buffer; one in chunks is put together at its end, and takes twice
 *     its bytes then. Bytes over the limit are not buffered.
 */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { hash } from "node:crypto"
import type { ImageFormat } from "../../src/domain/content.ts"
import { limits } from "../../src/domain/limits.ts"
import { imageFormats } from "../../src/images/image.ts"
import { record, requestsRefused } from "../../src/telemetry/metrics.ts"
import { type BodyRefusal, checked, jsonType, readBytes, type Sender } from "../Body.ts"
import { Refused } from "../errors.ts"
import { header } from "../headers.ts"

/** The body of an upload: the bytes of a declared format, or a text of JSON. */
export type Upload = { readonly format: ImageFormat; readonly bytes: Buffer } | { readonly json: string }

type UploadRefusal = BodyRefusal | Refused<"image_too_large" | "image_format_unsupported">

const received = new WeakMap<object, Upload>()

/** The body of a request that came through `Uploads`. */
export const uploadOf = (request: HttpServerRequest.HttpServerRequest): Upload => {
  const upload = received.get(request)
  if (upload === undefined) throw new Error("the body of an upload was not received")
  return upload
}

const most = limits.imageBytes
const tooLarge = new Refused({ error: "image_too_large", message: `an image is at most ${most} bytes` })

const unsupported = (type: string) =>
  new Refused({
    error: "image_format_unsupported",
    message: `${type} is not taken: an image is ${imageFormats.map((format) => `image/${format}`).join(", ")}`
  })

const unknown = new Refused({
  error: "unsupported_media_type",
  message: "send the image's bytes with their type, such as image/png, or application/json with format and data"
})

const encoded = new Refused({ error: "unsupported_media_type", message: "send the body without a Content-Encoding" })

/** What the body says that it is. */
const kindOf = (type = ""): ImageFormat | "json" | UploadRefusal => {
  if (jsonType.test(type)) return "json"
  const bare = type.split(";", 1)[0]?.trim().toLowerCase() ?? ""
  return (
    imageFormats.find((format) => bare === `image/${format}`) ?? (/^image\//.test(bare) ? unsupported(bare) : unknown)
  )
}

const crowded = (reason: "uploads_of_key" | "uploads_of_node", message: string) => {
  record(requestsRefused.with({ reason }))
  return new Refused({ error: "rate_limited", message, retryAfterSeconds: 1 })
}

/** Takes the bodies of uploads, for `uploadOf`. */
export const makeUploads = () => {
  const running = new Map<string, number>()
  let all = 0

  const enter = (keyId: string) => {
    const own = running.get(keyId) ?? 0
    if (own >= limits.uploadsAtOnce / 2)
      return crowded(
        "uploads_of_key",
        `at most ${limits.uploadsAtOnce / 2} uploads of one credential may be on their way`
      )
    if (all >= limits.uploadsAtOnce)
      return crowded("uploads_of_node", "too many uploads are on their way to this node; try again")
    running.set(keyId, own + 1)
    all++
    return undefined
  }
  const leave = (keyId: string) => {
    const own = (running.get(keyId) ?? 1) - 1
    if (own === 0) running.delete(keyId)
    else running.set(keyId, own)
    all--
  }

  const take = (
    request: HttpServerRequest.HttpServerRequest,
    sender: Sender,
    kind: ImageFormat | "json"
  ): Effect.Effect<void, UploadRefusal> => {
    const cap = kind === "json" ? limits.uploadBytes : most
    const over = kind === "json" ? undefined : tooLarge
    if (Number(header(request, "content-length")) > cap && over !== undefined) return Effect.fail(over)
    return readBytes(request, { ...sender, room: roomy }, { most: cap, isLarge: true, then: Effect.succeed }).pipe(
      Effect.mapError((refused) => (refused.error === "payload_too_large" && over !== undefined ? over : refused)),
      Effect.flatMap((bytes): Effect.Effect<Upload, UploadRefusal> => {
        if (kind !== "json") return Effect.succeed({ format: kind, bytes })
        const json = checked(bytes)
        return typeof json === "string" ? Effect.succeed({ json }) : Effect.fail(json)
      }),
      Effect.map((upload) => {
        received.set(request, upload)
        // What tells two bodies apart, for whoever asks for its text.
        const identifying = "json" in upload ? upload.json : upload.bytes
        Object.defineProperty(request, "text", { value: Effect.sync(() => hash("sha256", identifying, "hex")) })
      })
    )
  }

  return {
    receive: (request: HttpServerRequest.HttpServerRequest, sender: Sender): Effect.Effect<void, UploadRefusal> => {
      const encoding = header(request, "content-encoding")
      if (encoding !== undefined && encoding !== "identity") return Effect.fail(encoded)
      const kind = kindOf(header(request, "content-type"))
      if (typeof kind !== "string") return Effect.fail(kind)
      const refused = enter(sender.keyId)
      if (refused !== undefined) return Effect.fail(refused)
      return Effect.ensuring(
        take(request, sender, kind),
        Effect.sync(() => leave(sender.keyId))
      )
    }
  }
}

/** Uploads have places of their own, so they take none of the room for other bodies. */
const roomy: Sender["room"] = {
  refuse: () => undefined,
  body: () => ({ grow: () => undefined, done: () => {} })
}
