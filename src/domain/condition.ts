/**
 * Conditions on JSON: what stands at a path, held against a value. Roles ask them
 * of a tool's input, hooks of what they judge.
 *
 * K1. A condition answers true, false, or undefined where it cannot be asked: the path leads nowhere,
 *     or to something that `op` does not compare with `value`. The asker decides against the caller then (fail closed).
 *     Only `exists` always knows.
 * K2. Numbers are compared with numbers, strings with strings, by code point. Nothing is converted.
 * K3. A path follows own properties and array indices (RFC 6901), so no prototype is ever reached.
 */
import { Schema } from "effect"
import { described } from "./described.ts"
import { is, part } from "./jsonSchema.ts"
import { limits } from "./limits.ts"
import { maxBytes, utf8Bytes } from "./text.ts"

const pointer = "^(?:/(?:[^~/]|~[01])*)*$"

/** RFC 6901: `/repo/owner`, `/labels/0`; `~1` is a slash in a name, `~0` a tilde; empty is the whole. */
export const JsonPointer = Schema.String.check(
  maxBytes(limits.conditionPathBytes),
  Schema.isPattern(new RegExp(pointer, "u"), {
    expected: "a JSON Pointer such as /repo/owner",
    toJsonSchema: () => ({ pattern: pointer })
  })
)

export const ConditionOp = Schema.Literals([
  "eq",
  "ne",
  "in",
  "startsWith",
  "endsWith",
  "contains",
  "lt",
  "lte",
  "gt",
  "gte",
  "exists"
])
export type ConditionOp = typeof ConditionOp.Type

const isText = (value: unknown) => typeof value === "string" || "a string"
const isOrdered = (value: unknown) => typeof value === "number" || typeof value === "string" || "a number or a string"

/** What `value` must be for each `op`: true, or what was expected. */
const fits: { readonly [Op in ConditionOp]: (value: Schema.Json) => true | string } = {
  eq: () => true,
  ne: () => true,
  in: (value) => (Array.isArray(value) && value.length > 0) || "an array of at least one value",
  startsWith: isText,
  endsWith: isText,
  contains: () => true,
  lt: isOrdered,
  lte: isOrdered,
  gt: isOrdered,
  gte: isOrdered,
  exists: (value) => typeof value === "boolean" || "true or false"
}

/** The same for the document, by the ops that ask for it. */
const comparing: ReadonlyArray<
  readonly [ops: ReadonlyArray<ConditionOp>, value: { readonly [keyword: string]: unknown }]
> = [
  [["eq", "ne", "contains"], {}],
  [["in"], { type: "array", items: {}, minItems: 1 }],
  [["startsWith", "endsWith"], { type: "string" }],
  [["lt", "lte", "gt", "gte"], { anyOf: [{ type: "number" }, { type: "string" }] }]
]
const valueByOp = () =>
  comparing.reduceRight<{ readonly [keyword: string]: unknown }>(
    (otherwise, [ops, value]) => ({
      if: is("op", ...ops),
      then: { ...part({ value }), required: ["value"] },
      else: otherwise
    }),
    part({ value: { type: "boolean" } })
  )

/** A text is as long as it is, without the quotes and escapes of its JSON; anything else is as long as its JSON. */
const bytesOf = (value: Schema.Json) => utf8Bytes(typeof value === "string" ? value : JSON.stringify(value))

const ConditionValue = Schema.Json.check(
  Schema.makeFilter(
    (value) => bytesOf(value) <= limits.conditionValueBytes || `a value of at most ${limits.conditionValueBytes} bytes`,
    {
      toJsonSchema: () => [
        {
          description: `At most ${limits.conditionValueBytes} bytes: of a string its UTF-8, of anything else its JSON.`
        },
        true
      ]
    }
  )
)

/**
 * `in` takes an array, `startsWith` and `endsWith` a string, `lt` to `gte` a number or a string.
 * `contains` asks for a text in a string, or for an element of an array. `exists` takes true, also when
 * left out, or false.
 */
export const Condition = Schema.Struct({
  path: described(
    JsonPointer,
    "Where to look, as a JSON Pointer (RFC 6901) such as `/repo/owner`. Empty means the whole."
  ),
  op: described(ConditionOp, "How what stands at `path` is compared with `value`."),
  value: described(
    Schema.optionalKey(ConditionValue),
    "Value that it is compared with. Only `exists` may do without, and means true then."
  )
})
  .check(
    Schema.makeFilter(
      ({ op, value }) => {
        if (value === undefined)
          return op === "exists" || { path: ["value"], issue: `a value: ${op} compares with one` }
        const said = fits[op](value)
        return said === true || { path: ["value"], issue: said }
      },
      { toJsonSchema: valueByOp }
    )
  )
  .annotate({
    identifier: "Condition",
    description:
      "Compares the value at `path` (a JSON Pointer) with `value`. `in` takes an array, `startsWith` and " +
      "`endsWith` a string, `lt`, `lte`, `gt` and `gte` a number or a string; `contains` asks for a text in a " +
      "string or an element of an array; `exists` takes true, its default, or false."
  })
