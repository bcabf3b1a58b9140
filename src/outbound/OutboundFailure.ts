/** Why a request to somebody else's server brought no answer: one type for all callers. */

export const outboundReasons = [
  /** An address of the host is none that this server may connect to. Nothing was sent. */
  "forbidden_address",
  /** The URL itself is refused: its scheme, its credentials, a host that is not on the list. Nothing was sent. */
  "forbidden_url",
  /** The server answered with a 3xx, which is never followed. */
  "redirect",
  /** A time cap passed. The request may have arrived. */
  "timeout",
  /** Headers or body, as sent or decoded, are larger than allowed. */
  "too_large",
  /** There was no connection: the name, the route, the handshake. Nothing was sent. */
  "connect",
  /** The connection broke, or what came is not HTTP. The request may have arrived. */
  "protocol"
] as const
export type OutboundReason = (typeof outboundReasons)[number]

interface Fields {
  readonly reason: OutboundReason
  /** For people. Never holds an address that a name leads to, a path, a query, a header or a body. */
  readonly message: string
  /** The same request may fare better later. */
  readonly retryable: boolean
}

/** An Error, so that it also travels through libraries that take a `fetch`. */
export class OutboundFailure extends Error {
  readonly _tag = "OutboundFailure"
  readonly reason: OutboundReason
  readonly retryable: boolean
  constructor({ message, reason, retryable }: Fields) {
    super(message)
    this.name = "OutboundFailure"
    this.reason = reason
    this.retryable = retryable
  }
}

/** Only time, connections and broken answers may be better the next time. */
export const outboundFailure = (
  reason: OutboundReason,
  message: string,
  retryable = reason === "timeout" || reason === "connect"
) => new OutboundFailure({ reason, message, retryable })

/** The failure itself, or the one that a library has wrapped as a cause. */
export const asOutboundFailure = (error: unknown): OutboundFailure | undefined => {
  for (let found = error, depth = 0; found instanceof Error && depth < 5; found = found.cause, depth++) {
    if (found instanceof OutboundFailure) return found
  }
  return undefined
}
