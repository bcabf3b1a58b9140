/**
 * One request and its answer, within caps: the one place that speaks HTTP to servers of others.
 *
 * X1. No redirect is followed, no proxy of the environment is used, no cookie is kept.
 * X2. Bytes are counted as they come and again decoded, so neither a bomb nor an endless stream of nothing is read on.
 * X3. Headers have a time from the start of the request, the body one from the headers on, however slowly it drips.
 * X4. Whatever ends an exchange early (a cap, an abort, a body that is not read on) closes its connection.
 */
import type { Readable } from "node:stream"
import { pipeline, Transform } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib"
import type { Dispatcher } from "undici"
import { errors } from "undici"
import { asOutboundFailure, outboundFailure, type OutboundFailure } from "./OutboundFailure.ts"

export interface ExchangeRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}

export interface Caps {
  readonly headerTimeoutMs: number
  readonly bodyTimeoutMs: number
  /** Of the body, both as sent and decoded. */
  readonly maxBytes: number
}

interface Answered {
  readonly status: number
  /** Names in lower case. `set-cookie` is left out (X1), and what described the coding that is undone. */
  readonly headers: Readonly<Record<string, string>>
  /** Decoded. Fails with OutboundFailure, or with the reason of the caller's abort. */
  readonly body: Readable
}

const accepted = "gzip, br, deflate"
const decoders = { gzip: createGunzip, "x-gzip": createGunzip, br: createBrotliDecompress, deflate: createInflate }
type Coding = keyof typeof decoders
const isCoding = (text: string): text is Coding => Object.hasOwn(decoders, text)

const tooLarge = (most: number) => outboundFailure("too_large", `the body is larger than ${most} bytes`)

/** Passes on at most so many bytes of what was sent (X2). */
const counted = (most: number) => {
  let bytes = 0
  return new Transform({
    transform(chunk: Uint8Array, _, done) {
      bytes += chunk.byteLength
      if (bytes > most) done(tooLarge(most))
      else done(null, chunk)
    }
  })
}

const undiciCodeOf = (error: unknown) =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : ""

/** What a library's or the system's error means to callers. */
const failureOf = (error: unknown): OutboundFailure => {
  const known = asOutboundFailure(error)
  if (known !== undefined) return known
  const code = undiciCodeOf(error)
  if (error instanceof errors.HeadersOverflowError) return outboundFailure("too_large", "the headers are too large")
  if (error instanceof errors.InvalidArgumentError) return outboundFailure("protocol", "the request is not valid HTTP")
  if (error instanceof errors.HTTPParserError || error instanceof errors.ResponseContentLengthMismatchError)
    return outboundFailure("protocol", "the answer is not valid HTTP")
  if (/^(Z_|ERR_BROTLI|ERR__ERROR)/.test(code)) return outboundFailure("protocol", "the body cannot be decoded")
  // Else the connection broke, before the headers or within the body.
  return outboundFailure("protocol", "the connection was lost", true)
}

/** One value a name, as `Headers` joins them. */
const plainHeaders = (
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>,
  decoded: boolean
) => {
  const plain: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (
      value === undefined ||
      name === "set-cookie" ||
      (decoded && (name === "content-encoding" || name === "content-length"))
    )
      continue
    plain[name] = typeof value === "string" ? value : value.join(", ")
  }
  return plain
}

/** Resolves once the headers are there; rejects with OutboundFailure, or with the reason of the caller's abort. */
export const exchange = async (
  dispatcher: Dispatcher,
  request: ExchangeRequest,
  caps: Caps,
  signal?: AbortSignal
): Promise<Answered> => {
  const { bodyTimeoutMs, headerTimeoutMs, maxBytes } = caps
  signal?.throwIfAborted()
  const ended = new AbortController()
  const onAbort = () => ended.abort(signal?.reason)
  signal?.addEventListener("abort", onAbort, { once: true })
  const expires = (what: string, ms: number) =>
    setTimeout(() => ended.abort(outboundFailure("timeout", `${what} within ${ms} ms`)), ms)
  let timer = expires("no answer", headerTimeoutMs)
  const over = () => {
    clearTimeout(timer)
    signal?.removeEventListener("abort", onAbort)
  }
  /** The caller's own reason is the caller's; everything else is ours. */
  const reasonOf = (error: unknown) =>
    signal?.aborted === true ? signal.reason : failureOf(ended.signal.aborted ? ended.signal.reason : error)

  try {
    const answer = await dispatcher.request({
      origin: request.url.origin,
      path: request.url.pathname + request.url.search,
      method: request.method,
      headers: { "user-agent": "troupe", "accept-encoding": accepted, ...request.headers },
      body: request.body ?? null,
      signal: ended.signal
    })
    const refuse = (failure: OutboundFailure) => {
      answer.body.on("error", () => {}).destroy()
      return failure
    }
    const { headers, statusCode: status } = answer
    if (status >= 300 && status < 400)
      throw refuse(outboundFailure("redirect", `the server answered with a redirect (${status})`))
    if (status < 200 || status > 599)
      throw refuse(outboundFailure("protocol", `the server answered with a status that is none (${status})`))
    const coding = String(headers["content-encoding"] ?? "identity")
      .trim()
      .toLowerCase()
    // Where the parser takes nothing for a body.
    const empty = status === 204 || request.method === "HEAD" || headers["content-length"] === "0"
    const bodiless = empty || status === 205
    const decoding = !bodiless && coding !== "identity" && coding !== ""
    // One coding, and one that was asked for: a stack of them is nobody's need.
    if (decoding && !isCoding(coding))
      throw refuse(outboundFailure("protocol", "the body has a content coding that was not asked for"))
    if (!bodiless && Number(headers["content-length"] ?? 0) > maxBytes) throw refuse(tooLarge(maxBytes))

    clearTimeout(timer)
    timer = expires("the body did not end", bodyTimeoutMs)
    const plain = plainHeaders(headers, decoding)
    // Nothing comes: it is spared what a body costs, which is as much again as all the rest.
    if (empty) {
      answer.body.on("error", () => {}).once("close", over)
      return { status, headers: plain, body: answer.body }
    }
    const stages = decoding && isCoding(coding) ? [counted(maxBytes), decoders[coding]()] : []
    const body = new ReportedBody(reasonOf, maxBytes)
    pipeline([answer.body, ...stages, body], over)
    return { status, headers: plain, body }
  } catch (error) {
    over()
    throw reasonOf(error)
  }
}

/**
 * The last stage: at most so many bytes (X2), and it fails with what the caller is to know, not with what a library
 * said.
 */
class ReportedBody extends Transform {
  readonly #reasonOf: (error: unknown) => unknown
  constructor(reasonOf: (error: unknown) => unknown, most: number) {
    let bytes = 0
    super({
      transform: (chunk: Uint8Array, _, done) => {
        bytes += chunk.byteLength
        if (bytes > most) done(tooLarge(most))
        else done(null, chunk)
      }
    })
    this.#reasonOf = reasonOf
  }
  override _destroy(error: Error | null, done: (error: Error | null) => void) {
    const reason = error === null ? null : this.#reasonOf(error)
    done(reason === null || reason instanceof Error ? reason : new DOMException("aborted", "AbortError"))
  }
}
