/**
 * One response of a real model, through a provider package of the AI SDK.
 *
 * R1. One request per sample: the packages' `doStream` does not retry, and neither does this (M1).
 * R2. Interruption aborts the request and closes its socket; no text is reported after that (M2).
 * R3. A stream that ends without the provider's sign of completion is a failure, however much text it brought.
 */
import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage, SharedV4ProviderOptions } from "@ai-sdk/provider"
import { Clock, Effect } from "effect"
import type { ImageFormat } from "../domain/content.ts"
import type { ModelUsage } from "../domain/usage.ts"
import type { Backend } from "./Backend.ts"
import { toConversation, toTools } from "./conversation.ts"
import { withCost } from "./cost.ts"
import { formatsIn, type FormatOf } from "./images.ts"
import { type ModelCall, type ModelEntry, ModelFailure, type ModelReply, type SampleRequest } from "./Model.ts"
import { providerFailure } from "./providerFailure.ts"
import { makeCollector } from "./replyParts.ts"
import { fromProviderName } from "./toolNames.ts"
import { makeWatchdog } from "./watchdog.ts"

export interface Remote {
  readonly entry: ModelEntry
  /** Whose parts may go back to it (P1): kind, endpoint and name of the provider. */
  readonly partsOwner: string
  readonly providerOptions: SharedV4ProviderOptions
  /** Makes the package's model over the given fetch. */
  readonly connect: (fetch: typeof globalThis.fetch) => LanguageModelV4
}

const failing = (code: "model_error" | "model_overloaded" | "content_refused" | "context_overflow", text: string, transient: boolean) =>
  new ModelFailure({ code, text, transient, unavailable: false })

const usageOf = ({ inputTokens, outputTokens }: LanguageModelV4Usage): ModelUsage => {
  const input = inputTokens.total ?? 0
  const output = outputTokens.total ?? 0
  return {
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + output,
    ...(inputTokens.cacheRead === undefined ? {} : { cacheReadTokens: inputTokens.cacheRead }),
    ...(inputTokens.cacheWrite === undefined ? {} : { cacheWriteTokens: inputTokens.cacheWrite }),
    ...(outputTokens.reasoning === undefined ? {} : { reasoningTokens: outputTokens.reasoning })
  }
}

const callOf = (part: LanguageModelV4StreamPart & { type: "tool-call" }, exactName: (name: string) => string): ModelCall => {
  const call = { providerToolCallId: part.toolCallId, name: exactName(part.toolName) }
  if (part.input.trim() === "") return { ...call, input: {} }
  try {
    const input: unknown = JSON.parse(part.input)
    return { ...call, input }
  } catch {
    return { ...call, input: {}, invalidInput: part.input }
  }
}

interface Heard {
  readonly text: string
  readonly calls: ReadonlyArray<ModelCall>
  readonly usage: ModelUsage
  readonly parts: unknown
}

type Finish = LanguageModelV4StreamPart & { type: "finish" }

/** R3: what the provider says about how it ended, where that is not well. */
const badEnd = (finish: Finish | undefined, empty: boolean): ModelFailure | undefined => {
  const reason = finish?.finishReason
  if (reason === undefined || reason.unified === "interrupted") return failing("model_error", "the provider's stream ended early", true)
  if (reason.unified === "content-filter") return failing("content_refused", `the provider refused to answer${reason.raw === undefined ? "" : ` (${reason.raw})`}`, false)
  if (reason.unified === "error") return failing("model_error", `the provider stopped with an error${reason.raw === undefined ? "" : ` (${reason.raw})`}`, false)
  if (empty && reason.raw === "model_context_window_exceeded") return failing("context_overflow", "the context window is exceeded", false)
  return undefined
}

/** Reads one response to its end. Rejects with whatever went wrong. */
const hear = async (remote: Remote, { prompt }: SampleRequest, signal: AbortSignal, fetch: typeof globalThis.fetch, onText: (text: string) => void): Promise<Heard> => {
  const tools = toTools(prompt)
  const { stream } = await remote.connect(fetch).doStream({
    prompt: toConversation(prompt, remote.partsOwner),
    ...(tools.length === 0 ? {} : { tools }),
    ...(remote.entry.maxOutputTokens === undefined ? {} : { maxOutputTokens: remote.entry.maxOutputTokens }),
    providerOptions: remote.providerOptions,
    abortSignal: signal
  })
  const exactName = fromProviderName(prompt)
  const collector = makeCollector()
  const calls: Array<ModelCall> = []
  let text = ""
  let finish: Finish | undefined
  for await (const part of stream) {
    if (part.type === "error") throw part.error
    if (part.type === "text-delta" && part.delta !== "") {
      text += part.delta
      onText(part.delta)
    }
    if (part.type === "tool-call" && part.providerExecuted !== true) calls.push(callOf(part, exactName))
    if (part.type === "finish") finish = part
    collector.take(part)
  }
  const bad = badEnd(finish, text === "" && calls.length === 0)
  if (bad !== undefined) throw bad
  if (finish === undefined) throw failing("model_error", "the provider's stream ended early", true)
  return { text, calls, usage: withCost(usageOf(finish.usage), remote.entry.pricing), parts: collector.parts(remote.partsOwner) }
}

export const remoteBackend = (remote: Remote, formatOf: FormatOf, idleTimeoutMs: number): Backend => {
  const sample = Effect.fn("Models.sample")(function*(request: SampleRequest) {
    yield* Effect.annotateCurrentSpan({ "gen_ai.request.model": request.modelId })
    const clock = yield* Clock.Clock
    const start = clock.currentTimeMillisUnsafe()
    const formats: ReadonlyArray<ImageFormat> = formatsIn(request.prompt, formatOf)
    let firstTextMs: number | undefined

    const heard = yield* Effect.tryPromise({
      try: async (signal) => {
        const watchdog = makeWatchdog(signal, idleTimeoutMs)
        const onText = (text: string) => {
          if (watchdog.signal.aborted) return
          firstTextMs ??= clock.currentTimeMillisUnsafe() - start
          request.onText(text)
        }
        try {
          return await hear(remote, request, watchdog.signal, watchdog.fetch, onText)
        } catch (error) {
          throw watchdog.silent() ? failing("model_overloaded", `the provider sent nothing for ${idleTimeoutMs} ms`, true) : error
        } finally {
          watchdog.end()
        }
      },
      catch: (error) => providerFailure(error, { modelId: request.modelId, formats, now: clock.currentTimeMillisUnsafe() })
    })
    const { text, calls, usage, parts } = heard
    yield* Effect.annotateCurrentSpan({ "gen_ai.usage.input_tokens": usage.inputTokens, "gen_ai.usage.output_tokens": usage.outputTokens })
    const reply: ModelReply = {
      text,
      calls,
      usage,
      ...(parts === undefined ? {} : { parts }),
      durationMs: clock.currentTimeMillisUnsafe() - start,
      ...(firstTextMs === undefined ? {} : { firstTextMs })
    }
    return reply
  })
  return { entry: remote.entry, sample }
}
