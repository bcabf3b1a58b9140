/** The headers of answers: what they mean, and which answer has which. */
import { inside, isJson, type Json, objectsOf, referredBy } from "./json.ts"

const text = { type: "string" }
export const describedHeader = (description: string, schema: Json = text, required = true) => ({
  description,
  required,
  schema
})

/** Every header that an answer may have, beside those that HTTP itself needs: each is described once. */
export const headers = {
  "Cache-Control": describedHeader("`no-store`; of a stream `no-cache`; of an image's bytes `private`, for a year."),
  ETag: describedHeader("For `If-Match`."),
  "Idempotency-Replayed": describedHeader(
    "`true` when this is the answer of an earlier request with the same Idempotency-Key.",
    text,
    false
  ),
  RateLimit: describedHeader(
    'What is left of each limit and for how long, where the server limits rates: `"default";r=49;t=1`.',
    text,
    false
  ),
  "RateLimit-Policy": describedHeader(
    'The limits themselves: `"default";q=100;w=2` are 100 requests in two seconds.',
    text,
    false
  ),
  "Retry-After": describedHeader("Seconds; equals retryAfterSeconds.", { type: "integer" }),
  "WWW-Authenticate": describedHeader("RFC 6750 challenge."),
  "X-Accel-Buffering": describedHeader("`no`: asks proxies to pass frames on as they come."),
  "X-Content-Type-Options": describedHeader("`nosniff`."),
  "X-Request-Id": describedHeader("Id of this request.")
} as const
type Header = keyof typeof headers

const sent = (...names: ReadonlyArray<Header>): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const operationsOf = (methods: unknown) => Object.values(inside(methods)).filter(isJson)
const answeredWith = (response: unknown) => referredBy(inside(response, "content", "application/json", "schema"))
const takesIfMatch = ({ parameters }: Json) =>
  objectsOf(parameters).some(({ in: place, name }) => place === "header" && String(name).toLowerCase() === "if-match")

/**
 * Resources that can be changed under If-Match show their ETag wherever they are answered with, and where they are
 * made. An answer that is kept for its Idempotency-Key is sent again without it.
 */
export const taggedIn = (paths: Json) => {
  const changed = Object.entries(paths).filter(([, methods]) => operationsOf(methods).some(takesIfMatch))
  const made = new Set(changed.map(([path]) => path.replace(/\/\{\w+\}$/, "")))
  const shown = new Set(
    changed.flatMap(([, methods]) =>
      // What a delete answers with is not the resource.
      operationsOf({ ...inside(methods), delete: undefined }).map((operation) =>
        answeredWith(inside(operation, "responses", "200"))
      )
    )
  )
  return (path: string, status: string, response: Json) => {
    const shape = answeredWith(response)
    const isShown = shape !== undefined && shown.has(shape)
    return status === "201" ? made.has(path) || isShown : status === "200" && isShown
  }
}
export type IsTagged = ReturnType<typeof taggedIn>

interface Answered {
  readonly method: string
  readonly path: string
  readonly status: string
  readonly response: Json
}

/** Whether the body of a response is an image's bytes. */
export const isImage = (response: Json) =>
  Object.keys(inside(response, "content")).some((type) => type.startsWith("image/"))

export const answerHeaders = ({ method, path, response, status }: Answered, isTagged: IsTagged): Json => ({
  ...(isImage(response) && {
    ETag: describedHeader("For `If-None-Match`: the image's id, which never changes."),
    "Content-Disposition": describedHeader("`attachment`: a browser saves the image and does not show it.")
  }),
  ...sent("Cache-Control", "RateLimit", "RateLimit-Policy", "X-Content-Type-Options", "X-Request-Id"),
  ...(status === "201" && { Location: describedHeader("Path of the new resource.") }),
  ...(method === "post" && Number(status) < 300 && sent("Idempotency-Replayed")),
  ...(isTagged(path, status, response) &&
    (method === "post" ? { ETag: { ...headers.ETag, required: false } } : sent("ETag"))),
  ...(status === "401" && sent("WWW-Authenticate")),
  ...((status === "429" || status === "503") && sent("Retry-After")),
  ...(Number(status) < 300 && "text/event-stream" in inside(response, "content") && sent("X-Accel-Buffering"))
})
