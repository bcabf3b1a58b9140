/**
 * Puts a planted bug (plants.ts) into a node's modules as they are loaded:
 * `node --import plant.ts src/start.mjs serve`.
 */
import { registerHooks } from "node:module"
import { plants } from "./plants.ts"

const plant = plants.find(({ name }) => name === process.env.TROUPE_PLANTED)
if (plant === undefined) throw new Error(`there is no plant ${process.env.TROUPE_PLANTED}`)

registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context)
    const edits = plant.edits.filter(({ file }) => url.endsWith(`/${file}`))
    if (edits.length === 0 || loaded.source === undefined || loaded.source === null) return loaded
    let source = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source)
    for (const { file, find, put } of edits) {
      if (!source.includes(find))
        throw new Error(`${file} has no ${JSON.stringify(find)}: the plant "${plant.name}" must be moved with the code`)
      source = source.replace(find, () => put)
    }
    return { ...loaded, source }
  }
})
