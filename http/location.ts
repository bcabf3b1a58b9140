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
  keys: ["key_", (path) => path],
  rotate: ["key_", (path) => path.replace(/\/key_\w+\/rotate$/, "")],
  threads: ["thr_", (path) => path],
  messages: ["inp_", (path) => path.replace(/messages$/, "queue")],
  retry: ["inp_", (path) => path.replace(/retry$/, "queue")]
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
