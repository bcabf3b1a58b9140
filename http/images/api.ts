/** Images: uploaded for an agent, named in messages, shown to models. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ImageFormat, ImageId } from "../../src/domain/content.ts"
import { described } from "../../src/domain/described.ts"
import { limits } from "../../src/domain/limits.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { AgentId } from "../../src/domain/resourceIds.ts"
import { Image, ImageUpload } from "../../src/images/image.ts"
import { access } from "../access.ts"
import { IfNoneMatch } from "../etag.ts"
import { refuses } from "../errors.ts"
import { CursorParam, limitOf } from "../pagination.ts"

export const ImageAnswer = Schema.Struct({ image: described(Image, "The image.") })

export const ImagePage = Schema.Struct({
  images: described(Schema.Array(Image), "Images of this page, newest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "ImagePage" })

export const uploadWords = [
  "agent_archived",
  "image_too_large",
  "image_format_unsupported",
  "image_format_mismatch",
  "image_malformed"
] as const

const { imageBytes: bytes, imageMegapixels: megapixels, imageSide: side } = limits

export const ImagesApi = HttpApiGroup.make("images")
  .add(
    HttpApiEndpoint.post("upload", "/agents/:agentId/images", {
      params: { agentId: AgentId },
      payload: ImageUpload,
      success: [ImageAnswer.pipe(HttpApiSchema.status(201)), ImageAnswer],
      error: refuses(...uploadWords)
    })
      .annotateMerge(access("run", { stores: "events", upload: true }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Upload an image",
          description:
            `The bytes of a png, jpeg, gif or webp image with their \`Content-Type\`, or JSON with them as base64: ` +
            `at most ${bytes} bytes, ${side} pixels a side and ${megapixels} megapixels. Its \`id\` can be named in ` +
            `messages to ` +
            "the agent. 200 where the agent has the same bytes already."
        })
      ),
    HttpApiEndpoint.get("list", "/agents/:agentId/images", {
      params: { agentId: AgentId },
      query: { limit: limitOf("images"), cursor: CursorParam },
      success: ImagePage
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({ summary: "List an agent's images", description: "Newest first, without their bytes." })
      ),
    HttpApiEndpoint.get("get", "/images/:imageId", {
      params: { imageId: described(ImageId, "Id of the image, img_…") },
      headers: IfNoneMatch,
      success: ImageFormat.literals.map((format) =>
        Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: `image/${format}` }))
      )
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get an image's bytes",
          description:
            "The bytes as they were uploaded, with their format's type. They never change: the ETag is the image's id."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "Private images that agents' models may be shown." }))
