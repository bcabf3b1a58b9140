/**
 * One response of a real model, through a provider package of the AI SDK.
 *
 * R1. One request per sample: the packages' `doStream` does not retry, and neither does this (M1).
 * R2. Interruption aborts the request and closes its socket; no text is reported after that (M2).
 * R3. A stream that ends without the provider's sign of completion is a failure, however much text it brought. The
 *     failure says how much that was, what was used for it as far as the provider has told, and that it had begun.
 * R4. An answer that the model or its provider has cut is an answer all the same, and says so; a filter that leaves no
 *     text, or that stopped the model among calls, has refused.
 */
import type {
  LanguageModelV4,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderOptions
} from "@ai-sdk/provider"
import { Clock, Effect } from "effect"
import type { ImageFormat } from "../domain/content.ts"
import type { ModelUsage } from "../domain/usage.ts"
import type { Backend } from "./Backend.ts"
import { brokeOff } from "./brokenAnswer.ts"
import { toConversation, toTools } from "./conversation.ts"
import { withCost } from "./cost.ts"
import { formatsIn, imageFormatFailure, refusedFormats } from "./images.ts"
import type { ModelSettings } from "../domain/modelSettings.ts"
import { loadedLater } from "../loading.ts"
import { type ModelCall, type ModelEntry, ModelFailure, type ModelReply, type SampleRequest } from "./Model.ts"
import {
  type ProviderRequest,
  endedEarly,
  isUnreadable,
  providerFailure,
  withBegun,
  withText,
  withUsage
} from "./providerFailure.ts"
import { makeCollector } from "./replyParts.ts"
import { reportedUsage } from "./reportedUsage.ts"
import { fromProviderName } from "./toolNames.ts"
import { makeWatchdog, type Watchdog } from "./watchdog.ts"

/** Makes a package's model over the given fetch, for a response of at most so many tokens, thoughts and all. */
export type Connect = (fetch: typeof globalThis.fetch, maxOutputTokens: number | undefined) => LanguageModelV4

export interface RemoteModel {
  readonly entry: ModelEntry
  /** Whose parts may go back to it (P1): kind, endpoint and name of the provider. */
  readonly partsOwner: string
  readonly providerOptions: SharedV4ProviderOptions
  /** Its package sends the images of a result as images; others would write their bytes as text. */
  readonly imagesInResults: boolean
  /** Of the AI SDK. */
  readonly packageName: string
  readonly load: () => Promise<Connect>
}

const failing = (
  code: "model_error" | "model_overloaded" | "content_refused" | "context_overflow",
  text: string,
  transient: boolean
) => new ModelFailure({ code, text, transient, unavailable: false })

const streamEnded = "the stream ended without completion"

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

const callOf = (
  part: LanguageModelV4StreamPart & { type: "tool-call" },
  exactName: (name: string) => string
): ModelCall => {
  const call = { providerToolCallId: part.toolCallId, name: exactName(part.toolName) }
  if (part.input.trim() === "") return { ...call, input: {} }
  try {
    const input: unknown = JSON.parse(part.input)
    return { ...call, input }
  } catch {
    return { ...call, input: {}, invalidInput: part.input }
  }
}

/** A response as far as it has come. */
interface Heard {
  text: string
  readonly calls: Array<ModelCall>
  /** As told on the way: the end says it better. */
  usage: ModelUsage | undefined
  /** What the provider itself reported as an error, within its answer. */
  reported?: unknown
}

type Finish = LanguageModelV4StreamPart & { type: "finish" }

const hasBegun = ({ calls, text }: Heard) => text !== "" || calls.length > 0

const isBlank = (text: string) => !/\S/u.test(text)

/**
 * The provider has stopped the answer. A model that declines in words of its own has ended well, and its words are a
 * refusal.
 */
const isFiltered = ({ raw, unified }: Finish["finishReason"]) =>
  unified === "content-filter" && raw !== undefined && raw !== "stop"

/** R4. */
const cutIn = ({ finishReason }: Finish, { calls, text }: Heard): Pick<ModelReply, "finishReason"> => {
  if (finishReason.unified === "length") return { finishReason: "length" }
  return isFiltered(finishReason) && !isBlank(text) && calls.length === 0 ? { finishReason: "content_filter" } : {}
}

/** R3: what the provider says about how it ended, where that is not well. */
const badEnd = (finish: Finish, heard: Heard): ModelFailure | undefined => {
  const { raw, unified } = finish.finishReason
  if (unified === "interrupted") return failing("model_error", brokeOff(heard, streamEnded), true)
  if (unified === "content-filter" && cutIn(finish, heard).finishReason === undefined) {
    return failing("content_refused", `the provider refused to answer${raw === undefined ? "" : ` (${raw})`}`, false)
  }
  if (unified === "error") {
    const why = `the provider stopped with an error${raw === undefined ? "" : ` (${raw})`}`
    return failing("model_error", hasBegun(heard) ? brokeOff(heard, why) : why, false)
  }
  if (!hasBegun(heard) && raw === "model_context_window_exceeded")
    return failing("context_overflow", "the context window is exceeded", false)
  return undefined
}

/** As the model knows them: what it does not is left out. */
const settingsFor = (
  { features, maxOutputTokens: most }: ModelEntry,
  { maxOutputTokens: wanted, reasoning, temperature }: ModelSettings = {}
): ModelSettings => {
  const maxOutputTokens = wanted === undefined || most === undefined ? (wanted ?? most) : Math.min(wanted, most)
  return {
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(reasoning === undefined || !features.includes("reasoning") ? {} : { reasoning })
  }
}

