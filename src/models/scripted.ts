/**
 * The three models that need no key and no network: their answer is written in the message.
 *
 * S1. A response is a pure function of the prompt and the model's id; nothing is remembered between samples.
 * S2. The newest user message of the turn is the script. Its round is the number of responses with calls that
 *     follow it in the prompt; a round without calls, and every one past the last, is the final response.
 * S3. A response without `/wait` and `/chunks` never sleeps.
 */
import { Clock, Effect } from "effect"
import type { ImageFormat } from "../domain/content.ts"
import type { FailureCode } from "../domain/failure.ts"
import { utf8Bytes } from "../domain/text.ts"
import type { ModelUsage } from "../domain/usage.ts"
import type { Backend } from "./Backend.ts"
import { brokeOff } from "./brokenAnswer.ts"
import { type Pricing, withCost } from "./cost.ts"
import { imageFormatFailure, refusedFormats } from "./images.ts"
import {
  type ModelCall,
  type ModelEntry,
  ModelFailure,
  type ModelReply,
  type Prompt,
  type PromptMessage,
  type SampleRequest
} from "./Model.ts"
import { withUsage } from "./providerFailure.ts"
import { promptTokens, tokensOf } from "./promptTokens.ts"
import { emptyRound, parseScript, type Round, type ScriptFailure } from "./script.ts"

const accepted: ReadonlyArray<ImageFormat> = ["png", "jpeg"]
const refused: ReadonlyArray<ImageFormat> = ["gif", "webp"]

interface Scripted {
  readonly id: string
  readonly displayName: string
  readonly contextWindow: number
  readonly pricing: Pricing
}

const models: ReadonlyArray<Scripted> = [
  { id: "troupe/scripted", displayName: "Scripted", contextWindow: 1_000_000, pricing: { input: 0, output: 0 } },
  {
    id: "troupe/scripted-paid",
    displayName: "Scripted, with a price",
    contextWindow: 1_000_000,
    pricing: { input: 1, output: 2 }
  },
  {
    id: "troupe/scripted-small",
    displayName: "Scripted, with a small window",
    contextWindow: 2_000,
    pricing: { input: 0, output: 0 }
  }
]

const entryOf = ({ id, displayName, contextWindow, pricing }: Scripted, createdAt: string): ModelEntry => ({
  id,
  displayName,
  contextWindow,
  maxOutputTokens: 100_000,
  inputFormats: accepted,
  features: ["tools", "images"],
  pricing,
  status: "available",
  targets: [{ id, provider: "troupe", inputFormats: accepted }],
  createdAt
})

const transientCodes: ReadonlySet<FailureCode> = new Set(["model_rate_limited", "model_overloaded"])

const failureOf = (modelId: string, { code, text }: ScriptFailure): ModelFailure =>
  code === "model_image_format_unsupported"
    ? imageFormatFailure(modelId, refused, text)
    : new ModelFailure({ code, text, transient: transientCodes.has(code), unavailable: code === "model_unavailable" })

const textOf = (message: PromptMessage): string =>
  message.role !== "user"
    ? ""
    : message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")

/** Where the script stands. A prompt without a message of the turn is answered from its newest one of any turn. */
const scriptIndex = ({ messages, turnId }: Prompt): number => {
  const newest = messages.findLastIndex((message) => message.role === "user" && message.turnId === turnId)
  return newest >= 0 ? newest : messages.findLastIndex((message) => message.role === "user")
}

/** What a call came to, as the model sees it: its output, or why there is none. */
const outcomeOf = (results: ReadonlyMap<string, PromptMessage & { role: "tool" }>, toolCallId: string): unknown => {
  const result = results.get(toolCallId)
  if (result === undefined) return null
  return result.output === undefined || (result.output === null && result.failure !== undefined)
    ? (result.failure ?? null)
    : result.output
}

interface Response {
  readonly text: string
  readonly calls: ReadonlyArray<ModelCall>
  readonly round: Round
}

/** S2: the response that comes next, without its time and its failures. */
const respond = (prompt: Prompt): Response => {
  const at = scriptIndex(prompt)
  const message = prompt.messages[at]
  const script = parseScript(message === undefined ? "" : textOf(message))
  const callIds: Array<string> = []
  const results = new Map<string, PromptMessage & { role: "tool" }>()
  let responses = 0
  if (message?.role === "user" && message.replaced !== undefined) {
    responses = message.replaced.responses
    // No result is left of them.
    callIds.push(...Array.from({ length: message.replaced.calls }, () => ""))
  }
  for (let index = at + 1; index < prompt.messages.length; index++) {
    const later = prompt.messages[index]
    if (later?.role === "tool") results.set(later.toolCallId, later)
    if (later?.role !== "assistant" || later.calls.length === 0) continue
    responses++
    for (const call of later.calls) callIds.push(call.toolCallId)
  }
  const round = script.rounds[responses] ?? emptyRound
  if (round.calls.length > 0) {
    const calls = round.calls.map(
      (call, index): ModelCall => ({ providerToolCallId: `call_${prompt.messages.length}_${index + 1}`, ...call })
    )
    return { text: "", calls, round }
  }
  const text =
    script.spoken !== undefined
      ? script.spoken
      : callIds.length > 0
        ? `Done: ${JSON.stringify(callIds.map((id) => outcomeOf(results, id)))}`
        : `You said: ${script.plain}`
  return { text, calls: [], round }
}

