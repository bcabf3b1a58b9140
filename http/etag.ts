/**
 * ETag, If-Match and If-None-Match (RFC 9110). The tag of a configuration resource is a whole number that rises with
 * every change, that of an image is its id.
 */
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

/** Declares the request header of resources that never change: `headers: IfNoneMatch`. */
export const IfNoneMatch = {
  "if-none-match": described(
    Schema.optionalKey(Schema.String),
    "ETags that the client has, quotes and all, or `*`: where one matches, the answer is 304 without a body."
  )
}

/** Whether If-None-Match names this tag, quotes and all: a list where it holds the tag, weak or not, and `*` do. */
export const isKnown = (ifNoneMatch: string | undefined, tag: string) =>
  ifNoneMatch?.split(",").some((known) => known.trim() === "*" || known.trim().replace(/^W\//, "") === tag) ?? false

/** Whether a revision meets If-Match: absent and `*` always do, a list when it holds the tag; weak tags never match. */
export const meets = (ifMatch: string | undefined) => {
  if (ifMatch === undefined || ifMatch.trim() === "*") return () => true
  const tags = new Set(ifMatch.split(",").map((tag) => tag.trim()))
  return (revision: number) => tags.has(etag(revision))
}
