/** What a browser loads of a built console, in bytes as they are sent (brotli). */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import type { Found } from "./report.ts"

const kB = 1_000

const sent = (folder: string, name: string) => statSync(join(folder, `${name}.br`)).size

/** kB of what the page names, and of all there is. */
export const consoleSizes = (dist: string) => {
  const page = readFileSync(join(dist, "index.html"), "utf8")
  const named = [...page.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+\.(?:js|css))"/g)].map(
    ([, name = ""]) => name
  )
  const assets = join(dist, "assets")
  const all = readdirSync(assets).filter((name) => !/\.(?:br|gz)$/.test(name))
  return {
    first: named.reduce((sum, name) => sum + sent(dist, name), 0) / kB,
    all: all.reduce((sum, name) => sum + sent(assets, name), 0) / kB
  }
}

export const sizesOf = (dist: string, found: Found) => {
  const { all, first } = consoleSizes(dist)
  found("first load: scripts and styles, brotli", `${first.toFixed(0)} kB`, "at most 200 kB", first <= 200)
  found("everything, brotli", `${all.toFixed(0)} kB`, "at most 700 kB", all <= 700)
}
