/**
 * URLs of other people's servers: what may be stored, and what may be asked (specification, Toolsets: at most 2048
 * bytes, HTTPS, no query or fragment).
 *
 * A schema does not know what the operator allows, so it takes http as well as https and whatever host; `refuseUrl`
 * says the rest, when a URL is stored and again each time it is asked.
 */
import { Schema } from "effect"
import { isIP } from "node:net"
import { limits } from "../domain/limits.ts"
import { controls, singleLineOfPattern, utf8Bytes } from "../domain/text.ts"
import { isAllowed } from "./addresses.ts"

const parse = (text: string) => (URL.canParse(text) ? new URL(text) : undefined)

/** A URL parser drops white space and turns backslashes without a word: what is stored would not be what is asked. */
const unsafe = /[\s\\]/u

/** What a pattern can say of it. The host and its port are a parser's matter. */
const urlPattern = (query: boolean) =>
  `^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\\\/?#@${controls}]+(?:${query ? "[/?]" : "/"}[^\\s\\\\#${query ? "" : "?"}${controls}]*)?$`

interface Parts {
  /** Whether a query may stand in it: not in a toolset's URL. */
  readonly query: boolean
}

/** A URL to store: as the client wrote it, at most 2048 bytes, without credentials and fragment. */
export const outboundUrl = ({ query }: Parts) =>
  Schema.String.check(
    Schema.makeFilter<string>(
      (text) => utf8Bytes(text) <= limits.toolsetUrlBytes || `a URL of at most ${limits.toolsetUrlBytes} bytes`,
      {
        toJsonSchema: () => [{ maxLength: limits.toolsetUrlBytes }, true]
      }
    ),
    singleLineOfPattern,
    Schema.makeFilter<string>(
      (text) => {
        const url = parse(text)
        if (url === undefined || !/^https?:\/\/[^/?#]/i.test(text) || unsafe.test(text)) return "an https:// URL"
        if (url.username !== "" || url.password !== "" || /^https?:\/\/[^/?#]*@/i.test(text))
          return "a URL without credentials"
        if (text.includes("#")) return "a URL without a fragment"
        if (!query && text.includes("?")) return "a URL without a query"
        return true
      },
      {
        toJsonSchema: () => [
          {
            pattern: urlPattern(query),
            description: `At most ${limits.toolsetUrlBytes} bytes, as a browser takes it, without credentials${query ? "" : ", query"} and fragment.`
          },
          true
        ]
      }
    )
  ).annotate({ format: "uri" })

/** Of tool servers and of connections: no query. */
export const OutboundUrl = outboundUrl({ query: false })

/** The host as a resolver takes it: lower case, punycode, IPv6 without brackets, odd forms of IPv4 made plain. */
const hostOf = (url: URL) => url.hostname.replace(/^\[|\]$/g, "")

const label = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
const hostPattern = `^(?:\\*\\.)?(?:${label}\\.)*${label}$`

/** A host that a secret may be sent to: exact, or `*.example.com` for those below it. Lower case, no port. */
export const HostPattern = Schema.String.check(
  Schema.isMaxLength(253),
  Schema.isPattern(new RegExp(hostPattern), {
    expected: "a host name in lower case, or *. and one",
    toJsonSchema: () => ({ pattern: hostPattern })
  })
).annotate({ identifier: "HostPattern" })

const isListed = (host: string, allowed: ReadonlyArray<string>) =>
  allowed.some((entry) =>
    entry.startsWith("*.") ? host.endsWith(entry.slice(1)) && host.length > entry.length - 1 : host === entry
  )

/** Where a secret may be sent: to hosts (`HostPattern`), whatever the port, or to one origin as a whole. */
export type Reach = { readonly hosts: ReadonlyArray<string> } | { readonly origin: string }

const isWithin = (url: URL, reach: Reach) =>
  "origin" in reach ? url.origin === reach.origin : isListed(hostOf(url), reach.hosts)

export interface UrlRules {
  readonly allowPrivateNetwork: boolean
  /** Absent: anywhere. */
  readonly reach?: Reach | undefined
}

export type UrlProblem = { readonly reason: "forbidden_url" | "forbidden_address"; readonly message: string }

/** Why a URL is never asked, whatever its host's name leads to; undefined where it may be. */
export const refuseUrl = (text: string | URL, { allowPrivateNetwork, reach }: UrlRules): UrlProblem | undefined => {
  const url = typeof text === "string" ? parse(text) : text
  const forbidden = (message: string): UrlProblem => ({ reason: "forbidden_url", message })
  if (url === undefined) return forbidden("not a URL")
  if (url.protocol !== "https:" && !(allowPrivateNetwork && url.protocol === "http:"))
    return forbidden("an https:// URL is needed")
  if (url.username !== "" || url.password !== "") return forbidden("a URL must not hold credentials")
  const host = hostOf(url)
  if (host === "") return forbidden("the URL has no host")
  if (reach !== undefined && !isWithin(url, reach)) return forbidden("the host is not among the allowed ones")
  if (isIP(host) !== 0 && !isAllowed(host, allowPrivateNetwork)) {
    return { reason: "forbidden_address", message: "the address is not a public one" }
  }
  return undefined
}
