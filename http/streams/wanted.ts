/** Which frames a watcher asked for: `types` and `deltas` of its query. */
import type { FrameType } from "./schemas.ts"

export interface Wanted {
  readonly event: boolean
  readonly delta: boolean
  readonly discard: boolean
  readonly status: boolean
  readonly queue: boolean
  readonly wait: boolean
  readonly progress: boolean
  readonly operation: boolean
  readonly feed: boolean
  readonly step: boolean
}

/**
 * Without `types` everything but deltas; deltas, and what takes them back, only with `deltas=text`. Progress of calls
 * is for who watches one thread: of `many` it comes only where it is named.
 * Steps come only where they are named.
 */
export const wanted = (
  query: { readonly types?: string | undefined; readonly deltas?: "text" | undefined },
  of: "one" | "many"
): Wanted => {
  const types = query.types === undefined ? undefined : new Set(query.types.split(","))
  const wants = (type: FrameType) => types === undefined || types.has(type)
  const deltas = query.deltas === "text"
  return {
    event: wants("event"),
    delta: deltas && wants("delta"),
    discard: deltas ? wants("discard") : types?.has("discard") === true,
    status: wants("status"),
    queue: wants("queue"),
    wait: wants("wait"),
    operation: wants("operation"),
    feed: wants("feed"),
    step: types?.has("step") === true,
    progress: of === "one" ? wants("progress") : types?.has("progress") === true
  }
}
