/** The document as parsed JSON: how it is read, and how its shapes are referred to. */

export type Json = { readonly [key: string]: unknown }

export const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** What a path of keys leads to; an empty object for nothing. */
export const inside = (value: unknown, ...keys: ReadonlyArray<string>): Json =>
  keys.reduce<Json>((found, key) => (isJson(found[key]) ? found[key] : {}), isJson(value) ? value : {})

/** The members of an array that are objects. */
export const objectsOf = (value: unknown): ReadonlyArray<Json> => (Array.isArray(value) ? value.filter(isJson) : [])

/** The object with every value made anew. */
export const mapped = (object: Json, make: (value: unknown, key: string) => unknown): Json =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, make(value, key)]))

const place = "#/components/schemas/"

export const referenceTo = (name: string) => place + name

/** The name of the shape that a schema refers to. */
export const referredBy = (schema: unknown): string | undefined => {
  const { $ref } = inside(schema)
  return typeof $ref === "string" && $ref.startsWith(place) ? $ref.slice(place.length) : undefined
}
