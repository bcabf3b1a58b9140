/**
 * Requests made from the OpenAPI document, one operation at a time: what fits it, what fits it but for a detail,
 * and what no client of good will sends.
 */
import fc from "fast-check"
import { isIn, type Operation, schemaOf, schemas } from "./document.ts"
import { faults, fitting, isObject, type Schema } from "./jsonSchema.ts"
import type { Known } from "./known.ts"

/**
 * Whose request it is: a key with all scopes, with one alone, of the other workspace; a lease or token that nobody
 * gave; none.
 */
export const credentials = [
  "all",
  "read",
  "run",
  "write",
  "approve",
  "admin",
  "beta",
  "unknown",
  "lease",
  "delivery",
  "none"
] as const
export type Credential = (typeof credentials)[number]

export interface Request {
  readonly credential: Credential
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer> | undefined
  /** What the document forbids of it; nothing where it does not say. */
  readonly forbidden: ReadonlyArray<string>
  /** It is whole, of a credential that may do all, and each of its parts fits the document. */
  readonly fits: boolean
  /** What was meant to be sent. */
  readonly sent: Sent
  /** As a failure shows it: a body may be long. */
  readonly [fc.toStringMethod]: () => string
}

/** The parts of a request, before they are put on the wire. */
export interface Sent {
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
}

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
const odd = fc.oneof(
  { weight: 3, arbitrary: oddities },
  { weight: 1, arbitrary: fc.jsonValue({ stringUnit: "binary", maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) }
)

/** Ids are mostly ours; some are another workspace's, or nobody's. Other texts are such as lead somewhere. */
const textOf = (known: Known) => (pattern: string) => {
  const prefix = /^\^([a-z]+_)\[0-7\]/.exec(pattern)?.[1]
  if (prefix !== undefined) {
    return fc
      .tuple(fc.nat(1000), fc.nat(9))
      .map(([n, kind]) => (kind < 7 ? known.own : kind === 7 ? known.foreign : known.nobodys).pick(prefix, n))
  }
  const several = /^\^\(\?:([a-z_|]+)\)\[0-7\]/.exec(pattern)?.[1]?.split("|")
  if (several !== undefined)
    return fc.tuple(fc.constantFrom(...several), fc.nat(1000)).map(([prefix, n]) => known.own.pick(prefix, n))
  if (pattern.startsWith("^img_"))
    return fc.oneof(
      fc.nat(1000).map((n) => known.own.pick("img_", n)),
      fc.constant(`img_${"0".repeat(64)}`)
    )
  if (pattern.startsWith("^(?:@"))
    return fc.constantFrom("troupe/scripted", "troupe/scripted-paid", "troupe/*", "@fast", "nobody/none")
  if (pattern.startsWith("^[a-z_]{1,32}\\.")) return fc.constantFrom("identity.disable", "identity.enable", "no.such")
  if (pattern.startsWith("^whsec_"))
    return fc.integer({ min: 24, max: 64 }).map((bytes) => `whsec_${Buffer.alloc(bytes, bytes).toString("base64")}`)
  // Nobody listens there: who is asked says no at once.
  if (pattern.startsWith("^[Hh][Tt][Tt][Pp]"))
    return fc.constantFrom(
      "http://127.0.0.1:9/x",
      "HTTPS://127.0.0.1:9/c/d",
      "http://[::1]:9/",
      "http://0x7f.1:9",
      "http://127.0.0.1:99999/",
      'http://127.0.0.1:9/@ü%zz"<|',
      "http://%/"
    )
  if (pattern === "\\S")
    return fc.constantFrom(
      "Someone",
      "/fail model_error on purpose",
      "/wait 2ms\nhello",
      "/call nope {}\n/then\n/call nope {}",
      "\ta\u0000b\ud800",
      "x".repeat(100)
    )
  return undefined
}

/** Fields that no schema has. */
const strangers = ["unknown", "__proto__", "constructor", "", "\u0000", "\ud800"]

/** A copy in which what a path of numbers leads to is something else, gone, or beside something unknown. */
const altered = (value: unknown, way: ReadonlyArray<number>, how: number, other: unknown): unknown => {
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

const asText = (value: unknown) => (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).toWellFormed()

/** A body on the wire. `whole` says that it is what was meant. */
interface Wire {
  readonly bytes: string | Uint8Array<ArrayBuffer> | undefined
  readonly whole: boolean
}

const MiB = 1024 * 1024

/** What may become of a body on its way: nothing, mostly. */
const damage: ReadonlyArray<(text: string, n: number) => string | Uint8Array<ArrayBuffer>> = [
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

const oddQueries = [
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
const oddHeaders: ReadonlyArray<Readonly<Record<string, string>>> = [
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

/** What of the query the document forbids. */
const wrongInQuery = (parameter: Schema, value: unknown) => {
  const schema = schemaOf(parameter)
  const text = asText(value)
  // Numbers are digits in a query, and nothing else.
  return faults(schema, schema.type === "integer" && /^\d+$/.test(text) ? Number(text) : text, schemas).map(
    (fault) => `${parameter.name} ${fault}`
  )
}

const rarely = <A>(times: number, usual: A, unusual: fc.Arbitrary<A>) =>
  fc.oneof({ weight: times, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: unusual })

/** What has a chart. */
const kinds = ["thread", "identity", "subscription", "schedule"]

export const requests = (operation: Operation, known: Known): fc.Arbitrary<Request> => {
  const inPath = operation.parameters.filter(isIn("path"))
  const inQuery = operation.parameters.filter(isIn("query"))
  const texts = textOf(known)
  const ids = fc.tuple(
    ...inPath.map((parameter) =>
      fc.oneof(
        {
          weight: 12,
          arbitrary:
            parameter.name === "kind" ? fc.constantFrom(...kinds) : fitting(schemaOf(parameter), schemas, texts)
        },
        // A dot or two lead to another path.
        { weight: 1, arbitrary: odd.filter((value) => !/^\.{1,2}$/.test(asText(value))) }
      )
    )
  )
  // Long polls are for other tests. A cursor is of this list, or of another thing of its kind.
  const usual = (parameter: Schema) =>
    parameter.name === "waitSeconds"
      ? fc.constant(0)
      : parameter.name === "cursor"
        ? fc.nat(5).map((n) => known.cursor(operation.path, n))
        : parameter.name === "key"
          ? fc.oneof(fc.constant("k"), fitting(schemaOf(parameter), schemas, texts))
          : fitting(schemaOf(parameter), schemas, texts)
  const values = fc.tuple(
    ...inQuery.map((parameter) =>
      fc.option(
        fc.oneof(
          { weight: 4, arbitrary: usual(parameter) },
          {
            weight: 1,
            arbitrary: odd.filter((value) => parameter.name !== "waitSeconds" || !/^\d+$/.test(asText(value)))
          }
        ),
        { freq: 2, nil: undefined }
      )
    )
  )
  const inHeaders = operation.parameters
    .filter(isIn("header"))
    .filter(({ name }) => !["if-match", "if-none-match", "idempotency-key"].includes(String(name).toLowerCase()))
  const spoken = fc.tuple(
    ...inHeaders.map((parameter) =>
      fc.option(fitting(schemaOf(parameter), schemas, texts), { freq: 2, nil: undefined })
    )
  )
  const body =
    operation.body === undefined
      ? rarely<{ readonly value: unknown }>(
          6,
          { value: undefined },
          odd.map((value) => ({ value }))
        )
      : fc
          .tuple(
            operation.example === undefined
              ? fitting(operation.body, schemas, texts)
              : fc.oneof(
                  { weight: 6, arbitrary: fitting(operation.body, schemas, texts) },
                  { weight: 1, arbitrary: fc.constant(operation.example) }
                ),
            fc.nat(2),
            fc.array(fc.nat(20), { minLength: 1, maxLength: 5 }),
            fc.nat(4),
            odd
          )
          .map(([fits, alter, way, how, other]) => ({ value: alter === 0 ? altered(fits, way, how, other) : fits }))

  return fc
    .record({
      ids,
      values,
      body,
      spoken,
      extra: rarely(15, "", fc.constantFrom(...oddQueries)),
      damaged: rarely<readonly [number, number] | undefined>(
        12,
        undefined,
        fc.tuple(fc.nat(damage.length - 1), fc.integer({ min: 1, max: 30 }))
      ),
      header: rarely<Readonly<Record<string, string>>>(15, {}, fc.constantFrom(...oddHeaders)),
      idempotency: fc.oneof(
        { weight: 6, arbitrary: fc.constant(undefined) },
        { weight: 2, arbitrary: fc.constantFrom("a", "b", "c", "x".repeat(255)) },
        { weight: 1, arbitrary: fc.constantFrom("", "x".repeat(256), " ") }
      ),
      match: fc.constantFrom(
        undefined,
        undefined,
        "*",
        `"1"`,
        `"0"`,
        'W/"1"',
        "rubbish",
        ",,,",
        '"',
        "W/",
        "x".repeat(8_000)
      ),
      credential: rarely<Credential>(30, "all", fc.constantFrom(...credentials)),
      together: fc.nat(3)
    })
    .map(
      ({
        body,
        credential,
        damaged,
        extra,
        header,
        idempotency,
        ids: chosen,
        match,
        spoken,
        together,
        values
      }): Request => {
        // Two ids that belong together, mostly.
        const parent = inPath.length === 2 && together > 0 ? known.parentOf(asText(chosen[1])) : undefined
        const ids = parent === undefined ? chosen : [parent, ...chosen.slice(1)]
        const query = inQuery.flatMap((parameter, index) =>
          values[index] === undefined ? [] : [`${parameter.name}=${encodeURIComponent(asText(values[index]))}`]
        )
        const path = inPath.reduce(
          (path, parameter, index) => path.replace(`{${parameter.name}}`, () => encodeURIComponent(asText(ids[index]))),
          operation.path
        )
        const text = JSON.stringify(body.value)
        const wire: Wire =
          text === undefined || damaged === undefined
            ? { bytes: text, whole: true }
            : { bytes: damage[damaged[0]]!(text, damaged[1]), whole: false }
        const target =
          path + (query.length > 0 || extra !== "" ? `?${[...query, ...(extra === "" ? [] : [extra])].join("&")}` : "")
        const headers = {
          ...(wire.bytes !== undefined && {
            "content-type": operation.method === "PATCH" ? "application/merge-patch+json" : "application/json"
          }),
          ...(idempotency !== undefined && operation.method === "POST" && { "idempotency-key": idempotency }),
          ...Object.fromEntries(
            operation.parameters
              .map(({ name }) => String(name).toLowerCase())
              .flatMap((name) => (match !== undefined && /^if-(?:none-)?match$/.test(name) ? [[name, match]] : []))
          ),
          ...Object.fromEntries(
            inHeaders.flatMap(({ name }, index) =>
              spoken[index] === undefined ? [] : [[String(name).toLowerCase(), asText(spoken[index])]]
            )
          ),
          ...header
        }
        const forbidden = [
          ...inQuery.flatMap((parameter, index) =>
            values[index] === undefined ? [] : wrongInQuery(parameter, values[index])
          ),
          ...(operation.body !== undefined && text !== undefined && wire.whole
            ? faults(operation.body, JSON.parse(text), schemas)
            : [])
        ]
        const shown = typeof wire.bytes === "string" ? wire.bytes : Buffer.from(wire.bytes ?? []).toString("hex")
        return {
          [fc.toStringMethod]: () =>
            `${operation.method} ${target.slice(0, 500)} ${credential} ${JSON.stringify(headers)} ${shown.slice(0, 1500)}`,
          credential,
          headers,
          path: target,
          body: wire.bytes,
          fits:
            credential === "all" &&
            extra === "" &&
            wire.whole &&
            Object.keys(header).length === 0 &&
            forbidden.length === 0 &&
            (idempotency === undefined || (idempotency.trim().length >= 1 && idempotency.length <= 255)) &&
            inPath.every((parameter, index) => faults(schemaOf(parameter), ids[index], schemas).length === 0) &&
            (operation.body === undefined ? body.value === undefined : text !== undefined),
          sent: {
            query: Object.fromEntries(
              inQuery.flatMap((parameter, index) =>
                values[index] === undefined ? [] : [[String(parameter.name), values[index]]]
              )
            ),
            body: body.value
          },
          forbidden
        }
      }
    )
}
