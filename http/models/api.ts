/** The public catalogue of models. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ImageFormat } from "../../src/domain/content.ts"
import { described } from "../../src/domain/described.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { Timestamp } from "../../src/domain/time.ts"
import { access } from "../access.ts"
import { CursorParam, limitOf } from "../pagination.ts"

/** USD per million tokens; what is not known is left out. */
const Pricing = Schema.Struct({
  input: described(Schema.optionalKey(Schema.Finite), "USD for a million tokens of input."),
  output: described(Schema.optionalKey(Schema.Finite), "USD for a million tokens of output."),
  cacheRead: described(
    Schema.optionalKey(Schema.Finite),
    "USD for a million tokens of input that are read from the provider's cache."
  ),
  cacheWrite: described(
    Schema.optionalKey(Schema.Finite),
    "USD for a million tokens of input that are written to the provider's cache."
  )
}).annotate({ identifier: "ModelPricing" })

/** What serves a model. `id` is what `failureDetails.targetId` points at. */
const Target = Schema.Struct({
  id: described(Schema.String, "Id of the target: what `failureDetails.targetId` points at."),
  provider: described(Schema.String, "Provider that serves it."),
  inputFormats: described(Schema.Array(ImageFormat), "Image formats that it takes.")
}).annotate({ identifier: "ModelTarget" })

export const Model = Schema.Struct({
  id: described(Schema.String, "Id of the model, as `provider/name`: what a selector names."),
  displayName: described(Schema.String, "Name of the model for people."),
  contextWindow: described(
    Schema.optionalKey(Schema.Int),
    "Tokens that a prompt and its response may have together. Absent where it is not known."
  ),
  maxOutputTokens: described(
    Schema.optionalKey(Schema.Int),
    "Tokens that a response may have. Absent where it is not known."
  ),
  inputFormats: described(Schema.Array(ImageFormat), "Image formats that it takes. Empty: none."),
  features: described(
    Schema.Array(Schema.Literals(["tools", "images", "reasoning", "caching"])),
    "Abilities of the model beside text."
  ),
  pricing: described(Schema.optionalKey(Pricing), "Prices of its tokens. A price that is not known is left out."),
  status: described(Schema.Literals(["available", "deprecated", "unavailable"]), "Whether it can be used now."),
  retiresAt: described(Schema.optionalKey(Timestamp), "When its provider takes it away. Absent where it is not known."),
  targets: described(Schema.Array(Target), "Providers' models that serve it.")
}).annotate({ identifier: "Model" })

export const ModelPage = Schema.Struct({
  models: described(Schema.Array(Model), "Models of this page."),
  nextCursor: NextCursor
}).annotate({ identifier: "ModelPage" })

export const ModelsApi = HttpApiGroup.make("models")
  .add(
    HttpApiEndpoint.get("list", "/models", {
      query: { limit: limitOf("models"), cursor: CursorParam },
      success: ModelPage
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List models",
          description:
            "Models of every provider that this server has a key for, models of the operator's file, and the " +
            "scripted ones where the server has them: they are for development."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      // The reference shows it beside the shapes, which stand under "Models".
      description: "Public model catalog.",
      override: { "x-displayName": "model catalogue" }
    })
  )
