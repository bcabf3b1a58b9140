/**
 * Which addresses this server may connect to on behalf of others.
 *
 * A1. Public unicast only. Private networks (loopback, private, unique local, carrier-grade NAT) only where the
 *     operator allows them; link-local addresses and those of cloud metadata never.
 * A2. An IPv6 address that stands for an IPv4 one (mapped, NAT64) is judged by that one; the transition
 *     mechanisms that are out of use (6to4, Teredo, compatible addresses) are refused.
 */
import ipaddr from "ipaddr.js"
import { isIP } from "node:net"

/** Answers instance metadata, credentials included, on clouds that do not use a link-local address. */
const metadata = new Set(["100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254"])

const privateRanges = new Set<string>(["loopback", "private", "carrierGradeNat", "uniqueLocal"])

const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3")
const wellKnownNat64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96")
/** Documentation (RFC 9637): not in the library's list. */
const documentation = ipaddr.IPv6.parseCIDR("3fff::/20")

/** The IPv4 address that an IPv6 one stands for, if it does (A2). */
const plain = (address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 => {
  if (address instanceof ipaddr.IPv4) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  return address.match(wellKnownNat64) ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address
}

/** In hex, as URLs have it: the library takes `::1.2.3.4` for `::ffff:1.2.3.4`. Undefined with a zone: link-local. */
const inHex = (address: string) =>
  URL.canParse(`http://[${address}]`) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : undefined

/** `address` as a resolver or a socket gives it; what is no address is not allowed. */
export const isAllowed = (address: string, allowPrivateNetwork: boolean): boolean => {
  const family = isIP(address)
  const text = family === 6 ? inHex(address) : address
  if (family === 0 || text === undefined) return false
  const found = plain(ipaddr.parse(text))
  if (metadata.has(found.toString())) return false
  const range: string = found.range()
  if (privateRanges.has(range)) return allowPrivateNetwork
  if (range !== "unicast") return false
  return found instanceof ipaddr.IPv4 || (found.match(globalUnicast) && !found.match(documentation))
}
