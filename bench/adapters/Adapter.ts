/** What the load generator asks of a system under test. One operation is one durable turn in a new thread. */
import { Client } from "undici"

export interface Target {
  readonly origin: string
  /** Further nodes of the same system. */
  readonly others?: ReadonlyArray<string>
  /** Bearer token, where the system asks for one. */
  readonly key?: string
  /** One agent per client, where the system has agents. */
  readonly agents: ReadonlyArray<string>
}

/** One closed-loop client, with connections of its own. */
export interface Session {
  /** Creates a thread, submits one message, resolves when the end of its turn has been observed. */
  readonly turn: (text: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** Opens the `index`-th client. */
export type Adapter = (target: Target, index: number) => Promise<Session>

/** Requests that this process has sent, all connections together. */
export const sent = { requests: 0 }

/** One keep-alive connection; one request at a time. */
export const connect = ({ origin, key }: Target) => {
  const client = new Client(origin, {
    pipelining: 1,
    keepAliveTimeout: 60_000,
    bodyTimeout: 60_000,
    headersTimeout: 60_000
  })
  const authorization: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const json = { ...authorization, "content-type": "application/json" }
  const call = async (method: "GET" | "POST", path: string, body?: unknown): Promise<unknown> => {
    sent.requests++
    const response = await client.request(
      body === undefined
        ? { method, path, headers: authorization }
        : { method, path, headers: json, body: JSON.stringify(body) }
    )
    const text = await response.body.text()
    if (response.statusCode >= 300) throw new Error(`${method} ${path} -> ${response.statusCode} ${text.slice(0, 300)}`)
    return JSON.parse(text)
  }
  return {
    client,
    authorization,
    get: (path: string) => call("GET", path),
    post: (path: string, body: unknown) => call("POST", path, body),
    close: () => client.destroy()
  }
}

/** Pause between two looks at the log in mode A. */
export const pollMs = 2

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A field of parsed JSON; undefined where there is no such thing. */
export const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (inner, name) =>
      typeof inner === "object" && inner !== null ? Object.getOwnPropertyDescriptor(inner, name)?.value : undefined,
    value
  )

export const events = (page: unknown): ReadonlyArray<unknown> => {
  const found = at(page, "events")
  return Array.isArray(found) ? found : []
}

export const text = (value: unknown, ...path: ReadonlyArray<string>) => {
  const found = at(value, ...path)
  if (typeof found !== "string")
    throw new Error(`no text at ${path.join(".")} of ${JSON.stringify(value).slice(0, 300)}`)
  return found
}