/** Events that the messages stand for: a response is its text, if any, and its calls. */
const eventsIn = (messages: ReadonlyArray<PromptMessage>): number => {
  let events = 0
  for (const message of messages) {
    events += message.role === "assistant" ? message.calls.length + (message.text.trim() === "" ? 0 : 1) : 1
  }
  return events
}

/** At most `count` pieces of nearly equal length, cut between code points. */
const pieces = (text: string, count: number): ReadonlyArray<string> => {
  const points = [...text]
  const total = Math.min(count, points.length)
  return Array.from({ length: total }, (_, index) =>
    points
      .slice(Math.floor((index * points.length) / total), Math.floor(((index + 1) * points.length) / total))
      .join("")
  )
}

const usageOf = (inputTokens: number, { text, calls, round }: Response, pricing: Pricing): ModelUsage => {
  const bytes = calls.reduce(
    (sum, call) => sum + utf8Bytes(call.name) + utf8Bytes(call.invalidInput ?? JSON.stringify(call.input)),
    utf8Bytes(text)
  )
  const tokens = round.usage ?? { inputTokens, outputTokens: tokensOf(bytes) }
  return withCost({ ...tokens, totalTokens: tokens.inputTokens + tokens.outputTokens }, pricing)
}

const cut = ({ finishReason }: Round) => (finishReason === undefined ? {} : { finishReason })

/** Of a text that is longer than it may be, the beginning. */
const within = (response: Response, maxOutputTokens = Infinity): Response => {
  const { calls, round, text } = response
  if (calls.length > 0 || tokensOf(utf8Bytes(text)) <= maxOutputTokens) return response
  let kept = ""
  let left = maxOutputTokens * 4
  for (const character of text) {
    left -= utf8Bytes(character)
    if (left < 0) break
    kept += character
  }
  return { ...response, text: kept, round: { ...round, finishReason: "length" } }
}

/** The answer breaks off: what came before is streamed, and paid for. */
const breaking = (response: Response, after: number, usage: ModelUsage): readonly [Response, ModelFailure] => {
  const text = [...response.text].slice(0, after).join("")
  const why = brokeOff({ text, calls: [] }, "the script says so")
  return [
    { ...response, text, calls: [] },
    new ModelFailure({ code: "model_error", text: why, transient: true, unavailable: false, usage })
  ]
}

/**
 * The slow path: waits, then fails at once, or streams and then answers or breaks off. Interrupting it ends it at once
 * (M2).
 */
const perform = Effect.fnUntraced(function* (
  response: Response,
  failure: ModelFailure | undefined,
  broken: ModelFailure | undefined,
  usage: ModelUsage,
  onText: (text: string) => void
) {
  const { text, calls, round } = response
  const { waitMs, chunks } = round
  const start = yield* Clock.currentTimeMillis
  if (waitMs > 0) yield* Effect.sleep(waitMs)
  if (failure !== undefined) return yield* failure
  let firstTextMs: number | undefined
  const parts = text === "" ? [] : chunks === undefined ? [text] : pieces(text, chunks.count)
  for (const [index, part] of parts.entries()) {
    if (index > 0 && chunks !== undefined && chunks.pauseMs > 0) yield* Effect.sleep(chunks.pauseMs)
    firstTextMs ??= (yield* Clock.currentTimeMillis) - start
    onText(part)
  }
  if (broken !== undefined) return yield* broken
  const durationMs = (yield* Clock.currentTimeMillis) - start
  const reply: ModelReply = {
    text,
    calls,
    usage,
    ...cut(round),
    durationMs,
    ...(firstTextMs === undefined ? {} : { firstTextMs })
  }
  return reply
})

const sample = (
  model: Scripted,
  { prompt, onText, settings }: SampleRequest
): Effect.Effect<ModelReply, ModelFailure> => {
  const inputTokens = promptTokens(prompt)
  if (inputTokens > model.contextWindow) {
    return Effect.fail(
      failureOf(model.id, {
        code: "context_overflow",
        text: `the prompt has ${inputTokens} tokens, the context window of ${model.id} is ${model.contextWindow}`
      })
    )
  }
  const formats = refusedFormats(prompt, accepted)
  if (formats.length > 0)
    return Effect.fail(imageFormatFailure(model.id, formats, `${model.id} accepts png and jpeg images only`))

  const whole: Response =
    prompt.purpose === "summary"
      ? { text: `Summary of ${eventsIn(prompt.messages)} events.`, calls: [], round: emptyRound }
      : within(respond(prompt), settings?.maxOutputTokens)
  const { round } = whole
  const failing = round.failures.find((failure) => failure.model === undefined || failure.model === model.id)
  const usage = usageOf(inputTokens, whole, model.pricing)
  // A failure has used what the script says, and nothing where it does not.
  const failure = failing && withUsage(failureOf(model.id, failing), round.usage && usage)
  const [response, broken] =
    round.breakAfter === undefined ? [whole, undefined] : breaking(whole, round.breakAfter, usage)
  if (round.waitMs > 0 || round.chunks !== undefined) return perform(response, failure, broken, usage, onText)
  if (failure !== undefined) return Effect.fail(failure)
  const { calls, text } = response
  if (text !== "") onText(text)
  if (broken !== undefined) return Effect.fail(broken)
  return Effect.succeed({
    text,
    calls,
    usage,
    ...cut(round),
    durationMs: 0,
    ...(text === "" ? {} : { firstTextMs: 0 })
  })
}

export const scriptedModels = (createdAt: (index: number) => string): ReadonlyArray<Backend> =>
  models.map((model, index) => ({
    entry: entryOf(model, createdAt(index)),
    sample: (request) => sample(model, request)
  }))
