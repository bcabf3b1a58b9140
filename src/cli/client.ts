/** The HTTP interface as the commands use it: TROUPE_URL and TROUPE_KEY, else the development server's own. */
import { type Config, Data, Effect, Redacted } from "effect"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { BadConfiguration, Settings } from "../config.ts"
import { isJsonObject } from "../domain/jsonValue.ts"
import { isLoopback } from "../domain/loopback.ts"
import { failure } from "./failure.ts"

export interface Connected {
  readonly base: string
  readonly key: string
}

const configured = <A>(config: Config.Config<A>) =>
  Effect.mapError(config, (error) => failure(BadConfiguration.of([error]).message, error))

/**
 * Without TROUPE_KEY, the key of the development server: commands beside `npm start` need no setup. That key opens
 * what is on this machine, and is sent nowhere else.
 */
export const connected: Effect.Effect<Connected, ReturnType<typeof failure>> = Effect.gen(function* () {
  const read = Settings.forCommands
  const base = (yield* configured(read.url)) ?? `http://127.0.0.1:${yield* configured(read.port)}`
  const given = yield* configured(read.key)
  if (given !== undefined) return { base, key: Redacted.value(given) }
  const { host, hostname } = new URL(base)
  if (!isLoopback(hostname))
    return yield* failure(
      `Set TROUPE_KEY to an API key of ${host}: the development server's key is sent to this machine only.`
    )
  const ofDev = yield* configured(read.devKey)
  if (ofDev !== undefined) return { base, key: Redacted.value(ofDev) }
  const path = join(yield* configured(read.dataFolder), "dev-key")
  const kept = yield* Effect.promise(() => readFile(path, "utf8").catch(() => ""))
  if (kept.trim() === "")
    return yield* failure(
      "Set TROUPE_KEY to an API key. `troupe keys create` makes one; npm start keeps its own in the data folder."
    )
  return { base, key: kept.trim() }
})

/** The server answered, and not with what was asked for. */
class NotServed extends Data.TaggedError("NotServed")<{ readonly status: number }> {}

const refusal = (status: number, body: unknown) =>
  failure(
    isJsonObject(body) && typeof body.message === "string"
      ? `${status} ${String(body.error)}: ${body.message}`
      : `The server answered ${status}.`,
    new NotServed({ status })
  )

/** Whether the same request would be refused again: an outage passes, and so does a connection that breaks. */
export const isRefusal = ({ cause }: ReturnType<typeof failure>) =>
  cause instanceof NotServed && cause.status >= 400 && cause.status < 500

const open = ({ base, key }: Connected, path: string, init: RequestInit = {}) =>
  Effect.tryPromise({
    try: (signal) =>
      fetch(base + path, { ...init, signal, headers: { authorization: `Bearer ${key}`, ...init.headers } }),
    catch: (cause) => failure(`No answer from ${base}. Is the server running? TROUPE_URL says where it is.`, cause)
  })

/** One request; the parsed body. A refusal fails with what the server says. */
export const request = Effect.fn("cli.request")(function* (connection: Connected, path: string, body?: unknown) {
  const response = yield* open(
    connection,
    path,
    body === undefined
      ? {}
      : {
          method: "POST",
          body: JSON.stringify(body),
          headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID() }
        }
  )
  const text = yield* Effect.promise(() => response.text().catch(() => ""))
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    parsed = undefined
  }
  if (!response.ok) return yield* refusal(response.status, parsed)
  if (parsed === undefined) return yield* failure(`${connection.base} does not answer like Troupe. Check TROUPE_URL.`)
  return parsed
})

/** `field(value, "thread", "id")`: the text at that place of parsed JSON, or "". */
export const field = (value: unknown, ...path: ReadonlyArray<string>): string => {
  const found = at(value, ...path)
  return typeof found === "string" ? found : typeof found === "number" ? String(found) : ""
}

export const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((inner, name) => (isJsonObject(inner) ? inner[name] : undefined), value)

export const listIn = (value: unknown, name: string): ReadonlyArray<unknown> => {
  const found = at(value, name)
  return Array.isArray(found) ? found : []
}
