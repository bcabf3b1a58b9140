/**
 * What an edit makes of a thread's attributes: what it may not touch stays, the rest is checked as a whole. One that
 * changes nothing leaves them as they are.
 */
import { Effect, Result, type Schema } from "effect"
import { isDeepStrictEqual } from "node:util"
import { mergePatch } from "../domain/mergePatch.ts"
import type { Principal } from "../domain/principal.ts"
import { strictly } from "../domain/strict.ts"
import { ThreadEditable, type ThreadPatch } from "./threadInput.ts"
import type { ThreadAttributes } from "./detail.ts"

const decode = strictly(ThreadEditable)

export const edited = (
  held: ThreadAttributes,
  patch: ThreadPatch,
  by: Principal,
  at: number
): Effect.Effect<ThreadAttributes, Schema.SchemaError> => {
  const { maxCost, metadata, title, ...fixed } = held
  const editable = {
    ...(maxCost === undefined ? {} : { maxCost }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(title === undefined ? {} : { title })
  }
  return Effect.fromResult(
    Result.map(
      decode(mergePatch(editable, patch)),
      (changed): ThreadAttributes =>
        isDeepStrictEqual(changed, editable) ? held : { ...fixed, ...changed, updatedBy: by, editedAt: at }
    )
  )
}
