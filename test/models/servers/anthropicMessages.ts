/** Anthropic's messages endpoint. */
import type { Said } from "./history.ts"
import { field, listAt, textAt } from "./json.ts"
import { inputText, type Issued, type Protocol, sse } from "./server.ts"

const blocksOf = (message: unknown) => listAt(message, "content")

const history = (body: unknown): ReadonlyArray<Said> =>
  listAt(body, "messages").map((message) => {
    const blocks = blocksOf(message)
    const take = (type: string, key: string) =>
      blocks.flatMap((block) => (textAt(block, "type") === type ? [textAt(block, key) ?? ""] : []))
    return {
      role: textAt(message, "role") === "assistant" ? "assistant" : "user",
      calls: take("tool_use", "id"),
      results: take("tool_result", "tool_use_id"),
      reasoning: take("thinking", "signature")
    }
  })

const refuses = (body: unknown): string | undefined => {
  const messages = listAt(body, "messages")
  for (const [index, message] of messages.entries()) {
    const types = blocksOf(message).map((block) => textAt(block, "type"))
    if (types.length === 0) return `messages.${index}: content must not be empty`
    if (types.lastIndexOf("tool_result") > types.indexOf("text") && types.includes("text"))
      return `messages.${index}: tool results come first`
    if (types.includes("thinking") && types[0] !== "thinking") return `messages.${index}: thinking comes first`
    if (blocksOf(message).some((block) => textAt(block, "type") === "text" && textAt(block, "text")?.trim() === ""))
      return `messages.${index}: text must be non-empty`
    if (types.includes("tool_use") && listAt(body, "tools").length === 0) return "calls in the history need tools"
  }
  return undefined
}

const event = (type: string, more: Readonly<Record<string, unknown>> = {}) => sse({ type, ...more }, type)

const content = ({ id, callIds, token, reasoning, text, calls, usage }: Issued): ReadonlyArray<string> => {
  const cached = usage?.cached ?? 0
  const frames = [
    event("message_start", {
      message: {
        id: `msg_${id}`,
        type: "message",
        role: "assistant",
        model: "test",
        content: [],
        stop_reason: null,
        usage: {
          input_tokens: (usage?.input ?? 1) - cached,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: cached,
          output_tokens: 1
        }
      }
    }),
    event("ping")
  ]
  let index = 0
  const block = (start: unknown, deltas: ReadonlyArray<unknown>) => {
    frames.push(event("content_block_start", { index, content_block: start }))
    for (const delta of deltas) frames.push(event("content_block_delta", { index, delta }))
    frames.push(event("content_block_stop", { index }))
    index++
  }
  if (reasoning !== undefined) {
    block({ type: "thinking", thinking: "", signature: "" }, [
      { type: "thinking_delta", thinking: reasoning },
      { type: "signature_delta", signature: token }
    ])
  }
  if (text !== undefined)
    block(
      { type: "text", text: "" },
      text.map((delta) => ({ type: "text_delta", text: delta }))
    )
  for (const [at, call] of (calls ?? []).entries()) {
    const input = inputText(call)
    const half = Math.ceil(input.length / 2)
    block({ type: "tool_use", id: callIds[at], name: call.name, input: {} }, [
      { type: "input_json_delta", partial_json: input.slice(0, half) },
      { type: "input_json_delta", partial_json: input.slice(half) }
    ])
  }
  return frames
}

const completion = ({ calls, usage, end }: Issued): ReadonlyArray<string> => [
  event("message_delta", {
    delta: {
      stop_reason:
        end === "length" ? "max_tokens" : end === "refused" ? "refusal" : calls === undefined ? "end_turn" : "tool_use",
      stop_sequence: null
    },
    usage: { output_tokens: usage?.output ?? 1 }
  }),
  event("message_stop")
]

const typeOf = (status: number) =>
  status === 429
    ? "rate_limit_error"
    : status === 529
      ? "overloaded_error"
      : status === 401
        ? "authentication_error"
        : status === 404
          ? "not_found_error"
          : status >= 500
            ? "api_error"
            : "invalid_request_error"

export const anthropicMessages: Protocol = {
  path: (url) => url === "/v1/messages",
  authorized: (request, key) =>
    request.headers["x-api-key"] === key && request.headers["anthropic-version"] !== undefined,
  history,
  tools: (body) =>
    listAt(body, "tools").map((tool) => ({ name: textAt(tool, "name"), schema: field(tool, "input_schema") })),
  refuses,
  errorBody: (status, message, code) => ({ type: "error", error: { type: code ?? typeOf(status), message } }),
  content,
  completion,
  errorFrame: event("error", { error: { type: "overloaded_error", message: "Overloaded" } })
}
