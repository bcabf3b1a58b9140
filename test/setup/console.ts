/** The console as its sources are now, built into a folder of its own: as it is served. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "vite"
import { inProduction } from "./inProduction.ts"

const config = join(import.meta.dirname, "../../console/vite.config.ts")

export const buildConsole = async () => {
  const folder = await mkdtemp(join(tmpdir(), "troupe-console-"))
  await inProduction(() =>
    build({ configFile: config, logLevel: "error", build: { outDir: folder, emptyOutDir: true } })
  )
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}
