/** How the server answers a request that it refuses. */
import { HttpServerResponse } from "effect/http"
import { type Refused, toErrorResponse } from "./errors.ts"

/** The answer to a refused request, with the headers that its status asks for (E3 of `errors.ts`). */
export const toResponse = (refused: Refused, headers?: Readonly<Record<string, string>>) => {
  const status = refused.status
  return HttpServerResponse.text(JSON.stringify(toErrorResponse(refused)), {
    status,
    contentType: "application/json",
    headers: {
      ...(refused.retryAfterSeconds === undefined ? {} : { "retry-after": String(refused.retryAfterSeconds) }),
      ...(status === 401
        ? { "www-authenticate": refused.code === "missing_credential" ? "Bearer" : `Bearer error="invalid_token"` }
        : {}),
      ...headers
    }
  })
}
