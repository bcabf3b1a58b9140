/**
 * What toolsets offer, from memory: catalogues never change, and which one is current is at most a second old (T1 of
 * Toolsets.ts).
 */
import { Effect } from "effect"
import { LRUCache } from "lru-cache"
import type { Database } from "../database/Database.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { readCatalogue } from "../toolsets/catalogue.ts"
import { makeFresh } from "./fresh.ts"
import { type Tool, toolsOf } from "./Tool.ts"

/** One catalogue of one toolset: what a turn's plan holds. */
export interface CatalogueRef {
  readonly id: string
  readonly version: number
}

interface Held {
  readonly tools: ReadonlyArray<Tool>
  readonly chars: number
}

const heldCatalogueChars = 64 * 1024 * 1024

const currentOnes = "select id, catalogue from toolsets where workspace = $1 and id = any($2::uuid[]) and catalogue > 0"
const someCatalogues = `
  select c.toolset, c.version, c.body::text as text, t.trusted
    from unnest($2::uuid[], $3::int[]) as asked (toolset, version)
    join catalogues c on c.workspace = $1 and c.toolset = asked.toolset and c.version = asked.version
    join toolsets t on t.workspace = c.workspace and t.id = c.toolset`

export const makeCatalogues = (database: Database["Service"]) => {
  const versions = makeFresh<number>()
  const keyOf = (workspace: string, id: string) => workspace + id

  /** The newest catalogues of toolsets; those that are not there, or offer nothing yet, are left out. */
  const current = Effect.fnUntraced(function* (workspace: string, toolsetIds: ReadonlyArray<string>) {
    const found = new Map<string, number>()
    const unknown: Array<string> = []
    for (const id of toolsetIds) {
      const version = versions.get(keyOf(workspace, id))
      if (version === undefined) unknown.push(id)
      else found.set(id, version)
    }
    if (unknown.length > 0) {
      const put = versions.reading()
      const rows = yield* database.read<{ readonly id: string; readonly catalogue: number }>({
        name: "toolsets_current",
        text: currentOnes,
        values: [toUuid(workspace), unknown.map(toUuid)]
      })
      for (const row of rows) {
        const id = fromUuid("toolset", row.id)
        found.set(id, row.catalogue)
        put(keyOf(workspace, id), row.catalogue)
      }
    }
    return toolsetIds.flatMap((id) => {
      const version = found.get(id)
      return version === undefined ? [] : [{ id, version }]
    })
  })

  const held = new LRUCache<string, Held>({ maxSize: heldCatalogueChars, sizeCalculation: ({ chars }) => chars })

  /** Tools of catalogues, in their order: the same objects each time. */
  const tools = Effect.fnUntraced(function* (workspace: string, refs: ReadonlyArray<CatalogueRef>) {
    const keyed = refs.map((ref) => ({ ...ref, key: `${workspace}${ref.id}${ref.version}` }))
    const found = new Map<string, ReadonlyArray<Tool>>()
    for (const { key } of keyed) {
      const catalogue = held.get(key)
      if (catalogue !== undefined) found.set(key, catalogue.tools)
    }
    const missing = keyed.filter(({ key }) => !found.has(key))
    if (missing.length > 0) {
      const rows = yield* database.read<{
        readonly toolset: string
        readonly version: number
        readonly text: string
        readonly trusted: boolean
      }>({
        name: "toolset_catalogues",
        text: someCatalogues,
        values: [toUuid(workspace), missing.map(({ id }) => toUuid(id)), missing.map(({ version }) => version)]
      })
      for (const { text, toolset, trusted, version } of rows) {
        const id = fromUuid("toolset", toolset)
        const made = toolsOf(id, readCatalogue(JSON.parse(text)), trusted)
        found.set(`${workspace}${id}${version}`, made)
        held.set(`${workspace}${id}${version}`, { tools: made, chars: text.length })
      }
    }
    return keyed.flatMap(({ key }) => found.get(key) ?? [])
  })

  return {
    current,
    tools,
    /** Another catalogue of the toolset may be current. */
    forget: (workspace: string, toolsetId: string) => versions.forget(keyOf(workspace, toolsetId))
  }
}
