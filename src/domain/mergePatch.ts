/** JSON Merge Patch (RFC 7396): absent keeps, null clears, objects merge, everything else replaces. */
import { isJsonObject, type JsonObject } from "./jsonValue.ts"

/** A new object; neither argument changes. */
export const mergePatch = (target: JsonObject, patch: JsonObject): JsonObject => {
  const merged = new Map(Object.entries(target))
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else if (isJsonObject(value)) {
      const held = merged.get(key)
      merged.set(key, mergePatch(isJsonObject(held) ? held : {}, value))
    } else merged.set(key, value)
  }
  return Object.fromEntries(merged)
}
