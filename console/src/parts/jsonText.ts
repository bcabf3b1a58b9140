/** A value as JSON, to read. */

/** Each level indents all that is within: far down that is mostly blanks, and at some depth the writer gives up. */
const mostLevels = 100

const inner = (value: unknown): ReadonlyArray<unknown> =>
  typeof value === "object" && value !== null ? Object.values(value) : []

const nestsDeeper = (value: unknown, levels: number): boolean => {
  let within = inner(value)
  for (let level = 0; level < levels && within.length > 0; level++) within = within.flatMap(inner)
  return within.length > 0
}

export const jsonText = (value: unknown): string => {
  if (!nestsDeeper(value, mostLevels)) return JSON.stringify(value, null, 2) ?? "undefined"
  try {
    return JSON.stringify(value)
  } catch (failure) {
    if (failure instanceof RangeError) return "It nests too deeply to be written."
    throw failure
  }
}
