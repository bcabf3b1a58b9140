/** Images: from bytes to rows, and back. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { readAgent } from "../../src/agents/rows.ts"
import { Database } from "../../src/database/Database.ts"
import type { ImageFormat } from "../../src/domain/content.ts"
import { ImageUpload } from "../../src/images/image.ts"
import { Images } from "../../src/images/Images.ts"
import { readPicture } from "../../src/images/looking.ts"
import { keepImage, listImages } from "../../src/images/rows.ts"
import { Quotas } from "../../src/quotas/Quotas.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { decodeText } from "../Body.ts"
import { Caller } from "../Caller.ts"
import { Refused } from "../errors.ts"
import { isKnown } from "../etag.ts"
import { makePages } from "../newestFirst.ts"
import { jsonAnswer, makeWrites } from "../writes.ts"
import { type Upload, uploadOf } from "./Uploads.ts"
import { limits } from "../../src/domain/limits.ts"

const decode = decodeText(ImageUpload)

const noAgent = new Refused({ error: "not_found", message: "no such agent" })
const archived = new Refused({ error: "agent_archived", message: "the agent was archived" })
const noImage = new Refused({ error: "not_found", message: "no such image" })
const tooLarge = new Refused({
  error: "image_too_large",
  message: `data: an image is at most ${limits.imageBytes} bytes`
})

/** The declared format and the bytes. */
const given = (
  upload: Upload
): Effect.Effect<
  { readonly format: ImageFormat; readonly bytes: Buffer },
  Refused<"invalid_request"> | Refused<"image_too_large">
> =>
  "bytes" in upload
    ? Effect.succeed(upload)
    : Effect.flatMap(decode(upload.json), ({ data, format }) => {
        const bytes = Buffer.from(data, "base64")
        return bytes.length > limits.imageBytes ? Effect.fail(tooLarge) : Effect.succeed({ format, bytes })
      })

export const ImagesHandlers = HttpApiBuilder.group(
  Api,
  "images",
  Effect.fnUntraced(function* (handlers) {
    const database = yield* Database
    const images = yield* Images
    const pages = yield* makePages
    const quotas = yield* Quotas
    const writes = yield* makeWrites

    const agentOf = (workspace: string, agentId: string) =>
      Effect.flatMap(
        database.run("images.agent", (db) => readAgent(db, workspace, agentId)),
        (found) => (found === undefined ? Effect.fail(noAgent) : Effect.succeed(found.agent))
      )

    return handlers
      .handleRaw(
        "upload",
        Effect.fnUntraced(function* ({ params: { agentId }, request }) {
          const { workspace } = yield* Caller
          const { archivedAt } = yield* agentOf(workspace, agentId)
          if (archivedAt !== undefined) return yield* archived
          const { bytes, format } = yield* given(uploadOf(request))
          const picture = readPicture(bytes, format)
          if ("error" in picture) return yield* new Refused(picture)
          const id = yield* images.idOf(workspace, bytes)
          return yield* writes.post("images.upload", async (tx) => {
            const { fresh, image } = await keepImage(tx, workspace, agentId, { ...picture, id, bytes })
            if (fresh) quotas.add(workspace, "stored_bytes", bytes.length)
            return fresh
              ? jsonAnswer({ image }, 201, { location: `/v1/images/${image.id}` })
              : jsonAnswer({ image }, 200)
          })
        })
      )
      .handleRaw(
        "get",
        Effect.fnUntraced(function* ({ headers: { "if-none-match": known }, params: { imageId } }) {
          const { workspace } = yield* Caller
          const image = yield* images.find(workspace, imageId)
          if (image === undefined) return yield* noImage
          const headers = {
            etag: `"${imageId}"`,
            "x-content-type-options": "nosniff",
            "content-disposition": "attachment",
            "cache-control": "private, max-age=31536000, immutable"
          }
          return isKnown(known, headers.etag)
            ? HttpServerResponse.empty({ status: 304, headers })
            : HttpServerResponse.uint8Array(image.bytes, { headers, contentType: `image/${image.format}` })
        })
      )
      .handleAll({
        list: Effect.fnUntraced(function* ({ params: { agentId }, query }) {
          const { workspace } = yield* Caller
          yield* agentOf(workspace, agentId)
          const { nextCursor, rows } = yield* pages({
            list: "images",
            place: `images ${workspace} ${agentId}`,
            query,
            fetch: (db, page) => listImages(db, workspace, agentId, page),
            position: ({ position }) => position
          })
          return json({ images: rows.map(({ image }) => image), nextCursor })
        })
      })
  })
)
