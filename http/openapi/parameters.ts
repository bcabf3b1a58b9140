/** The parameters of an operation, as clients see them. */
import { canonical } from "../headerName.ts"
import { inPath } from "./examples.ts"
import type { Facts } from "./facts.ts"
import { inside, type Json, objectsOf } from "./json.ts"

/** The header that every POST may carry; `Idempotency.ts` reads it, and no endpoint declares it. */
const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "Sent again with the same body within 24 hours, the request takes effect once and gets the same answer.",
  schema: { type: "string", minLength: 1, maxLength: 255 }
}

/**
 * An example that the reference shows, and sends only if it is asked to: it would send the first of an enumeration by
 * itself.
 */
const unsent = (value: unknown): Json => ({ default: { value, "x-disabled": true } })

const exampleOf = (method: string, { in: place, name, required, schema }: Json): Json => {
  if (place === "path") {
    const example = inPath(method, name)
    return example === undefined ? {} : { example }
  }
  const values = inside(schema).enum
  const value = Array.isArray(values) ? values[0] : name === "Last-Event-ID" ? 0 : undefined
  return required === true || value === undefined ? {} : { examples: unsent(value) }
}

/** The description stands at the parameter, where every reader looks for it. */
const parameterOf = (method: string, parameter: Json, shownAs: Facts["shownAs"]): Json => {
  const { description, ...schema } = inside(parameter.schema)
  const made: Json = {
    ...parameter,
    ...(parameter.in === "header" && { name: canonical(String(parameter.name)) }),
    ...(description !== undefined && { description }),
    schema: shownAs.get(String(parameter.name)) ?? schema
  }
  return { ...made, ...exampleOf(method, made) }
}

export const parametersOf = (method: string, generated: unknown, { shownAs }: Facts): ReadonlyArray<Json> => {
  const kept = objectsOf(generated).map((parameter) => parameterOf(method, parameter, shownAs))
  return method === "post" ? [...kept, idempotencyKey] : kept
}
