/**
 * The console as its sources are now, built: once for all files of a run, and for the next run where no source has
 * changed. What it is built from names the folder; a build is whole when its folder has that name.
 */
import { createHash } from "node:crypto"
import { existsSync, globSync, readFileSync } from "node:fs"
import { mkdir, mkdtemp, open, rename, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { build, type Plugin } from "vite"
import { inProduction } from "./inProduction.ts"
import { sharing, startServer } from "./server.ts"

const root = join(import.meta.dirname, "../..")
const config = join(root, "console/vite.config.ts")
const cache = join(root, "node_modules/.cache/troupe-console")
/** A build that takes longer has been killed. */
const longestMs = 120_000

const sourcesHash = () => {
  const hash = createHash("sha256")
  const files = globSync(["console/*", "{console/src,src,machines,http/console}/**/*.*", "package-lock.json"], {
    cwd: root
  })
  for (const file of files.sort()) {
    if (!/\.\w+$/.test(file)) continue
    hash.update(file)
    hash.update(readFileSync(join(root, file)))
  }
  return hash.digest("hex").slice(0, 16)
}

/** Undefined: somebody else builds. */
const taken = async (lock: string) => {
  const found = await stat(lock).catch(() => undefined)
  if (found !== undefined && Date.now() - found.mtimeMs > longestMs) await rm(lock, { force: true })
  return await open(lock, "wx").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error
    return undefined
  })
}

const buildAt = (folder: string, plugins: Array<Plugin> = []) =>
  inProduction(() =>
    build({ configFile: config, logLevel: "error", plugins, build: { outDir: folder, emptyOutDir: true } })
  )

const buildInto = async (folder: string) => {
  const made = await mkdtemp(`${folder}.building-`)
  try {
    await buildAt(made)
    await rename(made, folder)
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}

/** The folder of its files. */
export const buildConsole = async () => {
  const folder = join(cache, sourcesHash())
  await mkdir(cache, { recursive: true })
  while (!existsSync(folder)) {
    const lock = await taken(`${folder}.lock`)
    if (lock === undefined) {
      await sleep(100)
      continue
    }
    try {
      if (!existsSync(folder)) await buildInto(folder)
    } finally {
      await lock.close()
      await rm(`${folder}.lock`, { force: true })
    }
  }
  return folder
}

/** One that plugins have changed, in a folder of its own. */
export const buildChanged = async (plugins: Array<Plugin>) => {
  const folder = await mkdtemp(join(tmpdir(), "troupe-console-"))
  await buildAt(folder, plugins)
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** The worker's server with the console as it is built. */
export const sharedConsole = sharing(async () => startServer({ served: { console: await buildConsole() } }))
