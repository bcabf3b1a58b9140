/**
 * The operator's file of models, prices and aliases (`TROUPE_MODELS`): what it may hold, and why it was refused.
 *
 * ```json
 * { "models": [{ "id": "openai/gpt-5", "contextWindow": 400000, "pricing": { "input": 1.25, "output": 10 } },
 *              { "id": "local/qwen", "provider": "openai-compatible", "baseUrl": "http://127.0.0.1:11434/v1" }],
 *   "aliases": { "@fast": ["local/qwen", "openai/*"] } }
 * ```
 */
import { Data, Effect, Schema } from "effect"
import { readFile } from "node:fs/promises"
import { ImageFormat } from "../domain/content.ts"
import { wordsOf } from "../domain/problems.ts"
import { providerKinds } from "./providers.ts"

/** USD per million tokens. */
const Price = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))
const Tokens = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

const ModelId = Schema.String.check(
  Schema.isPattern(/^[a-z0-9][a-z0-9_.-]*\/[^\s@*]+$/i, { expected: "an id of the form provider/name" }),
  Schema.isMaxLength(512),
  Schema.makeFilter((id) => !id.startsWith("troupe/") || "an id outside troupe/, whose models are built in")
)
const Selector = Schema.String.check(
  Schema.isPattern(/^[a-z0-9][a-z0-9_.-]*\/(\*|[^\s@*]+)$/i, { expected: "provider/name or provider/*" }),
  Schema.isMaxLength(512)
)
const Alias = Schema.String.check(
  Schema.isPattern(/^@[^\s/*]+$/, { expected: "an alias of the form @name" }),
  Schema.isMaxLength(512)
)
const HttpUrl = Schema.String.check(
  Schema.makeFilter(
    (text) => (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) || "an http or https URL"
  )
)
const Moment = Schema.String.check(
  Schema.makeFilter(
    (text) => (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text))) || "a date such as 2026-12-31"
  )
)

export const ModelInFile = Schema.Struct({
  id: ModelId,
  displayName: Schema.optionalKey(Schema.NonEmptyString),
  /** Kind of provider; by default the one that the id begins with. */
  provider: Schema.optionalKey(Schema.Literals(providerKinds)),
  /** OpenAI's endpoint; `responses` by default. */
  api: Schema.optionalKey(Schema.Literals(["responses", "chat"])),
  /** Name at the provider; by default the id without its provider. */
  name: Schema.optionalKey(Schema.NonEmptyString),
  baseUrl: Schema.optionalKey(HttpUrl),
  /**
   * Environment variable that holds the key; by default the provider's usual one, but none for openai-compatible and
   * where there is a `baseUrl`.
   */
  apiKeyEnv: Schema.optionalKey(Schema.NonEmptyString),
  contextWindow: Schema.optionalKey(Tokens),
  maxOutputTokens: Schema.optionalKey(Tokens),
  inputFormats: Schema.optionalKey(Schema.Array(ImageFormat).check(Schema.isUnique())),
  features: Schema.optionalKey(
    Schema.Array(Schema.Literals(["tools", "images", "reasoning", "caching"])).check(Schema.isUnique())
  ),
  pricing: Schema.optionalKey(
    Schema.Struct({
      input: Schema.optionalKey(Price),
      output: Schema.optionalKey(Price),
      cacheRead: Schema.optionalKey(Price),
      cacheWrite: Schema.optionalKey(Price)
    })
  ),
  status: Schema.optionalKey(Schema.Literals(["available", "deprecated", "unavailable"])),
  retiresAt: Schema.optionalKey(Moment)
})
export type ModelInFile = typeof ModelInFile.Type

export const ModelsFile = Schema.Struct({
  models: Schema.optionalKey(
    Schema.Array(ModelInFile).check(
      Schema.makeFilter(
        (models) => new Set(models.map(({ id }) => id)).size === models.length || "ids that are unique in the file"
      )
    )
  ),
  aliases: Schema.optionalKey(Schema.Record(Alias, Schema.Array(Selector).check(Schema.isMinLength(1))))
})
export type ModelsFile = typeof ModelsFile.Type

/** The file cannot be used; the server does not start with half a catalogue. `reason` names the place in it. */
export class ModelsFileInvalid extends Data.TaggedError("ModelsFileInvalid")<{
  readonly source: string
  readonly reason: string
}> {
  override get message() {
    return `the models file ${this.source} cannot be used: ${this.reason}`
  }
}

const decode = Schema.decodeUnknownEffect(ModelsFile)

/** Decodes a parsed file. `source` is what errors call it. */
export const decodeModelsFile = (json: unknown, source: string): Effect.Effect<ModelsFile, ModelsFileInvalid> =>
  decode(json, { errors: "all", onExcessProperty: "error" }).pipe(
    Effect.mapError((error) => new ModelsFileInvalid({ source, reason: wordsOf(error.issue, "the file") }))
  )

export const readModelsFile = Effect.fn("readModelsFile")(function* (path: string) {
  const text = yield* Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (cause) =>
      new ModelsFileInvalid({ source: path, reason: cause instanceof Error ? cause.message : "it cannot be read" })
  })
  const json = yield* Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: (cause) =>
      new ModelsFileInvalid({
        source: path,
        reason: `not JSON: ${cause instanceof Error ? cause.message : "it cannot be parsed"}`
      })
  })
  return yield* decodeModelsFile(json, path)
})
