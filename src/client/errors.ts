/** How a request can fail for whoever asks. */
import type { components } from "./types.ts"

type ErrorResponse = components["schemas"]["ErrorResponse"]

/** The server has refused the request, and says why: `error` is the word for programs, `message` the one for people. */
export class TroupeError extends Error {
  override readonly name = "TroupeError"
  readonly status: number
  readonly error: string
  readonly code: string | undefined
  /** Names the request in the server's log. */
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, body: ErrorResponse, requestId: string | undefined) {
    super(body.message)
    this.status = status
    this.error = body.error
    this.code = body.code
    this.requestId = requestId
    this.retryAfterSeconds = body.retryAfterSeconds
  }
}

/** No answer came, or none of Troupe's. */
export class TroupeUnreachable extends Error {
  override readonly name = "TroupeUnreachable"
}

const isErrorResponse = (body: unknown): body is ErrorResponse =>
  typeof body === "object" &&
  body !== null &&
  "error" in body &&
  typeof body.error === "string" &&
  "message" in body &&
  typeof body.message === "string"

/** What an answer that is no success means. */
export const failureOf = async (response: Response): Promise<TroupeError | TroupeUnreachable> => {
  const body: unknown = await response.json().catch(() => undefined)
  return isErrorResponse(body)
    ? new TroupeError(response.status, body, response.headers.get("x-request-id") ?? undefined)
    : new TroupeUnreachable(`The server answered ${response.status}, and not as Troupe does.`)
}
