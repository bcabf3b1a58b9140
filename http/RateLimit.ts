/**
 * How often one credential may call: a token bucket each (design, section 18). Per node; off when
 * the rate is 0, and then it costs nothing.
 *
 * R1. A bucket that is full again is forgotten: memory is bounded by the credentials in use.
 */
import { Context, Layer } from "effect"
import { Refused } from "./errors.ts"

interface Bucket {
  tokens: number
  at: number
}

export interface Taken {
  readonly refused: Refused<"rate_limited"> | undefined
  readonly headers: Readonly<Record<string, string>>
}

export class RateLimit extends Context.Service<RateLimit, {
  /** Undefined when there is no limit. Otherwise takes one request of that credential. */
  readonly take: ((credential: string) => Taken) | undefined
}>()("troupe/http/RateLimit") {
  static readonly off = Layer.succeed(RateLimit, RateLimit.of({ take: undefined }))
  /** `rate` requests a second; `burst` at once, twice the rate by default. */
  static readonly layer = (rate: number, burst = rate * 2) =>
    rate === 0 ? RateLimit.off : Layer.sync(RateLimit, () => RateLimit.of({ take: makeTake(rate, burst, () => performance.now()) }))
}

/** `now` in milliseconds, monotonic. */
export const makeTake = (rate: number, burst: number, now: () => number) => {
  const buckets = new Map<string, Bucket>()
  const policy = `"default";q=${burst};w=${Math.ceil(burst / rate)}`
  let sweepAt = now() + 60_000
  const sweep = (at: number) => {
    for (const [credential, bucket] of buckets) {
      if (bucket.tokens + (at - bucket.at) * rate / 1000 >= burst) buckets.delete(credential)
    }
    sweepAt = at + 60_000
  }
  return (credential: string): Taken => {
    const at = now()
    if (at > sweepAt) sweep(at)
    const bucket = buckets.get(credential) ?? { tokens: burst, at }
    bucket.tokens = Math.min(burst, bucket.tokens + (at - bucket.at) * rate / 1000)
    bucket.at = at
    buckets.set(credential, bucket)
    const allowed = bucket.tokens >= 1
    if (allowed) bucket.tokens--
    const wait = Math.max(1, Math.ceil((1 - bucket.tokens) / rate))
    return {
      headers: {
        "ratelimit": `"default";r=${Math.floor(bucket.tokens)};t=${allowed ? Math.ceil((burst - bucket.tokens) / rate) : wait}`,
        "ratelimit-policy": policy
      },
      refused: allowed
        ? undefined
        : new Refused({ error: "rate_limited", message: `at most ${rate} requests a second with one credential`, retryAfterSeconds: wait })
    }
  }
}
