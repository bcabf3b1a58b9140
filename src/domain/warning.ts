/** [ext] Something that was taken and will not do what was meant, as things are today: no reason to refuse it. */
import { Schema } from "effect"
import { described } from "./described.ts"

export const Warning = Schema.Struct({
  path: described(Schema.String, "The field that it is about, such as `models[0]`."),
  message: described(Schema.String, "The warning, for a person to read.")
}).annotate({ identifier: "Warning" })
export type Warning = typeof Warning.Type
