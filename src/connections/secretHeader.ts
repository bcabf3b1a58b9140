/**
 * The header that a connection's secret travels in, where it is not `Authorization: Bearer`.
 *
 * Names that say how a message is carried, or what this server says itself, are refused: a secret in their place would
 * break the request, or be read by whoever stands between.
 */
import { Schema } from "effect"
import { limits } from "../domain/limits.ts"

const token = `^[A-Za-z0-9!#$%&'*+.^_\`|~-]{1,${limits.secretHeaderChars}}$`

/** Of one connection and of one message: hop by hop, framing, where to, what a cache or a proxy goes by. */
const taken = [
  "accept(-.*)?",
  "age",
  "alt-svc",
  "cache-control",
  "connection",
  "content-.*",
  "cookie2?",
  "date",
  "expect",
  "forwarded",
  "host",
  "http2-settings",
  "idempotency-key",
  "if-.*",
  "keep-alive",
  "last-event-id",
  "max-forwards",
  "mcp-.*",
  "origin",
  "pragma",
  "proxy-.*",
  "range",
  "referer",
  "sec-.*",
  "set-cookie2?",
  "te",
  "traceparent",
  "tracestate",
  "baggage",
  "trailer",
  "transfer-encoding",
  "troupe-.*",
  "upgrade",
  "user-agent",
  "via",
  "warning",
  "webhook-.*",
  "x-forwarded-.*",
  "x-http-method-override",
  "x-troupe-.*"
]

/** JSON Schema has no flag for it: each letter in both cases. */
const inAnyCase = (pattern: string) => pattern.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)
const takenPattern = `^(?:${taken.map(inAnyCase).join("|")})$`
const isTaken = new RegExp(takenPattern)

export const SecretHeader = Schema.String.check(
  Schema.isPattern(new RegExp(token), {
    expected: `1 to ${limits.secretHeaderChars} characters of a header's name, such as X-API-Key`,
    toJsonSchema: () => ({ pattern: token })
  }),
  Schema.makeFilter<string>(
    (name) => !isTaken.test(name) || "a header that no part of HTTP, of MCP or of this server uses, such as X-API-Key",
    {
      toJsonSchema: () => ({ not: { pattern: takenPattern } })
    }
  )
).annotate({
  identifier: "SecretHeader",
  description: "Names that HTTP, MCP or this server use themselves are refused."
})
