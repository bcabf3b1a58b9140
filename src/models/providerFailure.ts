/** What went wrong at a provider, as one of the contract's failure codes (M3): from status, error code and message. */
import {
  APICallError,
  InvalidResponseDataError,
  isJSONObject,
  JSONParseError,
  LoadAPIKeyError,
  NoSuchModelError
} from "@ai-sdk/provider"
import type { ImageFormat } from "../domain/content.ts"
import type { FailureCode } from "../domain/failure.ts"
import { retryAfterMs } from "../domain/retryAfter.ts"
import type { ModelUsage } from "../domain/usage.ts"
import { imageFormatFailure } from "./images.ts"
import { ModelFailure } from "./Model.ts"
import { says } from "./providerWords.ts"

/** What errors of the packages, of streams and of the network have in common. */
interface Trouble {
  readonly status: number | undefined
  readonly text: string
  /** Error codes and types that the provider named, with the message, in lower case: what the patterns look at. */
  readonly words: string
  readonly headers: Readonly<Record<string, string>>
}

const wordOf = (value: unknown): Array<string> =>
  typeof value === "string" || typeof value === "number" ? [String(value)] : []

/** `code`, `type`, `status` and `message` of an error body, one level of `error` down as well. */
const wordsOf = (value: unknown): Array<string> => {
  if (typeof value === "string") return [value]
  if (!isJSONObject(value)) return []
  return [
    ...wordOf(value.code),
    ...wordOf(value.type),
    ...wordOf(value.status),
    ...wordOf(value.message),
    ...wordsOf(value.error)
  ]
}

const causesOf = (error: unknown): Array<string> => {
  const words: Array<string> = []
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    words.push(at.message)
    if ("code" in at) words.push(...wordOf(at.code))
  }
  return words
}

const numberIn = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)

const troubleOf = (error: unknown): Trouble => {
  if (APICallError.isInstance(error)) {
    return {
      status: error.statusCode,
      text: error.message,
      words: [...causesOf(error), ...wordsOf(error.data), error.responseBody ?? ""].join("\n").toLowerCase(),
      headers: error.responseHeaders ?? {}
    }
  }
  if (error instanceof Error)
    return { status: undefined, text: error.message, words: causesOf(error).join("\n").toLowerCase(), headers: {} }
  if (typeof error === "object" && error !== null) {
    const message = "message" in error ? wordOf(error.message)[0] : undefined
    const status =
      "statusCode" in error ? numberIn(error.statusCode) : "code" in error ? numberIn(error.code) : undefined
    const type = "type" in error ? wordOf(error.type) : []
    const code = "code" in error ? wordOf(error.code) : []
    const text = message ?? type[0] ?? "the provider reported an error"
    return { status, text, words: [text, ...type, ...code].join("\n").toLowerCase(), headers: {} }
  }
  return {
    status: undefined,
    text: typeof error === "string" ? error : "the provider failed",
    words: String(error).toLowerCase(),
    headers: {}
  }
}

/** `retry-after-ms`, `Retry-After` in seconds or as a date, or Google's `"retryDelay": "17s"`; at most an hour. */
const retryAfterOf = (trouble: Trouble, now: number): number | undefined => {
  const ms = trouble.headers["retry-after-ms"]
  const google = /"retrydelay":\s*"(\d+(?:\.\d+)?)s"/.exec(trouble.words)?.[1]
  const after =
    (ms !== undefined && /^\s*\d{1,15}(?:\.\d+)?\s*$/.test(ms) ? Number(ms) : undefined) ??
    retryAfterMs(trouble.headers["retry-after"], now) ??
    (google === undefined ? undefined : Number(google) * 1000)
  return after === undefined ? undefined : Math.min(Math.round(after), 3_600_000)
}

interface Verdict {
  readonly code: FailureCode
  readonly transient?: boolean
  readonly unavailable?: boolean
}

/** A stream that broke off reaches us as one that cannot be read. */
export const isUnreadable = (error: unknown): error is Error =>
  InvalidResponseDataError.isInstance(error) || JSONParseError.isInstance(error)

/** It could be read, and was not complete. */
export const endedEarly = (error: Error) =>
  InvalidResponseDataError.isInstance(error) && /without a finish reason/i.test(error.message)

const isRedirect = (status: number | undefined) => status !== undefined && status >= 300 && status < 400

