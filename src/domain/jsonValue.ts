/** Values whose shape is a client's own. */
import { Schema } from "effect"

export type JsonObject = Readonly<Record<string, unknown>>

/** Of parsed JSON: an object, and neither null nor an array. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether a value nests deeper than so many levels. */
export const nestsDeeper = (value: unknown, levels: number): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (levels === 0) return true
  for (const inner of Array.isArray(value) ? value : Object.values(value))
    if (nestsDeeper(inner, levels - 1)) return true
  return false
}

/** Whether a number is in it that JSON has no word for: 1e400 is read as Infinity, and would be stored as null. */
const isEndless = (value: unknown): boolean => {
  if (typeof value === "number") return !Number.isFinite(value)
  if (typeof value !== "object" || value === null) return false
  for (const inner of Array.isArray(value) ? value : Object.values(value)) if (isEndless(inner)) return true
  return false
}

/** Any JSON that comes back as it was. How deep it nests is checked where it is read. */
export const JsonValue = Schema.Unknown.check(
  Schema.makeFilter((value) => !isEndless(value) || "JSON without numbers beyond 1.8e308", { toJsonSchema: () => ({}) })
)
