/**
 * What the rest of Troupe knows of models: a prompt goes in, one response comes out, streamed.
 *
 * M1. A model call never retries by itself: attempts, backoff and fallback are decided by the
 *     thread's chart, so that they are durable and visible.
 * M2. Interrupting the effect aborts the request; nothing is reported after that.
 * M3. A failure is a value with one of the contract's failure codes; what it does not know is `model_error`.
 */
import { Context, Data, type Effect } from "effect"
import type { ImageFormat, MessageContent } from "../domain/content.ts"
import type { FinishReason } from "../domain/event.ts"
import type { FailureCode, FailureDetails } from "../domain/failure.ts"
import type { ModelSettings } from "../domain/modelSettings.ts"
import type { ModelUsage } from "../domain/usage.ts"

/** A call that the model asked for. `input` is parsed JSON; `invalidInput` the raw text where it was not JSON. */
export interface ModelCall {
  readonly providerToolCallId: string
  readonly name: string
  readonly input: unknown
  readonly invalidInput?: string
}

interface FromLog {
  readonly turnId: string
  /** Where its first fact stands in the log. */
  readonly at?: LogPlace
}

export interface LogPlace {
  readonly pos: number
  readonly seq: number
}

/** One entry of the conversation, as the log tells it. `turnId` says which turn it belongs to. */
export type PromptMessage =
  | (FromLog & {
      /** It stands for all that came before: no other message does. */
      readonly role: "summary"
      readonly text: string
    })
  | (FromLog & {
      readonly role: "user"
      /** Number of its event in the turn. */
      readonly n?: number
      readonly content: MessageContent
      /** Of one that stands again behind a summary: responses with calls that followed it, and their calls. */
      readonly replaced?: { readonly responses: number; readonly calls: number }
    })
  | (FromLog & {
      readonly role: "assistant"
      readonly modelId: string
      readonly text: string
      readonly calls: ReadonlyArray<{
        readonly toolCallId: string
        readonly providerToolCallId: string
        readonly name: string
        readonly input: unknown
      }>
      /**
       * Parts that must go back verbatim to the same provider (reasoning signatures), as `ModelReply.parts` gave them.
       */
      readonly parts?: unknown
      /** Tokens of the prompt that it answers and of itself, as its provider counted them; absent once that prompt has
       * changed. */
      readonly tokens?: number
    })
  | (FromLog & {
      readonly role: "tool"
      readonly toolCallId: string
      readonly providerToolCallId: string
      readonly name: string
      /** As it is read (`tools/reading.ts`): a text, or JSON. */
      readonly output: unknown
      readonly failure?: { readonly code: string; readonly text: string }
      /** Images beside the output, which its text names: for models that accept their format. */
      readonly images?: ReadonlyArray<ToolImage>
    })

export interface ToolImage {
  readonly format: ImageFormat
  /** Base64. */
  readonly data: string
}

/** An image as it was uploaded. */
export interface PromptImage {
  readonly format: ImageFormat
  readonly bytes: Uint8Array
}

export interface ToolDefinition {
  readonly name: string
  readonly description?: string
  readonly inputSchema: unknown
}

export interface Prompt {
  readonly system?: string
  readonly messages: ReadonlyArray<PromptMessage>
  readonly tools: ReadonlyArray<ToolDefinition>
  /** What its messages name, by id; one that is not here any more is named. */
  readonly images?: ReadonlyMap<string, PromptImage>
  /** The turn that samples: its newest user message is what is answered. */
  readonly turnId: string
  readonly purpose: "turn" | "summary"
  /** Of a summary: what the profile says of it. */
  readonly instructions?: string
}

export interface ModelReply {
  /** Whole text, possibly empty or blank; not cut. */
  readonly text: string
  readonly calls: ReadonlyArray<ModelCall>
  readonly usage: ModelUsage
  /** The model has cut it: what is here is what there is. */
  readonly finishReason?: FinishReason
  /** JSON that must go back verbatim with this response, or absent. */
  readonly parts?: unknown
  readonly durationMs: number
  readonly firstTextMs?: number
}

export class ModelFailure extends Data.TaggedError("ModelFailure")<{
  readonly code: FailureCode
  readonly text: string
  readonly details?: FailureDetails
  /** The same target may succeed later: 429, overload, connect errors. */
  readonly transient: boolean
  /** This target cannot serve at all (unknown model, no key, down): the next selector may. */
  readonly unavailable: boolean
  /** What the provider asked for (Retry-After). */
  readonly retryAfterMs?: number
  /** What the provider reported of the attempt before it failed. */
  readonly usage?: ModelUsage
  /** The provider had begun to answer: the prompt is paid for, whether or not it has said so. */
  readonly begun?: true
}> {
  override get message() {
    return `${this.code}: ${this.text}`
  }
}

export interface SampleRequest {
  readonly modelId: string
  readonly prompt: Prompt
  /** What the model does not know of it is left out. */
  readonly settings?: ModelSettings
  /** Called for each piece of text, in order, before the reply. Must not throw. */
  readonly onText: (text: string) => void
}

export interface ModelTarget {
  readonly id: string
  readonly provider: string
  readonly inputFormats: ReadonlyArray<ImageFormat>
}

/** A row of `GET /v1/models`. Prices in USD per million tokens; unknown ones are omitted. */
export interface ModelEntry {
  readonly id: string
  readonly displayName: string
  readonly contextWindow?: number
  readonly maxOutputTokens?: number
  readonly inputFormats: ReadonlyArray<ImageFormat>
  readonly features: ReadonlyArray<"tools" | "images" | "reasoning" | "caching">
  readonly pricing?: {
    readonly input?: number
    readonly output?: number
    readonly cacheRead?: number
    readonly cacheWrite?: number
  }
  readonly status: "available" | "deprecated" | "unavailable"
  readonly retiresAt?: string
  readonly targets: ReadonlyArray<ModelTarget>
  /** For order of listing: older first seen. */
  readonly createdAt: string
}

export class Models extends Context.Service<
  Models,
  {
    /**
     * One response of one model. `modelId` is an exact id from `resolve`. Usage carries estimatedCost where the price
     * is known.
     */
    readonly sample: (request: SampleRequest) => Effect.Effect<ModelReply, ModelFailure>
    /** The catalogue, fixed for the life of the process. */
    readonly list: ReadonlyArray<ModelEntry>
    /**
     * Exact ids that a selector (exact id, `provider/*`, `@alias`) means now, best first; empty when none is available.
     */
    readonly resolve: (selector: string) => ReadonlyArray<string>
  }
>()("troupe/Models") {}