/** Reads one response to its end, into `heard`. Rejects with whatever went wrong. */
const hear = async (
  remote: RemoteModel & { readonly connect: Connect },
  { prompt, settings }: SampleRequest,
  { fetch, signal }: Watchdog,
  heard: Heard,
  onText: (text: string) => void
) => {
  const tools = toTools(prompt)
  const known = settingsFor(remote.entry, settings)
  const { stream } = await remote.connect(fetch, known.maxOutputTokens).doStream({
    prompt: toConversation(prompt, remote.partsOwner, {
      formats: remote.entry.inputFormats,
      inResults: remote.imagesInResults
    }),
    ...(tools.length === 0 ? {} : { tools }),
    ...known,
    providerOptions: remote.providerOptions,
    includeRawChunks: true,
    abortSignal: signal
  })
  const exactName = fromProviderName(prompt)
  const collector = makeCollector()
  let finish: Finish | undefined
  for await (const part of stream) {
    if (part.type === "raw") heard.usage = reportedUsage(heard.usage, part.rawValue)
    if (part.type === "error") {
      heard.reported = part.error
      throw part.error
    }
    if (part.type === "text-delta" && part.delta !== "") {
      heard.text += part.delta
      onText(part.delta)
    }
    if (part.type === "tool-call" && part.providerExecuted !== true) heard.calls.push(callOf(part, exactName))
    if (part.type === "finish") finish = part
    collector.take(part)
  }
  if (finish === undefined) throw failing("model_error", brokeOff(heard, streamEnded), true)
  const reported = usageOf(finish.usage)
  // Where the end says nothing of it, what was told on the way stands.
  const usage = reported.totalTokens === 0 ? (heard.usage ?? reported) : reported
  if (usage.totalTokens > 0) heard.usage = usage
  const bad = badEnd(finish, heard)
  if (bad !== undefined) throw bad
  return {
    usage: withCost(usage, remote.entry.pricing),
    parts: collector.parts(remote.partsOwner),
    ...cutIn(finish, heard)
  }
}

/** Whether the prompt was worked on: not where the provider reported an error in the place of its first word. */
const isPaidFor = (heard: Heard) => heard.reported === undefined || hasBegun(heard)

/** What went wrong in an answer that had begun: it broke off, unless the provider refused before its first word. */
const brokenBy = (error: unknown, heard: Heard, request: ProviderRequest): ModelFailure => {
  if (error instanceof ModelFailure) return error
  if (isUnreadable(error))
    return failing(
      "model_error",
      brokeOff(heard, endedEarly(error) ? streamEnded : "what the provider sent cannot be read"),
      true
    )
  const failure = providerFailure(error, request)
  if (heard.reported !== undefined) {
    return hasBegun(heard) ? withText(failure, brokeOff(heard, failure.text)) : failure
  }
  return failure.transient ? failing("model_error", brokeOff(heard, "the connection was lost"), true) : failure
}

export const remoteBackend = (remote: RemoteModel, idleTimeoutMs: number): Backend => {
  const loaded = loadedLater(
    remote.packageName,
    remote.load,
    () =>
      new ModelFailure({
        code: "model_unavailable",
        text: "this node could not load the package of the model's provider",
        transient: false,
        unavailable: true
      })
  )
  const sample = Effect.fn("Models.sample")(function* (request: SampleRequest) {
    yield* Effect.annotateCurrentSpan({ "gen_ai.request.model": request.modelId })
    const connect = yield* loaded
    const clock = yield* Clock.Clock
    const start = clock.currentTimeMillisUnsafe()
    const { id, inputFormats } = remote.entry
    const refused = refusedFormats(request.prompt, inputFormats)
    if (refused.length > 0)
      return yield* imageFormatFailure(
        id,
        refused,
        inputFormats.length === 0 ? `${id} accepts no images` : `${id} accepts ${inputFormats.join(", ")} images only`
      )
    const formats: ReadonlyArray<ImageFormat> = formatsIn(request.prompt)
    let firstTextMs: number | undefined

    const providerRequest = (): ProviderRequest => ({
      modelId: request.modelId,
      formats,
      now: clock.currentTimeMillisUnsafe()
    })
    const heard: Heard = { text: "", calls: [], usage: undefined }

    const { finishReason, parts, usage } = yield* Effect.tryPromise({
      try: async (signal) => {
        const watchdog = makeWatchdog(signal, idleTimeoutMs)
        const onText = (text: string) => {
          if (watchdog.signal.aborted) return
          firstTextMs ??= clock.currentTimeMillisUnsafe() - start
          request.onText(text)
        }
        try {
          return await hear({ ...remote, connect }, request, watchdog, heard, onText)
        } catch (error) {
          const silence = `the provider sent nothing for ${idleTimeoutMs} ms`
          if (!watchdog.answered()) throw watchdog.silent() ? failing("model_overloaded", silence, true) : error
          const broken = watchdog.silent()
            ? failing("model_overloaded", brokeOff(heard, silence), true)
            : brokenBy(error, heard, providerRequest())
          throw isPaidFor(heard) ? withBegun(broken) : broken
        } finally {
          watchdog.end()
        }
      },
      catch: (error) =>
        withUsage(providerFailure(error, providerRequest()), heard.usage && withCost(heard.usage, remote.entry.pricing))
    })
    const { calls, text } = heard
    yield* Effect.annotateCurrentSpan({
      "gen_ai.usage.input_tokens": usage.inputTokens,
      "gen_ai.usage.output_tokens": usage.outputTokens
    })
    const reply: ModelReply = {
      text,
      calls,
      usage,
      ...(finishReason === undefined ? {} : { finishReason }),
      ...(parts === undefined ? {} : { parts }),
      durationMs: clock.currentTimeMillisUnsafe() - start,
      ...(firstTextMs === undefined ? {} : { firstTextMs })
    }
    return reply
  })
  return { entry: remote.entry, sample }
}
