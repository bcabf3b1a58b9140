/** Reads JSON that came over the wire without trusting its shape. */
export const field = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && key in value
    ? Object.getOwnPropertyDescriptor(value, key)?.value
    : undefined

export const textAt = (value: unknown, key: string): string | undefined => {
  const found = field(value, key)
  return typeof found === "string" ? found : undefined
}

export const listAt = (value: unknown, key: string): ReadonlyArray<unknown> => {
  const found = field(value, key)
  return Array.isArray(found) ? found : []
}
