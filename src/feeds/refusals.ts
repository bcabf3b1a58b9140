/** Why an append is refused, in the words that endpoint and tool share. */
import type { AppendRefusal } from "./appending.ts"

export const feedNotFound = { error: "not_found", message: "no such feed" } as const

export const feedArchived = { error: "feed_archived", message: "the feed is archived: it is only read" } as const

export const appendRefusal = (refusal: AppendRefusal) => {
  switch (refusal.refused) {
    case "not_found":
      return feedNotFound
    case "archived":
      return feedArchived
    case "conflict":
      return { error: "feed_conflict", message: `expectedLastSeq: the last seq is ${refusal.lastSeq}` } as const
  }
}
