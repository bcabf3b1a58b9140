/** What a heap snapshot (Chrome's format) holds, by constructor: bytes of the objects themselves. */
import { readFile } from "node:fs/promises"
import { at } from "./adapters/Adapter.ts"

export interface Held {
  readonly name: string
  readonly bytes: number
  readonly count: number
}

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** Largest first. Strings, code and what V8 keeps for itself are named by their kind. */
export const byConstructor = async (path: string): Promise<ReadonlyArray<Held>> => {
  const snapshot: unknown = JSON.parse(await readFile(path, "utf8"))
  const meta = at(snapshot, "snapshot", "meta")
  const fields = list(at(meta, "node_fields"))
  const kinds = list(list(at(meta, "node_types"))[0])
  const [kindAt, nameAt, sizeAt] = ["type", "name", "self_size"].map((field) => fields.indexOf(field)) as [
    number,
    number,
    number
  ]
  const nodes = list(at(snapshot, "nodes"))
  const strings = list(at(snapshot, "strings"))
  const held = new Map<string, { bytes: number; count: number }>()
  for (let i = 0; i < nodes.length; i += fields.length) {
    const kind = String(kinds[Number(nodes[i + kindAt])])
    const name =
      kind === "object" || kind === "native" || kind === "closure" || kind === "hidden" || kind === "array"
        ? `${kind} ${String(strings[Number(nodes[i + nameAt])]).slice(0, 60)}`
        : kind
    const one = held.get(name) ?? { bytes: 0, count: 0 }
    one.bytes += Number(nodes[i + sizeAt])
    one.count++
    held.set(name, one)
  }
  return [...held].map(([name, one]) => ({ name, ...one })).sort((a, b) => b.bytes - a.bytes)
}
