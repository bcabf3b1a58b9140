/** ETag and If-Match (RFC 9110) of configuration resources: a whole number that rises with every change. */
import { Schema } from "effect"

export const etag = (revision: number) => `"${revision}"`

/** Declares the request header: `headers: IfMatch`. */
export const IfMatch = { "if-match": Schema.optionalKey(Schema.String) }

/** Whether a revision meets If-Match: absent and `*` always do, a list when it holds the tag; weak tags never match. */
export const meets = (ifMatch: string | undefined) => {
  if (ifMatch === undefined || ifMatch.trim() === "*") return () => true
  const tags = new Set(ifMatch.split(",").map((tag) => tag.trim()))
  return (revision: number) => tags.has(etag(revision))
}
