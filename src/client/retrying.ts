/**
 * A `fetch` that tries again what may succeed the next time.
 *
 * T1. Every POST carries an Idempotency-Key, the same in all its tries: the server does it once.
 * T2. No try comes sooner than the server's Retry-After allows.
 * T3. A request is over after `timeoutMs`, with all its tries and pauses; a long poll may take its `waitSeconds` more.
 */
import { TroupeUnreachable } from "./errors.ts"

export interface Retrying {
  readonly fetch: (request: Request) => Promise<Response>
  /** Tries after the first one. */
  readonly retries: number
  readonly timeoutMs: number
  /** In [0, 1): spreads the pauses. */
  readonly random?: () => number
}

const passing: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])
const firstPauseMs = 250
const longestPauseMs = 8_000

const mayPass = async (response: Response) => {
  if (passing.has(response.status)) return true
  if (response.status !== 409) return false
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined)
  return typeof body === "object" && body !== null && "error" in body && body.error === "idempotency_in_progress"
}

const retryAfterMs = (response: Response | undefined) => {
  const seconds = Number(response?.headers.get("retry-after") ?? 0)
  return Number.isFinite(seconds) ? seconds * 1_000 : 0
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop)
      resolve()
    }, ms)
    signal.addEventListener("abort", stop, { once: true })
  })

const waitsMs = ({ url }: Request) => Number(new URL(url).searchParams.get("waitSeconds") ?? 0) * 1_000

/** Of a page that came over http browsers make no UUIDs (crypto.randomUUID is not there); bytes they make anywhere. */
const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), hex).join("")
const hex = (byte: number) => byte.toString(16).padStart(2, "0")

const unreachable = (request: Request, cause?: unknown) =>
  new TroupeUnreachable(`No answer from ${new URL(request.url).host}. Is the server running?`, { cause })

export const retrying =
  ({ fetch, random = Math.random, retries, timeoutMs }: Retrying) =>
  async (request: Request): Promise<Response> => {
    if (request.method === "POST" && !request.headers.has("idempotency-key"))
      request.headers.set("idempotency-key", newKey())
    const patience = AbortSignal.timeout(timeoutMs + waitsMs(request))
    const until = performance.now() + timeoutMs
    const signal = AbortSignal.any([request.signal, patience])
    for (let tried = 0; ; tried++) {
      let answer: Response | undefined
      let lastCause: unknown
      try {
        answer = await fetch(new Request(request.clone(), { signal }))
      } catch (cause) {
        if (request.signal.aborted) throw request.signal.reason
        if (patience.aborted) throw unreachable(request, cause)
        lastCause = cause
      }
      if (answer !== undefined && !(await mayPass(answer))) return answer
      const spread = Math.min(longestPauseMs, firstPauseMs * 2 ** tried) * (0.5 + random() / 2)
      const ms = Math.max(spread, retryAfterMs(answer))
      if (tried >= retries || performance.now() + ms > until) {
        if (answer === undefined) throw unreachable(request, lastCause)
        return answer
      }
      await answer?.body?.cancel()
      await pause(ms, request.signal)
    }
  }
