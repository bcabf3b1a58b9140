import { APICallError, LoadAPIKeyError } from "@ai-sdk/provider"
import { describe, expect, it } from "vitest"
import type { ImageFormat } from "../../src/domain/content.ts"
import { providerFailure } from "../../src/models/providerFailure.ts"

const now = Date.parse("2026-01-01T00:00:00Z")

const answered = (
  statusCode: number,
  message: string,
  more: { readonly code?: string; readonly headers?: Record<string, string>; readonly body?: string } = {}
) =>
  new APICallError({
    message,
    statusCode,
    url: "http://provider",
    requestBodyValues: {},
    responseHeaders: more.headers ?? {},
    responseBody: more.body ?? JSON.stringify({ error: { message, code: more.code } }),
    data: { error: { message, code: more.code } }
  })

const judged = (error: unknown, formats: ReadonlyArray<ImageFormat> = []) =>
  providerFailure(error, { modelId: "p/m", formats, now })

describe("a provider's trouble", () => {
  it.each([
    [
      400,
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
      "context_length_exceeded"
    ],
    [
      400,
      "Your input exceeds the context window of this model. Please adjust your input and try again.",
      "context_length_exceeded"
    ],
    [400, "prompt is too long: 210000 tokens > 200000 maximum", undefined],
    [400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", undefined],
    [
      400,
      "the request exceeds the available context size. try increasing the context size or enable context shift",
      undefined
    ],
    [413, "Request exceeds the maximum size", "request_too_large"]
  ])("is an overflow: %s %s", (status, message, code) => {
    expect(judged(answered(status, message, code === undefined ? {} : { code }))).toMatchObject({
      code: "context_overflow",
      transient: false,
      unavailable: false
    })
  })

  it.each([
    [400, "Invalid prompt: your prompt was flagged as potentially violating our usage policy.", "invalid_prompt"],
    [400, "The response was filtered due to the prompt triggering the content management policy.", "content_filter"]
  ])("is a refusal: %s %s", (status, message, code) => {
    expect(judged(answered(status, message, { code }))).toMatchObject({
      code: "content_refused",
      transient: false,
      unavailable: false
    })
  })

  it.each([
    [400, "API key not valid. Please pass a valid API key."],
    [400, "Your credit balance is too low to access the Anthropic API."],
    [400, "The requested model 'gpt-9' does not exist."],
    [402, "Payment required"],
    [403, "Your project does not have access to model"],
    [404, "models/x is not found"]
  ])("makes the target unavailable: %s %s", (status, message) => {
    expect(judged(answered(status, message))).toMatchObject({
      code: "model_unavailable",
      transient: false,
      unavailable: true
    })
  })

  it("is no key at all", () => {
    expect(judged(new LoadAPIKeyError({ message: "no key" }))).toMatchObject({
      code: "model_unavailable",
      unavailable: true
    })
  })

  it("does not repeat what a provider says of a key", () => {
    expect(judged(answered(401, "Incorrect API key provided: sk-secret")).text).not.toContain("secret")
  })

  it.each([
    [{ "retry-after": "2.5" }, 2500],
    [{ "retry-after": "Thu, 01 Jan 2026 00:01:30 GMT" }, 90_000],
    [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
    [{ "retry-after-ms": "120", "retry-after": "9" }, 120],
    [{ "retry-after": "999999" }, 3_600_000],
    [{ "retry-after": "soon" }, undefined],
    [{}, undefined]
  ])("says when to come back: %j", (headers, retryAfterMs) => {
    const failure = judged(answered(429, "slow down", { headers }))
    expect(failure).toMatchObject({ code: "model_rate_limited", transient: true })
    expect(failure.retryAfterMs).toBe(retryAfterMs)
  })

  it("says when to come back in Google's words", () => {
    const body = JSON.stringify({
      error: {
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "17.5s" }]
      }
    })
    expect(judged(answered(429, "Resource exhausted", { body })).retryAfterMs).toBe(17_500)
  })

  it.each<[string, ReadonlyArray<ImageFormat>, ReadonlyArray<ImageFormat>]>([
    [
      "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png'",
      ["png", "webp"],
      ["webp"]
    ],
    [
      "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
      ["png"],
      ["png"]
    ],
    ["Unsupported MIME type: image/gif", ["png", "gif"], ["gif"]]
  ])("names the image formats that were refused: %s", (message, sent, formats) => {
    expect(judged(answered(400, message), sent)).toMatchObject({
      code: "model_image_format_unsupported",
      details: { targetId: "p/m", formats },
      transient: false
    })
  })

  it.each(["messages.0.content.0.image: image exceeds 5 MB maximum", "messages: roles must alternate"])(
    "is not about image formats: %s",
    (message) => {
      expect(judged(answered(400, message), ["png"])).toMatchObject({ code: "model_error", transient: false })
    }
  )

  it.each<[string, unknown, object]>([
    ["an unknown thing", undefined, { code: "model_error", transient: false }],
    ["a word", "boom", { code: "model_error", text: "boom" }],
    ["a bug", new Error("x is not a function"), { code: "model_error", transient: false, unavailable: false }],
    ["a reset", Object.assign(new Error("read"), { code: "ECONNRESET" }), { code: "model_error", transient: true }],
    [
      "a broken body",
      new TypeError("terminated", { cause: new Error("other side closed") }),
      { code: "model_error", transient: true }
    ],
    [
      "a stream's rate limit",
      { message: "slow down", type: "rate_limit_error", data: {} },
      { code: "model_rate_limited", transient: true }
    ],
    [
      "a stream's overload",
      { message: "Overloaded", type: "overloaded_error", data: {} },
      { code: "model_overloaded", transient: true }
    ],
    ["a stream's server error", { message: "oops", type: "api_error" }, { code: "model_error", transient: true }]
  ])("has a code for %s", (_, error, expected) => {
    expect(judged(error)).toMatchObject(expected)
  })
})
