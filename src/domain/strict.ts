/**
 * Strict decoding of what strangers send: an unknown field is refused, and of a small value all that is wrong is told.
 *
 * Z1. A value that is refused costs as little as one that is taken: to find all problems of a large one takes a
 *     thousand times as long as to find the first. Of a value with more parts than a person writes, only the first is
 *     told.
 * Z2. A check may rely on those before it. Where one breaks over a value that they have refused, only the first problem
 *     is told.
 */
import { Result, Schema } from "effect"

const first = { onExcessProperty: "error" } as const

/** Parts of a value, itself and whatever is in it, up to which all problems are looked for. */
const mostParts = 1_000

/**
 * How many of so many parts a value leaves over; less than none where it has more, and then the rest of it is not
 * looked at.
 */
const leftOf = (parts: number, value: unknown): number => {
  let left = parts - 1
  if (typeof value !== "object" || value === null) return left
  if (Array.isArray(value) && value.length > left) return -1
  for (const key in value) {
    if (left <= 0) return -1
    left = leftOf(left, Reflect.get(value, key))
  }
  return left
}
const isSmall = (value: unknown) => leftOf(mostParts, value) >= 0

/**
 * All that is wrong with a value which the schema has refused; what the refusal has told, where there is a reason for
 * that (Z1, Z2).
 */
export const everyProblem = (
  schema: Schema.ConstraintDecoder<unknown>,
  options: { readonly onExcessProperty: "error" | "ignore" } = first
) => {
  const decode = Schema.decodeUnknownResult(schema, { ...options, errors: "all" })
  return (value: unknown, refusal: Schema.SchemaError): Schema.SchemaError => {
    if (!isSmall(value)) return refusal
    try {
      return Result.match(decode(value), { onSuccess: () => refusal, onFailure: (every) => every })
    } catch {
      return refusal
    }
  }
}

export const strictly = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownResult(schema, first)
  const every = everyProblem(schema)
  return (value: unknown): Result.Result<S["Type"], Schema.SchemaError> =>
    Result.mapError(decode(value), (refusal) => every(value, refusal))
}
