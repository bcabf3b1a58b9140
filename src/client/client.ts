/**
 * Troupe as a program calls it: typed requests of the whole interface. Needs nothing but `fetch`: it runs in browsers,
 * and in Node.
 *
 * An answer that is no success is thrown as a TroupeError, no answer as a TroupeUnreachable.
 */
import createClient, { type Client } from "openapi-fetch"
import { failureOf, TroupeUnreachable } from "./errors.ts"
import { retrying } from "./retrying.ts"
import type { paths } from "./types.ts"

export interface TroupeOptions {
  /** Where the server is, `https://troupe.example.com` say. */
  readonly url: string
  readonly key: string
  readonly fetch?: (request: Request) => Promise<Response>
  /** For a request with all its tries; a long poll may take its `waitSeconds` more. Default: 30,000. */
  readonly timeoutMs?: number
  /** Tries after the first one. Default: 4. */
  readonly retries?: number
}

export interface RawRequest {
  readonly body?: unknown
  /** ETag that the resource must have still. */
  readonly ifMatch?: string
}

export interface Troupe {
  /** `api.GET("/v1/threads/{threadId}", {params: {path: {threadId}}})` and so on, for `answerOf`. */
  readonly api: Client<paths>
  /** A request whose body nobody has typed, such as text that a person wrote: the server judges it. */
  readonly send: (method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, sent?: RawRequest) => Promise<unknown>
  /** A request as it is, without tries: what streams are opened with. */
  readonly open: (path: string, init: { readonly signal: AbortSignal }) => Promise<Response>
}

/** The body of a successful answer that has one. */
export const answerOf = async <Body>(answer: Promise<{ readonly data?: Body }>): Promise<Body> => {
  const { data } = await answer
  if (data === undefined) throw new TroupeUnreachable("The server's answer has no body.")
  return data
}

export const connect = ({
  fetch = (request) => globalThis.fetch(request),
  key,
  retries = 4,
  timeoutMs = 30_000,
  url
}: TroupeOptions): Troupe => {
  const headers = { authorization: `Bearer ${key}` }
  const tried = retrying({ fetch, retries, timeoutMs })
  const api = createClient<paths>({ baseUrl: url, headers, fetch: tried })
  api.use({
    onResponse: async ({ response }) => {
      if (!response.ok) throw await failureOf(response)
    }
  })
  return {
    api,
    send: async (method, path, { body, ifMatch } = {}) => {
      const response = await tried(
        new Request(new URL(path, url), {
          method,
          headers: {
            ...headers,
            ...(body === undefined ? {} : { "content-type": "application/json" }),
            ...(ifMatch === undefined ? {} : { "if-match": ifMatch })
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
      )
      if (!response.ok) throw await failureOf(response)
      return response.status === 204 ? undefined : await response.json()
    },
    open: (path, { signal }) => fetch(new Request(new URL(path, url), { headers, signal }))
  }
}
