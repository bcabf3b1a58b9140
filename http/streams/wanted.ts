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
}

/**
 * Without `types` everything but deltas; deltas, and what takes them back, only with `deltas=text`. Progress of calls
 * is for who watches one thread: of `many` it comes only where it is named.
 */
export const wanted = (
  query: { readonly types?: string | undefined; readonly deltas?: "text" | undefined },
  of: "one" | "many"
): Wanted => {
  const types = query.types === undefined ? undefined : new Set(query.types.split(","))
  const asked = (type: FrameType) => types === undefined || types.has(type)
  const deltas = query.deltas === "text"
  return {
    event: asked("event"),
    delta: deltas && asked("delta"),
    discard: deltas ? asked("discard") : types?.has("discard") === true,
    status: asked("status"),
    queue: asked("queue"),
    wait: asked("wait"),
    operation: asked("operation"),
    feed: asked("feed"),
    progress: of === "one" ? asked("progress") : types?.has("progress") === true
  }
}