const verdictOf = (error: unknown, { status, words }: Trouble): Verdict => {
  if (LoadAPIKeyError.isInstance(error) || NoSuchModelError.isInstance(error))
    return { code: "model_unavailable", unavailable: true }
  if (isUnreadable(error)) return { code: "model_error", transient: true }
  if (status === undefined) {
    if (says("overflow", words)) return { code: "context_overflow" }
    if (says("overloaded", words)) return { code: "model_overloaded", transient: true }
    if (says("rate", words)) return { code: "model_rate_limited", transient: true }
    if (APICallError.isInstance(error) && error.isRetryable) return { code: "model_unavailable", transient: true }
    return {
      code: "model_error",
      transient: says("network", words) || says("broken", words)
    }
  }
  if (isRedirect(status)) return { code: "model_unavailable", unavailable: true }
  // A success whose body then broke.
  if (status < 400) return { code: "model_error", transient: true }
  if (status === 429)
    return says("quota", words)
      ? { code: "model_rate_limited", unavailable: true }
      : { code: "model_rate_limited", transient: true }
  if (status === 413 || (status < 500 && says("overflow", words))) return { code: "context_overflow" }
  if (status === 401 || status === 402 || status === 403 || status === 404)
    return { code: "model_unavailable", unavailable: true }
  if (status === 400 || status === 422) {
    if (says("content", words)) return { code: "content_refused" }
    if (says("model", words) || says("quota", words)) return { code: "model_unavailable", unavailable: true }
  }
  if (status === 503 || status === 529 || (status >= 500 && says("busy", words)))
    return { code: "model_overloaded", transient: true }
  return { code: "model_error", transient: status >= 500 || status === 408 || status === 409 }
}

const maxText = 1000

/** Of the prompt's formats, those that the message refuses: it names either them or the ones that it takes. */
const refusedFormats = (formats: ReadonlyArray<ImageFormat>, message: string): ReadonlyArray<ImageFormat> => {
  const named = (format: ImageFormat) => message.includes(format) || (format === "jpeg" && /\bjpg\b/.test(message))
  const found = formats.filter((format) => named(format) !== says("allowed", message))
  return found.length > 0 ? found : formats
}

const publicText = ({ status, text }: Trouble): string => {
  // Providers repeat parts of the key here, and a thread's log is read by people who must not see it.
  if (status === 401) return "the provider refused the key (401)"
  // Which other host it names is nobody's business here.
  if (isRedirect(status)) return `the provider answered with a redirect (${status}), which is not followed`
  return text.trim() === "" ? "the provider failed" : text.slice(0, maxText)
}

export interface ProviderRequest {
  readonly modelId: string
  /** Formats of the images in the prompt. */
  readonly formats: ReadonlyArray<ImageFormat>
  /** Wall clock, for a Retry-After that is a date. */
  readonly now: number
}

export const providerFailure = (error: unknown, { modelId, formats, now }: ProviderRequest): ModelFailure => {
  if (error instanceof ModelFailure) return error
  const trouble = troubleOf(error)
  const text = publicText(trouble)
  const message = trouble.text.toLowerCase()
  if (
    (trouble.status === 400 || trouble.status === 415 || trouble.status === 422) &&
    formats.length > 0 &&
    says("image", message)
  ) {
    return imageFormatFailure(modelId, refusedFormats(formats, message), text)
  }
  const verdict = verdictOf(error, trouble)
  const waitMs = verdict.transient === true ? retryAfterOf(trouble, now) : undefined
  return new ModelFailure({
    code: verdict.code,
    text,
    transient: verdict.transient ?? false,
    unavailable: verdict.unavailable ?? false,
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs })
  })
}

/** Its fields: the failure itself is an Error, whose own ones do not spread. */
const fieldsOf = ({ begun, code, details, retryAfterMs, text, transient, unavailable, usage }: ModelFailure) => ({
  code,
  text,
  transient,
  unavailable,
  ...(details === undefined ? {} : { details }),
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  ...(usage === undefined ? {} : { usage }),
  ...(begun === undefined ? {} : { begun })
})

export const withText = (failure: ModelFailure, text: string) =>
  new ModelFailure({ ...fieldsOf(failure), text: text.slice(0, maxText) })

export const withBegun = (failure: ModelFailure) => new ModelFailure({ ...fieldsOf(failure), begun: true })

export const withUsage = (failure: ModelFailure, usage: ModelUsage | undefined) =>
  usage === undefined ? failure : new ModelFailure({ ...fieldsOf(failure), usage })
