/** ETag and If-Match (RFC 9110) of configuration resources: a whole number that rises with every change. */
import { Schema } from "effect"
import { described } from "../src/domain/described.ts"

export const etag = (revision: number) => `"${revision}"`

/**
 * An empty one is a slip, such as a variable of a shell that was never set: it says so, not that the resource has
 * changed.
 */
const sent = Schema.String.check(Schema.makeFilter((text) => text.trim() !== "" || "an ETag, quotes and all, or *"))

/** Declares the request header: `headers: IfMatch`. */
export const IfMatch = {
  "if-match": described(
    Schema.optionalKey(sent),
    "An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, " +
      "the default, is any."
  )
}

/** Declares the request header of what is answered 304 to whoever has it: `headers: IfNoneMatch`. */
export const IfNoneMatch = {
  "if-none-match": described(
    Schema.optionalKey(Schema.String),
    "ETags that are known, quotes and all, or `*`: the answer is 304, without a body, where it is one of them."
  )
}

/** Whether what has this tag, quotes and all, is known to whoever sent If-None-Match: a weak tag is as good there. */
export const isKnown = (ifNoneMatch: string | undefined, tag: string) =>
  ifNoneMatch?.split(",").some((known) => known.trim() === "*" || known.trim().replace(/^W\//, "") === tag) ?? false

/** Whether a revision meets If-Match: absent and `*` always do, a list when it holds the tag; weak tags never match. */
export const meets = (ifMatch: string | undefined) => {
  if (ifMatch === undefined || ifMatch.trim() === "*") return () => true
  const tags = new Set(ifMatch.split(",").map((tag) => tag.trim()))
  return (revision: number) => tags.has(etag(revision))
}