export type Condition = typeof Condition.Type

export const Conditions = Schema.Array(Condition).check(Schema.isMaxLength(limits.conditions))

export type Find = (subject: unknown) => unknown
/** K1, of what was found. */
export type Holds = (held: unknown) => boolean | undefined

const index = /^(?:0|[1-9]\d{0,9})$/
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** One reference token of a path, with what can be known of it beforehand. */
interface Token {
  readonly name: string
  /** In an array; -1 for what is no index. */
  readonly index: number
  /** Objects have it without owning it: only for these must ownership be asked, which costs as much as the look-up. */
  readonly inherited: boolean
}

const tokensOf = (path: string): ReadonlyArray<Token> =>
  path
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((name) => ({ name, index: index.test(name) ? Number(name) : -1, inherited: name in Object.prototype }))

const step = (held: unknown, { index, inherited, name }: Token): unknown =>
  Array.isArray(held)
    ? held[index]
    : isObject(held) && (!inherited || Object.hasOwn(held, name))
      ? held[name]
      : undefined

/** JSON of another number than a finite one does not exist: as good as nothing there. */
const isThere = (value: unknown) => value !== undefined && (typeof value !== "number" || Number.isFinite(value))

const same = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]))
  if (!isObject(a) || !isObject(b) || Array.isArray(b)) return false
  const keys = Object.keys(a)
  // Counting what a stranger sent comes last: it may be much.
  return keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key])) && Object.keys(b).length === keys.length
}

/** Below 0, 0 or above 0. */
const order = (a: string, b: string): number => {
  // Units before a difference are the same in both: stepping into the middle of a pair compares equals.
  for (let i = 0; i < a.length && i < b.length; i++) {
    const difference = a.codePointAt(i)! - b.codePointAt(i)!
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

const never: Holds = () => undefined
const isPlain = (value: unknown) => typeof value !== "object" || value === null

/** Each op knows its value beforehand: what is asked for every call is only what stands at the path. */
const equals = (value: unknown): Holds => (isPlain(value) ? (held) => held === value : (held) => same(value, held))

const ordered =
  (fits: (difference: number) => boolean) =>
  (value: unknown): Holds =>
    typeof value === "number"
      ? (held) => (typeof held === "number" ? fits(held - value) : undefined)
      : typeof value === "string"
        ? (held) => (typeof held === "string" ? fits(order(held, value)) : undefined)
        : never

const ofText =
  (asks: (held: string, value: string) => boolean) =>
  (value: unknown): Holds =>
    typeof value === "string" ? (held) => (typeof held === "string" ? asks(held, value) : undefined) : never

const contains = (value: unknown): Holds => {
  const inText = ofText((held, value) => held.includes(value))(value)
  const isOne = equals(value)
  return (held) => (Array.isArray(held) ? held.some(isOne) : inText(held))
}

const isAmong = (value: unknown): Holds => {
  if (!Array.isArray(value)) return never
  return value.every(isPlain) ? (held) => value.includes(held) : (held) => value.some((one) => same(one, held))
}

const compare: { readonly [Op in Exclude<ConditionOp, "exists">]: (value: unknown) => Holds } = {
  eq: equals,
  ne: (value) => {
    const equal = equals(value)
    return (held) => !equal(held)
  },
  in: isAmong,
  startsWith: ofText((held, value) => held.startsWith(value)),
  endsWith: ofText((held, value) => held.endsWith(value)),
  contains,
  lt: ordered((difference) => difference < 0),
  lte: ordered((difference) => difference <= 0),
  gt: ordered((difference) => difference > 0),
  gte: ordered((difference) => difference >= 0)
}

/** What stands at a path; undefined for nothing. Taken apart once, for those who look often. */
export const compilePath = (path: string): Find => {
  const tokens = tokensOf(path)
  return (subject) => {
    let held = subject
    for (let i = 0; held !== undefined && i < tokens.length; i++) held = step(held, tokens[i]!)
    return isThere(held) ? held : undefined
  }
}

/** What a condition says of that which stands at its path. */
export const compileCondition = ({ op, value }: Condition): Holds => {
  if (op === "exists") {
    const wanted = value !== false
    return (held) => (held !== undefined) === wanted
  }
  const ask = compare[op](value)
  return (held) => (held === undefined ? undefined : ask(held))
}

/** K1. */
export const holds = (condition: Condition, subject: unknown): boolean | undefined =>
  compileCondition(condition)(compilePath(condition.path)(subject))
