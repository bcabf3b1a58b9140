/**
 * Requests made from the OpenAPI document, one operation at a time: what fits it, what fits it but for a detail,
 * and what no client of good will sends.
 */
import fc from "fast-check"
import { isIn, type Operation, schemaOf, schemas } from "./document.ts"
import { fitting } from "./fitting.ts"
import { faults, type Schema } from "./jsonSchema.ts"
import type { Known } from "./known.ts"
import { altered, asText, damage, odd, oddHeaders, oddQueries } from "./oddities.ts"

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
  // Versions of a profile are numbered from 1.
  if (pattern === "^[1-9]\\d{0,8}$") return fc.constantFrom("1", "2", "3", "999999999")
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

/** A body on the wire. `whole` says that it is what was meant. */
interface Wire {
  readonly bytes: string | Uint8Array<ArrayBuffer> | undefined
  readonly whole: boolean
}

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
