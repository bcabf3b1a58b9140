/** Another commit of this repository, checked out beside it. */
import { execFile } from "node:child_process"
import { mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"

const here = resolve(import.meta.dirname, "..")

export interface Checkout {
  /** Its short name. */
  readonly commit: string
  readonly folder: string
  readonly remove: () => Promise<void>
}

/**
 * The checkout has this one's packages, and its files are on the disk by the time that it is there: else the commits of
 * a database that is measured next would wait for them. `remove` leaves nothing of it.
 */
export const checkOut = async (commit: string): Promise<Checkout> => {
  const run = promisify(execFile)
  const git = (...args: ReadonlyArray<string>) => run("git", ["-C", here, ...args])
  const { stdout } = await git("rev-parse", "--short", commit)
  const temporary = await mkdtemp(join(tmpdir(), "troupe-version-"))
  const folder = join(temporary, "checkout")
  await git("worktree", "add", "--detach", folder, commit)
  await symlink(join(here, "node_modules"), join(folder, "node_modules"))
  await run("sync", ["-f", folder])
  const remove = async () => {
    await git("worktree", "remove", "--force", folder)
    await rm(temporary, { recursive: true })
  }
  return { commit: stdout.trim(), folder, remove }
}
