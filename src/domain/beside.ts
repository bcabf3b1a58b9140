/** What a tool's result holds beside its output, and the names that events and hooks have for it. */
import { Schema } from "effect"
import { described } from "./described.ts"
import type { JsonObject } from "./jsonValue.ts"

export interface Beside {
  readonly content?: ReadonlyArray<JsonObject>
  readonly meta?: JsonObject
}

const AnyObject = Schema.Record(Schema.String, Schema.Unknown)

export const besideFields = {
  toolContent: described(
    Schema.optionalKey(Schema.Array(AnyObject)),
    "Content blocks of the Model Context Protocol that came beside `toolOutput` and say more than it: text, " +
      "images, sounds, resources, links, with their annotations. Together with `toolOutput` and `toolMeta` at most " +
      "256 KiB of JSON; the bytes of a block that finds no room are left out of it, which `truncated` and `bytes` " +
      "say. [ext]"
  ),
  toolMeta: described(
    Schema.optionalKey(AnyObject),
    "Remarks of the tool's server about its result (`_meta`). No model reads them. [ext]"
  )
}

/** In those fields. */
export const besideAs = ({ content, meta }: Beside = {}) => ({
  ...(content === undefined ? {} : { toolContent: content }),
  ...(meta === undefined ? {} : { toolMeta: meta })
})
