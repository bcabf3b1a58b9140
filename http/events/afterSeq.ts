/** `afterSeq`: a position in a thread's log, as int64 in decimal digits. 0 is as if absent (design, section 4). */
import { Schema, SchemaGetter } from "effect"

const int64 = 2n ** 63n - 1n

/** Above 2^53 numbers would round; no log is that long, so they all stand for "after everything". */
const clamp = (digits: string) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER)

export const AfterSeq = Schema.String.check(
  Schema.isPattern(/^\d{1,30}$/, { expected: "a whole number in decimal digits" }),
  Schema.makeFilter((digits) => BigInt(digits) <= int64 || "a whole number of at most 2^63-1")
).annotate({ format: "int64" }).pipe(
  Schema.decodeTo(Schema.Finite, { decode: SchemaGetter.transform(clamp), encode: SchemaGetter.transform(String) })
)

export const AfterSeqParam = Schema.optional(AfterSeq)
