/** OpenAI's Responses endpoint. Nothing is stored, so reasoning must come back encrypted. */
import type { Said } from "./history.ts"
import { field, listAt, textAt } from "./json.ts"
import { inputText, type Issued, type Protocol, sse } from "./server.ts"

const bearer: Protocol["authorized"] = (request, key) => request.headers.authorization === `Bearer ${key}`

/** Items stand alone; those of one response follow each other. */
const history = (body: unknown): ReadonlyArray<Said> => {
  const said: Array<{
    role: "user" | "assistant"
    calls: Array<string>
    results: Array<string>
    reasoning: Array<string>
    kind: string
  }> = []
  for (const item of listAt(body, "input")) {
    const type = textAt(item, "type") ?? "message"
    const role = textAt(item, "role")
    if (role === "system" || role === "developer") continue
    const kind = type === "function_call_output" ? "results" : role === "user" ? "user" : "assistant"
    let last = said.at(-1)
    if (last === undefined || last.kind !== kind) {
      last = { role: kind === "assistant" ? "assistant" : "user", calls: [], results: [], reasoning: [], kind }
      said.push(last)
    }
    if (type === "function_call") last.calls.push(textAt(item, "call_id") ?? "")
    if (type === "function_call_output") last.results.push(textAt(item, "call_id") ?? "")
    if (type === "reasoning") last.reasoning.push(textAt(item, "encrypted_content") ?? "")
  }
  return said
}

const item = (
  index: number,
  value: Readonly<Record<string, unknown>>,
  done: Readonly<Record<string, unknown>>,
  between: ReadonlyArray<unknown>
) => [
  sse({ type: "response.output_item.added", output_index: index, item: value }),
  ...between.map((event) => sse(event)),
  sse({ type: "response.output_item.done", output_index: index, item: { ...value, ...done } })
]

const content = ({ id, callIds, token, reasoning, text, calls }: Issued): ReadonlyArray<string> => {
  const response = {
    id: `resp_${id}`,
    created_at: 1_700_000_000,
    model: "test",
    object: "response",
    status: "in_progress",
    output: []
  }
  const frames = [sse({ type: "response.created", response }), sse({ type: "response.in_progress", response })]
  let index = 0
  if (reasoning !== undefined) {
    const itemId = `rs_${id}`
    frames.push(
      ...item(
        index++,
        { type: "reasoning", id: itemId, summary: [], encrypted_content: token },
        { summary: [{ type: "summary_text", text: reasoning }] },
        [
          { type: "response.reasoning_summary_part.added", item_id: itemId, summary_index: 0 },
          { type: "response.reasoning_summary_text.delta", item_id: itemId, summary_index: 0, delta: reasoning },
          { type: "response.reasoning_summary_part.done", item_id: itemId, summary_index: 0 }
        ]
      )
    )
  }
  if (text !== undefined) {
    const itemId = `msg_${id}`
    const whole = { content: [{ type: "output_text", text: text.join(""), annotations: [] }], status: "completed" }
    frames.push(
      ...item(
        index,
        { type: "message", id: itemId, role: "assistant", content: [] },
        whole,
        text.map((delta) => ({
          type: "response.output_text.delta",
          item_id: itemId,
          output_index: index,
          content_index: 0,
          delta
        }))
      )
    )
    index++
  }
  for (const [at, call] of (calls ?? []).entries()) {
    const itemId = `fc_${id}_${at}`
    const input = inputText(call)
    frames.push(
      ...item(
        index,
        { type: "function_call", id: itemId, call_id: callIds[at], name: call.name, arguments: "" },
        { arguments: input, status: "completed" },
        [{ type: "response.function_call_arguments.delta", item_id: itemId, output_index: index, delta: input }]
      )
    )
    index++
  }
  return frames
}

const completion = ({ id, usage, end }: Issued): ReadonlyArray<string> => {
  const response = {
    id: `resp_${id}`,
    created_at: 1_700_000_000,
    model: "test",
    usage: {
      input_tokens: usage?.input ?? 1,
      input_tokens_details: { cached_tokens: usage?.cached ?? 0 },
      output_tokens: usage?.output ?? 1,
      output_tokens_details: { reasoning_tokens: usage?.reasoning ?? 0 }
    }
  }
  return end === undefined
    ? [sse({ type: "response.completed", response })]
    : [
        sse({
          type: "response.incomplete",
          response: {
            ...response,
            incomplete_details: { reason: end === "length" ? "max_output_tokens" : "content_filter" }
          }
        })
      ]
}

export const openaiResponses: Protocol = {
  path: (url) => url === "/v1/responses",
  authorized: bearer,
  history,
  tools: (body) =>
    listAt(body, "tools").map((tool) => ({ name: textAt(tool, "name"), schema: field(tool, "parameters") })),
  refuses: (body) => (field(body, "store") === false ? undefined : "this account stores nothing"),
  errorBody: (status, message, code) => ({
    error: {
      message,
      type: status === 429 ? "rate_limit_exceeded" : "invalid_request_error",
      param: null,
      code: code ?? null
    }
  }),
  content,
  completion,
  errorFrame: sse({
    type: "error",
    sequence_number: 9,
    error: { type: "server_error", code: "server_is_overloaded", message: "the server is overloaded", param: null }
  })
}
