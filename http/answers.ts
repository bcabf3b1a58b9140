/** Answers that handlers make themselves: text that is JSON already, what was created, nothing. */
import { HttpServerResponse } from "effect/http"

type Headers = Readonly<Record<string, string>>

/** JSON text as it is: made once, not parsed again on its way out. */
export const jsonText = (text: string, status = 200, headers?: Headers) =>
  HttpServerResponse.text(text, {
    status,
    contentType: "application/json",
    ...(headers === undefined ? {} : { headers })
  })

export const json = (value: unknown, status = 200, headers?: Headers) =>
  jsonText(JSON.stringify(value), status, headers)

/** 201 with the path of what was created. */
export const created = (value: unknown, location: string) => json(value, 201, { location })

/** 202: the request waits for approval (design, Status codes). `value` is an operation wrapper that is not resolved. */
export const parked = (value: { readonly operation: { readonly id: string } }) =>
  json(value, 202, { location: `/v1/operations/${value.operation.id}`, "retry-after": "2" })

export const noContent = HttpServerResponse.empty({ status: 204 })
