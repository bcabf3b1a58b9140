/**
 * How often somebody may call: a token bucket for each credential, one for its workspace beside it, and one for each
 * address from which requests without a good credential come. Per node. A rate of 0 is no limit.
 *
 * R1. A bucket that is full again is forgotten: memory is bounded by those who call.
 * R2. A request that one bucket refuses takes nothing from the other.
 * R3. The headers tell what is left in each bucket that the caller has.
 * R4. A body or an answer costs one request more for each `pieceBytes` of it: a hundred pages of a megabyte are not a
 *     hundred small questions. A cost that is known only afterwards makes a debt: nothing is refused half-way, the next
 *     request waits.
 */
import { Context, Layer } from "effect"
import { record, requestsRefused } from "../src/telemetry/metrics.ts"
import { Refused } from "./errors.ts"

export interface Rates {
  /** Requests a second, credential and node. */
  readonly credential: number
  /** At once; twice the rate unless told. */
  readonly burst?: number | undefined
  /** Requests a second, workspace and node; twice that at once. */
  readonly workspace?: number | undefined
}

/** R4. Eight messages of the largest size; the largest page of events has sixteen of them. */
const pieceBytes = 64 * 1024

type Limited = Refused<"rate_limited">

interface Asker {
  readonly keyId: string
  readonly workspace: string
}

export interface Taken {
  readonly refused: Limited | undefined
  readonly headers: Readonly<Record<string, string>>
}

export interface Limits {
  /** Takes one request of that credential, with a body of so many bytes; undefined when nothing limits it. */
  readonly take: ((asker: Asker, bodyBytes?: number) => Taken) | undefined
  /** Counts bytes of a request that was taken, which were not known before (R4). */
  readonly count: (asker: Asker, bytes: number) => void
  /** Takes one request without a good credential; `giveBack` once the credential turned out to be good. */
  readonly stranger:
    | { readonly take: (address: string) => Limited | undefined; readonly giveBack: (address: string) => void }
    | undefined
}

export class RateLimit extends Context.Service<RateLimit, Limits>()("troupe/http/RateLimit") {
  static readonly off = Layer.succeed(
    RateLimit,
    RateLimit.of({ take: undefined, count: () => {}, stranger: undefined })
  )
  static readonly layer = (rates: Rates) =>
    Layer.sync(RateLimit, () => RateLimit.of(makeLimits(rates, () => performance.now())))
}

interface Bucket {
  tokens: number
  at: number
}

/** `now` in milliseconds, monotonic. */
const makeBuckets = (name: string, rate: number, burst: number, now: () => number) => {
  const buckets = new Map<string, Bucket>()
  let sweepAt = now() + 60_000
  const sweep = (at: number) => {
    for (const [owner, bucket] of buckets) {
      if (bucket.tokens + ((at - bucket.at) * rate) / 1000 >= burst) buckets.delete(owner)
    }
    sweepAt = at + 60_000
  }
  const wait = ({ tokens }: Bucket) => Math.max(1, Math.ceil((1 - tokens) / rate))
  return {
    policy: `"${name}";q=${burst};w=${Math.ceil(burst / rate)}`,
    /** The bucket as it is now. */
    of: (owner: string): Bucket => {
      const at = now()
      if (at > sweepAt) sweep(at)
      const bucket = buckets.get(owner)
      if (bucket === undefined) {
        const full = { tokens: burst, at }
        buckets.set(owner, full)
        return full
      }
      bucket.tokens = Math.min(burst, bucket.tokens + ((at - bucket.at) * rate) / 1000)
      bucket.at = at
      return bucket
    },
    /** What is left, and the seconds until it is full, or after a refusal until there is one. */
    state: (bucket: Bucket, refused: boolean) => {
      const seconds = refused ? wait(bucket) : Math.ceil((burst - bucket.tokens) / rate)
      return `"${name}";r=${Math.max(0, Math.floor(bucket.tokens))};t=${seconds}`
    },
    refusal: (bucket: Bucket, of: string, hint = ""): Limited => {
      record(requestsRefused.with({ reason: `rate_of_${name}` }))
      return new Refused({
        error: "rate_limited",
        message: `at most ${rate} requests a second ${of}${hint}`,
        retryAfterSeconds: wait(bucket)
      })
    }
  }
}
type Buckets = ReturnType<typeof makeBuckets>

/** Who has a good credential pays for bytes. */
const byBytes = "; a body or an answer counts as one more for each 64 KiB of it"

const piecesOf = (bytes: number) => Math.floor(bytes / pieceBytes)

const take = (credentials: Buckets | undefined, workspaces: Buckets | undefined): Limits["take"] => {
  if (credentials === undefined && workspaces === undefined) return undefined
  const policy = [credentials, workspaces]
    .flatMap((buckets) => (buckets === undefined ? [] : [buckets.policy]))
    .join(", ")
  return ({ keyId, workspace }, bodyBytes = 0) => {
    const own = credentials?.of(keyId)
    const all = workspaces?.of(workspace)
    const ownEmpty = own !== undefined && own.tokens < 1
    const allEmpty = all !== undefined && all.tokens < 1
    if (!ownEmpty && !allEmpty) {
      const cost = 1 + piecesOf(bodyBytes)
      if (own !== undefined) own.tokens -= cost
      if (all !== undefined) all.tokens -= cost
    }
    const ownState = own === undefined ? undefined : credentials?.state(own, ownEmpty)
    const allState = all === undefined ? undefined : workspaces?.state(all, allEmpty)
    return {
      headers: {
        ratelimit:
          ownState === undefined ? (allState ?? "") : allState === undefined ? ownState : `${ownState}, ${allState}`,
        "ratelimit-policy": policy
      },
      refused: ownEmpty
        ? credentials?.refusal(own, "with one credential", byBytes)
        : allEmpty
          ? workspaces?.refusal(all, "in one workspace", byBytes)
          : undefined
    }
  }
}

export const makeLimits = ({ burst, credential, workspace = 0 }: Rates, now: () => number): Limits => {
  const buckets = (name: string, rate: number, most = rate * 2) =>
    rate === 0 ? undefined : makeBuckets(name, rate, most, now)
  const strangers = buckets("address", credential, burst)
  const own = buckets("default", credential, burst)
  const all = buckets("workspace", workspace)
  return {
    take: take(own, all),
    count: ({ keyId, workspace }, bytes) => {
      const pieces = piecesOf(bytes)
      if (pieces === 0) return
      if (own !== undefined) own.of(keyId).tokens -= pieces
      if (all !== undefined) all.of(workspace).tokens -= pieces
    },
    stranger: strangers && {
      take: (address) => {
        const bucket = strangers.of(address)
        if (bucket.tokens < 1) return strangers.refusal(bucket, "without a good credential from one address")
        bucket.tokens--
        return undefined
      },
      giveBack: (address) => {
        strangers.of(address).tokens++
      }
    }
  }
}
