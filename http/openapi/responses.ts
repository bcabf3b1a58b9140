/** The answers of an operation: what each status means here, its headers, and the words of refusals. */
import type { ErrorWord } from "../errors.ts"
import { streamed } from "./examples.ts"
import type { Facts } from "./facts.ts"
import { answerHeaders, describedHeader, isImage, type IsTagged } from "./headers.ts"
import { inside, isJson, type Json, referenceTo } from "./json.ts"

const parked: Json = {
  description: "Parked for approval: poll the operation for its result.",
  headers: {
    Location: describedHeader("Path of the operation."),
    "Retry-After": describedHeader("Seconds until a poll makes sense.", { type: "integer" })
  },
  content: { "application/json": { schema: { $ref: referenceTo("OperationHandle") } } }
}

/** Words that every endpoint may refuse with in theory, and the requests that they can happen to. */
const only: { readonly [Word in ErrorWord]?: (method: string, path: string) => boolean } = {
  idempotency_in_progress: (method) => method === "post",
  idempotency_key_reused: (method) => method === "post",
  // A DELETE takes no body, but one that comes is read, to say so.
  payload_too_large: (method) => method !== "get",
  unsupported_media_type: (method) => method !== "get",
  // An entry of memory is named by its key.
  not_found: (_, path) => path.includes("{") || path.endsWith("/entry")
}

export const streamOf = (response: Json): Json | undefined => {
  const stream = inside(response, "content")["text/event-stream"]
  return isJson(stream) ? stream : undefined
}

/** What an answer is, by method and status: the library would say the name of its schema. */
const succeeded = (method: string, status: string, response: Json) => {
  if (status === "202") return response.description
  if (streamOf(response) !== undefined) return "The stream, until the client leaves or a frame `bye` ends it."
  return status === "201"
    ? "Created, as it is now."
    : status === "204"
      ? "Done; there is nothing to say."
      : method === "get"
        ? "The resource, as it is now."
        : "Done; this is how it stands now."
}

/** The one shape of errors, with the words that this status stands for here. */
const refusalOf = (words: ReadonlyArray<ErrorWord>): Json => ({
  allOf: [
    { $ref: referenceTo("ErrorResponse") },
    {
      type: "object",
      properties: {
        error: {
          type: "string",
          enum: words,
          description: "Which refusal it is: one of the words that this status stands for here."
        }
      },
      required: ["error"]
    }
  ]
})

export const responsesOf = (
  method: string,
  path: string,
  generated: Json,
  { access, refusals }: Facts,
  isTagged: IsTagged
): Json => {
  const kept: Record<string, Json> = {}
  const all = { ...generated, ...(access?.parks === true && { "202": parked }) }
  for (const [status, response] of Object.entries(all)) {
    if (!isJson(response)) continue
    const headers = {
      ...inside(response, "headers"),
      ...answerHeaders({ method, path, status, response }, isTagged)
    }
    if (Number(status) < 400) {
      const stream = streamOf(response)
      kept[status] = {
        ...response,
        description: succeeded(method, status, response),
        headers,
        ...(stream !== undefined && { content: { "text/event-stream": { ...stream, examples: streamed(path) } } })
      }
      if (isImage(response))
        kept["304"] = {
          description: "`If-None-Match` names the ETag of this answer: the client has it already.",
          headers
        }
      continue
    }
    const words = (refusals.get(status) ?? []).filter((word) => only[word]?.(method, path) ?? true)
    if (words.length === 0) continue
    // Every endpoint lists its own words and the common ones: one shape all the same.
    kept[status] = {
      description: words.map((word) => `\`${word}\``).join(", "),
      headers,
      content: { "application/json": { schema: refusalOf(words) } }
    }
  }
  return kept
}
