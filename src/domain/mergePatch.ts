/** JSON Merge Patch (RFC 7396): absent keeps, null clears, objects merge, everything else replaces. */

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** A new object; neither argument changes. */
export const mergePatch = (target: Json, patch: Json): Json => {
  const merged = new Map(Object.entries(target))
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else if (isObject(value)) {
      const held = merged.get(key)
      merged.set(key, mergePatch(isObject(held) ? held : {}, value))
    } else merged.set(key, value)
  }
  return Object.fromEntries(merged)
}
