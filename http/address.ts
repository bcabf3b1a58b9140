/**
 * Whom a request without a good credential is counted for: the address that it came from.
 *
 * S1. A peer with a public address is counted as itself, whatever its headers say.
 * S2. A peer on this machine or on a private network may be a proxy: what it names last in X-Forwarded-For, which it
 *     has seen itself, is counted beside it. So nobody is counted for another one, and behind one proxy everybody for
 *     himself.
 * S3. An IPv6 address stands for its /64: that is what one subscriber has.
 */
import type { HttpServerRequest } from "effect/http"
import ipaddr from "ipaddr.js"
import { socketOf, header } from "./headers.ts"

const near: ReadonlySet<string> = new Set(["loopback", "private", "uniqueLocal", "linkLocal", "carrierGradeNat"])

const read = (text: string) => (ipaddr.isValid(text) ? ipaddr.process(text) : undefined)
type Address = NonNullable<ReturnType<typeof read>>

const nameOf = (address: Address) =>
  address.kind() === "ipv4"
    ? address.toString()
    : `${address.toNormalizedString().split(":").slice(0, 4).join(":")}::/64`

/** For `peer`, the socket's other end, and what it forwards for. */
export const addressFrom = (peer: string | undefined, forwardedFor: string | undefined): string => {
  const address = read(peer ?? "")
  if (address === undefined) return "unknown"
  const last = near.has(address.range()) ? read(forwardedFor?.split(",").at(-1)?.trim() ?? "") : undefined
  return last === undefined ? nameOf(address) : `${nameOf(address)} for ${nameOf(last)}`
}

export const addressOf = (request: HttpServerRequest.HttpServerRequest) =>
  addressFrom(socketOf(request).remoteAddress, header(request, "x-forwarded-for"))
