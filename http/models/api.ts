/** The public catalogue of models (design, section 9). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ImageFormat } from "../../src/domain/content.ts"
import { Timestamp } from "../../src/domain/time.ts"
import { access } from "../Authenticate.ts"
import { CursorParam, limitOf } from "../pagination.ts"

/** USD per million tokens; what is not known is left out. */
const Pricing = Schema.Struct({
  input: Schema.optionalKey(Schema.Finite),
  output: Schema.optionalKey(Schema.Finite),
  cacheRead: Schema.optionalKey(Schema.Finite),
  cacheWrite: Schema.optionalKey(Schema.Finite)
}).annotate({ identifier: "ModelPricing" })

/** What serves a model. `id` is what `failureDetails.targetId` points at. */
const Target = Schema.Struct({
  id: Schema.String,
  provider: Schema.String,
  inputFormats: Schema.Array(ImageFormat)
}).annotate({ identifier: "ModelTarget" })

export const Model = Schema.Struct({
  id: Schema.String,
  displayName: Schema.String,
  contextWindow: Schema.optionalKey(Schema.Int),
  maxOutputTokens: Schema.optionalKey(Schema.Int),
  inputFormats: Schema.Array(ImageFormat),
  features: Schema.Array(Schema.Literals(["tools", "images", "reasoning", "caching"])),
  pricing: Schema.optionalKey(Pricing),
  status: Schema.Literals(["available", "deprecated", "unavailable"]),
  retiresAt: Schema.optionalKey(Timestamp),
  targets: Schema.Array(Target)
}).annotate({ identifier: "Model" })

export const ModelPage = Schema.Struct({
  models: Schema.Array(Model),
  nextCursor: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "ModelPage" })

export const ModelsApi = HttpApiGroup.make("models").add(
  HttpApiEndpoint.get("list", "/models", {
    query: { limit: limitOf("models"), cursor: CursorParam },
    success: ModelPage
  }).annotateMerge(access("read")).annotateMerge(OpenApi.annotations({
    summary: "List models",
    description: "Those of every provider that this server has a key for, those of the operator's file, and the scripted ones where the server has them: they are for development."
  }))
).annotateMerge(OpenApi.annotations({ description: "Public model catalog." }))
