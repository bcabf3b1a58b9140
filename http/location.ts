/**
 * Where what a POST created is found: from its path and its answer, which is all that is kept of a request that comes
 * again.
 */

/** Last segment of the path -> prefix of the id, and where such things are below. */
const places: { readonly [segment: string]: readonly [prefix: string, place: (path: string) => string] } = {
  agents: ["agt_", (path) => path],
  profiles: ["prof_", (path) => path],
  roles: ["role_", (path) => path],
  connections: ["conn_", (path) => path],
  toolsets: ["tset_", (path) => path],
  subscriptions: ["sub_", () => "/v1/subscriptions"],
  keys: ["key_", (path) => path],
  rotate: ["key_", (path) => path.replace(/\/key_\w+\/rotate$/, "")],
  webhooks: ["whk_", (path) => path],
  threads: ["thr_", (path) => path],
  messages: ["inp_", (path) => path.replace(/messages$/, "queue")],
  retry: ["inp_", (path) => path.replace(/retry$/, "queue")]
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
  const found = places[bare.slice(bare.lastIndexOf("/") + 1)]
  if (found === undefined) return {}
  const [prefix, place] = found
  // Quotes inside of a text are escaped: what matches is a property.
  const id = new RegExp(`"id":"(${prefix}[0-9a-z]{26})"`).exec(body)?.[1]
  return id === undefined ? {} : { location: `${place(bare)}/${id}` }
}
