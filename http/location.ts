/**
 * Where what a POST created is found: from its path and its answer, which is all that is kept of a request that comes
 * again.
 */

type Place = (path: string, body: string) => string | undefined

/** Where the thing that a body names by an id of this form is: below its path, unless told otherwise. */
const named =
  (prefix: string, below = (path: string) => path): Place =>
  (path, body) => {
    // Quotes inside of a text are escaped: what matches is a property.
    const id = new RegExp(`"id":"(${prefix}[0-9a-z]+)"`).exec(body)?.[1]
    return id === undefined ? undefined : `${below(path)}/${id}`
  }

const queued = named("inp_", (path) => path.replace(/(?:messages|retry)$/, "queue"))
const appended: Place = (path, body) => {
  const from = /"startSeq":(\d+)/.exec(body)?.[1]
  return from === undefined ? undefined : `${path}?startSeq=${from}`
}

/** By the last segment of the path. */
const places: { readonly [segment: string]: Place } = {
  agents: named("agt_"),
  profiles: named("prof_"),
  roles: named("role_"),
  connections: named("conn_"),
  toolsets: named("tset_"),
  subscriptions: named("sub_", () => "/v1/subscriptions"),
  keys: named("key_"),
  rotate: named("key_", (path) => path.replace(/\/key_\w+\/rotate$/, "")),
  webhooks: named("whk_"),
  feeds: named("feed_"),
  schedules: named("sch_"),
  run: (path) => path.replace(/run$/, "runs"),
  images: named("img_", () => "/v1/images"),
  threads: named("thr_"),
  messages: (path, body) => (path.startsWith("/v1/feeds/") ? appended : queued)(path, body),
  retry: queued
}

/** What a client is told of an operation that waits: where it is, and when to look. */
export const operationHeaders = (id: string) => ({ location: `/v1/operations/${id}`, "retry-after": "2" })

/** Headers of an answer that was kept, of which only status and body are. */
export const keptHeaders = (status: number, path: string, body: string): Readonly<Record<string, string>> => {
  if (status === 201) return { ...locationOf(path, body) }
  const operation = status === 202 ? /"id":"(op_[0-9a-z]{26})"/.exec(body)?.[1] : undefined
  return operation === undefined ? {} : operationHeaders(operation)
}

/** The header of a 201; nothing for a path that creates nothing. */
export const locationOf = (path: string, body: string): { readonly location?: string } => {
  const bare = path.replace(/\/$/, "")
  const place = places[bare.slice(bare.lastIndexOf("/") + 1)]?.(bare, body)
  return place === undefined ? {} : { location: place }
}
