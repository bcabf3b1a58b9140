/** The chat completions endpoint, as OpenAI, vLLM, Ollama and most gateways speak it. */
import type { Said } from "./history.ts"
import { field, listAt, textAt } from "./json.ts"
import { inputText, type Issued, type Protocol, sse } from "./server.ts"

const history = (body: unknown): ReadonlyArray<Said> => {
  const said: Array<Said & { results: Array<string> }> = []
  let results: Array<string> | undefined
  for (const message of listAt(body, "messages")) {
    const role = textAt(message, "role")
    if (role === "system" || role === "developer") continue
    if (role === "tool") {
      if (results === undefined) {
        results = []
        said.push({ role: "user", calls: [], results, reasoning: [] })
      }
      results.push(textAt(message, "tool_call_id") ?? "")
      continue
    }
    results = undefined
    const reasoning = textAt(message, "reasoning_content")
    said.push({
      role: role === "assistant" ? "assistant" : "user",
      calls: listAt(message, "tool_calls").map((call) => textAt(call, "id") ?? ""),
      results: [],
      reasoning: reasoning === undefined ? [] : [reasoning]
    })
  }
  return said
}

const chunk = (id: string, delta: unknown, finishReason: string | null = null, usage?: unknown) =>
  sse({
    id: `chatcmpl-${id}`,
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "test",
    choices: [{ index: 0, delta, finish_reason: finishReason }],
    ...(usage === undefined ? {} : { usage })
  })

const content = ({ id, callIds, token, reasoning, text, calls, usage }: Issued): ReadonlyArray<string> => [
  // Some gateways say with each chunk what has been used.
  chunk(
    id,
    { role: "assistant", content: "" },
    null,
    usage && { prompt_tokens: usage.input, completion_tokens: 0, total_tokens: usage.input }
  ),
  // Its reasoning carries no signature: the words themselves must come back.
  ...(reasoning === undefined ? [] : [chunk(id, { reasoning_content: token })]),
  ...(text ?? []).map((delta) => chunk(id, { content: delta })),
  ...(calls ?? []).flatMap((call, index) => [
    chunk(id, {
      tool_calls: [{ index, id: callIds[index], type: "function", function: { name: call.name, arguments: "" } }]
    }),
    chunk(id, { tool_calls: [{ index, function: { arguments: inputText(call) } }] })
  ])
]

const completion = ({ id, calls, usage, end }: Issued): ReadonlyArray<string> => [
  chunk(
    id,
    {},
    end === "length" ? "length" : end === "refused" ? "content_filter" : calls === undefined ? "stop" : "tool_calls"
  ),
  sse({
    id: `chatcmpl-${id}`,
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "test",
    choices: [],
    usage: {
      prompt_tokens: usage?.input ?? 1,
      completion_tokens: usage?.output ?? 1,
      total_tokens: (usage?.input ?? 1) + (usage?.output ?? 1),
      prompt_tokens_details: { cached_tokens: usage?.cached ?? 0 },
      completion_tokens_details: { reasoning_tokens: usage?.reasoning ?? 0 }
    }
  }),
  sse("[DONE]")
]

export const chatCompletions: Protocol = {
  path: (url) => url === "/v1/chat/completions",
  authorized: (request, key) => request.headers.authorization === `Bearer ${key}`,
  history,
  tools: (body) =>
    listAt(body, "tools")
      .map((tool) => field(tool, "function"))
      .map((tool) => ({ name: textAt(tool, "name"), schema: field(tool, "parameters") })),
  refuses: (body) =>
    field(field(body, "stream_options"), "include_usage") === true ? undefined : "usage is not asked for",
  errorBody: (_status, message, code) => ({
    error: { message, type: "invalid_request_error", param: null, code: code ?? null }
  }),
  content,
  completion,
  errorFrame: sse({ error: { message: "the server is overloaded", type: "server_error", code: "overloaded" } })
}
