/** A value as JSON, to read: indented, or on one line where it nests too deeply for that. */

/** Each level indents everything within it: with more levels the text is mostly blanks. */
const mostLevels = 100

const inner = (value: unknown): ReadonlyArray<unknown> =>
  typeof value === "object" && value !== null ? Object.values(value) : []

const nestsDeeper = (value: unknown, levels: number): boolean => {
  let within = inner(value)
  for (let level = 0; level < levels && within.length > 0; level++) within = within.flatMap(inner)
  return within.length > 0
}

/** The deepest values JSON.stringify cannot write at all: words say so. */
export const jsonText = (value: unknown): string => {
  if (!nestsDeeper(value, mostLevels)) return JSON.stringify(value, null, 2) ?? "undefined"
  try {
    return JSON.stringify(value)
  } catch (failure) {
    if (failure instanceof RangeError) return "It nests too deeply to be written."
    throw failure
  }
}
