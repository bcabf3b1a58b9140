/** A stretch of a log, read as a whole. */
import type { LogEvent } from "../../../src/client/follow.ts"

interface Page {
  readonly events: ReadonlyArray<LogEvent>
  readonly nextCursor?: string
}

/**
 * The events behind a seq, up to `limit` of them. A page of the server ends early where its events are large: then more
 * is asked for, so that a log with less than that ends there.
 */
export const stretchOf = async (
  ask: (afterSeq: number, limit: number) => Promise<Page>,
  afterSeq: number,
  limit: number
): Promise<ReadonlyArray<LogEvent>> => {
  const stretch: Array<LogEvent> = []
  for (let isMore = true; isMore && stretch.length < limit; ) {
    // seq has no gaps.
    const { events, nextCursor } = await ask(afterSeq + stretch.length, limit - stretch.length)
    stretch.push(...events)
    isMore = nextCursor !== undefined && events.length > 0
  }
  return stretch
}
