/**
 * URLs of other people's servers, as they may be stored: at most 2048 bytes, without credentials and fragment.
 *
 * A schema does not know what the operator allows, so it takes http as well as https and whatever host; `refuseUrl`
 * (src/outbound/urls.ts) says the rest, when a URL is stored and again each time it is asked.
 */
import { Schema } from "effect"
import { limits } from "./limits.ts"
import { controls, singleLineOfPattern, utf8Bytes } from "./text.ts"

export const parseUrl = (text: string) => (URL.canParse(text) ? new URL(text) : undefined)

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
        const url = parseUrl(text)
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
            description:
              `At most ${limits.toolsetUrlBytes} bytes, as a browser takes it, without ` +
              `credentials${query ? "" : ", query"} and fragment.`
          },
          true
        ]
      }
    )
  ).annotate({ format: "uri" })

/** Of tool servers and of connections: no query. */
export const OutboundUrl = outboundUrl({ query: false })

/** The host as a resolver takes it: lower case, punycode, IPv6 without brackets, odd forms of IPv4 made plain. */
export const hostOf = (url: URL) => url.hostname.replace(/^\[|\]$/g, "")

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

export const isWithin = (url: URL, reach: Reach) =>
  "origin" in reach ? url.origin === reach.origin : isListed(hostOf(url), reach.hosts)
