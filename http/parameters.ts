/** Parameters of paths, queries and headers: strict schemas that read their text. */
import { Schema, SchemaTransformation } from "effect"

/** How clients are shown a parameter that is read from digits. */
export interface WholeNumber {
  readonly type: "integer"
  readonly format?: "int64"
  readonly minimum: number
  readonly maximum?: number
}

declare module "effect/Schema" {
  namespace Annotations {
    interface Annotations {
      /** Of a parameter: its place in the OpenAPI document is taken by this. */
      readonly shownAs?: WholeNumber | undefined
    }
  }
}

const digits = (what: string) =>
  // What is behind it counts on digits.
  Schema.String.check(Schema.isPattern(/^\d{1,19}$/, { expected: what }).abort())

/**
 * A whole number in a query, `minimum` to `maximum`: decimal digits only, so neither `1e2` nor ` 5`
 * nor `0x10`.
 */
export const wholeNumber = (minimum: number, maximum: number) => {
  const what = `a whole number from ${minimum} to ${maximum}`
  return digits(what).pipe(
    Schema.decodeTo(
      Schema.Number.check(Schema.makeFilter((n) => (n >= minimum && n <= maximum) || what)),
      SchemaTransformation.transform({ decode: Number, encode: String })
    ),
    Schema.annotate({ shownAs: { type: "integer", minimum, maximum } })
  )
}

const largest = 2n ** 63n - 1n

/**
 * An int64 from 0 up, such as afterSeq: to 2^63-1 on the wire. Beyond 2^53-1 it is held as 2^53-1:
 * no log is that long.
 */
export const int64 = digits("a whole number from 0 to 9223372036854775807")
  .check(
    Schema.makeFilter(
      (text) => text.length < 19 || BigInt(text) <= largest || "a whole number from 0 to 9223372036854775807"
    )
  )
  .pipe(
    Schema.decodeTo(
      Schema.Number,
      SchemaTransformation.transform({
        decode: (text) => Math.min(Number(text), Number.MAX_SAFE_INTEGER),
        encode: String
      })
    ),
    Schema.annotate({ shownAs: { type: "integer", format: "int64", minimum: 0 } })
  )

/** `true` or `false` in a query. */
export const flag = Schema.Literals(["true", "false"]).pipe(
  Schema.decodeTo(
    Schema.Boolean,
    SchemaTransformation.transform({
      decode: (text): boolean => text === "true",
      encode: (value) => (value ? ("true" as const) : ("false" as const))
    })
  )
)

/** Those that were sent. */
export const defined = <A extends object>(parameters: A) =>
  Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined))
