/**
 * What no client of good will sends: values at which programs stumble, and what may become of a request on its way to
 * the server.
 */
import fc from "fast-check"
import { isObject } from "./jsonSchema.ts"

const oddities = fc.constantFrom<unknown>(
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\u001b[31m",
  "\u009b31m",
  "\ud800",
  "\udfff\ud800",
  "\u202e",
  "x".repeat(600),
  "é".repeat(5000),
  "x".repeat(70_000),
  "__proto__",
  "%00",
  "' or 1=1 --",
  "/wait 1ms\n/call nope {}",
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  -(2 ** 63),
  [],
  {},
  [[]],
  [null],
  { a: 1 },
  { type: "text" },
  { type: "image", imageId: "img_1" },
  JSON.parse("[".repeat(30) + "]".repeat(30)),
  Array(300).fill(""),
  JSON.parse(`{"__proto__":{"admin":true},"constructor":1}`),
  "9999-12-31T23:59:59-23:59",
  "2026-02-31T00:00:00Z",
  "2999-99-99T99:99:99Z",
  "0000-01-01T00:00:00+23:59",
  "trp_",
  "constructor",
  "\uffff",
  -0,
  1e-320,
  2 ** 70
)
/** What somebody has met once, and anything at all. */
export const odd = fc.oneof(
  { weight: 3, arbitrary: oddities },
  { weight: 1, arbitrary: fc.jsonValue({ stringUnit: "binary", maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) }
)

/** Fields that no schema has. */
const strangers = ["unknown", "__proto__", "constructor", "", "\u0000", "\ud800"]

/** A copy in which what a path of numbers leads to is something else, gone, or beside something unknown. */
export const altered = (value: unknown, way: ReadonlyArray<number>, how: number, other: unknown): unknown => {
  const [step = 0, ...rest] = way
  const inside = rest.length > 0
  if (Array.isArray(value) && value.length > 0 && inside)
    return value.map((item, index) => (index === step % value.length ? altered(item, rest, how, other) : item))
  if (isObject(value) && inside) {
    const entries = Object.entries(value)
    const at = step % Math.max(1, entries.length)
    if (how === 0) return { ...value, [strangers[step % strangers.length] ?? ""]: other }
    if (how === 1) return Object.fromEntries(entries.filter((_, index) => index !== at))
    return Object.fromEntries(
      entries.map(([name, item], index) => [name, index === at ? altered(item, rest, how, other) : item])
    )
  }
  return other
}

export const asText = (value: unknown) =>
  (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).toWellFormed()

const MiB = 1024 * 1024

/** What may become of a body on its way: nothing, mostly. */
export const damage: ReadonlyArray<(text: string, n: number) => string | Uint8Array<ArrayBuffer>> = [
  (text, n) => text.slice(0, Math.max(0, text.length - n)),
  (text, n) => text.slice(0, n) + "\\" + text.slice(n),
  // One of its characters is another; one in so many of its bytes is.
  (text, n) => {
    const at = (n * 7_919) % text.length
    return text.slice(0, at) + String.fromCharCode(n * 2_113) + text.slice(at + 1)
  },
  (text, n) => new Uint8Array(Buffer.from(text).map((byte, at) => (at % n === 0 ? byte ^ (n * 8) : byte))),
  (text) => new Uint8Array(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text)])),
  (text) => new Uint8Array(Buffer.from(text, "utf16le")),
  (text) => `\ufeff${text}`,
  () => "[".repeat(100_000),
  () => `{"a":${"[".repeat(65)}${"]".repeat(65)}}`,
  () => `{"a":1e400,"b":-1e400}`,
  () => `{"a":1,"a":2}`,
  () => " ".repeat(MiB) + "{}",
  () => `"${"x".repeat(MiB)}"`,
  () => "null",
  () => "",
  () => "undefined"
]

export const oddQueries = [
  "after_seq=1",
  "__proto__=1",
  "limit=1&limit=1",
  "%=%",
  "&&",
  "x".repeat(2000),
  "%00=%00",
  "limit=%F0%28",
  "a[]=1",
  "?",
  "%",
  "%ff=%ff",
  "a&b&c",
  "=",
  "limit",
  "limit=%",
  "limit[]=1",
  "limit=1;2",
  "limit=0x1",
  "limit=1e9",
  "limit=+1",
  "cursor=%c3%28",
  `x=${"y".repeat(8_000)}`
]
export const oddHeaders: ReadonlyArray<Readonly<Record<string, string>>> = [
  { "content-type": "text/plain" },
  { "content-type": "application/json; charset=latin1" },
  { "content-type": "%" },
  { "content-type": "multipart/form-data" },
  { "idempotency-key": "\u00ff" },
  { "content-encoding": "gzip" },
  { accept: "text/html" },
  { "last-event-id": "-1" },
  { "last-event-id": "9223372036854775808" },
  { "x-http-method-override": "DELETE" },
  { "x-request-id": "a".repeat(4000) },
  { prefer: "wait=100" },
  { cookie: "a=b" },
  { origin: "https://evil.example" },
  { range: "bytes=0-1" }
]
