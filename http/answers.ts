/** Answers that handlers make themselves: text that is JSON already, values, nothing. */
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

export const noContent = HttpServerResponse.empty({ status: 204 })

/** An answer with its body as text, such as one that can be kept. */
export const responseOf = ({
  body,
  headers,
  status
}: {
  readonly status: number
  readonly body: string
  readonly headers?: Headers
}) => (status === 204 ? noContent : jsonText(body, status, headers))
