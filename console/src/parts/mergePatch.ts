/**
 * The JSON Merge Patch (RFC 7396) that makes one value of another. An object of another `type` is another thing: it
 * comes as a whole, without a word on the fields of the one that was.
 */
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isSame = (one: unknown, other: unknown): boolean => {
  if (Object.is(one, other)) return true
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]))
  if (!isObject(one) || !isObject(other)) return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  )
}

export const mergePatch = (before: unknown, after: unknown): unknown => {
  if (!isObject(before) || !isObject(after) || before.type !== after.type) return after
  return Object.fromEntries([
    ...Object.keys(before)
      .filter((name) => !Object.hasOwn(after, name))
      .map((name): readonly [string, unknown] => [name, null]),
    ...Object.entries(after)
      .filter(([name, value]) => !Object.hasOwn(before, name) || !isSame(before[name], value))
      .map(([name, value]): readonly [string, unknown] => [name, mergePatch(before[name], value)])
  ])
}

/** The same, with fields that are not merged but replaced: where anything in them has changed, they come as a whole. */
export const patchOf = (before: unknown, after: unknown, whole: ReadonlyArray<string>): unknown => {
  const patch = mergePatch(before, after)
  if (!isObject(patch) || !isObject(after)) return patch
  return Object.fromEntries(
    Object.entries(patch).map(([name, value]) => [name, whole.includes(name) ? (after[name] ?? null) : value])
  )
}
