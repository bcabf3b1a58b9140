/** Google's streamGenerateContent endpoint. */
import type { Said } from "./history.ts"
import { field, listAt, textAt } from "./json.ts"
import { type Issued, type Protocol, sse } from "./server.ts"

const history = (body: unknown): ReadonlyArray<Said> =>
  listAt(body, "contents").map((message) => {
    const parts = listAt(message, "parts")
    const ids = (key: string) =>
      parts.flatMap((part) => {
        const found = field(part, key)
        return found === undefined ? [] : [textAt(found, "id") ?? textAt(found, "name") ?? ""]
      })
    return {
      role: textAt(message, "role") === "model" ? "assistant" : "user",
      calls: ids("functionCall"),
      results: ids("functionResponse"),
      reasoning: parts.flatMap((part) => textAt(part, "thoughtSignature") ?? [])
    }
  })

const refuses = (body: unknown): string | undefined => {
  for (const [index, message] of listAt(body, "contents").entries()) {
    if (listAt(message, "parts").length === 0) return `contents[${index}]: parts must not be empty`
  }
  return undefined
}

const chunk = (id: string, parts: ReadonlyArray<unknown>, usageMetadata?: unknown) =>
  sse({
    responseId: id,
    candidates: [{ index: 0, content: { role: "model", parts } }],
    ...(usageMetadata === undefined ? {} : { usageMetadata })
  })

const content = ({ id, callIds, token, reasoning, text, calls, usage }: Issued): ReadonlyArray<string> => [
  ...(reasoning === undefined ? [] : [chunk(id, [{ text: reasoning, thought: true }])]),
  ...(text ?? []).map((delta) =>
    chunk(id, [{ text: delta }], usage && { promptTokenCount: usage.input, totalTokenCount: usage.input })
  ),
  // The signature stands on the first call of the response only.
  ...(calls === undefined
    ? []
    : [
        chunk(
          id,
          calls.map((call, index) => ({
            functionCall: { id: callIds[index], name: call.name, args: "raw" in call ? {} : call.input },
            ...(index === 0 && token !== undefined ? { thoughtSignature: token } : {})
          }))
        )
      ])
]

const completion = ({ id, usage, end }: Issued): ReadonlyArray<string> => [
  sse({
    responseId: id,
    candidates: [
      {
        index: 0,
        content: { role: "model", parts: [{ text: "" }] },
        finishReason: end === "length" ? "MAX_TOKENS" : end === "refused" ? "SAFETY" : "STOP"
      }
    ],
    usageMetadata: {
      promptTokenCount: usage?.input ?? 1,
      cachedContentTokenCount: usage?.cached ?? 0,
      candidatesTokenCount: (usage?.output ?? 1) - (usage?.reasoning ?? 0),
      thoughtsTokenCount: usage?.reasoning ?? 0,
      totalTokenCount: (usage?.input ?? 1) + (usage?.output ?? 1)
    }
  })
]

const statusOf = (status: number) =>
  status === 429
    ? "RESOURCE_EXHAUSTED"
    : status === 503
      ? "UNAVAILABLE"
      : status === 404
        ? "NOT_FOUND"
        : status === 401
          ? "UNAUTHENTICATED"
          : status >= 500
            ? "INTERNAL"
            : "INVALID_ARGUMENT"

export const googleGenerate: Protocol = {
  path: (url) => /^\/v1beta\/models\/[^/]+:streamGenerateContent\?alt=sse$/.test(url),
  authorized: (request, key) => request.headers["x-goog-api-key"] === key,
  history,
  tools: (body) =>
    listAt(body, "tools")
      .flatMap((tool) => listAt(tool, "functionDeclarations"))
      .map((tool) => ({ name: textAt(tool, "name"), schema: field(tool, "parametersJsonSchema") })),
  refuses,
  errorBody: (status, message, code) => ({ error: { code: status, message, status: code ?? statusOf(status) } }),
  content,
  completion,
  errorFrame: sse({
    error: { code: 503, message: "The model is overloaded. Please try again later.", status: "UNAVAILABLE" }
  })
}
