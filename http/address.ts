/**
 * Whom a request without a good credential is counted for: the address that it came from.
 *
 * S1. A peer with a public address is counted as itself, whatever its headers say.
 * S2. A peer on this machine or on a private network may be a proxy: what it names last in X-Forwarded-For, which it
 *     has seen itself, is counted beside it. So nobody is counted for another one, and behind one proxy everybody for
 *     himself.
 * S3. An IPv6 address stands for its /64: that is what one subscriber has.
 * S4. What an address says is remembered by its text: whoever asks without a credential asks often.
 */
import type { HttpServerRequest } from "effect/http"
import ipaddr from "ipaddr.js"
import { LRUCache } from "lru-cache"
import { socketOf, header } from "./headers.ts"

const near: ReadonlySet<string> = new Set(["loopback", "private", "uniqueLocal", "linkLocal", "carrierGradeNat"])

/** Longer texts (an IPv6 address with a zone) are read each time: clients choose what is remembered. */
const longestRemembered = 45

interface Address {
  /** It may be a proxy (S2). */
  readonly isNear: boolean
  readonly name: string
}

const parse = (text: string): Address | "none" => {
  if (!ipaddr.isValid(text)) return "none"
  const address = ipaddr.process(text)
  return {
    isNear: near.has(address.range()),
    name:
      address.kind() === "ipv4"
        ? address.toString()
        : `${address.toNormalizedString().split(":").slice(0, 4).join(":")}::/64`
  }
}

/** S4. */
const remembered = new LRUCache<string, Address | "none">({ max: 4_096 })
const read = (text: string) => {
  let address = remembered.get(text)
  if (address === undefined) {
    address = parse(text)
    // A copy: a piece of a header holds the whole of it in memory.
    if (text.length <= longestRemembered) remembered.set(Buffer.from(text).toString(), address)
  }
  return address === "none" ? undefined : address
}

/** For `peer`, the socket's other end, and what it forwards for. */
export const addressFrom = (peer: string | undefined, forwardedFor: string | undefined): string => {
  const address = read(peer ?? "")
  if (address === undefined) return "unknown"
  const last = address.isNear ? read(forwardedFor?.split(",").at(-1)?.trim() ?? "") : undefined
  return last === undefined ? address.name : `${address.name} for ${last.name}`
}

export const addressOf = (request: HttpServerRequest.HttpServerRequest) =>
  addressFrom(socketOf(request).remoteAddress, header(request, "x-forwarded-for"))
