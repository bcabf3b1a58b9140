/**
 * JSON Schema for rules that hold one property of an object against another. They stand in keywords that check and
 * shape nothing, so that the types which generators make of the object stay as they are.
 */
import { Schema } from "effect"

type Fragment = { readonly [keyword: string]: unknown }

/** What the object has beside: linters take a schema with properties for a whole one that is closed. */
const beside = { additionalProperties: true }

/** A part of an object: these of its properties are as these schemas say. */
export const part = (properties: { readonly [property: string]: Fragment }): Fragment => ({ properties, ...beside })

/** The object has this property, with one of these values. */
export const is = (property: string, ...values: ReadonlyArray<string>): Fragment => ({
  ...part({ [property]: { enum: values } }),
  required: [property]
})

/** The object has this property, with any value. */
export const has = (property: string): Fragment => ({ ...part({ [property]: {} }), required: [property] })

/** For the document alone: who decodes refuses it in words of its own. */
export const documented = (fragment: Fragment) =>
  Schema.makeFilter<unknown>(() => true, { toJsonSchema: () => ({ ...fragment }) })
