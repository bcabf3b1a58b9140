/** The console as its sources are now and as it is served, built into a folder of its own. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "vite"

const config = join(import.meta.dirname, "../../console/vite.config.ts")

export const buildConsole = async () => {
  const folder = await mkdtemp(join(tmpdir(), "troupe-console-"))
  // The one of tests would build React's checks in: it mounts everything twice, and so asks for everything twice.
  const { NODE_ENV } = process.env
  process.env.NODE_ENV = "production"
  try {
    await build({ configFile: config, logLevel: "error", build: { outDir: folder, emptyOutDir: true } })
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = NODE_ENV
  }
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}
